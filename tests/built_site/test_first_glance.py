"""What a reader sees first: folds that an address opens, dots that say their value, ways to all chapters and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

READY = "form.advise[data-state=ready]"


def words(page: Page) -> int:
    """How many words of the text a reader sees before opening anything."""
    return len(page.locator("main").inner_text().split())


@pytest.mark.parametrize(
    "path",
    ["kernels/changes/", "kernels/x86-64/", "references/", "data/dictionary/", "does-it-hold/", "charts/", "asked/"],
)
def test_a_long_page_shows_its_beginning_and_folds_more_than_it_shows(laptop: Page, address: str, path: str) -> None:
    laptop.goto(address + path)
    seen = words(laptop)
    laptop.locator("main details.fold").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert words(laptop) > 2 * seen


def test_the_address_of_a_folded_section_opens_it(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}kernels/what-counts-hide/#one-cpu-or-two")
    heading = laptop.locator("#one-cpu-or-two")
    assert heading.evaluate("one => one.closest('details').open")
    assert laptop.locator("#do-instructions-order-the-cases-as-times-do").evaluate(
        "one => !one.closest('details').open"
    )


def test_a_section_that_is_opened_is_in_the_address(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}kernels/")
    laptop.locator("summary:has(#the-machines)").click()
    assert laptop.url.endswith("#the-machines")


def test_a_dot_says_its_value_under_the_pointer_and_by_the_keyboard(laptop: Page, address: str) -> None:
    asked: list[str] = []
    laptop.on("request", lambda one: asked.append(one.url))
    laptop.goto(f"{address}machines/")
    figure = laptop.locator("figure.chart").first
    dots, line = figure.locator(".chart-wide [data-says]"), figure.locator(".chart-value")
    dots.nth(1).hover()
    assert line.text_content() == dots.nth(1).get_attribute("data-says")
    figure.locator(".chart-still").focus()
    laptop.keyboard.press("ArrowRight")
    assert line.text_content() == dots.nth(2).get_attribute("data-says")
    assert not [url for url in asked if "vega" in url]


def test_a_dot_says_its_value_at_a_tap(phone: Page, address: str) -> None:
    phone.goto(f"{address}machines/")
    figure = phone.locator("figure.chart").first
    dot = figure.locator(".chart-narrow [data-says]").first
    dot.click()
    assert figure.locator(".chart-value").text_content() == dot.get_attribute("data-says")


@pytest.mark.deep
def test_every_chapter_is_one_click_from_every_chapter(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}guide/")
    chapters = laptop.locator(".book-contents li > a").all_text_contents()
    laptop.goto(f"{address}guide/probes/")
    laptop.locator(".chapters summary").click()
    assert laptop.locator(".chapters li a").all_inner_texts() == chapters
    assert laptop.locator('.chapters [aria-current="page"]').count() == 1


def test_findings_and_questions_are_in_the_menu_of_every_page(laptop: Page, address: str) -> None:
    for path in ("", "costs/06-uprobe/"):
        laptop.goto(address + path)
        named = laptop.locator(".site-nav a").all_text_contents()
        assert {"Findings", "Asked"} <= set(named)


def test_a_script_of_ones_own_opens_its_field(laptop: Page, address: str) -> None:
    laptop.goto(address)
    laptop.locator("#advise-machine").focus()
    laptop.wait_for_selector(READY)
    laptop.select_option("#advise-question", "")
    field = laptop.locator("#advise-script")
    assert field.is_visible()
    assert field.evaluate("one => one === document.activeElement")
    assert field.input_value() == ""
    assert laptop.locator("output").text_content() == ""


def test_what_the_form_cannot_read_says_what_was_measured_of_it(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}advise/")
    laptop.wait_for_selector(READY)
    laptop.fill("#advise-script", "sudo ltrace -p 4711")
    answer = laptop.locator("output").text_content() or ""
    assert "for a library call, measured on" in answer
    assert "command lines are not read" in answer
