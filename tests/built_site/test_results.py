"""Pages of results in the built site: every number has an address, every header an explanation, and both are found."""

from __future__ import annotations

import gzip
import html
import re
from typing import TYPE_CHECKING

import pytest

from helpers.html_page import Page as Html
from probe_effect.compare.kernels import kernel_names
from probe_effect.numbers import names
from probe_effect.site.pages import addresses

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.site, pytest.mark.browser]

NUMBER = "results/amd-epyc-2t-kvm-d4f3/2026-11-21-per-event/06-uprobe/bpftrace/"
MADE_FROM_DATA = (
    "results",
    "machines",
    "kernels",
    "costs",
    "sources",
    "suites",
    "tracers",
    "releases",
    "data/dictionary",
)
HEADER = re.compile(r'<th scope="col"[^>]*>(.*?)</th>', re.DOTALL)
EXPLAINED = re.compile(r'<a href="[^"]*data/dictionary/(?:index\.html)?#([a-z0-9-]+)"')
PLACE_OF_NUMBER = re.compile(r'<a [^>]*\bid="?(?:cost|instructions)["\s>]')
"""As our templates write it: a parser takes ten seconds for all pages."""

NUMBER_BUDGET_BYTES = 8_000


def test_the_title_of_a_submission_names_machine_and_day(site: Path, catalogue: Catalogue) -> None:
    """So that bookmarks and what a search finds tell a hundred runs of one suite from each other."""
    for one in catalogue.everything:
        page = (site / addresses.submission(one.id).strip("/") / "index.html").read_text(encoding="utf-8")
        title = html.unescape(page[page.index("<title>") : page.index("</title>")])
        assert f"{names.machine_name(one)}, {names.date_words(one.date)}" in title


def test_every_number_has_a_page_with_the_place_that_links_lead_to(site: Path, catalogue: Catalogue) -> None:
    for one in (one for some in catalogue.everything for one in some.numbers if one.cost is not None):
        path = site / addresses.number(one).strip("/") / "index.html"
        assert PLACE_OF_NUMBER.search(path.read_text(encoding="utf-8")), one.id


def test_the_page_of_a_number_is_light(site: Path) -> None:
    assert len(gzip.compress((site / NUMBER / "index.html").read_bytes(), mtime=0)) < NUMBER_BUDGET_BYTES


def headers_of_data(catalogue: Catalogue) -> set[str]:
    """Words that head a column because they are data: kernels, platforms, versions of tools."""
    releases: dict[str, list[str]] = {}
    for one in catalogue.counted:
        releases.setdefault(one.document.machine.architecture, []).append(one.document.system.kernel_release)
    kernels = [name for each in releases.values() for name in kernel_names(each).values()]  # each has its own pages
    platforms = (figure.platform for source in catalogue.sources for figure in source.figures)
    tools = (
        names.tool(tracer, version).partition(",")[0]
        for one in catalogue.everything
        for tracer, version in one.document.tools.items()
    )
    kernels += [f"Linux {names.release_series(one)}" for each in releases.values() for one in each]  # alone on its page
    return {*kernels, *(name.removeprefix("Linux ") for name in kernels), *filter(None, platforms), *tools}


def test_every_header_of_a_table_leads_to_its_explanation(site: Path, catalogue: Catalogue) -> None:
    dictionary = Html((site / "data" / "dictionary" / "index.html").read_text(encoding="utf-8")).ids
    known = headers_of_data(catalogue)
    unexplained: set[tuple[str, str]] = set()
    checked = 0
    for folder in MADE_FROM_DATA:
        for path in (site / folder).rglob("index.html"):
            for header in HEADER.findall(path.read_text(encoding="utf-8")):
                link = EXPLAINED.search(header)
                words = Html(header).text
                checked += 1
                if link is None and words not in known:
                    unexplained.add((str(path.relative_to(site)), words))
                elif link is not None:
                    assert link[1] in dictionary, path
    assert checked
    assert unexplained == set()


def test_without_javascript_a_number_leads_to_its_rows_and_its_citation(unscripted: Page, address: str) -> None:
    unscripted.goto(f"{address}costs/06-uprobe/")
    unscripted.locator('tbody tr a[href$="#threshold-5"]').first.click()
    unscripted.wait_for_url("**/06-uprobe/**#threshold-5")
    place = unscripted.locator("#threshold-5")
    assert "k/s" in place.inner_text()
    assert unscripted.get_by_role("link", name="samples.csv").first.get_attribute("href")
    assert "@misc{probe-effect-" in (unscripted.locator("#cite").text_content() or "")


def test_the_address_of_a_quantity_shows_its_line(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 500})
    page = context.new_page()
    page.goto(f"{address}{NUMBER}#stop")
    box = page.locator("#stop").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 500
    weight = page.locator("#stop").evaluate("place => getComputedStyle(place).fontWeight")
    assert int(weight) > int(page.locator("#start").evaluate("place => getComputedStyle(place).fontWeight"))
    context.close()


def test_only_letters_digits_dots_hyphens_and_underscores_make_a_place(site: Path) -> None:
    places = [
        attributes["id"]
        for folder in ("sources", "data/dictionary")
        for path in (site / folder).rglob("index.html")
        for attributes in Html(path.read_text(encoding="utf-8")).all("a")
        if attributes.get("class") == "place"
    ]
    assert places
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", place) for place in places)
