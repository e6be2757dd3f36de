"""Pages of cases as a reader sees them: short, each row and each cause with an address, folds that an address opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

MOST_WORDS = 1200

WORDS = r"""() => {
  document.querySelectorAll("main svg").forEach((drawing) => drawing.remove());
  return document.querySelector("main").innerText.match(/\S*[\p{L}\p{N}]\S*/gu).length;
}"""
"""Of what is read: the labels of a drawing, one for each dot, are looked at."""


def test_no_page_of_a_case_is_longer_than_a_reader_reads(
    laptop: Page, address: str, site: Path, *, is_deep: bool
) -> None:
    written = {path.parent.name: path.stat().st_size for path in (site / "costs").glob("[0-9]*/index.html")}
    cases = sorted(written, key=written.__getitem__)[0 if is_deep else -5 :]  # the heaviest are likely the longest
    words: dict[str, int] = {}
    for case in cases:
        laptop.goto(f"{address}costs/{case}/", wait_until="load")
        words[case] = laptop.evaluate(WORDS)
    assert cases
    assert {case: count for case, count in words.items() if count > MOST_WORDS} == {}


def test_the_answer_comes_first_and_the_rest_is_folded(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}costs/06-uprobe/")
    assert laptop.locator(".prose > p strong").first.inner_text().endswith("s")
    assert laptop.locator("details.fold").count() > 3
    assert laptop.locator("details.fold[open]").count() == 0


def test_an_address_within_a_fold_opens_it(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}costs/06-uprobe/#published-by-others")
    laptop.locator("details.fold[open] summary", has_text="Published by others").wait_for()


def test_a_number_leads_to_its_own_cause(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}costs/04-tracepoint-entry/")
    mark = laptop.locator("td a[href*='kernels/changes/#']").first
    cause = (mark.get_attribute("href") or "").partition("#")[2]
    mark.click()
    laptop.locator(f"li [id='{cause}']").wait_for()


def test_a_machine_is_a_row_above_those_of_its_tracers(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}costs/06-uprobe/")
    groups = laptop.locator(".prose > .table-scroll tr.group th[scope=rowgroup]")
    assert len(set(groups.all_inner_texts())) == groups.count() > 1
    row = laptop.locator("tr.group + tr .place").first.get_attribute("id")
    laptop.goto(f"{address}costs/06-uprobe/#{row}")
    assert laptop.locator(":target").is_visible()


def test_the_changes_of_a_case_are_a_row_that_its_address_shows(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}kernels/changes/#06-uprobe")
    assert laptop.locator("tr:has(:target) td a").first.is_visible()
    laptop.goto(f"{address}kernels/changes/#linux-migrate-inline")
    assert laptop.locator("details.fold[open] li :target").is_visible()
