"""Diagrams as a browser draws them: text inside its box, in the theme's colours, with its words beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.site]

BEYOND = """async () => {
    await document.fonts.ready;
    return [...document.querySelectorAll(".diagram svg")].filter(svg => svg.getBoundingClientRect().width > 0)
        .flatMap(svg => {
            const boxes = [...svg.querySelectorAll("rect")].map(rect => rect.getBBox());
            const frame = { x: 0, width: svg.viewBox.baseVal.width };
            return [...svg.querySelectorAll("text")].flatMap(text => {
                const { x, y, width, height } = text.getBBox();
                const middle = y + height / 2;
                const around = boxes.filter(box => box.x <= x && x <= box.x + box.width
                    && box.y <= middle && middle <= box.y + box.height);
                const narrowest = around.reduce((one, other) => (other.width < one.width ? other : one), frame);
                return x + width > narrowest.x + narrowest.width + 0.5 ? [text.textContent] : [];
            });
        });
}"""


def pages(site: Path) -> list[str]:
    """The chapters that have a diagram."""
    found = sorted((site / "guide").glob("*/index.html"))
    return [path.parent.name for path in found if 'class="diagram"' in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("width_px", [390, 1280])
def test_no_text_of_a_diagram_leaves_its_box_in_a_browser(
    chromium: Browser, address: str, site: Path, width_px: int
) -> None:
    page = chromium.new_page(viewport={"width": width_px, "height": 900})
    found: dict[str, list[Any]] = {}
    for name in pages(site):
        page.goto(f"{address}guide/{name}/")
        found[name] = page.evaluate(BEYOND)
    page.close()
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_of_a_diagram_has_the_colour_of_the_theme(chromium: Browser, address: str, site: Path, theme: str) -> None:
    context = chromium.new_context(color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    for name in pages(site):
        page.goto(f"{address}guide/{name}/")
        text = page.locator(".diagram svg:visible text").first
        ink = page.locator("body").evaluate("body => getComputedStyle(body).color")
        assert text.evaluate("text => getComputedStyle(text).fill") in {ink, muted(page)}
    context.close()


def muted(page: Any) -> str:  # noqa: ANN401 (Playwright's page)
    """The colour of what stands back."""
    colour: str = page.locator(".diagram-words summary").first.evaluate("one => getComputedStyle(one).color")
    return colour


@pytest.mark.parametrize("scripts", [True, False])
def test_the_words_of_a_diagram_open_without_a_script(
    chromium: Browser, address: str, site: Path, *, scripts: bool
) -> None:
    context = chromium.new_context(java_script_enabled=scripts)
    page = context.new_page()
    for name in pages(site):
        page.goto(f"{address}guide/{name}/")
        words = page.locator(".diagram-words").first
        words.locator("summary").click()
        assert words.locator("li").first.is_visible()
    context.close()
