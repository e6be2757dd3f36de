"""The guide as the site shows it: contents, chapters, their numbers and what they stand on."""

from __future__ import annotations

import re
import shutil
import tomllib
from typing import TYPE_CHECKING

import pytest

from helpers.builders import write_data
from helpers.html_page import Page
from helpers.site_build import OWN_KEPT, PROJECT, assembled
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.instructions import is_in_red_zone
from probe_effect.costs.machine import number_on_hardware
from probe_effect.model import ProbeEffectError
from probe_effect.site.build import BuildPlaces, SiteOptions, run_hugo
from probe_effect.site.pages import addresses
from probe_effect.store.beside_files import read_references
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page as BrowserPage

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.site, pytest.mark.browser]


def weight(chapter: Path) -> int:
    """The place of a chapter in the book."""
    return int(tomllib.loads(chapter.read_text(encoding="utf-8").split("+++")[1])["weight"])


CHAPTERS = [path.stem for path in sorted((PROJECT / "content/guide").glob("[a-z]*.md"), key=weight)]
NO_PROSE = re.compile(r"<(figure|table|details)\b.*?</\1>", re.DOTALL)
"""Transcripts, diagrams, tables, and what is folded, such as the data of a chart."""


def page(site: Path, chapter: str) -> str:
    return (site / "guide" / chapter / "index.html").read_text(encoding="utf-8")


