"""The home page's form: what it has before its scripts, how it asks, and what it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from probe_effect.answer.question import QUESTIONS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.site]

READY = "form.advise[data-state=ready]"
SHOWN = """form => ({
    options: [...form.querySelectorAll("select")].map(one => [one.name, one.value, one.options.length]),
    script: form.elements.script.value,
    words: ["output", "dt", "dd", ".advise-probes :is(code, p, label)", ".advise-less", ".advise-details > details"]
        .map(part => [...form.querySelectorAll(part)].map(one => one.textContent.replaceAll(/\\s+/g, ""))),
})"""
"""What a reader gets of the form."""


def come(page: Page) -> None:
    """As a reader does, for whom its scripts wait."""
    page.locator("#advise-machine").focus()
    page.wait_for_selector(READY)


@pytest.mark.parametrize("path", ["", "advise/"])
def test_a_page_is_sent_with_what_its_scripts_show_first(
    laptop: Page, unscripted: Page, address: str, path: str
) -> None:
    unscripted.goto(address + path)
    sent = unscripted.locator("form.advise").evaluate(SHOWN)
    laptop.goto(address + path)
    come(laptop)
    assert laptop.locator("form.advise").evaluate(SHOWN) == sent
    assert "go ahead" in sent["words"][0][0].replace("goahead", "go ahead")


def test_without_scripts_there_is_an_answer_and_no_field(unscripted: Page, address: str) -> None:
    unscripted.goto(address)
    assert (
        unscripted.locator("form.advise output").inner_text().startswith("An event of this script with bpftrace costs")
    )
    assert [one for one in unscripted.locator("form.advise :is(select, input)").all() if one.is_visible()] == []


def test_scripts_and_costs_wait_until_a_reader_comes(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address, wait_until="networkidle")
    assert [one for one in asked if "advise" in one] == []
    come(page)
    assert len([one for one in asked if "advise" in one]) == 2
    context.close()


def test_a_question_is_a_script_whose_answer_can_be_sent_to_somebody(laptop: Page, address: str) -> None:
    laptop.goto(address)
    come(laptop)
    laptop.select_option("#advise-question", label="Print every call of a process (strace)")
    laptop.fill("#advise-rate-0", "2k")
    said = laptop.locator("form.advise output").inner_text()
    assert "with strace slows a busy thread" in said
    laptop.goto(laptop.url)
    laptop.wait_for_selector(READY)
    assert laptop.locator("form.advise output").inner_text() == said
    assert laptop.input_value("#advise-question") == QUESTIONS["System calls"]["Print every call of a process (strace)"]


def test_what_was_chosen_before_the_scripts_came_stays_chosen(laptop: Page, address: str) -> None:
    laptop.goto(address)
    script = QUESTIONS["The kernel"]["Count switches between threads"]
    laptop.evaluate("value => { document.querySelector('#advise-question').value = value; }", script)
    come(laptop)
    assert laptop.input_value("#advise-script") == script
    assert laptop.locator(".advise-probes code").inner_text() == "tracepoint:sched:sched_switch"


@pytest.mark.deep
def test_a_machine_that_was_chosen_is_kept_for_the_whole_site(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    come(page)
    machine: Any = page.locator("#advise-machine option").nth(1).get_attribute("value")
    page.select_option("#advise-machine", machine)
    page.goto(f"{address}advise/")
    page.wait_for_selector(READY)
    assert page.input_value("#advise-machine") == machine
    page.select_option("#advise-machine", "")
    page.goto(address)
    come(page)
    assert page.input_value("#advise-machine") == ""
    context.close()


def test_back_goes_from_a_choice_to_the_one_before(laptop: Page, address: str) -> None:
    laptop.goto(address)
    come(laptop)
    before = laptop.locator("form.advise output").inner_text()
    laptop.select_option("#advise-question", index=2)
    laptop.go_back()
    assert laptop.locator("form.advise output").inner_text() == before


def test_what_is_typed_before_the_costs_are_there_is_kept_and_answered(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    held: list[Route] = []
    page.route("**/data/advise.*.json", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks what it is given)
    page.goto(address)
    with page.expect_request("**/data/advise.*.json"):
        page.focus("#advise-rate-0")
    page.keyboard.type("300")
    while not held:  # the route is told after the request
        page.evaluate("true")
    held[0].continue_()
    page.wait_for_selector("form.advise[data-state=ready]")
    page.keyboard.type(",000")
    assert page.input_value("#advise-rate-0") == "300,000"
    assert "At 300" in page.locator("form.advise output").inner_text()
    context.close()


@pytest.mark.deep
def test_without_the_costs_the_form_says_so(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("**/data/advise.*.json", lambda route: route.abort())
    page.goto(address)
    page.locator("#advise-machine").focus()
    page.get_by_text("could not be loaded").wait_for()
    context.close()
