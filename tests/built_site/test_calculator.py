"""The home page's calculator in a real browser: its arithmetic, its words, its form and its address."""

from __future__ import annotations

import gzip
import json
import math
import re
from typing import TYPE_CHECKING, Any

import pytest

from probe_effect.answer import beside, hardware, sentences
from probe_effect.answer.alternatives import ways
from probe_effect.answer.answers import forecast, tried
from probe_effect.answer.entry_path import entry_path
from probe_effect.answer.evidence import evidence
from probe_effect.answer.grounds import grounds
from probe_effect.answer.parts import parts
from probe_effect.answer.question import Combination, ProbeQuestion, Question
from probe_effect.numbers.likeness import facts_of_submission
from site_build import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from probe_effect.answer.answers import Forecast
    from probe_effect.answer.evidence import Evidence
    from probe_effect.numbers.catalogue import Catalogue

pytestmark = [pytest.mark.browser, pytest.mark.site]

EXAMPLES = PROJECT / "tests" / "data"
READY = "form.calculator[data-state=ready]"
SCRIPTS_BYTES, WORDS_BYTES, COST_BYTES = 9_500, 6_000, 60
"""Compressed, so that the calculator loads at once on a phone."""

OURS, OTHER = "amd-epyc-2t-kvm-d4f3", "amd-epyc-2t-kvm-c9b7"
KIND = "like.nested-virtual-machine.x86_64"

PREDICTED = """examples => {
    const { predict, multiplied } = probeEffect.prediction;
    const taken = found => found && [found.value, found.low, found.high];
    const given = ([value, low, high]) => ({ value, low, high });
    return examples.map(({ probes: [one], threads, busy_ratio: busy }) => {
        const cost = one.factor ? multiplied(given(one.cost), given(one.factor)) : given(one.cost);
        const rate = one.rate_hz;
        const found = predict(cost, { rate, threads, busy });
        return {
            rate_hz: [rate], cost: taken(cost), slowdown: taken(found.slowdown), delay: taken(found.delay),
            cpu_s_per_s: taken(found.cpu), event_hz: taken(found.events),
            ...Object.fromEntries([...found.thresholds].map(([percent, limit]) => [percent, taken(limit)])),
        };
    });
}"""

BANDS = """examples => {
    const given = ([value, low, high]) => ({ value, low, high });
    return examples.map(({ slowdown }) => probeEffect.prediction.bandsOf(given(slowdown)));
}"""

MOVED = """examples => {
    const given = ([value, low, high]) => ({ value, low, high });
    return examples.map(({ cost, each, measured, calls }) => {
        const found = probeEffect.prediction.moved(given(cost), given(each), measured, calls);
        return [found.value, found.low, found.high];
    });
}"""

WRITTEN = """examples => {
    const { scales, quantity, stated, interval } = probeEffect.units;
    const spread = ([value, low, high], scale) => interval({ value, low, high }, scale);
    return examples.map(({ write, scale, value }) =>
        ({ quantity, stated, interval: spread })[write](value, scales[scale]));
}"""

LOADED = """async () => {
    const source = document.querySelector(".calculator-data").href;
    const taken = async (address) => (await fetch(address)).json();
    const data = probeEffect.costs.understood(await taken(source));
    const all = (await taken(probeEffect.page.page("/data/machines.json"))).filter(({ metric }) => metric === "time");
    const others = all.filter(({ id }) => !(id in data.machines));
    await Promise.all(others.map(async ({ id }) => data.add(id, await taken(new URL(`guidance/${id}.json`, source)))));
    return data;
}"""
"""The costs of every machine, also of those that the page does not have from the start."""

SAID = """async questions => {
    const { forecast, sentence, recommendation, figures, assumptions, ways } = probeEffect.answer;
    const data = await (LOADED)();
    return questions.map(({ key, ...asked }) => {
        const entry = data.costs.find(one => key.every((part, place) =>
            one[["machine", "tracer", "case"][place]] === part));
        const found = forecast(entry, asked);
        const less = ways(found, data).map(one => [one.name, one.figures, one.remarks]);
        return [sentence(found, data), recommendation([found], data), ...assumptions(found, data),
            ...figures(found, data).map(([, text]) => text), ...less];
    });
}""".replace("LOADED", LOADED)

