"""Diagrams as a browser draws them: text inside its box, arrows between sides, and an order that can be read aloud."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from helpers.tiers import deep_but

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext

pytestmark = [pytest.mark.browser, pytest.mark.site]

BEYOND = """async () => {
    await document.fonts.ready;
    return [...document.querySelectorAll(".diagram")].flatMap(figure => {
        const frame = figure.getBoundingClientRect(), text = document.createRange();
        return [...figure.querySelectorAll("li, p, a, span:not(.visually-hidden)")].filter(box => {
            const of = box.getBoundingClientRect();
            const isBeyond = node => {
                text.selectNode(node);
                const { left, right } = (node.getBoundingClientRect ? node : text).getBoundingClientRect();
                return left < of.left - 1 || right > of.right + 1;
            };
            const isSeen = node => node.className !== "visually-hidden" && node.textContent.trim();
            const isOutside = of.left < frame.left - 1 || of.right > frame.right + 1;
            return isOutside || [...box.childNodes].filter(isSeen).some(isBeyond);
        }).map(box => box.textContent.trim());
    });
}"""

SIDES = """() => [...document.querySelectorAll(".diagram-steps")].map(steps => {
    const { left, width } = steps.getBoundingClientRect();
    return [...steps.children].map(step => {
        const of = step.getBoundingClientRect();
        const isLeft = of.right < left + width / 2, isRight = of.left > left + width / 2;
        return { isLeft, isRight, top: of.top, bottom: of.bottom, side: step.classList[0] };
    });
})"""


def pages(site: Path) -> list[str]:
    """The chapters that have a diagram."""
    found = sorted((site / "guide").glob("*/index.html"))
    return [path.parent.name for path in found if 'class="diagram"' in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("width_px", deep_but((320, 390, 768, 1280), [320]))
def test_no_text_of_a_diagram_leaves_its_box(chromium: Browser, address: str, site: Path, width_px: int) -> None:
    page = chromium.new_page(viewport={"width": width_px, "height": 900})
    found = {}
    for name in pages(site):
        page.goto(f"{address}guide/{name}/")
        found[name] = page.evaluate(BEYOND)
    page.close()
    assert found
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize("width_px", deep_but((390, 1280), [390]))
def test_each_step_is_below_the_one_before_it_and_on_its_side(chromium: Browser, address: str, width_px: int) -> None:
    page = chromium.new_page(viewport={"width": width_px, "height": 900})
    page.goto(f"{address}guide/probes/")
    panels = page.evaluate(SIDES)
    page.close()
    assert len(panels) == 6
    for steps in panels:
        assert all(before["bottom"] < step["top"] for before, step in itertools.pairwise(steps))
        assert all(
            step["isLeft"] == (step["side"] == "is-left") and step["isLeft"] != step["isRight"] for step in steps
        )


@pytest.mark.parametrize("theme", deep_but(("light", "dark"), ["dark"]))
def test_text_of_a_diagram_has_the_colour_of_the_theme(chromium: Browser, address: str, theme: str) -> None:
    context = chromium.new_context(color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}guide/probes/")
    ink = page.locator("body").evaluate("body => getComputedStyle(body).color")
    assert page.locator(".diagram-steps > li").first.evaluate("step => getComputedStyle(step).color") == ink
    context.close()


def test_a_reader_who_hears_the_steps_hears_their_sides_and_what_leads_to_them(
    desktop: BrowserContext, address: str
) -> None:
    page = desktop.new_page()
    page.goto(f"{address}guide/probes/")
    steps = page.locator("#diagram-breakpoint .diagram-steps").first
    said = steps.aria_snapshot()
    page.close()
    assert "kernel, by exception: finds the uprobe, runs what is attached" in said
    assert said.count("listitem") == 5
