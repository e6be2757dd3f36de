"""From costs and rates to what probes do to a program, against an oracle in exact fractions."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import shared_examples
from helpers.evidence_builder import measured
from probe_effect.answer.prediction import MAX_RATE_HZ, ProbeLoad, ThreadLoad, expected_loss, predict, together
from probe_effect.costs.row import EntryPath
from probe_effect.model import Estimate, UsageError
from probe_effect.numbers.estimates import multiplied
from probe_effect.numbers.submission import slowdown_at

if TYPE_CHECKING:
    from collections.abc import Mapping

COST = Estimate(500.0, 400.0, 1000.0)
PREDICTION = json.loads((shared_examples.DATA / "prediction.json").read_text(encoding="utf-8"))

costs_ns = st.floats(0.001, 1e7)
rates_hz = st.floats(0.001, 1e9)


def ends(found: Estimate | None) -> list[float | None] | None:
    return None if found is None else [found.value, found.low, found.high]


def same(found: list[float | None] | None, expected: list[float | None] | None) -> bool:
    """Equal to 1e-9 of their size, and missing where the other is missing."""
    if found is None or expected is None:
        return found is expected
    pairs = zip(found, expected, strict=True)
    return all(a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


def worked_out(example: Mapping[str, Any]) -> dict[str, Any]:
    """What the model makes of an example's input."""
    probes = []
    for one in example["probes"]:
        cost, factor = Estimate(*one["cost"]), one["factor"]
        probes.append(ProbeLoad(multiplied(cost, Estimate(*factor)) if factor else cost, one["rate_hz"]))
    whole = together(probes)
    given = {name: example[name] for name in ("threads", "busy_ratio", "stops") if name in example}
    load = ThreadLoad(rate_hz=whole.rate_hz, **given)
    found = predict(whole.cost, load)
    return {
        "cost": ends(whole.cost),
        "slowdown": ends(found.slowdown),
        "delay": ends(found.delay),
        "cpu_s_per_s": ends(found.cpu_s_per_s),
        "event_hz": ends(found.event_hz),
        **{f"threshold {percent}": ends(rate) for percent, rate in found.thresholds.items()},
    }


@pytest.mark.parametrize("name", ["prediction.json", "units.json"])
def test_the_committed_examples_are_those_that_their_generator_makes(name: str) -> None:
    assert (shared_examples.DATA / name).read_text(encoding="utf-8") == shared_examples.files()[name]


def test_there_are_enough_shared_examples() -> None:
    assert len(PREDICTION["predictions"]) >= 200


@pytest.mark.parametrize("number", range(len(PREDICTION["predictions"])))
def test_the_model_agrees_with_exact_fractions(number: int) -> None:
    example = PREDICTION["predictions"][number]
    expected = example["expected"]
    expected |= {f"threshold {percent}": rate for percent, rate in expected["thresholds"].items()}
    wrong = {name: value for name, value in worked_out(example).items() if not same(value, expected[name])}
    assert wrong == {}


def test_expected_losses_agree_with_exact_fractions() -> None:
    for one in PREDICTION["losses"]:
        found = expected_loss(one["event_hz"], one["highest_hz"], one["loss_ratio"])
        assert same([found], [one["expected"]]), one


def test_costs_with_another_number_of_system_calls_agree_with_the_examples() -> None:
    source = measured("silent", Estimate(80.0))
    for one in PREDICTION["moves"]:
        path = EntryPath(Estimate(*one["each"]), source, one["measured"])
        assert same(ends(path.moved(Estimate(*one["cost"]), one["calls"])), one["expected"]), one


@given(costs_ns, rates_hz)
def test_a_busy_thread_slows_by_rate_times_cost(cost_ns: float, rate_hz: float) -> None:
    cost = Estimate(cost_ns, cost_ns / 2, cost_ns * 2)
    found = predict(cost, ThreadLoad(rate_hz=rate_hz))
    assert same(ends(found.slowdown), ends(slowdown_at(cost, rate_hz)))
    assert found.delay == found.slowdown


@given(costs_ns, rates_hz, st.floats(0.01, 0.99), st.integers(1, 100))
def test_probes_never_use_more_than_the_cpus_of_their_threads(
    cost_ns: float, rate_hz: float, busy_ratio: float, threads: int
) -> None:
    found = predict(Estimate(cost_ns), ThreadLoad(rate_hz=rate_hz, threads=threads, busy_ratio=busy_ratio))
    assert 0 <= found.cpu_s_per_s.value <= threads
    assert found.event_hz.value <= threads * rate_hz


