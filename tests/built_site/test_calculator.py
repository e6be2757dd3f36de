"""The home page's calculator in a real browser: its arithmetic, its words, its form and its address."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from probe_effect.guidance import sentences
from probe_effect.guidance.answers import forecast, tried
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.guidance.evidence import evidence
from probe_effect.guidance.parts import parts
from probe_effect.guidance.question import Asked, Question
from probe_effect.store.places import DataFolder
from site_build import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from probe_effect.guidance.answers import Forecast
    from probe_effect.guidance.evidence import Evidence

pytestmark = [pytest.mark.browser, pytest.mark.site, pytest.mark.xdist_group("site")]

EXAMPLES = PROJECT / "tests" / "data"
READY = "form.calculator[data-state=ready]"
SCRIPTS_BYTES, WORDS_BYTES, COST_BYTES = 8_000, 4_000, 60
"""Compressed, so that the calculator loads at once on a phone."""

PREDICTED = """examples => {
    const { predict, together, multiplied } = probeEffect.prediction;
    const taken = found => found && [found.value, found.low, found.high];
    const given = ([value, low, high]) => ({ value, low, high });
    return examples.map(({ probes, threads, busy_ratio: busy }) => {
        const { cost, rate } = together(probes.map(one => ({
            cost: one.factor ? multiplied(given(one.cost), given(one.factor)) : given(one.cost), rate: one.rate_hz,
        })));
        const found = predict(cost, { rate, threads, busy });
        return {
            rate_hz: [rate], cost: taken(cost), slowdown: taken(found.slowdown), delay: taken(found.delay),
            cpu_s_per_s: taken(found.cpu), event_hz: taken(found.events),
            ...Object.fromEntries([...found.thresholds].map(([percent, limit]) => [percent, taken(limit)])),
        };
    });
}"""

WRITTEN = """examples => {
    const { scales, quantity, stated, interval } = probeEffect.units;
    const spread = ([value, low, high], scale) => interval({ value, low, high }, scale);
    return examples.map(({ write, scale, value }) =>
        ({ quantity, stated, interval: spread })[write](value, scales[scale]));
}"""

SAID = """async questions => {
    const { forecast, sentence, figures, assumptions } = probeEffect.answer;
    const data = await (await fetch(document.querySelector(".calculator-data").href)).json();
    return questions.map(({ key, ...asked }) => {
        const entry = data.costs.find(one => key.every((part, place) =>
            one[["machine", "tracer", "case"][place]] === part));
        const found = forecast(entry, asked);
        return [sentence(found, data), ...assumptions(found, data), ...figures(found, data).map(([, text]) => text)];
    });
}"""


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    made = context.new_page()
    made.goto(address)
    made.wait_for_selector(READY)
    yield made
    context.close()


def examples(file: str, group: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((EXAMPLES / file).read_text(encoding="utf-8"))[group]
    return found


def same(found: list[float | None] | None, expected: list[float | None] | None) -> bool:
    if found is None or expected is None:
        return found is expected
    pairs = zip(found, expected, strict=True)
    return all(a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def test_the_page_predicts_what_exact_fractions_say(page: Page) -> None:
    wanted = examples("prediction.json", "predictions")
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
    made = []
    for machine, tracer, case in found.costs:
        asked = (Asked(case, load["rate"]),)
        question = Question(probes=asked, threads=int(load["threads"]), busy_ratio=load["busy"])
        known = parts(found, question, machine, tracer)
        made.append(forecast(known, known[0].sources[0].facts, tracer, question))
    return made


def said(found: Evidence, one: Forecast) -> list[str]:
    """The sentence, the assumptions and the figures of an answer in the order in which the page has them."""
    late = [sentences.delay(one)] if one.load.busy_ratio < 1 else []
    rates = [rate for _, rate in sentences.thresholds(one)]
    figures = [sentences.cpu(one), *late, sentences.loss(one), *rates, sentences.grade(one)]
    return [sentences.headline(one), *sentences.assumptions(one, tried(found, one)), *figures]


@pytest.mark.parametrize(
    "load",
    [
        {"rate": 50e3, "threads": 1, "busy": 1},
        {"rate": 123.4, "threads": 3, "busy": 0.25},
        {"rate": 0, "threads": 1, "busy": 0.9},
        {"rate": 1e7, "threads": 8, "busy": 1},
    ],
)
def test_the_page_says_of_every_cost_what_the_terminal_says(page: Page, load: dict[str, float]) -> None:
    found = evidence(read_catalogue(DataFolder(PROJECT / "data")))
    questions = [{"key": list(key), **load} for key in found.costs]
    assert page.evaluate(SAID, questions) == [said(found, one) for one in forecasts(found, **load)]


def field(page: Page, label: str) -> Locator:
    return page.locator("form.calculator").get_by_label(label)


def answer(page: Page) -> str:
    return page.locator("form.calculator output").inner_text()


def test_another_rate_gives_another_answer_and_another_address(page: Page) -> None:
    before = answer(page)
    field(page, "Events per second").fill("1.5M")
    assert answer(page) != before
    assert answer(page).startswith("At 1.5\u00a0M\u00a0events/s")
    assert "rate=1.5M" in page.url


def test_an_address_gives_the_answer_that_it_was_copied_from(page: Page, address: str) -> None:
    field(page, "Tracer").select_option("bpftrace")
    field(page, "Probe").select_option("06-uprobe")
    field(page, "Threads").fill("2")
    field(page, "Busy share").fill("40%")
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
    costs = page.evaluate("fetch(document.querySelector('.calculator-data').href).then(found => found.json())")["costs"]
    measured = {(one["tracer"], one["case"], one["machine"]) for one in costs}
    for tracer in sorted({tracer for tracer, _, _ in measured}):
        field(page, "Tracer").select_option(tracer)
        cases = page.locator("#calculator-case option").evaluate_all("all => all.map(one => one.value)")
        assert set(cases) == {case for used, case, _ in measured if used == tracer}
        chosen = page.locator("#calculator-case").input_value()
        machines = page.locator("#calculator-machine option").evaluate_all("all => all.map(one => one.value)")
        assert set(machines) == {machine for *key, machine in measured if key == [tracer, chosen]}


@pytest.mark.parametrize(
    ("label", "text"), [("Events per second", "fast"), ("Threads", "1.5"), ("Busy share", "40"), ("Threads", "")]
)
def test_a_field_that_cannot_be_read_says_what_it_expects(page: Page, label: str, text: str) -> None:
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
    field(page, "Events per second").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("9k")
    page.keyboard.press("Enter")
    for name in ("tracer", "case", "machine", "threads", "busy"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == name
    assert answer(page).startswith("At 9\u00a0k\u00a0events/s")


def test_without_the_costs_the_calculator_says_so(chromium: Browser, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("**/guidance*.json", lambda route: route.abort())
    page.goto(address)
    page.get_by_text("could not be loaded").wait_for()
    assert page.locator("table").first.is_visible()
    context.close()


def test_without_scripts_there_is_no_calculator(chromium: Browser, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("form.calculator").is_hidden()
    context.close()


def compressed_bytes(file: Path) -> int:
    return len(gzip.compress(file.read_bytes()))


def test_the_calculator_is_light_and_grows_little_with_each_cost(site: Path) -> None:
    names = ("units", "prediction", "answer", "calculator")
    assert sum(compressed_bytes(next((site / "js").glob(f"{name}.*.js"))) for name in names) <= SCRIPTS_BYTES
    (data,) = (site / "data").glob("guidance.*.json")
    costs = json.loads(data.read_text(encoding="utf-8"))["costs"]
    assert compressed_bytes(data) <= WORDS_BYTES + COST_BYTES * len(costs)
