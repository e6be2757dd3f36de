"""What a page's address has of its state: folds that are open, and charts that are explored. And pages on paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.site, pytest.mark.browser]

HOLDS = "#chart-does-it-hold"
LIVE = f"{HOLDS}[data-state=live]"


def number_page(catalogue: Catalogue) -> str:
    """The address of a number's page, below the site's."""
    return f"results/{next(one.id for some in catalogue.timed for one in some.numbers if one.cost)}/"


def test_an_open_fold_is_in_the_address_and_is_opened_by_it(laptop: Page, address: str, catalogue: Catalogue) -> None:
    laptop.goto(f"{address}{number_page(catalogue)}")
    laptop.locator(".cite > summary").click()
    assert laptop.url.endswith("#cite")
    laptop.reload()
    assert laptop.locator(".cite-text").is_visible()
    laptop.locator(".cite > summary").click()
    assert "#" not in laptop.url


def test_a_line_that_a_reader_came_for_stays_in_the_address(laptop: Page, address: str, catalogue: Catalogue) -> None:
    laptop.goto(f"{address}{number_page(catalogue)}#cost")
    laptop.locator(".cite > summary").click()
    assert laptop.url.endswith("#cost")


def test_an_explored_chart_is_in_the_address_with_what_was_chosen_in_it(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}does-it-hold/")
    dots = laptop.locator(f"{HOLDS} .chart-live .mark-symbol.role-mark path")
    laptop.locator(f"{HOLDS} .chart-explore").click()
    laptop.wait_for_selector(LIVE)
    few = dots.count()
    hint = laptop.locator(f"{HOLDS} .chart-live").evaluate("one => getComputedStyle(one, '::after').content")
    assert hint == '"Point at a mark for its figures"'
    laptop.locator(f"{HOLDS} .chart-choices input").check()
    laptop.wait_for_function("() => location.search.includes('choices=unclear')")
    laptop.reload()
    laptop.wait_for_selector(LIVE)
    laptop.wait_for_function(
        f"few => document.querySelectorAll('{HOLDS} .chart-live .mark-symbol.role-mark path').length > few", arg=few
    )
    laptop.locator(f"{HOLDS} .chart-explore").click()
    assert laptop.url.endswith("does-it-hold/")


@pytest.mark.deep
def test_a_slowdown_under_the_pointer_is_in_words(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}does-it-hold/")
    laptop.locator(f"{HOLDS} .chart-explore").click()
    laptop.wait_for_selector(LIVE)
    laptop.locator(f"{HOLDS} .chart-live .mark-symbol.role-mark path").first.hover(force=True)
    tooltip = laptop.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert re.search(r"measured\s+[\d.,\s]+ % \([\d., −-]+ to [\d., ]+\)", tooltip.inner_text())


def test_the_sheet_to_print_is_of_two_pages_at_most(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}guide/checklist/")
    assert len(re.findall(rb"/Type\s*/Page\b", laptop.pdf(format="A4"))) <= 2


@pytest.mark.parametrize("path", ["advise", "explore", "compare", "search"])
def test_a_page_without_its_field_says_why(unscripted: Page, address: str, path: str) -> None:
    unscripted.goto(f"{address}{path}/")
    assert re.search("needs? (JavaScript|scripts)", unscripted.locator("main").inner_text())