def test_the_contents_page_lists_every_chapter_in_order(site: Path) -> None:
    text = (site / "guide/index.html").read_text(encoding="utf-8")
    places = [text.index(f'href="../guide/{chapter}/"') for chapter in CHAPTERS]
    assert places == sorted(places)
    assert all(part in text for part in ("What it costs", "In a real system", "How to read the numbers"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_its_number_its_grounds_and_its_neighbours(site: Path, chapter: str) -> None:
    text = page(site, chapter)
    assert f"Chapter {CHAPTERS.index(chapter) + 1}<" in text
    assert "Measured by" in text
    assert "/sources/" in text
    assert 'rel="next"' in text or chapter == CHAPTERS[-1]
    assert 'rel="prev"' in text or chapter == CHAPTERS[0]
    assert "\ue000" not in text  # the token of a nested shortcode
    assert "raw HTML omitted" not in text


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_fits_a_sitting(site: Path, chapter: str) -> None:
    prose = page(site, chapter).split('<div class="prose">')[1].split('class="references"')[0]
    words = Page(NO_PROSE.sub("", prose)).text.split()
    assert 200 < len(words) <= 2000


def test_a_published_number_has_a_dagger_that_the_page_explains(site: Path) -> None:
    text = page(site, "threads")
    assert 'class="number is-published"' in text
    assert 'aria-label="published"' in text
    assert "Published by others, and not measured here" in Page(text).text


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_derived_figure_has_a_mark_of_its_own_that_its_page_explains(site: Path, chapter: str) -> None:
    text = page(site, chapter)
    derived = text.count('class="number is-derived"')
    assert text.count('aria-label="derived"') == derived
    assert ("Worked out here from what others printed" in text) == (derived > 0)
    assert text.count('aria-label="published"') == text.count('class="number is-published"')


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_table_says_what_a_stepped_uprobe_costs_without_a_hypervisor_and_where_a_called_one_is_unsafe(
    site: Path, chapter: str, catalogue: Catalogue
) -> None:
    found = evidence_of(catalogue)
    measured = {addresses.number(one): one for one in catalogue.numbers.current() if one.case in found.case_of}
    for table in page(site, chapter).split("<table>")[1:]:
        rows, _, after = table.partition("</table>")
        note = after.partition("</p>")[0]
        if "measured-on" not in note:
            continue
        shown = [one for address, one in measured.items() if address in rows]
        is_stepped = any(number_on_hardware(found, one) for one in shown)
        assert ("an exit to KVM" in note) == is_stepped
        assert ("Linux 6.18 to 7.1" in note) == any(is_in_red_zone(found.case_of[one.case], one) for one in shown)


def test_every_reference_stands_on_a_page_of_its_own(site: Path) -> None:
    text = (site / "references/index.html").read_text(encoding="utf-8")
    found, _ = read_references(DataFolder(PROJECT / "data"))
    assert [one.id for one in found if f'id="{one.id}"' not in text] == []
    assert "references/" in (site / "sources/index.html").read_text(encoding="utf-8")


@pytest.mark.deep
def test_no_chapter_is_wider_than_a_phone(address: str, phone: BrowserPage) -> None:
    wide = []
    for chapter in ("", *(f"{chapter}/" for chapter in CHAPTERS)):
        phone.goto(f"{address}guide/{chapter}")
        if phone.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(chapter)
    assert wide == []


def small_places(folder: Path) -> BuildPlaces:
    """A project without pages of its own, and data of one suite."""
    project = folder / "project"
    (project / "content").mkdir(parents=True)
    for name in ("site", ".github", "CONTRIBUTING.md"):
        (project / name).symlink_to(PROJECT / name)
    shutil.copytree(write_data(folder), project / "data")
    return BuildPlaces(project, DataFolder(project / "data", OWN_KEPT), folder / "site")


@pytest.fixture
def small(tmp_path: Path) -> BuildPlaces:
    return small_places(tmp_path)


def render(places: BuildPlaces, **texts: str) -> dict[str, str]:
    """Each text as the page that Hugo renders of it, beside all that the data make."""
    for name, text in {"_index": "", **texts}.items():
        written = f'+++\ntitle = "A page"\n+++\n\n{text}\n'
        (places.project / "content" / f"{name}.md").write_text(written, encoding="utf-8")
    assembled(places)
    run_hugo(places.project, places.work, places.out, SiteOptions())
    return {name: (places.out / name / "index.html").read_text(encoding="utf-8") for name in texts}


KEYS = ("plain", "cost", "printed_cost.recomputed", "traced/a-talk.plain")
TEXTS = {
    "results": '{{< fragment "suites/per-event.md" >}}',
    "daggers": " ".join(f'{{{{< number "a-talk.{key}" >}}}}' for key in KEYS),
    "statements": 'B{{< reference "two" >}} a{{< reference "one" >}} b{{< reference "two" >}}.',
}
REFERENCE = """[[reference]]
id = "{0}"
says = "It is {0}."
project = "A"
place = "a.c"
url = "https://a.org/{0}"
"""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    places = small_places(tmp_path_factory.mktemp("rendered"))
    entries = "".join(REFERENCE.format(one) for one in ("one", "two"))
    (places.data.root / "references.toml").write_text(f"schema_version = 1\n{entries}", encoding="utf-8")
    return render(places, **TEXTS)


def test_what_nobody_printed_never_has_the_dagger_of_an_author(rendered: dict[str, str]) -> None:
    text = rendered["daggers"]
    assert text.count('aria-label="published"') == 1
    assert text.count('aria-label="derived"') == 3


def test_a_statement_leads_to_its_reference_below_the_text_and_the_same_one_twice_has_one_number(
    rendered: dict[str, str],
) -> None:
    text = rendered["statements"]
    assert [text.count(f'href="#reference-{one}"') for one in ("two", "one")] == [2, 1]
    assert text.count('aria-label="Reference 1"') == 2
    assert text.index('id="reference-two"') < text.index('id="reference-one"')
    assert 'href="https://a.org/two"' in text


def test_a_chapter_shows_the_results_of_a_suite_with_the_machine_that_they_are_of(rendered: dict[str, str]) -> None:
    text = rendered["results"]
    assert "/02-kprobe/bpftrace/#cost" in text
    assert "Measured on" in text


WRONG = {
    '{{< reference "nowhere" >}}': "is not in data/references.toml",
    '{{< number "bpftrace.02-kprobe.weight" >}}': "no text for",
    '{{< number "bpftrace.02-kprobe/bpftrace.06-uprobe" >}}': "no text for",
    '{{< fragment "tables/none.md" >}}': "no assets/fragments/tables/none.md",
    '{{< question "nobody" >}}': 'no text for "question/nobody"',
}


def test_what_is_not_in_the_data_stops_the_build_and_is_named_with_its_place(small: BuildPlaces) -> None:
    with pytest.raises(ProbeEffectError) as caught:
        render(small, wrong="\n\n".join(WRONG))
    said = str(caught.value).splitlines()
    first = 5  # the line of the first, after the front matter
    for place, message in enumerate(WRONG.values()):
        line = f"wrong.md:{first + 2 * place}:"
        assert [one for one in said if message in one and line in one], "\n".join(said)


def test_a_chapter_that_names_an_unknown_source_stops_the_build(small: BuildPlaces) -> None:
    guide = small.project / "content" / "guide"
    guide.mkdir()
    front = '+++\ntitle = "{}"\nkind = "guide"\nweight = 10\n{}+++\n\nText.\n'
    (guide / "_index.md").write_text(front.format("The guide", ""), encoding="utf-8")
    (guide / "01-one.md").write_text(
        front.format("One", 'suites = ["per-event"]\nsources = ["nobody"]\n'), encoding="utf-8"
    )
    with pytest.raises(ProbeEffectError, match=r'"nobody" is none of the sources in the data'):
        render(small)
