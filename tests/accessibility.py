"""Accessibility faults of a page in the browser, as axe-core finds them.

Contrast takes axe most of its time, and tables have hundreds of rows: of rows and entries that consist of the same
elements with the same classes, within the same ones, and so have the same colours, the contrast of a few is looked at.
Everything else is looked at in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from site_build import PROJECT, absent

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = PROJECT / "tests/html/node_modules/axe-core/axe.min.js"

OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""All rules whose outcome another theme can change: it changes colours and nothing else."""

MARK_ALIKE = """() => {
    const named = one => `${one.tagName} ${one.getAttribute("class")} ${one.getAttribute("style")}`;
    const shape = one => [one, ...one.querySelectorAll("*")].map(named).join();
    const around = one => one ? `${named(one)} in ${around(one.parentElement)}` : "";
    const seen = new Map();
    for (const parent of document.querySelectorAll("tbody, ul, ol")) {
        const place = around(parent);
        for (const child of parent.children) {
            const key = `${shape(child)} ${child === parent.lastElementChild} ${place}`;
            seen.set(key, (seen.get(key) ?? 0) + 1);
            child.toggleAttribute("data-alike", seen.get(key) > 4);  // the first, the last and every other may differ
        }
    }
}"""

FOUND = """async ([rules, coloursAlone]) => {
    const runs = [[{ exclude: ["[data-alike]"] }, { runOnly: rules }]];
    if (!coloursAlone) {
        runs.push([document, { rules: Object.fromEntries(rules.map(one => [one, { enabled: false }])) }]);
    }
    const found = [];
    for (const [context, options] of runs) {
        const { violations } = await axe.run(context, { ...options, resultTypes: ["violations"] });
        found.push(...violations.map(one => [one.id, one.nodes[0].html]));
    }
    return found;
}"""


def prepare(page: Page) -> None:
    """Load axe into `page`, whose context must be one that may be injected into (`bypass_csp`)."""
    if not AXE.is_file():
        absent("axe-core is not installed: make test installs it")
    page.add_script_tag(path=AXE)


def violations(page: Page, *, colours_alone: bool = False) -> list[list[str]]:
    """(rule, first element) of each fault of the prepared `page` as it is now.

    Args:
        colours_alone: ask the rules of colours only, where all others were asked of the same page in another theme.
    """
    page.evaluate(MARK_ALIKE)
    found: list[list[str]] = page.evaluate(FOUND, [OF_COLOURS, colours_alone])
    return found
