"""Accessibility faults of a page in the browser, as axe-core finds them.

Axe works as long as a page has elements, and tables have hundreds of rows, drawings hundreds of marks: of rows, entries
and marks that consist of the same elements with the same attributes, classes and colours of their own, with text or
without at the same places, and within the same ones, a few are left on the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from helpers.site_build import PROJECT, absent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playwright.sync_api import Page

AXE = PROJECT / "tests/html/node_modules/axe-core/axe.min.js"

PHONE_PX, DESKTOP_PX = 390, 1280

OF_COLOURS = ("color-contrast", "link-in-text-block")
"""All rules whose outcome another theme can change: it changes colours and nothing else."""

Look = tuple[int, Literal["light", "dark"], tuple[str, ...]]
"""A width and a theme of a page, with the rules to ask where it is not all of them."""

ONE_LOOK: tuple[Look, ...] = ((PHONE_PX, "dark", ()),)
LOOKS: tuple[Look, ...] = (
    *ONE_LOOK,
    (DESKTOP_PX, "light", ()),
    (DESKTOP_PX, "dark", OF_COLOURS),  # a phone has no colours of its own, but other elements
)

REMOVE_ALIKE = """() => {
    const valued = ["class", "style", "fill", "role"];
    const named = one => [one.tagName, ...one.getAttributeNames(), ...valued.map(name => one.getAttribute(name)),
        [...one.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim())].join(" ");
    const shape = one => [one, ...one.querySelectorAll("*")].map(named).join();
    const around = one => one ? `${named(one)} in ${around(one.parentElement)}` : "";
    const seen = new Map();
    const alike = [];
    for (const parent of document.querySelectorAll("tbody, ul, ol, svg, svg g")) {
        const place = around(parent);
        for (const child of parent.children) {
            const key = `${shape(child)} ${child === parent.lastElementChild} ${place}`;
            seen.set(key, (seen.get(key) ?? 0) + 1);
            if (seen.get(key) > 4) alike.push(child);  // the first, the last and every other may differ
        }
    }
    alike.forEach(one => one.remove());
}"""

FOUND = """async rules => {
    const { violations } = await axe.run(document, {
        resultTypes: ["violations"], ...(rules.length > 0 && { runOnly: rules }),
    });
    return violations.map(one => [one.id, one.nodes[0].html]);
}"""


SOLID = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(".table-scroll { background-image: none !important }");
    document.adoptedStyleSheets.push(sheet);
}"""
"""Axe gives up on gradients."""


def violations(page: Page, looks: Iterable[Look] = LOOKS) -> list[tuple[int, str, list[str]]]:
    """Width, theme, and rule with first element of each fault of `page`, which has lost most of what is alike then.

    Nothing of it is what a page's policy forbids.
    """
    if not AXE.is_file():
        absent("axe-core is not installed: make test installs it")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.evaluate(SOLID)
    page.evaluate(REMOVE_ALIKE)
    found: list[tuple[int, str, list[str]]] = []
    for width_px, theme, rules in looks:
        page.set_viewport_size({"width": width_px, "height": 900})
        page.emulate_media(color_scheme=theme)
        found += [(width_px, theme, fault) for fault in page.evaluate(FOUND, rules)]
    return found


def fits(page: Page) -> None:
    """Wait until no width needs scrolling sideways: a busy machine lays out late, and what never fits times out."""
    for width_px in (PHONE_PX, DESKTOP_PX):
        page.set_viewport_size({"width": width_px, "height": 900})
        page.wait_for_function(f"() => document.documentElement.scrollWidth <= {width_px}")
