"""Lists that grow with the data: a hundred to a page, nothing twice and nothing left out, and pages that stay short."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.number_builder import number, submission
from helpers.written_pages import split
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.site.pages import fragments, machine_page, site

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Submission

LINK = re.compile(r"\]\((/(?:machines|results|data/results)/[^)]+)\)")
LISTS = {
    "machines.md": ("machines", "/machines/m000/"),
    "results.md": ("results", "/results/m000/2026-11-01-tiny/"),
    "files.md": ("data/files", "/data/results/m000/2026-11-01-tiny/samples.csv"),
    "data-changes.md": ("data/changes", "/results/m000/2026-11-01-tiny/"),
}
"""Fragment to the section where it begins, and where its last item leads: the machine that ran first."""


def run(machine: str, day: int = 1) -> Submission:
    made = submission(machine, f"2026-11-{day:02d}T10:00:00Z", noise_floor_ns=1.0, baseline=Estimate(100.0))
    number(made, Estimate(50.0, 45.0, 55.0))
    return made


def catalogue_of(count: int) -> Catalogue:
    """So many machines, each with a run."""
    return Catalogue(active=tuple(run(f"m{place:03d}", 1 + place * 28 // max(count, 28)) for place in range(count)))


def pages(catalogue: Catalogue, fragment: str) -> list[str]:
    """What stands on each page of a list."""
    section, _ = LISTS[fragment]
    further = {path: text for path, text in fragments.write_further(catalogue) if path.startswith(f"{section}/page/")}
    assert list(further) == [f"{section}/page/{number}.md" for number in range(2, len(further) + 2)]
    return [fragments.write_all(catalogue)[fragment], *further.values()]


@pytest.mark.parametrize("fragment", LISTS)
@pytest.mark.parametrize(("count", "expected"), [(0, 1), (1, 1), (100, 1), (101, 2), (250, 3)])
def test_a_list_has_a_page_for_each_hundred_and_one_where_there_is_nothing(
    fragment: str, count: int, expected: int
) -> None:
    assert len(pages(catalogue_of(count), fragment)) == expected


@pytest.mark.parametrize("fragment", LISTS)
def test_everything_of_a_list_stands_on_one_of_its_pages_and_once(fragment: str) -> None:
    of_pages = [
        [link for link in LINK.findall(text) if "/page/" not in link] for text in pages(catalogue_of(250), fragment)
    ]
    found = [link for links in of_pages for link in dict.fromkeys(links)]
    assert LISTS[fragment][1] in of_pages[-1]
    for place in range(250):
        ours = [link for link in found if f"/m{place:03d}/" in link]
        assert ours
        assert len(ours) == len(set(ours))


@pytest.mark.parametrize("fragment", LISTS)
def test_the_pages_of_a_list_lead_to_one_another(fragment: str) -> None:
    section = LISTS[fragment][0]
    first, second, third = pages(catalogue_of(250), fragment)
    assert f"](/{section}/page/2/)" in first
    assert f"](/{section}/)" in second
    assert f"](/{section}/page/3/)" in second
    assert f"](/{section}/page/2/)" in third


def test_further_pages_have_a_title_that_tells_them_apart() -> None:
    fronts = [split(text)[0]["title"] for _, text in fragments.write_further(catalogue_of(250))]
    assert len(fronts) == len(set(fronts)) == 2 * len(LISTS)


def test_few_things_make_no_further_pages() -> None:
    assert not [path for path, _ in site.content(catalogue_of(20)) if "/page/" in path]


def test_a_run_more_makes_the_page_of_its_machine_longer_by_a_line() -> None:
    runs = [run("m", day) for day in range(1, 29)]
    catalogue = Catalogue(active=tuple(runs))
    newest_first = catalogue.numbers.machines()["m"]
    few, many = (len(machine_page.write(some, catalogue)) for some in (newest_first[:8], newest_first))
    assert 0 < (many - few) / 20 < 200
