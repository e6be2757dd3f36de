"""More machines than pages show: what the forms offer, and how a reader comes to all others."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import (
    changed,
    counted_rows,
    counted_values,
    machine_values,
    many_blocks,
    write_counted_submission,
    write_data,
    write_submission,
)
from helpers.evidence_builder import rows_of
from helpers.site_build import OWN_SITES, build, served, with_quoted_source
from probe_effect.numbers.names import short_id
from probe_effect.numbers.shown import MOST_MACHINES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.site, pytest.mark.deep, pytest.mark.xdist_group("many")]

MACHINES = MOST_MACHINES + 3
LONE = "another-00"
"""The machine that ran first, with a case of its own: no form offers it."""


@pytest.fixture(scope="module")
def many_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    data = with_quoted_source(write_data(folder))
    for number in range(MACHINES):  # of the costs of all, that of the first machine is the median
        values = changed(machine_values(), "machine.id", f"another-{number:02}")
        changed(values, "run.started", f"2026-11-20T09:{number:02}:00Z")
        cost_ns = 50 + number if number % 2 else 50 - number
        rows = rows_of("05-tracepoint-return", 70) if number == 0 else many_blocks(cost_ns=cost_ns)
        write_submission(data, [replace(row, wall_ns=(row.wall_ns or 0) + number + 1) for row in rows], values)
        counted = [replace(row, instructions=(row.instructions or 0) + number) for row in counted_rows()]
        write_counted_submission(data, counted, counted_values(f"5.{number}.1-amd64", f"qemu-tcg-5-{number}"))
    return build(data, OWN_SITES / "many" / "site")


@pytest.fixture(scope="module")
def many_address(many_site: Path) -> Iterator[str]:
    with served(many_site) as found:
        yield found


@pytest.fixture
def page(laptop: Page) -> Page:
    return laptop


def name(page: Page, machine: str) -> None:
    """Name a machine in the field, as a reader does who knows its id."""
    page.locator("details:has(.other-machine)").evaluate_all("all => all.forEach(one => { one.open = true; })")
    page.fill(".other-machine", machine)
    page.press(".other-machine", "Enter")


def ticked(page: Page) -> list[str]:
    found: list[str] = page.locator("#explore [name=machine]:checked:visible").evaluate_all(
        "all => all.map(one => one.value)"
    )
    return found


def test_the_list_of_all_machines_is_loaded_when_a_reader_comes_to_it(page: Page, many_address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{many_address}compare/", wait_until="networkidle")
    assert [one for one in asked if one.endswith("machines.json")] == []
    page.focus(".other-machine")
    page.wait_for_selector("datalist option", state="attached")
    assert page.locator("datalist option").count() == MACHINES + 1, "times alone"


def test_a_form_offers_few_machines_and_takes_another_that_is_named(page: Page, many_address: str) -> None:
    page.goto(f"{many_address}explore/")
    page.get_by_text("Machines:").click()
    assert page.locator("#explore [name=machine]:visible").count() == MOST_MACHINES
    name(page, LONE)
    page.wait_for_selector("#explore[data-state=ready]")
    assert ticked(page) == ["test-machine", LONE]
    assert page.url.endswith(f"?machine=test-machine,{LONE}")
    assert page.locator(f"#explore-live td a:text-matches(', {short_id(LONE)}$')").count() == 1


def test_an_address_brings_a_machine_that_the_form_does_not_offer(page: Page, many_address: str) -> None:
    page.goto(f"{many_address}explore/?machine={LONE}")
    page.wait_for_selector("#explore[data-state=ready]")
    page.get_by_text("Machines:").click()
    assert ticked(page) == [LONE]
    assert page.locator("#explore .view-message").inner_text() == "1 number shown."
    page.goto(f"{many_address}explore/?q=instructions&machine=qemu-tcg-5-0")
    page.wait_for_selector("#explore[data-state=ready]")
    assert page.locator("#explore-live tbody tr").count() == 3


def test_all_is_all_that_the_form_offers(page: Page, many_address: str) -> None:
    page.goto(f"{many_address}explore/?machine=all")
    page.wait_for_selector("#explore[data-state=ready]")
    assert page.locator("#explore-live tbody tr").count() == MOST_MACHINES


@pytest.mark.parametrize("path", ["explore/", "compare/"])
def test_what_is_no_machine_is_told(page: Page, many_address: str, path: str) -> None:
    page.goto(many_address + path)
    if path == "explore/":
        page.get_by_text("Machines:").click()
    if path == "compare/":
        page.wait_for_selector("#compare .view-message:not(:empty)")  # it compares by itself, and then says what
    name(page, "qemu-tcg-5-0")
    page.wait_for_selector(".other-machine[aria-invalid=true]")
    assert "expected the id" in page.locator("form [role=status]").inner_text()


def test_another_machine_is_compared_with_the_first(page: Page, many_address: str) -> None:
    page.goto(f"{many_address}compare/")
    page.wait_for_selector("#compare .view-message:not(:empty)")
    name(page, "another-01")
    page.wait_for_function("() => location.search.includes('b=another-01:bpftrace')")
    page.wait_for_selector("#compare[data-state=ready]")
    assert page.locator("#compare-live tbody tr").first.inner_text().endswith("higher")
    page.goto(page.url)
    page.wait_for_selector("#compare[data-state=ready]")
    assert page.input_value("#compare-b-machine") == "another-01"


def test_without_the_list_the_form_stays_as_it_was(page: Page, many_address: str) -> None:
    page.route("**/machines.json", lambda route: route.abort())
    page.goto(f"{many_address}compare/")
    name(page, LONE)
    page.locator("form [role=status]").get_by_text("could not be loaded").wait_for()


def test_what_the_home_page_loads_does_not_grow_with_machines(many_site: Path) -> None:
    (data,) = (many_site / "data").glob("advise.*.json")
    found: dict[str, Any] = json.loads(data.read_text(encoding="utf-8"))
    assert len(found["machines"]) == MOST_MACHINES
    assert len(list((many_site / "data" / "guidance").glob("*.json"))) == MACHINES + 1
    assert len(gzip.compress((many_site / "index.html").read_bytes())) < 20_000
