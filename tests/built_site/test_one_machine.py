"""A table is of one machine, or names that of each row; a sentence names every machine but the home machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probe_effect import units
from probe_effect.model import Key
from probe_effect.numbers.home import home_machine
from whose_numbers import Page, mixed_tables, unnamed_machines

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = pytest.mark.site

ELSEWHERE = {"results", "compare"}
"""Sections whose pages are each of one machine, or compare those that they name in their title."""


def pages(site: Path) -> dict[str, Page]:
    found = {path.parent.relative_to(site): path for path in site.rglob("index.html")}
    return {
        str(where): Page(path.read_text(encoding="utf-8"))
        for where, path in found.items()
        if not where.parts or where.parts[0] not in ELSEWHERE
    }


def test_no_table_has_numbers_of_two_machines_without_naming_them(site: Path) -> None:
    assert {where: mixed for where, page in pages(site).items() if (mixed := list(mixed_tables(page)))} == {}


def test_a_sentence_names_each_machine_but_the_home_machine(site: Path, catalogue: Catalogue) -> None:
    home = home_machine(catalogue.numbers) or ""
    unnamed = {
        where: some
        for where, page in pages(site).items()
        if (some := list(unnamed_machines(page, where.removeprefix("machines/") if "machines/" in where else home)))
    }
    assert unnamed == {}


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
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{address}guide/why/")
    cost = page.locator('td [data-number="bpftrace.04-uprobe-push.cost"]')
    before = cost.inner_text()
    page.locator(".whose select").focus()
    with page.expect_navigation():
        page.locator(".whose select").select_option(other)
    page.locator(".whose [role=status]").get_by_text(other).wait_for()
    own = catalogue.numbers.of_machine(other)[Key("04-uprobe-push", "bpftrace")]
    assert cost.inner_text() == units.interval(own.known_cost, units.DURATION) != before
    page.goto(f"{address}guide/probes/")
    page.locator(".whose [role=status]").get_by_text(other).wait_for()
    context.close()


def test_without_scripts_a_chapter_names_its_machine_and_leads_to_the_others(site: Path, catalogue: Catalogue) -> None:
    html = (site / "guide" / "why" / "index.html").read_text(encoding="utf-8")
    line = html.partition('class="whose"')[2].partition("</p>")[0]
    assert f"machines/{home_machine(catalogue.numbers)}/" in line
    assert 'machines/">machine</a>' in line
