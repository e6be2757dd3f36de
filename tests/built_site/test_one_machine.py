"""A table is of one machine, or names that of each row; a sentence names every machine but the home machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.whose_numbers import Page, mixed_tables, nameless_tables, typed_times, unnamed_machines
from probe_effect import units
from probe_effect.model import Key
from probe_effect.numbers.names import machine_name
from probe_effect.numbers.shown import home_machine

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = pytest.mark.site

ELSEWHERE = {"results", "compare"}
"""Sections whose pages are each of one machine, or compare those that they name in their title."""

WRITTEN = {"findings", "guide", "kernels", "tools"}
"""Sections that are written by hand, and whose times come from data."""
TRIALS = {"findings", "findings/a-shared-cpu-doubles-the-cost"} | {
    "findings/a-third-of-a-tracepoints-cost-falls-on-system-calls-that-nobody-traces"
}
"""Findings of trials before the first recorded run, which say so, and the list with their first sentences."""


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    found = {path.parent.relative_to(site): path for path in site.rglob("index.html")}
    return {
        str(where): Page(path.read_text(encoding="utf-8"))
        for where, path in found.items()
        if not where.parts or where.parts[0] not in ELSEWHERE
    }


def test_no_table_has_numbers_of_two_machines_without_naming_them(pages: dict[str, Page]) -> None:
    assert {where: mixed for where, page in pages.items() if (mixed := list(mixed_tables(page)))} == {}


def home_of(where: str, catalogue: Catalogue) -> str:
    """The machine that a page speaks of without naming it in each sentence."""
    return where.removeprefix("machines/") if "machines/" in where else home_machine(catalogue.numbers) or ""


def test_a_table_of_another_machine_than_home_is_named_in_it_or_beside_it(
    pages: dict[str, Page], catalogue: Catalogue
) -> None:
    found = {where: list(nameless_tables(page, home_of(where, catalogue))) for where, page in pages.items()}
    assert {where: some for where, some in found.items() if some} == {}


def test_no_time_is_typed_into_a_page_without_its_machine(pages: dict[str, Page], catalogue: Catalogue) -> None:
    written = {where: page for where, page in pages.items() if where.split("/")[0] in WRITTEN}
    typed = {where: list(typed_times(page, catalogue.numbers.machines())) for where, page in written.items()}
    assert {where for where, some in typed.items() if some} == TRIALS


def test_a_sentence_names_each_machine_but_the_home_machine(pages: dict[str, Page], catalogue: Catalogue) -> None:
    found = {where: list(unnamed_machines(page, home_of(where, catalogue))) for where, page in pages.items()}
    assert {where: some for where, some in found.items() if some} == {}


def test_no_two_machines_share_a_title_or_a_heading(site: Path) -> None:
    machines = [path.read_text(encoding="utf-8") for path in site.glob("machines/*-*/index.html")]
    emulated = [path.read_text(encoding="utf-8") for path in site.glob("kernels/qemu-*/index.html")]
    for tag in ("title", "h1"):
        called = [re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", html, re.DOTALL) for html in (*machines, *emulated)]
        titles = [found[1] for found in called if found]
        assert len(set(titles)) == len(machines) + len(emulated) > 2


TWO = '<a href="/results/amd-1-{}/2026-01-01-a/01-b/">36 ns</a>'


@pytest.mark.parametrize(
    ("text", "is_mixed"),
    [
        ("<td>one</td><td>{a}</td></tr><tr><td>other</td><td>{a}</td>", False),
        ("<td>one</td><td>{a}</td></tr><tr><td>other</td><td>{b}</td>", True),
        ("<td>one</td><td>{a}</td></tr><tr><td>other</td><td>{b} (00bb)</td>", False),
    ],
)
def test_a_table_of_two_machines_is_found(text: str, *, is_mixed: bool) -> None:
    rows = text.format(a=TWO.format("00aa"), b=TWO.format("00bb"))
    page = Page(f"<table><tr><th>Probe</th><th>Cost</th></tr><tr>{rows}</tr></table>")
    assert bool(list(mixed_tables(page))) == is_mixed


@pytest.mark.parametrize(
    ("text", "is_unnamed"),
    [
        ("It costs {a} here.", False),
        ("It costs {b} there.", True),
        ("It costs {b} (00bb) there.", False),
        ("It costs {a} here and {b} (00bb) there.", True),
        ("It costs {a} here. It costs {b} (00bb) there.", False),
    ],
)
def test_a_sentence_of_two_machines_is_found(text: str, *, is_unnamed: bool) -> None:
    page = Page(f"<p>{text.format(a=TWO.format('00aa'), b=TWO.format('00bb'))}</p>")
    assert bool(list(unnamed_machines(page, "amd-1-00aa"))) == is_unnamed


def test_a_table_of_another_machine_is_found_unless_a_heading_or_caption_names_it() -> None:
    table = f"<tr><th>Cost</th></tr><tr><td>{TWO.format('00bb')}</td></tr>"
    for before, inside, is_found in (("", "", True), ("<h2>On 00bb</h2>", "", False), ("", "On 00bb", False)):
        page = Page(f"<h1>Costs</h1>{before}<table><caption>{inside}</caption>{table}</table><p>Text.</p>")
        assert bool(list(nameless_tables(page, "amd-1-00aa"))) == is_found


@pytest.mark.parametrize("block", ["p", "li", "dd", "figcaption", "h2"])
def test_a_time_that_is_typed_is_found_in_every_kind_of_block(block: str) -> None:
    def typed(text: str) -> list[str]:
        page = f"<h1>At 720 ns</h1><{block}>{text}</{block}><p>Cite “At 720 ns”</p>"
        return list(typed_times(Page(page), ["amd-1-00aa"]))

    assert typed("It costs 36 ns.") == ["It costs 36 ns."]
    assert typed("It costs 36 ns (00aa).") == []
    assert typed(f"It costs {TWO.format('00aa')}, as <code>1 ms</code> in a script.") == []


@pytest.mark.browser
def test_a_reader_chooses_a_machine_once_and_every_chapter_shows_its_times(
    chromium: Browser, address: str, catalogue: Catalogue
) -> None:
    home = home_machine(catalogue.numbers)
    other = next(
        machine
        for machine in catalogue.numbers.machines()
        if machine != home and catalogue.numbers.of_machine_and_case(machine, "04-uprobe-push")
    )
    called = machine_name(catalogue.numbers.machines()[other][0])
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{address}guide/why/")
    cost = page.locator('td [data-number="bpftrace.04-uprobe-push.cost"]')
    before = cost.inner_text()
    page.locator(".whose select").focus()
    with page.expect_navigation():
        page.locator(".whose select").select_option(other)
    page.locator(".whose [role=status]").get_by_text(called).wait_for()
    own = catalogue.numbers.of_machine(other)[Key("04-uprobe-push", "bpftrace")]
    assert cost.inner_text() == units.interval(own.known_cost, units.DURATION) != before
    page.goto(f"{address}guide/probes/")
    page.locator(".whose [role=status]").get_by_text(called).wait_for()
    context.close()


CAPTIONS = """() => [...document.querySelectorAll(".table-scroll")].map((box) => [
    box.nextElementSibling?.querySelector(".measured-on")?.textContent,
    [...box.querySelectorAll("[data-number]")].map((one) => one.getAttribute("href").includes("/costs/")),
]).filter(([caption, moved]) => caption && moved.length > 0)"""
"""The caption of each table of one machine, and of each number in it whether it is of the machine that was chosen."""


@pytest.mark.browser
@pytest.mark.deep
def test_a_table_is_wholly_of_the_machine_that_its_caption_names(
    chromium: Browser, address: str, catalogue: Catalogue
) -> None:
    changed = 0
    for machine, (newest, *_) in catalogue.numbers.machines().items():
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{address}guide/actions/")
        if machine == home_machine(catalogue.numbers):
            continue
        page.locator(".whose select").focus()
        with page.expect_navigation():
            page.locator(".whose select").select_option(machine)
        for chapter in ("actions", "agents", "probes"):
            page.goto(f"{address}guide/{chapter}/")
            page.locator(".whose [role=status]").get_by_text(machine_name(newest)).wait_for()
            for caption, moved in page.evaluate(CAPTIONS):
                assert len(set(moved)) == 1, (machine, chapter)
                assert (caption == machine_name(newest)) or not moved[0]
                changed += moved[0]
        context.close()
    assert changed


def test_without_scripts_a_chapter_names_its_machine_and_leads_to_the_others(site: Path, catalogue: Catalogue) -> None:
    html = (site / "guide" / "why" / "index.html").read_text(encoding="utf-8")
    line = html.partition('class="whose"')[2].partition("</p>")[0]
    assert f"machines/{home_machine(catalogue.numbers)}/" in line
    assert 'machines/">machine</a>' in line
