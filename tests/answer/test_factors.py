"""What suites with a factor say of a case on its page."""

from __future__ import annotations

from helpers.evidence_builder import MACHINE, TRACER, case, evidence, measured, suite
from probe_effect.answer import sentences
from probe_effect.model import Estimate
from probe_effect.site.pages.results import cost

PER_EVENT = suite("per-event", case("06-uprobe"), case("07-uretprobe"))
THREADS = suite(
    "threads",
    case("01-threads", like="06-uprobe"),
    factor={"name": "threads", "title": "-", "unit": "-", "levels": [1, 2], "occupies_cpus": True},
)
SWEEP = suite(
    "sweep",
    case("01-sweep", like="06-uprobe"),
    factor={"name": "work", "title": "-", "unit": "-", "levels": [0, 1000, 100_000]},
)
SUITES = (PER_EVENT, THREADS, SWEEP)
COST = measured("06-uprobe", Estimate(1000.0, 900.0, 1100.0))
OTHER = measured("07-uretprobe", Estimate(1200.0, 1100.0, 1300.0))
SINGLE = measured("01-threads", Estimate(1000.0, 950.0, 1050.0), level="1")
DOUBLE = measured("01-threads", Estimate(1500.0, 1400.0, 1600.0), level="2")
OFTEN = measured("01-sweep", COST.known_cost, level="0", baseline=Estimate(1e4), slowdown=Estimate(0.1, 0.09, 0.11))
SELDOM = measured(
    "01-sweep", COST.known_cost, level="100000", baseline=Estimate(1e7), slowdown=Estimate(-0.001, -0.01, 0.01)
)


def test_a_case_that_no_factor_touched_has_nothing_to_add() -> None:
    found = evidence(SUITES, COST, OTHER, SINGLE, DOUBLE, OFTEN)
    assert cost.tested(found, "07-uretprobe", [MACHINE]) == []
    assert [one.cost for one in cost.tested(found, "06-uprobe", [MACHINE])] == [COST]


def test_only_the_machines_that_a_page_shows_are_told() -> None:
    assert cost.tested(evidence(SUITES, COST, SINGLE, DOUBLE), "06-uprobe", ["another"]) == []


def test_it_has_the_rates_at_which_the_line_was_tried_and_what_several_threads_add() -> None:
    (found,) = cost.tested(evidence(SUITES, COST, SINGLE, DOUBLE, OFTEN, SELDOM), "06-uprobe", [MACHINE])
    assert [point.rate_hz for point in found.points] == [100, 100_000]
    assert [factor.threads for factor in found.factors] == [2]
    assert "agrees with the slowdown measured at 2 of 2 rates" in sentences.line_words(found.points)


def test_measured_slowdowns_are_drawn_beside_the_line_of_their_tracer_where_they_are_above_zero() -> None:
    found = cost.tested(evidence(SUITES, COST, OFTEN, SELDOM), "06-uprobe", [MACHINE])
    (dot,) = cost.dots(found, {(MACHINE, TRACER): "bpftrace"})
    assert (dot.label, dot.rate_hz, dot.slowdown) == ("bpftrace", 100_000, Estimate(0.1, 0.09, 0.11))
    assert cost.dots(found, {}) == []
