"""What suites with a factor add to a cost: contention of threads, and the rates at which the line holds."""

from __future__ import annotations

import pytest

from helpers.evidence_builder import MACHINE, TRACER, case, evidence, measured, suite
from probe_effect.costs.row import Contention, contention, line, nearest
from probe_effect.model import Estimate

PER_EVENT = suite("per-event", case("06-uprobe"), case("07-uretprobe"))
THREADS = suite(
    "threads",
    case("01-threads", like="06-uprobe"),
    factor={"name": "threads", "title": "-", "unit": "-", "levels": [1, 2, 4], "occupies_cpus": True},
)
SWEEP = suite(
    "sweep",
    case("01-sweep", like="06-uprobe"),
    factor={"name": "work", "title": "-", "unit": "-", "levels": [0, 1000]},
)
SUITES = (PER_EVENT, THREADS, SWEEP)
SINGLE = measured("01-threads", Estimate(100.0, 95.0, 105.0), level="1")
DOUBLE = measured("01-threads", Estimate(150.0, 140.0, 160.0), level="2")
FOURFOLD = measured("01-threads", Estimate(300.0, 290.0, 310.0), level="4")
COST = measured("06-uprobe", Estimate(1000.0, 900.0, 1100.0))


def test_contention_is_the_cost_at_a_number_of_threads_over_that_of_one() -> None:
    found = contention(evidence(SUITES, FOURFOLD, DOUBLE, SINGLE), MACHINE, TRACER, "06-uprobe")
    assert [one.threads for one in found] == [2, 4]
    assert [one.factor.value for one in found] == pytest.approx([1.5, 3.0])
    low, high = found[0].factor.low, found[0].factor.high
    assert low is not None
    assert high is not None
    assert 140 / 105 < low < 1.5 < high < 160 / 95


@pytest.mark.parametrize(
    ("machine", "tracer", "name"),
    [("other", TRACER, "06-uprobe"), (MACHINE, "libbpf", "06-uprobe"), (MACHINE, TRACER, "07-uretprobe")],
)
def test_contention_is_known_only_of_the_same_event_tracer_and_machine(machine: str, tracer: str, name: str) -> None:
    assert contention(evidence(SUITES, SINGLE, DOUBLE), machine, tracer, name) == []


def test_without_a_single_thread_to_compare_with_contention_is_not_known() -> None:
    assert contention(evidence(SUITES, DOUBLE, FOURFOLD), MACHINE, TRACER, "06-uprobe") == []


@pytest.mark.parametrize(("threads", "level"), [(1, None), (2, 2), (3, 4), (4, 4), (64, 4)])
def test_the_nearest_number_of_threads_is_the_next_measured_one_or_the_last(threads: int, level: int | None) -> None:
    factors = [Contention(2, Estimate(1.5)), Contention(4, Estimate(3.0))]
    found = nearest(factors, threads)
    assert (found.threads if found else None) == level


def test_nothing_is_nearest_where_nothing_was_measured() -> None:
    assert nearest([], 8) is None


def test_the_line_compares_measured_slowdown_with_rate_times_cost_by_rising_rate() -> None:
    sweep = (
        measured("01-sweep", Estimate(1.0), level="0", baseline=Estimate(500.0), slowdown=Estimate(1.2, 1.1, 1.3)),
        measured(
            "01-sweep", Estimate(1.0), level="1000", baseline=Estimate(1e6), slowdown=Estimate(0.001, 0.0009, 0.0012)
        ),
    )
    found = line(evidence(SUITES, COST, *sweep), MACHINE, TRACER, "06-uprobe")
    assert [one.rate_hz for one in found] == pytest.approx([1e3, 2e6])
    assert [one.predicted.value for one in found] == pytest.approx([0.001, 2.0])
    assert [one.holds for one in found] == [True, False]


def test_the_line_is_known_of_samples_at_several_rates_too() -> None:
    factor = {"name": "rate", "title": "-", "unit": "-", "levels": [99, 999]}
    rates = suite("rates", case("01-rate", like="06-uprobe"), factor=factor)
    at_999 = measured(
        "01-rate", Estimate(1.0), level="999", baseline=Estimate(1e6), slowdown=Estimate(0.001, 0.0009, 0.0012)
    )
    (found,) = line(evidence((PER_EVENT, rates), COST, at_999), MACHINE, TRACER, "06-uprobe")
    assert found.rate_hz == pytest.approx(1e3)
    assert found.holds


def test_a_level_without_a_slowdown_is_no_point_of_the_line() -> None:
    bare = measured("01-sweep", Estimate(1.0), level="0", baseline=Estimate(500.0))
    assert line(evidence(SUITES, COST, bare), MACHINE, TRACER, "06-uprobe") == []


def test_without_a_cost_there_is_no_line() -> None:
    assert line(evidence(SUITES), MACHINE, TRACER, "06-uprobe") == []


def test_what_has_no_interval_is_neither_a_factor_nor_a_point_of_the_line() -> None:
    double = measured("01-threads", Estimate(150.0), level="2")
    assert contention(evidence(SUITES, SINGLE, double), MACHINE, TRACER, "06-uprobe") == []
    bare = measured("01-sweep", Estimate(1.0), level="0", baseline=Estimate(500.0), slowdown=Estimate(2.0))
    assert line(evidence(SUITES, COST, bare), MACHINE, TRACER, "06-uprobe") == []
