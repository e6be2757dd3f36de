"""The site in a real browser, under its own content policy, served from a sub-path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers import accessibility
from helpers.tiers import deep_but

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

MACHINE, EMULATED = "amd-epyc-2t-kvm-4247", "qemu-tcg-1t-linux-5-10-0-32-amd64-31da"
KINDS = {
    "home": "",
    "ladder": "ladder/",
    "claims": "claims/",
    "costs": "costs/",
    "case": "costs/06-uprobe/",
    "sources": "sources/",
    "source": "sources/gregg-2011-pid-provider/",
    "machines": "machines/",
    "machine": f"machines/{MACHINE}/",
    "kernels": "kernels/",
    "architecture": "kernels/x86-64/",
    "emulated": f"kernels/{EMULATED}/",
    "changes": "kernels/changes/",
    "results": "results/",
    "submission": "results/amd-epyc-2t-kvm-d4f3/2026-11-21-per-event/",
    "number": "results/amd-epyc-2t-kvm-d4f3/2026-11-21-per-event/06-uprobe/bpftrace/",
    "suites": "suites/",
    "suite": "suites/per-event/",
    "tracers": "tracers/",
    "tracer": "tracers/bpftrace/",
    "dictionary": "data/dictionary/",
    "method": "method/",
    "glossary": "glossary/",
    "data": "data/",
    "data changes": "data/changes/",
    "releases": "releases/",
    "guide": "guide/",
    "chapter": "guide/actions/",
    "cite": "cite/",
    "submit": "submit/",
    "search": "search/?q=uprobe",
}
FIRST = (
    *("home", "costs", "case", "source", "machine", "architecture", "submission", "number", "suite", "tracer"),
    *("method", "chapter", "search"),
)
"""One of each layout."""
BOX = """figure => {
    const box = figure.querySelector(".chart-box").getBoundingClientRect();
    return [box.x + scrollX, box.y + scrollY, box.width, box.height];
}"""
"""Where a chart is on its page, however far the page is scrolled."""

PHONE, DESKTOP = (390, 844), (1280, 900)


@pytest.fixture
def said() -> list[str]:
    """What the browser complains of."""
    return []


@pytest.fixture
def page(chromium: Browser, said: list[str]) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    yield listened(context, said)
    context.close()


def listened(context: BrowserContext, said: list[str]) -> Page:
    """A page whose console, errors and failed or foreign requests are written down."""
    made = context.new_page()
    made.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: said.append(f"error: {error}"))
    made.on("requestfailed", lambda request: said.append(f"failed: {request.url}"))
    made.on(
        "request",
        lambda request: (
            None if request.url.startswith(("http://127.0.0.1:", "data:")) else said.append(f"foreign: {request.url}")
        ),
    )
    return made


CHARTS = ("ladder", "case", "source", "machine", "architecture")


@pytest.mark.parametrize("size", deep_but((PHONE, DESKTOP), [PHONE]), ids=["phone", "desktop"])
@pytest.mark.parametrize("kind", deep_but(CHARTS, ["case"]))
def test_a_chart_turns_interactive_without_complaint_or_layout_shift(
    chromium: Browser, address: str, said: list[str], kind: str, size: tuple[int, int]
) -> None:
    context = chromium.new_context(viewport={"width": size[0], "height": size[1]})
    page = listened(context, said)
    page.goto(address + KINDS[kind], wait_until="networkidle")
    # Shifts by a typeface that comes late on a busy machine are another matter: only the chart's are counted.
    page.evaluate(
        """async () => {
            await document.fonts.ready;
            window.shift = 0;
            new PerformanceObserver(list => list.getEntries().forEach(entry => { window.shift += entry.value; }))
                .observe({type: "layout-shift"});
        }"""
    )
    figure = page.locator("figure.chart").first
    before = figure.evaluate(BOX)
    assert figure.locator("svg:visible").count() == 1
    figure.locator(".chart-explore").click()
    page.wait_for_selector("figure.chart[data-state=live] .chart-live svg")
    assert figure.evaluate(BOX) == before
    assert page.evaluate("window.shift") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert said == []
    context.close()


def test_the_chart_program_is_loaded_only_when_a_reader_asks(page: Page, address: str) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(address + KINDS["ladder"], wait_until="networkidle")
    assert not any("vega" in url for url in loaded)
    page.locator("figure.chart button").first.click()
    page.wait_for_selector("figure.chart[data-state=live]")
    assert any("vega" in url for url in loaded)


def test_the_drawing_stays_when_the_chart_program_cannot_be_loaded(page: Page, address: str) -> None:
    page.route("**/vega.js", lambda route: route.abort())
    page.goto(address + KINDS["ladder"])
    figure = page.locator("figure.chart").first
    figure.locator(".chart-explore").click()
    figure.get_by_text("The drawing stays").wait_for()
    assert figure.locator(".chart-still svg:visible").count() == 1


@pytest.mark.parametrize("kind", deep_but(CHARTS, ["case"]))
def test_a_page_reads_without_javascript(unscripted: Page, address: str, kind: str) -> None:
    unscripted.goto(address + KINDS[kind])
    assert unscripted.locator("h1").inner_text()
    assert unscripted.locator("main :is(table, details.fold > summary)").first.is_visible()
    assert unscripted.locator("figure.chart svg:visible").count() >= 1
    assert unscripted.locator("button:visible").count() == 0


@pytest.mark.parametrize("kind", deep_but(KINDS, FIRST))
def test_a_page_loads_without_complaint_fits_a_phone_and_is_accessible(
    chromium: Browser, address: str, said: list[str], looks: Sequence[accessibility.Look], kind: str
) -> None:
    context = chromium.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    page = listened(context, said)
    page.goto(address + KINDS[kind], wait_until="networkidle")
    # A busy machine lays out late; a page that never fits times out here.
    page.wait_for_function(f"() => document.documentElement.scrollWidth <= {PHONE[0]}")
    assert accessibility.violations(page, looks) == []
    assert said == []
    context.close()


def test_the_theme_button_keeps_the_readers_choice(page: Page, address: str) -> None:
    page.goto(address)
    before = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator("header button").click()
    chosen = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert chosen != before
    page.goto(address + "costs/")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == chosen
