"""The page `/advise/` in a real browser: what it reads, what it answers, and that a pasted script stays text."""

from __future__ import annotations

import gzip
import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from helpers import accessibility
from helpers.evidence_builder import asked_here
from helpers.page_scripts import under_node
from probe_effect.costs.evidence import evidence_of
from probe_effect.costs.table import ProbeGroup
from probe_effect.numbers.shown import facts_of_submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page, Route

    from probe_effect.costs.evidence import Evidence
    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.browser, pytest.mark.site]

READY = "form.advise[data-state=ready]"
SCRIPTS_BYTES, DATA_BYTES = 15_700, 26_800
"""Compressed, so that the page answers at once on a phone."""

HOSTILE = 'k:f { printf("<img src=x onerror=alert(1)>"); f("<script>alert(1)</script>") } u:<b>a</b>:x { @ = count() }'

WORKED_OUT = """
import { nearest } from "./script-cost.js";
const [scope, machine, probe] = asked;
const data = { scopes: { [machine]: scope }, words: {} };
console.log(JSON.stringify(nearest(data, machine, "bpftrace", probe, probe.mechanism)));
"""


@pytest.fixture
def page(laptop: Page, address: str) -> Page:
    laptop.goto(f"{address}advise/")
    laptop.wait_for_selector(READY)
    return laptop


def with_data(desktop: BrowserContext, address: str, change: Callable[[dict[str, Any]], None]) -> Page:
    """The page with other data."""
    page = desktop.new_page()

    def changed(route: Route) -> None:
        data = route.fetch().json()
        change(data)
        route.fulfill(json=data)

    page.route("**/data/advise.*.json", changed)
    page.goto(f"{address}advise/")
    page.wait_for_selector(READY)
    return page


@pytest.fixture(scope="module")
def found(catalogue: Catalogue) -> Evidence:
    return evidence_of(catalogue)


def paste(page: Page, script: str) -> None:
    page.fill("#advise-script", script)


def said(page: Page) -> str:
    page.wait_for_selector(READY)
    return page.locator(".advise output").inner_text()


def probes(page: Page) -> list[str]:
    return page.locator(".advise-probes code").all_inner_texts()


def test_a_first_visit_has_the_rates_up_to_which_to_go_ahead_and_no_verdict(page: Page) -> None:
    assert said(page).startswith("An event of this script with bpftrace costs")
    assert "go ahead. Above" in said(page)
    assert page.locator(".advise output strong").count() == 0
    assert probes(page) == ["tracepoint:syscalls:sys_enter_openat"]
    assert page.locator(".advise-does").inner_text() == "tracepoint entry: print, count by string"


def test_each_probe_that_a_thread_fires_gets_a_rate(page: Page) -> None:
    paste(page, 'BEGIN { printf("x") } k:a,k:b { @ = count() } i:s:1 { print(@) } p:hz:49 { @[ustack] = count() }')
    assert probes(page) == ["kprobe:a", "kprobe:b", "profile:hz:49"]
    assert page.input_value("#advise-rate-2") == "49"


@pytest.mark.deep
def test_a_higher_rate_is_a_higher_slowdown_and_is_kept_when_the_script_changes(page: Page) -> None:
    before = said(page)
    page.fill("#advise-rate-0", "100k")
    assert said(page) != before
    assert "100\N{NO-BREAK SPACE}k" in said(page)
    paste(page, page.input_value("#advise-script").replace("%s", "%d"))
    assert page.input_value("#advise-rate-0") == "100k"


def test_a_rate_that_is_none_is_asked_for_again(page: Page) -> None:
    page.fill("#advise-rate-0", "many")
    rate = "a rate such as 50k, 1.5M or 200, and not 50.000, which can be 50 or 50k"
    assert said(page) == f"tracepoint:syscalls:sys_enter_openat: expected {rate}."
    assert page.locator("#advise-rate-0").get_attribute("aria-invalid") == "true"


def test_a_wildcard_has_no_verdict_until_its_functions_are_counted(page: Page) -> None:
    paste(page, "kprobe:vfs_* { @[func] = count(); }")
    page.fill("#advise-rate-0", "300,000")
    assert "may match any number of functions" in said(page)
    assert page.locator(".advise output strong").count() == 0
    page.fill("#advise-many-0", "40")
    assert said(page).startswith("At 300\N{NO-BREAK SPACE}k\N{NO-BREAK SPACE}events/s")
    assert page.locator(".advise output strong").count() == 1
    assert "many=40" in page.url


