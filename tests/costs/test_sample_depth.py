"""What a sample costs by the depth of the stack: the line, its residuals, and the answers that are taken from it."""

from __future__ import annotations

import random

import pytest
import scipy

from helpers.evidence_builder import MACHINE, TRACER, case, evidence, measured, parts, suite
from helpers.number_builder import altered
from probe_effect.answer.question import Combination, Question
from probe_effect.answer.spread import program_pairs
from probe_effect.costs.actions import WALKED, may_pay_at_switches, sample_law
from probe_effect.costs.row import SAMPLED
from probe_effect.model import Estimate
from probe_effect.numbers.trends import T_95, straight_line

STACK = "count-by-user-stack"
SAMPLES = suite("sampling", case("02-sample", SAMPLED, STACK))
DEPTHS = suite(
    "sampling-depth",
    case("01-depth", SAMPLED, STACK, like="02-sample"),
    factor={"name": "frames", "title": "-", "unit": "-", "levels": [1, 10, 100, 1000]},
)
COST = measured("02-sample", Estimate(14_700.0, 14_000.0, 15_400.0))


def near(value: float, half: float = 100.0) -> Estimate:
    return Estimate(value, value - half, value + half)


LEVELS = [measured("01-depth", near(12_000 + 90 * min(one, WALKED)), level=str(one)) for one in (1, 10, 100, 1000)]


def test_a_sample_costs_its_base_and_a_price_for_each_frame_up_to_those_that_are_walked() -> None:
    law = sample_law(evidence((SAMPLES, DEPTHS), COST, *LEVELS), MACHINE, TRACER, "02-sample")
    assert law is not None
    assert law.at(0).value == pytest.approx(12_000)
    assert law.line.per_x.value == pytest.approx(90)
    assert law.at(127) == law.at(5000)
    assert list(law.residuals) == [1, 10, 100, 1000]
    assert max(map(abs, law.residuals.values())) < 1e-9


def test_what_lies_off_the_line_is_left_over_and_widens_its_interval() -> None:
    off = [*LEVELS[:1], measured("01-depth", near(20_000.0), level="10"), *LEVELS[2:]]
    law = sample_law(evidence((SAMPLES, DEPTHS), COST, *off), MACHINE, TRACER, "02-sample")
    straight = sample_law(evidence((SAMPLES, DEPTHS), COST, *LEVELS), MACHINE, TRACER, "02-sample")
    assert law is not None
    assert straight is not None
    assert law.residuals[10] > 0.2

    def width(one: Estimate) -> float:
        assert one.low is not None
        assert one.high is not None
        return one.high - one.low

    assert width(law.at(10)) > 10 * width(straight.at(10))


@pytest.mark.parametrize(("frames", "cost_ns"), [(None, 14_700), (1, 12_090), (60, 17_400), (10_000, 23_430)])
def test_a_question_with_a_depth_is_answered_from_the_line(frames: int | None, cost_ns: float) -> None:
    found = evidence((SAMPLES, DEPTHS), COST, *LEVELS)
    question = Question(combination=Combination(SAMPLED, STACK, 99.0, frames=frames))
    (part,) = parts(found, question, MACHINE, TRACER)
    assert part.cost.value == pytest.approx(cost_ns)
    assert (part.note is None) == (frames is None)


def test_samples_tell_by_their_size_how_deep_the_stacks_of_a_program_are() -> None:
    sized = [altered(one, event_bytes=90.0 + 8 * min(int(one.level or 0), WALKED)) for one in LEVELS]
    programs = suite(
        "programs",
        case("01-program", SAMPLED, STACK, like="02-sample"),
        factor={"name": "program", "title": "-", "unit": "-", "levels": ["tar"]},
    )
    program = measured("01-program", Estimate(17_000.0), level="tar", baseline=Estimate(2e5), slowdown=near(0.08, 0.01))
    suites = (SAMPLES, DEPTHS, programs)
    for size_bytes, levels, cost_ns in (
        (90.0 + 8 * 60, sized, 17_400),
        (90.0 + 8 * 500, sized, 23_430),
        (None, sized, 14_700),
        (500.0, LEVELS, 14_700),
        (500.0, [altered(one, event_bytes=8452.0) for one in LEVELS], 14_700),
    ):
        found = evidence(suites, COST, *levels, altered(program, event_bytes=size_bytes))
        (pair,) = program_pairs(found, "sample")
        assert pair.point.predicted.value == pytest.approx(cost_ns / 2e5, rel=1e-3)


def test_without_measured_depths_the_cost_is_as_measured_and_says_so() -> None:
    (part,) = parts(
        evidence((SAMPLES, DEPTHS), COST),
        Question(combination=Combination(SAMPLED, STACK, 99.0, frames=60)),
        MACHINE,
        TRACER,
    )
    assert part.cost == COST.known_cost
    assert "60 frames may cost more" in (part.note or "")


def test_no_other_probe_stands_for_a_sample() -> None:
    others = suite("per-event", case("04-tracepoint", "tracepoint", STACK))
    found = evidence((SAMPLES, others), measured("04-tracepoint", near(300.0)))
    assert parts(found, Question(combination=Combination(SAMPLED, STACK, 99.0)), MACHINE, TRACER) == []


@pytest.mark.parametrize(
    ("tracer", "options", "may"),
    [
        ("perf-record", (), True),
        ("perf-record-6-12", ("-p 1",), True),
        ("perf-stat", ("-e context-switches",), True),
        ("perf-stat", ("-a",), False),
        ("bpftrace", (), False),
    ],
)
def test_only_perf_may_watch_processes_whose_context_switches_then_pay(
    tracer: str, options: tuple[str, ...], *, may: bool
) -> None:
    assert may_pay_at_switches(tracer, options) == may


def test_a_line_needs_three_places_with_intervals() -> None:
    assert straight_line([(1, near(1.0)), (2, near(2.0))]) is None
    assert straight_line([(1, near(1.0)), (1, near(2.0)), (1, near(3.0))]) is None
    assert straight_line([(1, near(1.0)), (2, near(2.0)), (3, Estimate(3.0))]) is None


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_the_interval_of_a_line_holds_the_truth_as_often_as_it_says(share: float) -> None:
    chance, held = random.Random(20261126), 0  # noqa: S311 (no secret)
    for _ in range(2000):  # the points' own intervals are right, or a fifth of what they should be
        points = [(x, near(10 + 3 * x + chance.gauss(0, 0.5), 1.96 * 0.5 * share)) for x in (1, 10, 30, 100)]
        line = straight_line([(float(x), one) for x, one in points])
        assert line is not None
        low, high = line.at(50).low, line.at(50).high
        held += low is not None and high is not None and low <= 160 <= high
    # A scatter larger than the intervals widens it, so it holds the truth more often than 95 % at most by a little.
    assert 0.93 < held / 2000 < 0.995


def test_the_quantiles_are_those_of_students_distribution() -> None:
    assert tuple(round(float(scipy.stats.t.ppf(0.975, freedom)), 3) for freedom in range(1, len(T_95) + 1)) == T_95