OF_BASIS = """async basis => {
    const data = await (LOADED)();
    return data.costs.filter(one => one.basis === basis).map(one => [one.machine, one.tracer, one.case]);
}""".replace("LOADED", LOADED)

OFFERED_WITH = """() => {
    const form = document.querySelector("form.calculator");
    const { probe, ...others } = Object.fromEntries([...form.querySelectorAll("select")].map(one => [one.name, one]));
    const now = read => Object.fromEntries(Object.entries(others).map(([name, select]) => [name, read(select)]));
    return Object.fromEntries([...probe.options].map(({ value }) => {
        probe.value = value;
        probe.dispatchEvent(new Event("input", { bubbles: true }));
        return [value, [now(one => one.value), now(one => [...one.options].map(option => option.value))]];
    }));
}"""
"""For each probe that can be chosen, what is chosen with it then, and what else can be."""

ALIKE = """async ({ tracer, id, ...asked }) => {
    const { forecast, alike } = probeEffect.answer;
    const data = await (LOADED)();
    const entries = data.costs.filter(one => one.tracer === tracer && one.case === id && one.basis === "measured");
    return alike(entries.map(entry => forecast(entry, asked)), data);
}""".replace("LOADED", LOADED)


@pytest.fixture
def page(laptop: Page, address: str) -> Page:
    laptop.goto(address)
    come_to_calculator(laptop)
    return laptop


def come_to_calculator(page: Page) -> None:
    """As a reader does, for whom its scripts wait."""
    page.locator("#calculator-rate").focus()
    page.wait_for_selector(READY)


