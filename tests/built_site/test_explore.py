"""The page `/explore/` in a real browser: what it shows, what addresses restore, and the files that it gives."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest

from helpers import accessibility
from helpers.tiers import deep_but
from probe_effect.compare.kernels import counted, release_order
from probe_effect.numbers.shown import reference_submission

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.browser, pytest.mark.site]

READY = "#explore[data-state=ready]"
DRAWN = f"{READY} ~ #explore-live .view-drawing svg"
MACHINE, OTHER = "amd-epyc-2t-kvm-d4f3", "amd-epyc-2t-kvm-c9b7"
HOME = "the home machine"
"""Stands for the machine that the page begins with, whichever that is."""

KERNEL = "the newest kernel"
"""Stands for the emulated machine that instructions begin with: one of the newest kernel of x86-64."""

NEW = "qemu-tcg-1t-linux-7-3-4-deb13-amd64-cea6"
SCRIPTS_BYTES = 16_400
"""Compressed, of the scripts that are only of these two pages."""

CHOSEN = """() => {
    const found = {};
    for (const [name, value] of new FormData(document.getElementById("explore"))) (found[name] ??= []).push(value);
    return found;
}"""


@pytest.fixture
def page(laptop: Page, address: str) -> Page:
    laptop.goto(f"{address}explore/")
    return laptop


def opened(page: Page, address: str, query: str) -> Page:
    page.goto(f"{address}explore/?{query}")
    page.wait_for_selector(READY)
    return page


def column(page: Page, title: str) -> list[str]:
    heads = page.locator("#explore-live thead th").all_inner_texts()
    place = next(at for at, head in enumerate(heads) if head.startswith(title))
    return page.locator(f"#explore-live tbody tr > :nth-child({place + 1})").all_inner_texts()


STATES: dict[str, dict[str, list[str]]] = {
    "sort=cost": {"sort": ["cost"], "suite": ["per-event"], "machine": [HOME]},
    "q=slowdown&rate=20k": {"q": ["slowdown"], "rate": ["20k"]},
    "machine=all&tracer=bpftrace,libbpf": {"machine": [], "tracer": ["bpftrace", "libbpf"]},
    f"machine={OTHER}&axis=linear": {"machine": [OTHER], "axis": ["linear"]},
    "case=06-uprobe&sort=-cost": {"case": ["06-uprobe"], "suite": ["per-event"], "sort": ["-cost"]},
    "case=01-sweep-tracepoint&level=1000": {"suite": ["sweep"], "level": ["1000"], "machine": [MACHINE]},
    "suite=all": {"suite": ["all"]},
    "q=instructions&tracer=libbpf": {"q": ["instructions"], "machine": [HOME, KERNEL], "tracer": ["libbpf"]},
}
"""Addresses that were published, and what each of them restores; the ticks of the other quantity stay."""


def newest_kernel(catalogue: Catalogue) -> set[str]:
    """The emulated machines with the newest kernel of x86-64."""
    known = [one for one in counted(catalogue) if one.architecture == "x86_64"]
    newest = max((one.document.system.kernel_release for one in known), key=release_order)
    return {one.machine for one in known if one.document.system.kernel_release == newest}


@pytest.mark.parametrize("query", deep_but(STATES, ["q=slowdown&rate=20k", "q=instructions&tracer=libbpf"]))
def test_an_old_address_restores_its_view(laptop: Page, address: str, catalogue: Catalogue, query: str) -> None:
    opened(laptop, address, query)
    chosen = laptop.evaluate(CHOSEN)
    reference = reference_submission(catalogue.numbers)
    assert reference is not None
    names = dict.fromkeys(newest_kernel(catalogue), KERNEL) | {reference.machine: HOME}
    # A new page has the newest kernel ticked for the day when instructions are chosen.
    machines = [one for one in chosen.get("machine", []) if not one.startswith("qemu-") or "instructions" in query]
    chosen["machine"] = [names.get(one, one) for one in machines]
    assert {name: sorted(chosen.get(name, [])) for name in STATES[query]} == {
        name: sorted(names.get(value, value) for value in values) for name, values in STATES[query].items()
    }
    assert laptop.url.endswith(f"?{query}")
    assert laptop.locator("#explore-live tbody tr").count() > 0


@pytest.mark.deep
def test_a_suite_that_the_home_machine_did_not_run_is_shown_on_another(page: Page, site: Path) -> None:
    usual = json.loads((site / "data" / "explore.json").read_text(encoding="utf-8"))["usual"]["time"]
    for suite, machine in usual.items():
        page.select_option("#explore-suite", suite)
        page.wait_for_function(
            "name => location.search === name", arg="" if suite == "per-event" else f"?suite={suite}"
        )
        page.wait_for_selector(READY)
        assert page.evaluate(CHOSEN)["machine"][0] == machine


@pytest.mark.deep
def test_what_the_reader_ticked_stays_ticked_before_its_numbers_arrive(page: Page, site: Path) -> None:
    usual = json.loads((site / "data" / "explore.json").read_text(encoding="utf-8"))["usual"]["time"]
    page.select_option("#explore-suite", next(name for name in usual if name not in ("per-event", "all")))
    page.wait_for_selector(READY)
    held: list[Route] = []
    page.route("**/explore/*.json", lambda route: held.append(route))  # noqa: PLW0108 (Playwright marks what it is given)
    offered = page.locator('#explore input[name="machine"][data-metric="time"]:not(:checked)')
    chosen = next(name for one in offered.all() if (name := one.get_attribute("value")) not in usual.values())
    page.get_by_text("Machines:").click()
    with page.expect_request(f"**/explore/{chosen}.json"):
        page.check(f"#explore [value={chosen}]")
        page.select_option("#explore-suite", "per-event")
    assert chosen in page.evaluate(CHOSEN)["machine"]
    assert held
    for route in held:
        route.continue_()


IN_VAIN = {
    "q=loudness": "q=loudness",
    "rate=fast": "rate=fast",
    "tracer=bpftrace,nope": "tracer=nope",
    f"machine={NEW}": f"machine={NEW}",
    "case=06-uprobe&suite=sweep": "suite=sweep",
    "level=1000": "level=1000",
    "sort=__proto__&case=%3Cb%3E": "case=<b>, sort=__proto__",
}


def test_what_an_address_asks_for_is_in_sight(laptop: Page, address: str) -> None:
    opened(laptop, address, "suite=per-event&q=slowdown")
    assert laptop.locator("#explore").bounding_box()["y"] < laptop.viewport_size["height"]  # type: ignore[index]


@pytest.mark.parametrize("query", deep_but(IN_VAIN, ["sort=__proto__&case=%3Cb%3E"]))
@pytest.mark.deep
def test_what_an_address_asks_in_vain_is_told_and_ignored(laptop: Page, address: str, query: str) -> None:
    opened(laptop, address, query)
    assert f"not known here: {IN_VAIN[query]}." in laptop.locator("#explore .view-message").inner_text()
    assert laptop.locator("#explore-live tbody tr").count() > 0


@pytest.mark.deep
def test_nothing_is_loaded_before_the_reader_acts(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}explore/", wait_until="networkidle")
    assert [one for one in asked if one.endswith(("vega.js", ".json"))] == []
    page.select_option("#explore-sort", "cost")
    page.wait_for_selector(DRAWN)
    assert [one for one in asked if one.endswith("vega.js")] != []


def test_a_choice_is_a_step_that_back_takes_back(page: Page) -> None:
    page.select_option("#explore-suite", "usdt")
    page.wait_for_selector(READY)
    assert page.url.endswith("?suite=usdt")
    page.select_option("#explore-axis", "linear")
    page.wait_for_function("() => location.search === '?suite=usdt&axis=linear'")
    page.go_back()
    page.wait_for_function("() => document.getElementById('explore-axis').value === 'log'")
    assert page.url.endswith("?suite=usdt")
    page.go_forward()
    page.wait_for_function("() => document.getElementById('explore-axis').value === 'linear'")


@pytest.mark.deep
def test_typing_is_no_step_and_a_wrong_rate_is_told(page: Page) -> None:
    page.check("#explore [value=slowdown]")
    page.wait_for_selector(READY)
    steps = page.evaluate("history.length")
    page.fill("#explore-rate", "7k")
    page.wait_for_function("() => location.search === '?q=slowdown&rate=7k'")
    page.fill("#explore-rate", "seven")
    page.wait_for_selector("#explore-rate[aria-invalid=true]")
    assert "expected a rate" in page.locator("#explore .view-message").inner_text()
    assert page.evaluate("history.length") == steps
    assert page.url.endswith("?q=slowdown&rate=7k")


def test_a_slowdown_is_rate_times_cost(laptop: Page, address: str) -> None:
    """At 10 million events a second, a ns is one per cent."""
    costs = column(opened(laptop, address, "case=04-tracepoint-entry"), "Cost")
    slowdowns = column(opened(laptop, address, "case=04-tracepoint-entry&q=slowdown&rate=10M"), "Slowdown")
    numbers = [[text.replace("\u202f", "").split("\u00a0")[0] for text in some] for some in (costs, slowdowns)]
    assert [float(one) for one in numbers[0]] == pytest.approx([float(one) for one in numbers[1]], rel=0.05)


@pytest.mark.deep
def test_headers_sort_and_say_so(laptop: Page, address: str) -> None:
    opened(laptop, address, "suite=usdt&machine=all")
    laptop.click("#explore-live [data-sort=tracer]")
    head = laptop.locator("#explore-live th[aria-sort]")
    assert (head.inner_text(), head.get_attribute("aria-sort")) == ("Tracer", "ascending")
    found = column(laptop, "Tracer")
    assert found == sorted(found, key=str.lower)
    laptop.keyboard.press("Enter")
    laptop.wait_for_selector("#explore-live th[aria-sort=descending]")
    assert column(laptop, "Tracer") == found[::-1] or column(laptop, "Tracer")[0] == found[-1]
    assert laptop.url.endswith("sort=-tracer")


@pytest.mark.deep
def test_only_what_intervals_separate_has_places_and_the_flagged_has_none(
    laptop: Page, address: str, catalogue: Catalogue
) -> None:
    flagged = next(one for one in catalogue.numbers.current() if one.cost and one.faults)
    opened(laptop, address, f"case={flagged.case}&sort=cost&machine={flagged.submission.machine}")
    costs, places = column(laptop, "Cost"), column(laptop, "Place")
    assert any(" to " in place for place in places)
    assert {place for cost, place in zip(costs, places, strict=True) if "†" in cost} == {""}
    assert "†" in costs[-1]


def test_a_cost_that_is_no_difference_is_in_words_and_not_in_the_chart(laptop: Page, address: str) -> None:
    opened(laptop, address, "case=01-control")
    assert all("not distinguishable from 0" in cost for cost in column(laptop, "Cost"))
    laptop.wait_for_function("() => document.querySelector('#explore-live .chart-note').textContent")
    assert "not distinguishable from 0" in laptop.locator("#explore-live .chart-note").inner_text()
    assert laptop.locator(".view-drawing svg").count() == 0


@pytest.mark.deep
def test_each_number_leads_to_its_page(laptop: Page, address: str) -> None:
    for query in ("suite=sweep", "q=instructions&case=06-uprobe&machine=all"):
        opened(laptop, address, query)
        links = laptop.locator("#explore-live tbody td.align-right a").evaluate_all("all => all.map(one => one.href)")
        assert {one for one in links[:20] if laptop.request.get(one).status != 200} == set()
        assert links


@pytest.mark.parametrize("kind", deep_but(("csv", "json", "svg", "png", "vl.json"), ["csv", "png"]))
def test_what_is_shown_can_be_kept(laptop: Page, address: str, kind: str, tmp_path: Path) -> None:
    opened(laptop, address, "case=04-tracepoint-entry&tracer=bpftrace,libbpf")
    laptop.wait_for_selector(DRAWN)
    with laptop.expect_download() as waiting:
        laptop.click(f'[data-save="{kind}"]')
    file = tmp_path / "file"
    waiting.value.save_as(file)
    content = file.read_bytes()
    assert waiting.value.suggested_filename == f"probe-effect.{kind}"
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert {row["tracer"] for row in rows} == {"bpftrace", "libbpf"}
        assert all(float(row["cost_low_ns"]) < float(row["cost_ns"]) < float(row["cost_high_ns"]) for row in rows)
    elif kind == "png":
        assert content.startswith(b"\x89PNG")
    elif kind == "svg":
        assert content.startswith(b"<svg")
    else:
        found = json.loads(content)
        assert len(found["numbers"] if kind == "json" else found["data"]["values"]) == 2


@pytest.mark.deep
def test_a_table_is_copied_with_tabs_between_its_cells(phone: Page, address: str) -> None:
    phone.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(phone, address, "case=04-tracepoint-entry&tracer=bpftrace,libbpf")
    phone.click('[data-save="copy"]')
    phone.locator("#explore .view-message", has_text="Copied.").wait_for()
    head, *rows = phone.evaluate("navigator.clipboard.readText()").splitlines()
    assert head.split("\t")[:4] == ["case", "level", "tracer", "tool"]
    assert len(rows) == phone.locator("#explore-live tbody tr").count()


def test_the_view_is_cited_with_its_address_and_the_version_of_the_data(laptop: Page, address: str) -> None:
    opened(laptop, address, "case=06-uprobe&tracer=bpftrace")
    text = laptop.locator('#explore-live [data-cite="text"]').text_content() or ""
    assert "“Cost of one event: Uprobe on read;" in text
    assert "data version " in text
    assert text.endswith(f"{address}explore/?case=06-uprobe&tracer=bpftrace")


def test_without_javascript_the_matrices_and_the_first_chart_are_there_and_no_control(
    unscripted: Page, address: str
) -> None:
    unscripted.goto(f"{address}explore/")
    assert unscripted.locator("figure.chart svg:visible").count() >= 1
    assert unscripted.locator(".matrix table:visible").count() >= 2
    assert unscripted.locator("button:visible, select:visible, input:visible").count() == 0


def drawn(page: Page) -> list[dict[str, str | float]]:
    """The points of the chart, each with its series and the label of its row."""
    page.wait_for_selector(DRAWN)
    with page.expect_download() as waiting:
        page.click('[data-save="vl.json"]')
    found: list[dict[str, str | float]] = json.loads(waiting.value.path().read_text(encoding="utf-8"))["data"]["values"]
    return found


def named(points: list[dict[str, str | float]], key: str) -> set[str]:
    return {str(one[key]) for one in points}


@pytest.mark.deep
def test_colours_are_of_tracers_on_one_machine_and_of_machines_on_several(laptop: Page, address: str) -> None:
    one = drawn(opened(laptop, address, f"case=04-tracepoint-entry&machine={MACHINE}&tracer=bpftrace,libbpf"))
    assert {name.split()[0] for name in named(one, "series")} == {"bpftrace", "libbpf"}
    assert len(named(one, "label")) == 1
    several = drawn(opened(laptop, address, "case=04-tracepoint-entry&machine=all&tracer=bpftrace,libbpf"))
    assert len(named(several, "series")) > 2
    assert {name.rpartition(", ")[2].split()[0] for name in named(several, "label")} == {"bpftrace", "libbpf"}


@pytest.mark.deep
def test_counts_below_one_instruction_do_not_stretch_the_chart(laptop: Page, address: str) -> None:
    found = drawn(opened(laptop, address, "q=instructions&machine=all"))
    assert min(float(one["cost_instructions"]) for one in found) >= 1
    assert "below 1 instruction" in laptop.locator("#explore-live .chart-note").inner_text()


CHOSEN_PAGES = ("explore/?machine=all&suite=usdt", f"compare/?b={OTHER}:bpftrace")


@pytest.mark.parametrize("path", deep_but(CHOSEN_PAGES, CHOSEN_PAGES[1:]))
def test_what_a_reader_chose_is_accessible_and_fits(
    chromium: Browser, address: str, looks: Sequence[accessibility.Look], path: str
) -> None:
    context = chromium.new_context(viewport={"width": accessibility.PHONE_PX, "height": 900})
    page = context.new_page()
    page.goto(f"{address}{path}")
    page.wait_for_selector("form.view[data-state=ready]")
    accessibility.fits(page)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert accessibility.violations(page, looks) == []
    context.close()


def test_the_scripts_of_both_pages_are_small(site: Path) -> None:
    scripts = [next((site / "js").glob(f"{name}.*.js")).read_bytes() for name in ("explore", "compare")]
    assert sum(len(gzip.compress(script)) for script in scripts) < SCRIPTS_BYTES
