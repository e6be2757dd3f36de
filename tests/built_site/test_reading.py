"""What a reader without scripts comes for: a cost, its threshold, the rows behind it, its citation; and budgets."""

from __future__ import annotations

import csv
import gzip
import re
from typing import TYPE_CHECKING

import pytest

from helpers.html_page import Page as Html
from helpers.tiers import deep_but

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

VALUE = r"[\d.,\s]+"
PHONE_HEIGHT_PX = 844
SCRIPTS_BYTES = 38 * 1024
"""All of this site's own scripts together, compressed; no page loads them all. Vega and the search's are apart."""


def plain(text: str) -> str:
    """`text` with plain blanks, as a citation has them."""
    return text.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A phone that runs no scripts."""
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 390, "height": PHONE_HEIGHT_PX})
    yield context.new_page()
    context.close()


def test_what_a_uprobe_costs_over_machines_is_on_the_first_screen(page: Page, address: str) -> None:
    page.goto(address)
    line = page.locator("main li", has_text="A user function, counted").first
    assert re.search(rf"{VALUE}[nµ]s to {VALUE}µs on [0-9]+ machines", plain(line.inner_text()))
    box = line.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < PHONE_HEIGHT_PX


def figure(text: str) -> float:
    """The value of a cost in ns or µs, as it is written."""
    value, _, unit = text.partition(" (")[0].rpartition("\u00a0")
    return float(value.replace("\u202f", "")) * {"ns": 1, "µs": 1_000}[unit]


def test_a_cost_leads_to_its_threshold_its_rows_and_its_citation(page: Page, address: str, site: Path) -> None:
    page.goto(f"{address}costs/02-entry-count/")
    cost = page.locator("td a[href$='02-entry-count/bpftrace/#cost']").first
    shown = cost.inner_text().partition(" (")[0]  # the interval there is that of the next run
    cost.click()
    page.wait_for_url("**/02-entry-count/bpftrace/#cost")
    [own] = page.locator("tr", has=page.locator("#cost")).locator("td").all_inner_texts()
    assert figure(own) == pytest.approx(figure(shown), rel=0.05)
    assert "/s (" in page.locator("tr", has=page.locator("#threshold-5")).inner_text()

    page.locator("summary", has_text="Cite this number").click()
    assert page.locator(".cite-bibtex").inner_text().startswith("@misc{probe-effect-")
    assert plain(own.partition(" (")[0]) in plain(page.locator(".cite-bibtex").inner_text())
    assert "data version" in page.locator(".cite-text").inner_text()

    link = page.locator("main a[href$='samples.csv']").first.get_attribute("href") or ""
    place = site / page.url.partition("/some/sub/path/")[2].partition("#")[0]
    rows = list(csv.DictReader((place / link).resolve().read_text(encoding="utf-8").splitlines()))
    assert any(one["case"] == "02-entry-count" and one["tracer"] == "bpftrace" for one in rows)


@pytest.mark.deep
def test_the_guide_is_a_book_that_can_be_read_from_page_to_page(page: Page, address: str) -> None:
    page.goto(f"{address}guide/")
    chapters = page.locator("main ol a").all()
    page.goto(f"{address}guide/why/")
    read = 1
    while page.locator("a[rel=next]").count():
        # A click may return before the next page is there; its `load` is what to wait for.
        with page.expect_event("load"):
            page.locator("a[rel=next]").first.click()
        read += 1
    assert read == len(chapters)


WORDS = {
    "explore/": "What one event costs",
    "compare/": "no difference",
    "search/": "needs scripts",
    "data/": "probe-effect.zip",
    "machines/": "Noise floor",
    "data/dictionary/": "noise floor",
}


@pytest.mark.parametrize("path", deep_but(WORDS, ["compare/", "search/"]))
def test_a_page_of_controls_has_its_content_without_them(page: Page, address: str, path: str) -> None:
    page.goto(address + path)
    assert WORDS[path].lower() in str(page.locator("main").text_content()).lower()  # folded or not
    # The columns of a matrix are selected by the style sheet alone.
    controls = page.locator("main :is(button, select, input):visible:not(.matrix select)")
    assert controls.count() == 0


def test_every_number_in_a_table_of_costs_leads_to_its_page(site: Path) -> None:
    for name in ("", "costs/06-uprobe/", "machines/"):
        page = Html((site / name / "index.html").read_text(encoding="utf-8"))
        assert any("/results/" in one.get("href", "") for one in page.all("a")), name


def test_the_sites_own_scripts_are_light(site: Path) -> None:
    own = [path for path in (site / "js").glob("*.js") if path.name != "vega.js"]
    assert len(own) > 5
    assert sum(len(gzip.compress(path.read_bytes(), mtime=0)) for path in own) <= SCRIPTS_BYTES
