"""Tables of the built site: one unit a column, within the grid, whole on a laptop, and the cost in sight on a phone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.html_page import Page as Html
from helpers.tiers import deep_but
from helpers.whose_numbers import Page as Tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

RUN = "results/amd-epyc-2t-kvm-81fc/2026-11-22-per-event-2/"
FIRST = (
    "costs/",
    "costs/04-tracepoint-entry/",
    "machines/amd-epyc-2t-kvm-81fc/",
    "kernels/",
    "sources/gregg-2011-pid-provider/",
    RUN,
    f"{RUN}04-tracepoint-entry/bpftrace/",
    "explore/",
)
KINDS = (
    "costs/",
    "costs/04-tracepoint-entry/",
    "costs/01-attach-tracepoints/",
    "costs/01-build-calls/",
    "costs/01-refresh/",
    "costs/01-sweep-tracepoint/",
    "costs/01-tail-tracepoint/",
    "machines/",
    "machines/amd-epyc-2t-kvm-81fc/",
    "kernels/",
    "kernels/changes/",
    "kernels/qemu-tcg-1t-linux-6-1-0-50-amd64-ae3a/",
    "tools/",
    "sources/",
    "sources/gregg-2011-pid-provider/",
    "sources/piotrowski-2023-tracing-overhead/",
    "does-it-hold/",
    "suites/",
    "suites/per-event/",
    "suites/build/",
    "results/",
    RUN,
    f"{RUN}04-tracepoint-entry/bpftrace/",
    "tracers/bpftrace/",
    "explore/",
    "compare/",
    "data/dictionary/",
)
"""A page of each kind that has tables, and those with the widest ones."""

each_path = pytest.mark.parametrize("path", deep_but(KINDS, FIRST))

WIDE_TABLES = """() => [...document.querySelectorAll(".table-scroll")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute("aria-label"))"""

OUTSIDE = """() => [...document.querySelectorAll(".prose > .table-scroll")].map((one) => {
    const [own, prose] = [one.getBoundingClientRect(), one.parentElement.getBoundingClientRect()];
    return [own.left - prose.left, prose.right - own.right];
}).filter((ends) => Math.min(...ends) < -1)"""

BROKEN = """() => [...document.querySelectorAll("td, tbody th")].flatMap((cell) => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        for (const match of walker.currentNode.data.matchAll(/\\d[\\d.\\u202f]*(\\u00a0[a-zµ%/]+)?/gi)) {
            const range = document.createRange();
            range.setStart(walker.currentNode, match.index);
            range.setEnd(walker.currentNode, match.index + match[0].length);
            const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
            if (lines.size > 1) found.push(match[0]);
        }
    }
    return found;
})"""

OUT_OF_SIGHT = """() => [...document.querySelectorAll("table")].flatMap((table) =>
    [...table.querySelectorAll("thead th")]
        .filter(({ textContent }) => /^Cost of one|^On all mach|^Slowdown$/.test(textContent)).slice(0, 1)
        .map((one) => one.getBoundingClientRect().right)).filter((right) => right > innerWidth)"""


@each_path
def test_a_table_is_within_the_grid_of_its_page_and_needs_no_scrolling_on_a_laptop(
    laptop: Page, address: str, path: str
) -> None:
    laptop.goto(f"{address}{path}")
    for width in (1920, 1280):
        laptop.set_viewport_size({"width": width, "height": 900})
        assert laptop.evaluate(OUTSIDE) == [], width
    laptop.evaluate("document.querySelectorAll('.fold').forEach((one) => { one.open = true; })")
    assert laptop.evaluate(WIDE_TABLES) == []
    assert laptop.evaluate("document.documentElement.scrollWidth") <= 1280


@each_path
def test_a_phone_scrolls_a_table_never_the_page_and_has_whole_numbers_and_the_cost_in_sight(
    phone: Page, address: str, path: str
) -> None:
    phone.goto(f"{address}{path}")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.evaluate(BROKEN) == []
    if not path.startswith(("explore", "does-it-hold")):
        assert phone.evaluate(OUT_OF_SIGHT) == []


def test_what_every_row_says_stands_once_above_the_table(site: Path) -> None:
    page = Html((site / RUN / "index.html").read_text(encoding="utf-8"))
    tables = [one["aria-label"] for one in page.all("div") if one.get("class") == "table-scroll"]
    assert "In every row: Blocks" in page.text
    assert tables
    assert not [label for label in tables if "Blocks" in label]


def test_a_chapter_says_once_above_a_suite_which_tracer_every_row_has(site: Path) -> None:
    page = Html((site / "guide/themselves/index.html").read_text(encoding="utf-8"))
    tables = [one["aria-label"] for one in page.all("div") if one.get("class") == "table-scroll"]
    assert "In every row: Tracer the program itself" in page.text
    assert tables
    assert not [label for label in tables if "Tracer" in label]


def test_a_machine_that_every_row_would_name_stands_once_above_the_table(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.glob("costs/*/index.html")}
    assert any('In every row: <a href="../../data/dictionary/#machine"' in text for text in pages.values())
    for path, text in pages.items():
        for head, *rows in Tables(" ".join(TABLE.findall(text))).tables:
            named = {row[0].text for row in rows if head[0].text == "Machine"}
            assert len(named) != 1 or len(rows) == 1, path


TABLE = re.compile(r"<table>\n<thead>.*?</table>", re.DOTALL)
UNITS = re.compile(r"\d\u00a0(?:(ns|µs|ms|s)|([kMG]?/s))\b")
OF_OTHERS = {"Value", "As printed", "Usual rate"}
"""Headers of columns that hold several quantities, or figures as others printed them."""


def mixed_columns(html: str) -> Iterator[str]:
    """The header of each column with times, or rates, in more than one unit."""
    for table in Tables(" ".join(TABLE.findall(html))).tables:
        for place, head in enumerate(table[0]):
            found = UNITS.findall(" ".join(row[place].text for row in table[1:] if place < len(row)))
            if head.text not in OF_OTHERS and any(len({*units} - {""}) > 1 for units in zip(*found, strict=True)):
                yield head.text


def test_a_column_has_all_its_times_and_all_its_rates_in_one_unit(site: Path) -> None:
    pages = {path.parent.relative_to(site): path for path in site.rglob("index.html")}
    of_numbers = {where for where in pages if where.parts[:1] == ("results",) and len(where.parts) > 3}
    texts = {str(where): pages[where].read_text(encoding="utf-8") for where in pages.keys() - of_numbers}
    assert len(texts) > 100
    assert {where: mixed for where, text in texts.items() if (mixed := list(mixed_columns(text)))} == {}


@pytest.mark.parametrize(
    ("cells", "is_mixed"),
    [("9 860\u00a0ns,12\u00a0µs", True), ("9\u00a0ns,12\u00a0ns", False), ("1\u00a0s,2\u00a0k/s", False)],
)
def test_a_column_of_several_units_is_found(cells: str, *, is_mixed: bool) -> None:
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in cells.split(","))
    html = f"<table>\n<thead><tr><th>Cost</th></tr></thead><tbody>{rows}</tbody></table>"
    assert bool(list(mixed_columns(html))) == is_mixed


INTERVAL = re.compile(r"\d\.(\d+)\u00a0µs \(([\d\u202f.]+)\u00a0to\u00a0([\d\u202f.]+)\)")


def test_times_in_another_unit_have_no_more_places_than_their_intervals_support(site: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in site.glob("costs/*/index.html"))
    found = [
        (len(decimals), [float(end.replace("\u202f", "")) for end in ends])
        for decimals, *ends in INTERVAL.findall(text)
    ]
    assert len(found) > 200
    # Two digits of half the width up to 35, else one (`units.interval`), and what rounding the ends can add.
    assert [one for one in found if (one[1][1] - one[1][0]) / 2 > 37 * 10 ** -one[0]] == []
