"""The page `/compare/` in a real browser: its arithmetic, its words, and what addresses restore."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from helpers.page_shift import LAYOUT_SHIFT, MOST_SHIFT
from helpers.tiers import deep_but
from probe_effect.compare.compared import differing_traits
from probe_effect.compare.comparison import between, between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.site.script_values import shard_name

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from probe_effect.compare.comparison import Comparison
    from probe_effect.compare.subjects import MeasuredMachine
    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.browser, pytest.mark.site]

READY = "#compare[data-state=ready]"
MACHINE, OTHER = "amd-epyc-2t-kvm-d4f3", "amd-epyc-2t-kvm-c9b7"
OLD, NEW = "qemu-tcg-1t-linux-5-10-0-32-amd64-31da", "qemu-tcg-1t-linux-7-3-4-deb13-amd64-cea6"

TRAITS = """() => [...document.querySelectorAll("#compare-live .compare-traits tbody tr")]
    .map(row => [...row.children].map(cell => cell.textContent))"""

TABLE = """() => [...document.querySelectorAll("#compare-live .table-scroll:first-of-type tbody tr")]
    .map(row => [...row.children].map(cell => cell.textContent))"""


@pytest.fixture
def page(laptop: Page, address: str) -> Page:
    laptop.goto(f"{address}compare/")
    return laptop


def opened(page: Page, address: str, query: str) -> Page:
    page.goto(f"{address}compare/?{query}")
    page.wait_for_selector(READY)
    return page


def expected(first: MeasuredMachine, second: MeasuredMachine, tracers: tuple[str, str]) -> list[Comparison]:
    """What the generator finds of two subjects, in the order of cases."""
    if first.name == second.name:
        return between_tracers(first, *tracers)
    return [one for one in between(first, second) if one.first.tracer == tracers[0]]


PAIRS = (
    ((MACHINE, "bpftrace"), (MACHINE, "libbpf")),
    ((MACHINE, "perf-stat"), (MACHINE, "perf-record")),
    ((MACHINE, "bpftrace-0-23-2"), (MACHINE, "bpftrace")),
    ((MACHINE, "bpftrace"), (OTHER, "bpftrace")),
    ((OLD, "bpftrace"), (NEW, "bpftrace")),
    ((NEW, "bpftrace"), (NEW, "libbpf")),
)


@pytest.mark.parametrize("pair", deep_but(PAIRS, PAIRS[3:5]))
def test_the_page_shows_what_the_command_finds(
    laptop: Page, address: str, catalogue: Catalogue, pair: tuple[tuple[str, str], tuple[str, str]]
) -> None:
    first, second = pair
    machines = {one.name: one for one in subjects(catalogue)}
    one, other = machines[first[0]], machines[second[0]]
    metric = "" if one.metric == "time" else "q=instructions&"
    opened(laptop, address, f"{metric}a={':'.join(first)}&b={':'.join(second)}")
    rows: list[list[str]] = laptop.evaluate(TABLE)
    found = expected(one, other, (first[1], second[1]))
    assert found
    assert [row[-1] for row in rows] == [pair.outcome for pair in found]
    differing = differing_traits((pair.first for pair in found), (pair.second for pair in found))
    assert sorted(map(tuple, laptop.evaluate(TRAITS))) == sorted(differing)


def test_no_two_tracers_of_a_machine_have_one_name(catalogue: Catalogue) -> None:
    alike = [one.label for one in subjects(catalogue) if len(set(one.tools.values())) < len(one.tools)]
    assert alike == []


def test_on_a_phone_the_ratio_is_in_view(phone: Page, address: str) -> None:
    opened(phone, address, f"a={MACHINE}:bpftrace&b={OTHER}:bpftrace")
    box = phone.locator("#compare-live th", has_text="Ratio").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390


@pytest.mark.deep
def test_headers_sort_the_cases_and_the_address_says_so(laptop: Page, address: str) -> None:
    opened(laptop, address, f"a={MACHINE}:bpftrace&b={OTHER}:bpftrace")
    before = [row[-1] for row in laptop.evaluate(TABLE)]
    for way, order in (("ascending", sorted(before)), ("descending", sorted(before, reverse=True))):
        laptop.locator("#compare-live").get_by_role("button", name="Outcome").click()
        laptop.wait_for_selector(f"#compare-live th[aria-sort={way}]")
        assert [row[-1] for row in laptop.evaluate(TABLE)] == order
    assert laptop.url.endswith("&sort=-outcome")
    laptop.go_back()
    laptop.wait_for_selector("#compare-live th[aria-sort=ascending]")


def test_each_cost_leads_to_the_page_of_its_number(laptop: Page, address: str) -> None:
    opened(laptop, address, f"a={MACHINE}:bpftrace&b={OTHER}:bpftrace")
    links = laptop.locator("#compare-live td a").evaluate_all("all => all.map(one => one.href)")
    assert len(links) >= 8
    assert {one for one in links if laptop.request.get(one).status != 200} == set()


STATES: dict[str, dict[str, str]] = {
    "": {},
    f"a={MACHINE}:bpftrace&b={OTHER}:bpftrace": {"a": f"{MACHINE}:bpftrace", "b": f"{OTHER}:bpftrace"},
    f"b={MACHINE}:perf-stat": {"b": f"{MACHINE}:perf-stat"},
    "q=instructions": {"q": "instructions"},
    f"q=instructions&a={NEW}:libbpf&b={OLD}:libbpf": {"a": f"{NEW}:libbpf", "b": f"{OLD}:libbpf"},
}
"""Addresses that were published, and what each of them restores."""


@pytest.mark.parametrize("query", deep_but(list(STATES)[1:], list(STATES)[-1:]))
def test_an_old_address_restores_its_comparison(laptop: Page, site: Path, address: str, query: str) -> None:
    opened(laptop, address, query)
    inputs = laptop.evaluate("Object.fromEntries(new FormData(document.getElementById('compare')))")
    first = json.loads((site / "data" / "compare" / "index.json").read_text(encoding="utf-8"))["first"]
    usual = dict(zip(("a", "b"), first[inputs["q"]], strict=True))
    assert {name: inputs[name] for name in ("q", "a", "b")} == {"q": inputs["q"]} | usual | STATES[query]
    assert [f"{inputs[f'{side}-machine']}:{inputs[f'{side}-tracer']}" for side in "ab"] == [inputs["a"], inputs["b"]]
    assert laptop.url.endswith(query)
    assert laptop.locator("#compare-live tbody tr").count() > 0


IN_VAIN = {
    "a=nobody:nothing": "a=nobody:nothing",
    f"a={OLD}:bpftrace": f"a={OLD}:bpftrace",
    "q=loudness": "q=loudness",
    "a=%3Cscript%3E&b=__proto__": "a=<script>, b=__proto__",
}


@pytest.mark.parametrize("query", deep_but(IN_VAIN, list(IN_VAIN)[-1:]))
def test_what_an_address_asks_in_vain_is_told_and_ignored(laptop: Page, address: str, query: str) -> None:
    opened(laptop, address, query)
    assert f"not known here: {IN_VAIN[query]}." in laptop.locator("#compare .view-message").inner_text()


def test_the_first_pair_is_compared_without_a_press_and_nothing_moves(page: Page, site: Path) -> None:
    page.wait_for_selector(READY)
    first = json.loads((site / "data" / "compare" / "index.json").read_text(encoding="utf-8"))["first"]["time"]
    assert [page.locator(f"#compare [name={side}]").input_value() for side in "ab"] == first
    assert page.url.endswith("compare/")
    assert page.locator(".view-still:visible").count() == 0
    assert page.evaluate(LAYOUT_SHIFT) < MOST_SHIFT


def test_the_picture_has_a_dot_for_each_case_with_a_ratio(laptop: Page, address: str) -> None:
    opened(laptop, address, f"a={MACHINE}:bpftrace&b={OTHER}:bpftrace")
    ratios = [row[-2] for row in laptop.evaluate(TABLE)]
    wanted = [ratio for ratio in ratios if ratio[0].isdigit()]
    assert laptop.locator(".compare-chart circle").count() == len(wanted) > 0


@pytest.mark.deep
def test_a_tracer_that_the_other_machine_has_stays_chosen(page: Page) -> None:
    page.select_option("#compare-b-machine", MACHINE)
    page.select_option("#compare-b-tracer", "libbpf")
    page.select_option("#compare-b-machine", "amd-epyc-2t-kvm-81fc")
    page.wait_for_function("() => location.search.includes('b=amd-epyc-2t-kvm-81fc:libbpf')")
    page.select_option("#compare-b-machine", OTHER)
    page.wait_for_function("name => location.search.includes(`b=${name}:bpftrace`)", arg=OTHER)


def test_back_and_forward_restore_what_was_compared(page: Page) -> None:
    page.select_option("#compare-b-machine", MACHINE)
    page.select_option("#compare-b-tracer", "perf-stat")
    page.wait_for_function("() => location.search.includes(':perf-stat')")
    first = page.url
    page.click(".compare-swap")
    page.wait_for_function("() => location.search.includes('a=')")
    page.go_back()
    page.wait_for_function("() => document.querySelector('#compare [name=b]').value.endsWith(':perf-stat')")
    assert page.url == first
    page.go_forward()
    page.wait_for_function("() => document.querySelector('#compare [name=a]').value.endsWith(':perf-stat')")


@pytest.mark.deep
def test_machines_of_different_tiers_come_with_a_warning(page: Page) -> None:
    """None of today's is of another tier, so the index says that one is."""

    def changed(route: Any) -> None:  # noqa: ANN401 (playwright's)
        index = route.fetch().json()
        next(one for one in index["machines"] if one["id"] == OTHER)["tier"] = "physical"
        route.fulfill(json=index)

    page.route("**/index.json", changed)
    page.reload()
    page.select_option("#compare-b-machine", OTHER)
    page.wait_for_function("() => location.search !== ''")
    page.get_by_text("Of ").first.wait_for()
    assert "different tiers, virtual machine and physical" in page.locator(".view-warning").inner_text()


def test_without_javascript_tracers_are_compared_and_no_control_is_shown(unscripted: Page, address: str) -> None:
    unscripted.goto(f"{address}compare/")
    assert unscripted.locator("table:visible").count() >= 1
    assert unscripted.locator("main details.fold table").count() >= 2
    assert unscripted.locator("button:visible, select:visible, input:visible").count() == 0


@pytest.mark.deep
def test_numbers_that_do_not_load_leave_the_page_as_it_was(page: Page) -> None:
    page.route("**/data/compare/*--*.json", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("#compare[data-state=failed]")
    assert page.locator(".view-still table:visible").count() >= 1


def test_every_file_of_a_subject_is_published(page: Page, address: str, catalogue: Catalogue) -> None:
    names = itertools.chain.from_iterable(
        (shard_name(machine.name, tracer) for tracer in machine.tools) for machine in subjects(catalogue)
    )
    missing = [name for name in names if page.request.get(f"{address}data/{name}").status != 200]
    assert missing == []
