"""The matrices of `/explore/` in a real browser: tracers as folds, a machine at a time on a phone, colours, weight."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from helpers import accessibility
from helpers.html_page import Page as Html

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

PAGE = "explore/index.html"
BUDGET_BYTES, BUDGET_WORDS = 60_000, 3_000
OPEN = ".matrix:first-of-type > details[open]"
COLUMN = f"{OPEN} thead th + th"


def shown_columns(page: Page) -> list[str]:
    return [one for one in page.locator(f"{COLUMN}:visible").all_inner_texts() if one]


def columns(page: Page) -> list[str]:
    return page.locator(COLUMN).all_text_contents()


def test_the_page_is_light(site: Path, laptop: Page, address: str) -> None:
    assert len(gzip.compress((site / PAGE).read_bytes(), mtime=0)) <= BUDGET_BYTES
    laptop.goto(f"{address}explore/")
    assert len(laptop.locator("main").inner_text().split()) <= BUDGET_WORDS


def test_every_cell_leads_to_a_number_that_has_a_page(site: Path) -> None:
    page = Html((site / PAGE).read_text(encoding="utf-8"))
    cells = {one["href"].partition("#")[0] for one in page.all("a") if "../results/" in one.get("href", "")}
    assert len(cells) > 1_000
    assert {one for one in cells if not (site / "explore" / one / "index.html").resolve().is_file()} == set()


def test_a_laptop_shows_every_machine_of_one_tracer(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}explore/")
    assert shown_columns(laptop) == columns(laptop)
    assert len(columns(laptop)) > 3
    assert laptop.locator(OPEN).count() == 1


@pytest.mark.deep
def test_a_tracer_that_a_reader_opens_closes_the_other_and_is_in_the_address(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}explore/")
    laptop.locator(".matrix summary", has_text="strace").first.click()
    assert laptop.locator(f"{OPEN} summary").all_inner_texts() == ["strace 6.1"]
    assert laptop.url.endswith("explore/#machines-strace")
    laptop.goto(f"{address}")
    laptop.goto(f"{address}explore/#machines-strace")
    assert laptop.locator(f"{OPEN} summary").all_inner_texts() == ["strace 6.1"]


@pytest.mark.deep
def test_a_phone_shows_one_machine_at_a_time_without_scripts(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}explore/")
    assert shown_columns(page) == columns(page)[:1]
    assert page.locator(f"{OPEN} tbody td:visible").count() == page.locator(f"{OPEN} tbody tr:has(td)").count()
    page.locator("#machines-column").select_option(index=2)
    assert shown_columns(page) == columns(page)[2:3]
    context.close()


def test_a_phone_begins_with_the_machine_that_its_reader_chose_before(phone: Page, address: str) -> None:
    phone.goto(f"{address}explore/")
    phone.locator("#machines-column").select_option(index=3)
    chosen = phone.locator("#machines-column").input_value()
    phone.reload()
    phone.wait_for_function("value => document.querySelector('#machines-column').value === value", arg=chosen)
    assert shown_columns(phone) == columns(phone)[3:4]


@pytest.mark.deep
def test_every_colour_can_be_read_in_both_themes(
    chromium: Browser, address: str, looks: Sequence[accessibility.Look]
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{address}explore/")
    assert page.locator(".matrix-steps").first.locator("li").count() > 5
    assert accessibility.violations(page, looks) == []
    context.close()