@pytest.mark.deep
def test_no_field_changes_another_and_the_nearest_machine_is_a_press_away(page: Page) -> None:
    data: dict[str, Any] = page.evaluate("fetch(document.querySelector('.advise-data').href).then(one => one.json())")
    scope = data["scopes"][""]
    having_it = scope["machines"][scope["tracers"]["perf-record"]["rows"]["profile"]["record-stack"][4]]
    has = {one["id"]: one["id"] in having_it for one in data["machines"]}
    lacking, having = (
        next(machine for machine, known in has.items() if known is is_known) for is_known in (False, True)
    )
    page.select_option("#advise-machine", lacking)
    paste(page, "perf record -F 99 -g -a")
    assert page.input_value("#advise-machine") == lacking
    assert said(page).startswith("Nobody measured such a probe with perf-record")
    page.locator(f".advise-nearest button[value='{having}']").click()
    assert page.input_value("#advise-machine") == having
    assert said(page).startswith("At 99\N{NO-BREAK SPACE}events/s")


@pytest.mark.parametrize(
    ("script", "leads_to"),
    [("strace -c -f -p 4711", "/costs/10-program-calls-summed/"), ("opensnoop-bpfcc", "/tools/#opensnoop-bpfcc")],
)
def test_what_was_measured_otherwise_is_linked(page: Page, script: str, leads_to: str) -> None:
    paste(page, script)
    links = page.locator(".advise-details a").evaluate_all("all => all.map(one => one.href)")
    assert [one for one in links if one.endswith(leads_to)]


def test_a_script_that_cannot_be_read_is_told_with_its_place(page: Page) -> None:
    paste(page, "k:f {\n  @ = count(\n}")
    assert said(page) == "Script, line 3, column 1: found “}”, expected “)”."
    assert probes(page) == []


def test_what_is_not_understood_is_said(page: Page) -> None:
    paste(page, "t:syscalls:sys_enter_read { frobnicate(1) }")
    assert "frobnicate(1)" in page.locator(".advise-unknown").inner_text()


@pytest.mark.parametrize(
    "script",
    ["k:f { while (1) { } }", 'k:f { system("make") }', "strace -k -p 7", "strace -e inject=read:error=EIO -p 7"],
)
def test_no_rate_is_safe_for_what_may_take_any_time(page: Page, script: str) -> None:
    paste(page, script)
    for rate in ("", "1"):
        page.fill("#advise-rate-0", rate)
        assert "nothing says that this may run" in said(page)
        assert "go ahead" not in said(page)


@pytest.mark.parametrize("script", ["perf stat -e context-switches -p 7", "perf record -c 1000 -a"])
def test_no_rate_is_safe_of_a_process_that_switches_or_of_cycles(page: Page, script: str) -> None:
    paste(page, script)
    assert "costs" in said(page)
    assert "go ahead" not in said(page)


def test_no_rate_is_safe_by_a_figure_that_others_printed(page: Page) -> None:
    paste(page, "fbt::vfs_read:entry { @ = count(); }")
    machines = page.locator(".advise select[name=machine] option").evaluate_all("all => all.map(one => one.value)")
    for machine in machines:
        page.select_option("[name=machine]", machine)
        page.fill("#advise-rate-0", "1")
        text = said(page)
        is_printed = "published" in page.locator(".advise-cost").inner_text()
        assert ("go ahead" in text) is not is_printed


def test_only_user_probes_are_asked_for_their_first_instruction(page: Page) -> None:
    paste(page, "u:libc:malloc { @ = count() } t:sched:sched_switch { @ = count() }")
    assert page.locator(".advise-probes select").count() == 1
    dear = said(page)
    page.select_option("#advise-first-0", "emulated")
    assert said(page) != dear


def test_a_pasted_script_never_becomes_markup(page: Page) -> None:
    paste(page, HOSTILE)
    assert page.locator(".advise :is(img, script, b)").count() == 0
    assert "uprobe:<b>a<" in "".join(probes(page))


def test_the_address_restores_script_rates_and_instructions(page: Page, desktop: BrowserContext) -> None:
    paste(page, "u:libc:malloc { @ = count() } k:f,k:g { @++ }")
    page.fill("#advise-rate-0", "20k")
    page.fill("#advise-rate-2", "1k")
    page.select_option("#advise-first-0", "called")
    other = desktop.new_page()
    other.goto(page.url)
    other.wait_for_selector(READY)
    assert said(other) == said(page)
    assert other.input_value("#advise-rate-0") == "20k"
    assert other.input_value("#advise-first-0") == "called"
    other.close()


