"""Tables in a browser: whole in a window of 1280 pixels, and no reason for a phone to scroll sideways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from html_page import Page as Html

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.site]

RUN = "results/amd-epyc-2t-kvm-81fc/2026-11-22-per-event-2/"
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

WIDE_TABLES = """() => [...document.querySelectorAll(".table-scroll")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute("aria-label"))"""


@pytest.mark.parametrize("path", KINDS)
def test_no_table_needs_scrolling_on_a_laptop(laptop: Page, address: str, path: str) -> None:
    laptop.goto(f"{address}{path}")
    laptop.evaluate("document.querySelectorAll('.fold').forEach((one) => { one.open = true; })")
    assert laptop.evaluate(WIDE_TABLES) == []
    assert laptop.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("path", KINDS)
def test_a_phone_scrolls_a_table_and_never_the_page(phone: Page, address: str, path: str) -> None:
    phone.goto(f"{address}{path}")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_every_row_says_stands_once_above_the_table(site: Path) -> None:
    page = Html((site / RUN / "index.html").read_text(encoding="utf-8"))
    tables = [one["aria-label"] for one in page.all("div") if one.get("class") == "table-scroll"]
    assert "In every row: Blocks" in page.text
    assert tables
    assert not [label for label in tables if "Blocks" in label]