def examples(file: str, group: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((EXAMPLES / file).read_text(encoding="utf-8"))[group]
    return found


def same(found: list[float | None] | None, expected: list[float | None] | None) -> bool:
    if found is None or expected is None:
        return found is expected
    pairs = zip(found, expected, strict=True)
    return all(a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def test_the_page_predicts_what_exact_fractions_say(page: Page) -> None:
    wanted = [one for one in examples("prediction.json", "predictions") if len(one["probes"]) == 1]
    wrong = []
    for example, found in zip(wanted, page.evaluate(PREDICTED, wanted), strict=True):
        expected = example["expected"]
        expected |= expected.pop("thresholds") | {"rate_hz": [expected["rate_hz"]]}
        assert found.keys() == expected.keys()
        wrong += [(example, name) for name in found if not same(found[name], expected[name])]
    assert wrong == []


def test_the_page_expects_the_losses_that_exact_fractions_say(page: Page) -> None:
    wanted = examples("prediction.json", "losses")
    found = page.evaluate(
        "all => all.map(one => probeEffect.prediction.expectedLoss(one.event_hz, one.highest_hz, one.loss_ratio))",
        wanted,
    )
    assert same(found, [one["expected"] for one in wanted])


def test_the_page_finds_the_bands_of_a_slowdown_as_the_examples_say(page: Page) -> None:
    wanted = examples("prediction.json", "bands")
    assert page.evaluate(BANDS, wanted) == [one["expected"] for one in wanted]


def test_the_page_moves_costs_to_other_numbers_of_system_calls_as_the_examples_say(page: Page) -> None:
    wanted = examples("prediction.json", "moves")
    found = page.evaluate(MOVED, wanted)
    wrong = [one for one, ends in zip(wanted, found, strict=True) if not same(ends, one["expected"])]
    assert wrong == []


def test_the_page_writes_every_quantity_as_the_terminal_does(page: Page) -> None:
    wanted = examples("units.json", "written")
    assert len(wanted) >= 200
    assert page.evaluate(WRITTEN, wanted) == [one["text"] for one in wanted]


def test_the_page_reads_rates_and_shares_as_the_command_does(page: Page) -> None:
    wanted = examples("units.json", "read")
    found = page.evaluate(
        "all => all.map(({read, text}) => probeEffect.units[read === 'rate' ? 'readRate' : 'readShare'](text))", wanted
    )
    assert same(found, [one["value"] for one in wanted])


def forecasts(found: Evidence, **load: float) -> list[Forecast]:
    """What is to be said of every cost under one load."""
    return [forecast_of(found, key, **load) for key in found.costs]


def forecast_of(found: Evidence, key: tuple[str, str, str], **load: float) -> Forecast:
    machine, tracer, case = key
    question = Question(
        probes=(ProbeQuestion(case, load["rate"]),),
        threads=int(load["threads"]),
        busy_ratio=load["busy"],
        calls_hz=load.get("calls"),
    )
    known = parts(found, question, machine, tracer)
    (part,) = known
    facts = part.printed.facts if part.printed else facts_of_submission(part.sources[0].submission)
    return forecast(known, facts, tracer, question)


def said(found: Evidence, one: Forecast) -> list[str | list[str]]:
    """The sentence, the assumptions, the figures and the alternatives of an answer as the page has them."""
    late = [sentences.delay(one)] if one.load.busy_ratio < 1 else []
    rates = [rate for _, rate in sentences.thresholds(one)]
    outside = [hardware.row(part.hardware, one.load)[1] for part in one.parts if part.hardware]
    figures = [sentences.cpu(one), *late, sentences.loss(one), *outside, *rates, sentences.grade(one)]
    less = [list(beside.way(way)) for way in ways(found, one)]
    assumed = sentences.assumptions(one, tried(found, one))
    return [sentences.headline(one), sentences.recommendation(one) or "", *assumed, *figures, *less]


@pytest.mark.parametrize(
    "load",
    [
        {"rate": 50e3, "threads": 1, "busy": 1},
        {"rate": 123.4, "threads": 3, "busy": 0.25},
        {"rate": 0, "threads": 1, "busy": 0.9},
        {"rate": 1e7, "threads": 8, "busy": 1},
    ],
)
def test_the_page_says_of_every_cost_what_the_terminal_says(
    page: Page, catalogue: Catalogue, load: dict[str, float]
) -> None:
    found = evidence(catalogue)
    questions = [{"key": list(key), **load} for key in found.costs]
    assert page.evaluate(SAID, questions) == [said(found, one) for one in forecasts(found, **load)]


@pytest.mark.parametrize("basis", ["estimated", "published"])
def test_the_page_says_of_what_nobody_timed_what_the_terminal_says(
    page: Page, catalogue: Catalogue, basis: str
) -> None:
    found, load = evidence(catalogue), {"rate": 50e3, "threads": 1, "busy": 1}
    keys = [key for key in page.evaluate(OF_BASIS, basis) if basis == "published" or key[0] in found.machines]
    assert len(keys) > 20
    wanted = [said(found, forecast_of(found, tuple(key), **load)) for key in keys]
    assert page.evaluate(SAID, [{"key": key, **load} for key in keys]) == wanted


def test_the_page_says_of_a_composed_cost_what_the_terminal_says(page: Page, catalogue: Catalogue) -> None:
    found, name = evidence(catalogue), "uprobe (stepped) with count-by-string"
    question = Question(combination=Combination("uprobe", "count-by-string", 50e3, "stepped"))
    known = parts(found, question, OURS, "bpftrace")
    one = forecast(known, facts_of_submission(known[0].sources[0].submission), "bpftrace", question)
    (on_page,) = page.evaluate(SAID, [{"key": [OURS, "bpftrace", name], "rate": 50e3, "threads": 1, "busy": 1}])
    assert (known[0].name, known[0].basis) == (name, "composed")
    assert on_page[0] == sentences.headline(one)
    assert set(grounds(one, tried(found, one))) <= set(on_page)


def test_system_calls_change_a_cost_on_the_page_as_in_the_terminal(page: Page, catalogue: Catalogue) -> None:
    found, load = evidence(catalogue), {"rate": 5e3, "threads": 2, "busy": 0.5, "calls": 80e3}
    keys = [key for key in found.costs if entry_path(found, key)]
    assert keys
    on_page = page.evaluate(SAID, [{"key": list(key), **load} for key in keys])
    for key, words in zip(keys, on_page, strict=True):
        one = forecast_of(found, key, **load)
        assumed = sentences.assumptions(one, tried(found, one))
        wanted = [sentences.headline(one), sentences.recommendation(one), *assumed]
        assert words[: len(wanted)] == wanted


def ask(page: Page, kind: str) -> None:
    """Choose what to see, by the kind of probe that shows it."""
    field(page, "What do you want to see?").select_option(kind)


def test_a_user_probe_is_asked_for_by_its_first_instruction(page: Page) -> None:
    assert not page.locator("#calculator-first").is_visible()
    ask(page, "uprobe")
    assert offered(page, "first") == ["emulated", "stepped", "called", "unknown"]
    assert "02-uprobe-nop1" in offered(page, "case")
    assert "06-uprobe" not in offered(page, "case")
    emulated = answer(page)
    assert "If it is stepped" in page.locator(".calculator-figures").inner_text()
    page.locator("#calculator-first").select_option("stepped")
    assert answer(page) != emulated
    copied, wanted = page.url, answer(page)
    page.goto(copied)
    page.wait_for_selector(READY)
    assert (answer(page), values(page)["first"]) == (wanted, "stepped")


def test_what_a_probe_costs_where_the_first_instruction_is_another_is_told_beside(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}?tracer=bpftrace&case=04-uprobe-push&machine={OURS}")
    laptop.wait_for_selector(READY)
    figures = laptop.locator(".calculator-figures dl")
    beside = figures.locator("dt", has_text="If it is stepped").locator("+ dd").inner_text()
    laptop.locator("#calculator-first").select_option("stepped")
    assert beside in answer(laptop)


def test_a_machine_of_others_is_chosen_with_its_dagger(page: Page) -> None:
    ask(page, "kprobe")
    assert "(estimated)" in answer(page)
    (group,) = [
        one for one in page.locator("#calculator-machine optgroup").all() if "†" in (one.get_attribute("label") or "")
    ]
    field(page, "Machine").select_option(group.locator("option").first.get_attribute("value"))
    assert "(published†)" in answer(page)


@pytest.mark.parametrize("load", [{"rate": 50e3, "threads": 1, "busy": 1}, {"rate": 20, "threads": 2, "busy": 0.5}])
@pytest.mark.parametrize("name", ["06-uprobe", "01-control"])
def test_the_page_says_of_a_kind_of_machine_what_the_terminal_says(
    page: Page, catalogue: Catalogue, load: dict[str, float], name: str
) -> None:
    found = evidence(catalogue)
    both = [one for one in forecasts(found, **load) if one.tracer == "bpftrace" and one.parts[0].name == name]
    assert len(both) > 1
    assert page.evaluate(ALIKE, {"tracer": "bpftrace", "id": name, **load}) == beside.alike(both)


def field(page: Page, label: str) -> Locator:
    return page.locator("form.calculator").get_by_label(label, exact=True)


def values(page: Page) -> dict[str, str]:
    """What every named field of the calculator holds."""
    found: dict[str, str] = page.locator("form.calculator").evaluate("form => Object.fromEntries(new FormData(form))")
    return found


def answer(page: Page) -> str:
    return page.locator("form.calculator output").inner_text()


def test_another_rate_gives_another_answer_and_another_address(page: Page) -> None:
    before = answer(page)
    field(page, "Events per second").fill("1.5M")
    assert answer(page) != before
    assert answer(page).startswith("At 1.5\u00a0M\u00a0events/s")
    assert "rate=1.5M" in page.url


def test_an_address_gives_the_answer_that_it_was_copied_from(page: Page, address: str) -> None:
    ask(page, "uprobe")
    page.locator("#calculator-first").select_option("stepped")
    field(page, "What to do at each event").select_option("06-uprobe")
    page.locator(".calculator-further summary").click()
    field(page, "Threads").fill("2")
    field(page, "Busy share of each").fill("40%")
    wanted, copied = answer(page), page.url
    page.goto(address)
    page.goto(copied)
    page.wait_for_selector(READY)
    assert answer(page) == wanted
    assert page.locator(".calculator-message").inner_text() == ""


def test_what_the_address_says_and_nobody_measured_is_told_and_ignored(page: Page, address: str) -> None:
    wanted = answer(page)
    page.goto(f"{address}?tracer=none-such&rate=<b>fast</b>&threads=0&busy=200%25&machine=__proto__")
    page.wait_for_selector(READY)
    message = page.locator(".calculator-message").inner_text()
    assert [name for name in ("tracer=", "rate=", "threads=", "busy=", "machine=") if name not in message] == []
    assert page.locator(".calculator-message b").count() == 0
    assert answer(page) == wanted


def test_only_what_was_measured_is_offered(page: Page) -> None:
    data = page.evaluate("fetch(document.querySelector('.calculator-data').href).then(found => found.json())")
    probes = {case: probe for suite in data["suites"] for case, _, probe, *_ in suite["cases"]}
    entries = [
        (one["tracer"], one["case"], id_, one.get("first", ""), one.get("probe"))
        for id_, machine in (data["machines"] | data["others"]).items()
        for one in machine["costs"]
    ]
    probes |= {case: probe for _, case, _, _, probe in entries if probe}
    measured = {(tracer, case, machine) for tracer, case, machine, *_ in entries}
    first_of = {(tracer, case): first for tracer, case, _, first, _ in entries}
    for probe, (chosen, on_offer) in page.evaluate(OFFERED_WITH).items():
        own = {(tracer, case, machine) for tracer, case, machine in measured if probes[case] == probe}
        assert {case for tracer, case, _ in own if first_of[tracer, case] == chosen["first"]} == set(on_offer["case"])
        assert set(on_offer["tracer"]) == {tracer for tracer, case, _ in own if case == chosen["case"]}
        machines = {machine for *key, machine in own if key == [chosen["tracer"], chosen["case"]]}
        kinds = {KIND} if machines & data["machines"].keys() else set()
        assert set(on_offer["machine"]) == machines | kinds
    assert set(offered(page, "probe")) == {probes[case] for _, case, _ in measured}


def offered(page: Page, name: str) -> list[str]:
    found: list[str] = page.locator(f"#calculator-{name} option").evaluate_all("all => all.map(one => one.value)")
    return found


ADDRESSES = {
    f"?rate=50k&tracer=bpftrace&case=06-uprobe&machine={OURS}": {
        "rate": "50k",
        "tracer": "bpftrace",
        "probe": "uprobe",
        "case": "06-uprobe",
        "machine": OURS,
        "threads": "1",
        "busy": "100%",
    },
    f"?rate=1.5M&tracer=strace&case=22-system-call&machine={OURS}&threads=8&busy=40%25": {
        "rate": "1.5M",
        "tracer": "strace",
        "probe": "system-call",
        "case": "22-system-call",
        "machine": OURS,
        "threads": "8",
        "busy": "40%",
    },
    f"?tracer=bpftrace&case=04-tracepoint-entry&machine={OTHER}": {
        "rate": "50k",
        "case": "04-tracepoint-entry",
        "machine": OTHER,
    },
    f"?case=06-uprobe&tracer=bpftrace&machine={KIND}": {"case": "06-uprobe", "machine": KIND},
    "?case=19-function-trace": {"tracer": "uftrace", "probe": "function", "case": "19-function-trace"},
    "?tracer=perf-record": {"tracer": "perf-record", "case": "04-tracepoint-entry"},
}
"""Addresses that people may have kept, and what they restore."""


@pytest.mark.parametrize("query", ADDRESSES)
def test_an_address_that_was_kept_restores_what_it_says(laptop: Page, address: str, query: str) -> None:
    laptop.goto(address + query)
    laptop.wait_for_selector(READY)
    assert laptop.locator(".calculator-message").inner_text() == ""
    assert values(laptop).items() >= ADDRESSES[query].items()


def test_back_and_forward_walk_through_what_was_chosen(page: Page) -> None:
    first = answer(page)
    ask(page, "system-call")
    second = answer(page)
    ask(page, "uprobe")
    page.locator("#calculator-first").select_option("stepped")
    third = answer(page)
    assert len({first, second, third}) == 3
    page.go_back()
    page.go_back()
    assert answer(page) == second
    page.go_back()
    assert answer(page) == first
    page.go_forward()
    assert answer(page) == second


def test_a_rate_that_is_typed_or_pulled_is_no_step_to_go_back_from(page: Page) -> None:
    ask(page, "system-call")
    steps = page.evaluate("history.length")
    for rate in ("7k", "70k"):
        field(page, "Events per second").fill(rate)
    slider(page).fill("3")
    assert page.evaluate("history.length") == steps
    assert "rate=1k" in page.url


def slider(page: Page) -> Locator:
    return page.locator("form.calculator [type=range]")


def test_the_slider_and_the_typed_rate_are_in_step(page: Page) -> None:
    field(page, "Events per second").fill("2k")
    assert float(slider(page).input_value()) == pytest.approx(3.3)
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    assert values(page)["rate"] == "2.5k"
    assert slider(page).get_attribute("aria-valuetext") == "2.5\u00a0k\u00a0events/s"
    assert answer(page).startswith("At 2.5\u00a0k\u00a0events/s")
    page.keyboard.press("End")
    assert values(page)["rate"] == "10M"
    page.keyboard.press("Home")
    assert values(page)["rate"] == "10"


@pytest.mark.parametrize("rate", ["0", "1e-6", "50k", "3G", "1e12"])
def test_the_chart_has_the_point_and_says_what_it_shows(page: Page, rate: str) -> None:
    field(page, "Events per second").fill(rate)
    chart = page.locator("svg.calculator-chart")
    assert "The point:" in (chart.get_attribute("aria-label") or "")
    assert chart.locator(".threshold").count() == 3
    outer = chart.bounding_box()
    point = chart.locator("circle").bounding_box()
    assert outer is not None
    assert point is not None
    assert outer["x"] <= point["x"] <= outer["x"] + outer["width"]
    assert outer["y"] <= point["y"] <= outer["y"] + outer["height"]


def test_the_point_of_the_chart_lies_on_the_line_of_the_cost(page: Page) -> None:
    for rate in ("20k", "1M"):
        field(page, "Events per second").fill(rate)
        circle, line = (page.locator(f"svg.calculator-chart .{name}") for name in ("point", "cost"))
        x, y = (float(circle.get_attribute(name) or "nan") for name in ("cx", "cy"))
        points = [tuple(map(float, one.split(","))) for one in (line.get_attribute("points") or "").split()]
        (left, low), (right, high) = points
        assert y == pytest.approx(low + (high - low) * (x - left) / (right - left), abs=0.01)


def test_an_alternative_is_chosen_by_its_link_and_left_by_back(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}?tracer=bpftrace&case=06-uprobe&machine={OURS}&rate=7k")
    laptop.wait_for_selector(READY)
    before = answer(laptop)
    laptop.locator(".calculator-ways").get_by_role(
        "link", name="“Tracepoint on a system call's entry” with bpftrace"
    ).click()
    assert values(laptop)["case"] == "04-tracepoint-entry"
    assert values(laptop)["rate"] == "7k"
    assert laptop.evaluate("document.activeElement.tagName") == "OUTPUT"
    laptop.go_back()
    assert answer(laptop) == before


def test_where_nothing_costs_less_the_page_says_so(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}?tracer=bpftrace&case=01-control&machine={OURS}")
    laptop.wait_for_selector(READY)
    assert "Nothing was measured on this machine" in laptop.locator(".calculator-ways").inner_text()


def test_a_kind_of_machine_is_answered_with_a_range_and_with_each_machine(laptop: Page, address: str) -> None:
    laptop.goto(f"{address}?tracer=bpftrace&case=06-uprobe&machine={KIND}")
    laptop.wait_for_selector(READY)
    lines = laptop.locator("svg.calculator-chart .cost").count()
    assert lines > 1
    assert f"{lines} machines of that kind" in answer(laptop)
    figures = laptop.locator(".calculator-figures").inner_text()
    loaded = laptop.evaluate("fetch(document.querySelector('.calculator-data').href).then(found => found.json())")
    assert OTHER in loaded["machines"]
    assert sum(machine in figures for machine in loaded["machines"]) == lines


def test_without_scripts_the_table_has_the_cost_of_a_uprobe_and_its_threshold(unscripted: Page, address: str) -> None:
    unscripted.goto(address)
    table = unscripted.locator("table").filter(has=unscripted.get_by_role("columnheader", name="First instruction"))
    cells = table.get_by_role("row").filter(has_text="stepped").get_by_role("cell").all_inner_texts()
    assert re.search(r"[nµ]s \(", cells[0])
    assert "/s (" in cells[2]


@pytest.mark.parametrize(
    ("label", "text"),
    [("Events per second", "fast"), ("Threads", "1.5"), ("Busy share of each", "40"), ("Threads", "")],
)
def test_a_field_that_cannot_be_read_says_what_it_expects(page: Page, label: str, text: str) -> None:
    page.locator(".calculator-further summary").click()
    wrong = field(page, label)
    wrong.fill(text)
    assert "expected" in answer(page)
    assert wrong.get_attribute("aria-invalid") == "true"
    assert page.locator(".calculator-details dl").count() == 0


def test_what_is_open_stays_open_when_the_answer_changes(page: Page) -> None:
    page.get_by_text("Assumed").click()
    field(page, "Events per second").fill("7k")
    assert page.get_by_text("The rate was counted without the tracer.").is_visible()


def test_the_calculator_is_worked_by_keyboard(page: Page) -> None:
    field(page, "What do you want to see?").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "case"
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("9k")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    for name in ("tracer", "machine"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == name
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for name in ("threads", "busy", "calls"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == name
    assert answer(page).startswith("At 9\u00a0k\u00a0events/s")


def test_without_the_costs_the_calculator_says_so(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("**/guidance*.json", lambda route: route.abort())
    page.goto(address)
    page.locator("#calculator-rate").focus()
    page.get_by_text("could not be loaded").wait_for()
    assert page.locator("table").first.is_visible()
    context.close()


def test_without_scripts_the_calculator_has_its_first_answer_and_no_fields(unscripted: Page, address: str) -> None:
    unscripted.goto(address)
    assert unscripted.locator("form.calculator output").inner_text().startswith("At 50\u00a0k\u00a0events/s")
    assert unscripted.locator("svg.calculator-chart").is_visible()
    assert unscripted.locator(".calculator-fields").first.is_hidden()


SHOWN = """form => ({
    fields: [...form.querySelectorAll("select")].map(one => [
        one.name, one.value, one.closest(".calculator-field").hidden,
        [...one.options].map(option => [option.value, option.text, option.parentElement.label ?? ""]),
    ]),
    words: ["output", "dt", "dd", ".calculator-figures p", ".calculator-details :is(li, p, summary, h3)"]
        .map(part => [...form.querySelectorAll(part)].map(one => one.textContent)),
    links: [...form.querySelectorAll(".calculator-result a")].map(one => one.href),
    label: form.querySelector("svg").getAttribute("aria-label"),
    drawn: [...form.querySelectorAll("svg *")].map(one => [
        one.localName, one.children.length ? "" : one.textContent,
        ...[...one.attributes].flatMap(({ name, value }) => [name, value]),
    ]),
})"""
"""What a reader gets of the calculator."""


def rounded(found: dict[str, Any]) -> dict[str, Any]:
    """The same with the coordinates of the drawing as whole numbers, sorted: two programs write them differently."""
    drawn = [
        sorted(re.sub(r"-?\d+\.\d+", lambda one: f"{float(one[0]):.1f}", str(part)) for part in one)
        for one in found["drawn"]
    ]
    return found | {"drawn": drawn}


def test_the_page_is_sent_with_what_its_scripts_show_first(laptop: Page, address: str) -> None:
    laptop.goto(address)
    form = laptop.locator("form.calculator")
    sent = form.evaluate(SHOWN)
    come_to_calculator(laptop)
    assert rounded(form.evaluate(SHOWN)) == rounded(sent)


def test_the_first_answer_stands_above_the_fold_of_a_small_laptop(page: Page) -> None:
    box = page.locator("form.calculator output").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900


def test_what_was_chosen_before_the_scripts_came_stays_chosen(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.querySelector('#calculator-probe').value = 'uprobe'")
    come_to_calculator(page)
    assert values(page)["probe"] == "uprobe"
    assert "uprobe" in answer(page).lower()
    context.close()


def compressed_bytes(file: Path) -> int:
    return len(gzip.compress(file.read_bytes()))


def test_the_calculator_is_light_and_grows_little_with_each_cost(site: Path) -> None:
    (scripts,) = (site / "js").glob("bundle-calculator.*.js")
    assert compressed_bytes(scripts) <= SCRIPTS_BYTES
    (data,) = (site / "data").glob("guidance.*.json")
    machines = json.loads(data.read_text(encoding="utf-8"))["machines"].values()
    costs = sum(len(machine["costs"]) for machine in machines)
    assert compressed_bytes(data) <= WORDS_BYTES + COST_BYTES * costs


def test_the_calculators_scripts_and_costs_wait_until_its_reader_comes(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address, wait_until="networkidle")
    assert [one for one in asked if "calculator" in one or "guidance" in one] == []
    come_to_calculator(page)
    assert len([one for one in asked if "calculator" in one or "guidance" in one]) == 2
    context.close()