@pytest.mark.parametrize(
    ("kind", "mechanism", "actions"),
    [
        ("tracepoint-entry", None, ["count"]),
        ("tracepoint-entry", None, ["count-by-name", "print"]),
        ("tracepoint", None, ["count-by-user-stack"]),
        ("uprobe", "stepped", ["count-by-user-stack"]),
        ("uprobe", "emulated", ["count-by-string", "print"]),
        ("uprobe", None, ["count"]),
        ("kprobe", None, ["count-by-pid"]),
        ("usdt", None, ["histogram"]),
    ],
)
def test_costs_are_those_of_the_command(
    site: Path, found: Evidence, kind: str, mechanism: str | None, actions: list[str]
) -> None:
    machines = json.loads(next((site / "data").glob("advise.*.json")).read_bytes())["machines"]
    machine = next(one["id"] for one in machines if one["id"].endswith("-37a4"))  # which has every suite
    probe = {"kind": kind, "mechanism": mechanism, "actions": actions, "has_filter": False, "unknown": []}
    scope = json.loads((site / f"data/costs/{machine}.json").read_text(encoding="utf-8"))
    got: dict[str, Any] = under_node(WORKED_OUT, scope, machine, probe)
    asked = ProbeGroup(attach=kind, kind=kind, mechanism=mechanism, actions=tuple(actions))
    nobody = facts_of_submission(found.costs[found.keys[0]].submission)
    part = asked_here(found, nobody, "bpftrace", asked, named=machine)
    assert part is not None
    assert math.isclose(got["cost"]["value"], part.cost.value, rel_tol=1e-5)
    assert got["basis"] == part.basis


def test_the_command_that_measures_on_the_readers_machine_has_the_script_for_a_shell(page: Page) -> None:
    script = 't:sched:sched_switch /comm == "it\'s $HOME"/ { @ = count() }'
    paste(page, script)
    command = page.locator(".advise-here code").inner_text()
    assert shlex.split(command) == ["sudo", "probe-effect", "advise", "-e", script, "--", "COMMAND"]


@pytest.mark.deep
def test_how_far_the_page_is_from_a_calibrated_answer_is_said_where_the_data_know(
    desktop: BrowserContext, address: str
) -> None:
    def known(data: dict[str, Any]) -> None:
        data["calibrated_ratio"] = {"low": 0.5, "middle": 1.5, "high": 8}

    def told(data: dict[str, Any]) -> None:
        data["calibrated_ratio"] = None

    other = with_data(desktop, address, known)
    said = other.locator(".advise-here").inner_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "were 0.50 to 8.0 times those from another machine's costs" in said
    other.close()
    other = with_data(desktop, address, told)
    assert "what this page says" not in other.locator(".advise-here").inner_text()
    other.close()


@pytest.mark.deep
def test_a_cost_that_may_be_nearly_nothing_has_only_an_upper_end(desktop: BrowserContext, address: str) -> None:
    def wide(data: dict[str, Any]) -> None:
        scope = data["scopes"][""]
        scope["machines"].append([data["machines"][0]["id"]])
        for table in scope["tracers"].values():
            table["rows"]["tracepoint-entry"] = {"nothing": [8600, 94, 9200, "composed", len(scope["machines"]) - 1]}

    page = with_data(desktop, address, wide)
    paste(page, "t:syscalls:sys_enter_read { 1 }")
    page.fill("#advise-rate-0", "1k")
    shown = f"{said(page)} {page.locator('.advise-cost').inner_text()}".replace("\N{NO-BREAK SPACE}", " ")
    assert "by up to" in shown
    assert "up to 9 200 ns, composed" in shown.replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "at no less than" in shown
    assert "(0 to" not in shown
    page.close()


def test_a_script_of_several_probes_is_accessible_and_fits(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport={"width": accessibility.PHONE_PX, "height": 900}, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}advise/")
    page.wait_for_selector(READY)
    paste(page, f"u:libc:malloc /pid == 1/ {{ f({'1' * 80}) }} {HOSTILE} t:{'a' * 90}:b {{ 1 }}")
    accessibility.fits(page)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert accessibility.violations(page) == []
    context.close()


def test_its_scripts_and_costs_are_small(site: Path) -> None:
    (scripts,) = (site / "js").glob("advise.*.js")
    assert len(gzip.compress(scripts.read_bytes())) < SCRIPTS_BYTES
    (data,) = (site / "data").glob("advise.*.json")
    assert json.loads(data.read_bytes())["machines"]
    assert len(gzip.compress(data.read_bytes())) < DATA_BYTES
