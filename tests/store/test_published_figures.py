"""What others printed, as `data/published` has it: a sample against their texts, and rules for every figure.

`data/transcribed.csv` was typed by hand from the texts: a figure as it is printed, and its line or heading there. Where
`printed` is empty we derived the figure, and `where` is the calculation with the numbers of the text.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT, REAL_DATA
from probe_effect.numbers.published import compare, evaluate
from probe_effect.store.beside_files import Figure, SourceFile, read_figures, read_source
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import known_suites

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = sorted(path.name for path in (REAL_DATA / "published").iterdir())

with (PROJECT / "tests" / "data" / "transcribed.csv").open(encoding="utf-8", newline="") as file:
    SAMPLE = list(csv.DictReader(file))

COUNTS = {
    "bpftime-2025": (154, 3),
    "bpftime-2026": (81, 24),
    "cloudflare-ebpf-exporter-2018": (22, 0),
    "gregg-2011-pid-provider": (104, 38),
    "gregg-prstat-vs-top": (304, 57),
    "ivy-bridge-perf-tracepoints": (81, 39),
    "kernel-doc-kprobes": (38, 8),
    "mithun-2007-usdt": (25, 16),
    "piotrowski-2023-tracing-overhead": (209, 58),
}
"""Sources that were read whole: how many numbers were counted in their texts, and how many we derived."""

IN_OTHER_WORDS = {
    "gitlab-1383-uprobe-rule.kernel_probes_cheaper": "an order of magnitude",
    "gregg-2014-strace.records": "500k of 1024",
    "ivy-bridge-perf-tracepoints.bytes_copied_mib": "MiB",
    "kutrace.cpu_share": "1/4 of 1%",
    "kutrace.ram_share": "1/4 of 1%",
    "tunnelix-strace.records": "600k of 1024",
}
"""Figures that are printed with digits, but whose value is not these digits."""

GRADES = {"full": "S", "file": "F", "excerpt": "X"}
"""How much of a source was read, to the grade of what it prints."""

CLOCK = re.compile(r"(?:(\d+):)?(\d+)[m:](\d+(?:[.,]\d+)?)s?$")
NUMBER = re.compile(r"\d(?:[\d.,_ ]*\d)?(?:E\d+)?")
SCALES = {
    r"MHz|kB/s|\dK$": "0.001",
    r"\d ?[kK]|thousand|GB": "1000",
    r"M/s|million": "1000000",
    r" B$": "1000000000",
    r"min": "60",
}
UNITS = {
    r"\d ?(ns|nsec|nanoseconds?)(/op)?$": "ns",
    r"\d ?(us|µs|usec|microseconds?)$": "us",
    r"\d ?(ms|milliseconds?)$": "ms",
    r"\d ?(s|sec|seconds)$": "s",
    r"%$": "percent",
}
"""How a printed number ends, to its unit."""


@cache
def figures(source: str) -> list[Figure]:
    found, problems = read_figures(REAL_DATA / "published" / source / "figures.csv", "figures.csv")
    assert problems == []
    return found


@cache
def description(source: str) -> SourceFile:
    found, problems = read_source(REAL_DATA / "published" / source / "source.toml", "source.toml")
    assert found is not None, problems
    return found


def values_read(printed: str) -> Iterator[Decimal]:
    """What a printed text can mean: each of its numbers, by each scale that it names, or a time by the clock."""
    if clock := CLOCK.search(printed):
        hours, minutes, seconds = (Decimal((part or "0").replace(",", ".")) for part in clock.groups())
        yield 3600 * hours + 60 * minutes + seconds
    scales = [Decimal(1), *(Decimal(scale) for words, scale in SCALES.items() if re.search(words, printed))]
    for number in NUMBER.findall(printed):
        plain = Decimal(re.sub(r"[_ ]|,(?=\d{3})", "", number).replace(",", "."))
        yield from (plain * scale for scale in scales)


@pytest.mark.parametrize("typed", SAMPLE, ids=lambda typed: f"{typed['source']}.{typed['figure']}")
def test_a_figure_is_as_its_text_prints_it_or_as_its_numbers_give(typed: dict[str, str]) -> None:
    (figure,) = (one for one in figures(typed["source"]) if one.figure == typed["figure"])
    assert (figure.printed or "") == typed["printed"]
    if figure.is_derived:
        assert compare(figure.value, evaluate(typed["where"], {})) == "agrees"


def test_each_source_is_in_the_sample() -> None:
    assert sorted({typed["source"] for typed in SAMPLE}) == SOURCES


@pytest.mark.parametrize("source", COUNTS)
def test_a_source_that_was_read_whole_has_all_numbers_of_its_text(source: str) -> None:
    derived = [one.is_derived for one in figures(source)]
    assert (derived.count(False), derived.count(True)) == COUNTS[source]


@pytest.mark.parametrize("source", SOURCES)
def test_a_value_is_the_number_that_is_printed_in_the_unit_that_is_printed(source: str) -> None:
    for figure in figures(source):
        said = (figure.printed or "").replace("\u202f", " ").replace("\u00a0", " ")
        if re.search(r"\d", said) and f"{source}.{figure.figure}" not in IN_OTHER_WORDS:
            assert abs(figure.value) in set(values_read(said)), figure
            assert {unit for ending, unit in UNITS.items() if re.search(ending, said)} <= {figure.unit}, figure


@pytest.mark.parametrize("source", SOURCES)
def test_a_cost_is_the_figure_itself_in_nanoseconds_and_says_where_it_comes_from(source: str) -> None:
    for figure in (one for one in figures(source) if one.cost_ns is not None):
        assert float(figure.cost_ns or 0) == pytest.approx(float(figure.base_value), rel=0.001)
        assert figure.cost_from == ("derived" if figure.is_derived else "printed"), figure


@pytest.mark.parametrize("source", SOURCES)
def test_a_grade_says_how_much_was_read_and_what_was_derived_here_or_elsewhere(source: str) -> None:
    found = description(source)
    assert found.grade == GRADES[found.read]
    for figure in figures(source):
        # The page has the time, and an issue of the project what follows from it.
        of_an_issue = (source, figure.figure) == ("beyla-3099-documents", "request")
        assert figure.grade.removesuffix("D") == ("X" if of_an_issue else found.grade), figure
        if figure.grade.endswith("D"):
            assert figure.is_derived or "Worked out" in (figure.note or ""), figure
        else:
            assert not figure.is_derived, figure


@pytest.mark.parametrize("source", SOURCES)
def test_no_figure_follows_from_itself(source: str) -> None:
    uses = {one.figure: re.findall(r"\b[a-z]\w*\b(?!\()", one.formula or "") for one in figures(source)}
    assert [figure for figure, used in uses.items() if figure in used] == []


@pytest.mark.parametrize("source", SOURCES)
def test_a_contradiction_is_told_with_the_numbers_that_contradict_each_other(source: str) -> None:
    for finding in description(source).findings:
        assert len(set(re.findall(r"{[a-z0-9_]+}", finding.sentence))) > 1, finding.id
        assert "{" not in re.sub(r"{[a-z0-9_]+}", "", finding.sentence), finding.id


def test_a_figure_is_next_to_a_case_that_there_is() -> None:
    known = {case.id for suite in known_suites(DataFolder(REAL_DATA)).values() for case in suite.cases}
    named = {figure.case for source in SOURCES for figure in figures(source)} - {None}
    assert named
    assert named <= known