def test_a_thread_that_waits_pays_from_its_idle_time_first() -> None:
    found = predict(Estimate(1000.0), ThreadLoad(rate_hz=500_000, busy_ratio=0.4))
    assert found.delay.value == 0
    assert found.slowdown.value == pytest.approx(1.25)
    assert found.cpu_s_per_s.value == pytest.approx(0.5)


def test_what_idle_time_cannot_pay_is_a_delay() -> None:
    found = predict(Estimate(1000.0), ThreadLoad(rate_hz=1_000_000, busy_ratio=0.4))
    assert found.delay.value == pytest.approx(0.4)


def test_a_small_delay_of_a_busy_thread_keeps_all_its_digits() -> None:
    assert predict(Estimate(0.001), ThreadLoad(rate_hz=0.001)).delay.value == pytest.approx(1e-15, rel=1e-12)


@given(costs_ns, st.floats(0.01, 1))
def test_at_a_threshold_a_thread_slows_by_just_that(cost_ns: float, busy_ratio: float) -> None:
    rates = predict(Estimate(cost_ns), ThreadLoad(rate_hz=1, busy_ratio=busy_ratio)).thresholds
    for percent, rate in rates.items():
        assert rate is not None
        slowed = predict(Estimate(cost_ns), ThreadLoad(rate_hz=min(rate.value, MAX_RATE_HZ), busy_ratio=busy_ratio))
        assert math.isclose(slowed.slowdown.value, percent / 100) or rate.value > MAX_RATE_HZ


def test_a_cost_that_is_not_above_zero_has_no_threshold() -> None:
    assert set(predict(Estimate(-1.0, -2.0, 3.0), ThreadLoad(rate_hz=1)).thresholds.values()) == {None}


@given(st.lists(st.tuples(costs_ns, rates_hz), min_size=1, max_size=6))
def test_the_cpu_time_of_several_probes_adds(probes: list[tuple[float, float]]) -> None:
    whole = together([ProbeLoad(Estimate(cost_ns), rate_hz) for cost_ns, rate_hz in probes])
    assert math.isclose(whole.cost.value * whole.rate_hz, sum(cost_ns * rate_hz for cost_ns, rate_hz in probes))


def test_a_single_probe_stands_for_itself() -> None:
    probe = ProbeLoad(Estimate(5.0, None, 6.0), 10.0)
    assert together([probe]) is probe


def test_one_probe_without_an_interval_leaves_the_whole_without_one() -> None:
    assert ends(together([ProbeLoad(COST, 1.0), ProbeLoad(Estimate(500.0), 1.0)]).cost) == [500.0, None, None]


def test_probes_that_never_fire_cost_their_mean() -> None:
    assert together([ProbeLoad(Estimate(1.0), 0.0), ProbeLoad(Estimate(3.0), 0.0)]) == ProbeLoad(Estimate(2.0), 0.0)


def test_ends_of_a_product_take_the_widest_corners() -> None:
    assert multiplied(Estimate(1.0, -2.0, 4.0), Estimate(3.0, 2.0, 5.0)) == Estimate(3.0, -10.0, 20.0)


def test_a_product_with_an_unknown_end_has_no_interval() -> None:
    assert multiplied(COST, Estimate(2.0)) == Estimate(1000.0)


def test_a_tracer_that_lost_events_keeps_as_many_at_any_rate() -> None:
    assert expected_loss(200_000, 150_000, 0.5) == pytest.approx(1 - 75_000 / 200_000)
    assert expected_loss(75_000, 150_000, 0.5) == 0


def test_beyond_the_highest_rate_of_a_tracer_that_lost_none_nobody_knows() -> None:
    assert expected_loss(100_001, 100_000, 0.0) is None
    assert expected_loss(100_000, 100_000, 0.0) == 0


@pytest.mark.parametrize(
    "values",
    [
        {"rate_hz": -1.0},
        {"rate_hz": math.nan},
        {"rate_hz": math.inf},
        {"rate_hz": 1e-300},
        {"rate_hz": 2e12},
        {"rate_hz": 1.0, "threads": 0},
        {"rate_hz": 1.0, "threads": 1_000_001},
        {"rate_hz": 1.0, "busy_ratio": 0.0},
        {"rate_hz": 1.0, "busy_ratio": 1.01},
        {"rate_hz": 1.0, "busy_ratio": math.nan},
    ],
)
def test_a_load_that_no_program_has_is_refused_with_what_is_expected(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="expected"):
        ThreadLoad(**values)
