"""Pages of results in the built site: every number has an address, every header an explanation, and both are found."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import pytest

from html_page import Page as Html
from probe_effect.guidance import names
from probe_effect.guidance.catalogue import Catalogue, read_catalogue
from probe_effect.guidance.kernels import kernel_names
from probe_effect.pages import addresses
from probe_effect.pages.results import has_number
from probe_effect.store.places import DataFolder
from site_build import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

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
NUMBER_BUDGET_BYTES, MACHINE_BUDGET_BYTES = 8_000, 20_000


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_catalogue(DataFolder(PROJECT / "data"))


def compressed_bytes(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), mtime=0))


def numbers(catalogue: Catalogue) -> Iterator[str]:
    """The address of every number."""
    for one in catalogue.all_submissions():
        for case in one.summary.cases:
            if has_number(case):
                yield addresses.number(one.summary.id, case)


def test_every_number_has_a_light_page_with_the_place_that_links_lead_to(site: Path, catalogue: Catalogue) -> None:
    found = list(numbers(catalogue))
    assert len(found) > 800
    for address in found:
        path = site / address.strip("/") / "index.html"
        assert Html(path.read_text(encoding="utf-8")).ids & {"cost", "instructions"}, address
        assert compressed_bytes(path) < NUMBER_BUDGET_BYTES, address


def test_a_machine_with_many_runs_has_a_short_page(site: Path, catalogue: Catalogue) -> None:
    for machine in catalogue.machines():
        assert compressed_bytes(site / "machines" / machine / "index.html") < MACHINE_BUDGET_BYTES


def headers_of_data(catalogue: Catalogue) -> set[str]:
    """Words that head a column because they are data: kernels, platforms, versions of tools."""
    kernels = kernel_names(one.document.system.kernel_release for one in catalogue.counted).values()
    platforms = (figure.platform for source in catalogue.sources for figure in source.figures)
    tools = (
        names.tool(tracer, version).partition(",")[0]
        for one in catalogue.all_submissions()
        for tracer, version in one.document.tools.items()
    )
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
    assert checked > 1000
    assert unexplained == set()


def test_without_javascript_a_number_leads_to_its_rows_and_its_citation(chromium: Browser, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}costs/06-uprobe/")
    row = page.locator("tr", has_text="d4f3").filter(has_text="bpftrace 0.17.0").first
    row.locator('a[href$="#threshold-5"]').click()
    assert page.url.endswith(f"{NUMBER}#threshold-5")
    place = page.locator("#threshold-5")
    assert "k/s" in place.inner_text()
    assert page.get_by_role("link", name="samples.csv").first.get_attribute("href")
    assert "@misc{probe-effect-" in (page.locator("#cite").text_content() or "")
    context.close()


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
