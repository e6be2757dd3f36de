"""Hand-written chapters: no figure is typed, and each says what it stands on."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import PROJECT
from probe_effect.records import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

CHAPTERS = sorted((PROJECT / "content" / "guide").glob("[a-z]*.md"))
FINDINGS = sorted((PROJECT / "content" / "findings").glob("[!_]*.md"))
METHOD = [PROJECT / "content" / "glossary.md", *(PROJECT / "content" / "method").glob("*.md")]
WRITTEN = sorted(set((PROJECT / "content").rglob("*.md")) - {*FINDINGS, *METHOD})
"""A finding is of its day: what no run of the data has is typed."""


NOT_PROSE = re.compile(r"\{\{<.*?>\}\}|^```.*?^```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
QUANTITY = re.compile(
    r"\d[\d\u202f\u00a0 .,]*?\s?(?:[nmµu]?s\b|%|per cent|times\b|x\b|×|(?:[kMG]\s?)?(?:events)?/s\b)", re.IGNORECASE
)


def typed(text: str) -> list[str]:
    """What a text has of digits with a unit that is neither a shortcode nor code."""
    return [found[0] for found in QUANTITY.finditer(NOT_PROSE.sub(" ", text))]


def front_matter(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8").split("+++")[1])


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FINDINGS])
def test_a_finding_has_its_day(path: Path) -> None:
    assert re.fullmatch(r"[1-9][0-9]? [A-Z][a-z]+ 20[0-9]{2}", front_matter(path)["subtitle"])


@pytest.mark.parametrize("path", [pytest.param(path, id=path.relative_to(PROJECT).as_posix()) for path in WRITTEN])
def test_no_hand_written_page_types_a_figure(path: Path) -> None:
    assert typed(path.read_text(encoding="utf-8")) == []


OF_SUITE = re.compile(r'number "(?:baseline|noise-floor)\.([a-z-]+)"')


def other_suites(text: str) -> list[str]:
    """Suites whose untraced time or noise a paragraph quotes without their name."""
    paragraphs = re.split(r"\n\s*\n", text)
    return [suite for one in paragraphs for suite in OF_SUITE.findall(one) if f"`{suite}`" not in one]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.relative_to(PROJECT).as_posix()) for path in WRITTEN])
def test_an_untraced_time_is_of_the_suite_that_its_paragraph_names(path: Path) -> None:
    assert other_suites(path.read_text(encoding="utf-8")) == []


def test_an_untraced_time_of_another_suite_is_found() -> None:
    said = 'An operation of `per-event` takes {{{{< number "baseline.{}" >}}}}.'
    assert [other_suites(said.format(suite)) for suite in ("per-event", "startup")] == [[], ["startup"]]


@pytest.mark.parametrize(
    "text",
    [
        "costs 12 ns",
        "0.5 µs",
        "1 085 ns",
        "5 % slower",
        "5% slower",
        "30 per cent",
        "10 k events/s",
        "17 k/s",
        "10x",
        "6 times",
        "1.5 s",
    ],
)
def test_a_typed_figure_is_found(text: str) -> None:
    assert typed(f"A probe: {text}, they say.")


@pytest.mark.parametrize(
    "text",
    [
        "Linux 6.18 has it",
        "x86-64",
        "`sleep 5 s`",
        '{{< definition "5 %" >}}',
        "[here](/a/1%20s/)",
        "in 2023",
        "64 CPUs",
    ],
)
def test_what_is_no_figure_is_let_pass(text: str) -> None:
    assert typed(f"A probe: {text}, they say.") == []


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CHAPTERS])
@pytest.mark.parametrize(("key", "folder"), [("suites", "suites"), ("sources", "published")])
def test_a_chapter_names_what_it_stands_on_or_says_why_not(path: Path, key: str, folder: str) -> None:
    found = front_matter(path)
    assert found["kind"] == "guide"
    assert found.get(key) or found.get(f"no_{key}"), f"neither {key} nor no_{key}"
    known = {one.name for one in (PROJECT / "data" / folder).iterdir()}
    assert set(found.get(key, [])) <= known


def alone(line: str) -> set[str]:
    """The tools of a sentence with costs, but for those that are taken with others; what a frame adds is of a law."""
    keys = re.findall(r'\{\{<\s*number\s+"([^"/]+)"', line)
    return {key.partition(".")[0] for key in keys if not key.endswith(".per-frame")} & TOOLS.keys()


def test_a_sentence_that_compares_tools_takes_them_from_one_machine() -> None:
    pages = sorted((PROJECT / "content").rglob("*.md"))
    lines = [line for path in pages for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "|"]
    assert [line for line in lines if len(alone(line)) > 1] == []
    number = '{{{{< number "{}.cost" >}}}}'
    assert alone(number.format("bpftrace.a") + number.format("perf-stat.a")) == {"bpftrace", "perf-stat"}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CHAPTERS])
def test_a_chapter_names_every_source_that_it_quotes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    sources = {one.name for one in (PROJECT / "data" / "published").iterdir()}
    tables = tomllib.loads((PROJECT / "site" / "tables.toml").read_text(encoding="utf-8"))
    named = [tables[name].get("source", "") for name in re.findall(r'"tables/([^"]+)\.md"', text)]
    keys = re.findall(r'\{\{<\s*number\s+"([^"]+)"', text) + named
    quoted = {part for key in keys if (part := key.partition(".")[0]) in sources}
    assert quoted <= set(front_matter(path).get("sources", []))


def test_chapters_have_places_without_a_gap_and_a_sentence_each() -> None:
    found = [front_matter(path) for path in CHAPTERS]
    assert sorted(one["weight"] for one in found) == [10 * place for place in range(1, len(found) + 1)]
    assert [one["title"] for one in found if not 20 <= len(one["description"]) <= 160] == []
