"""Costs put together from measured ones, and how well that went where somebody measured the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.evidence_builder import MACHINE, case, evidence, measured, suite
from probe_effect.costs.actions import agreement, checked, composed
from probe_effect.model import Estimate
from probe_effect.numbers.estimates import overlap

COMBINATIONS = suite(
    "combinations",
    case("plain", "tracepoint"),
    case("counted", "tracepoint", "count"),
    case("probe", "uprobe"),
    case("whole", "uprobe", "count", composed={"probe": "probe", "action": "counted", "plain": "plain"}),
    case("both", "several", parts=["plain", "probe"], events_per_operation=2),
)
PARTS = (
    measured("plain", Estimate(100.0, 90.0, 110.0)),
    measured("counted", Estimate(150.0, 140.0, 160.0)),
    measured("probe", Estimate(1000.0, 950.0, 1050.0)),
)
WHOLE = measured("whole", Estimate(1060.0, 1000.0, 1100.0))
BOTH = measured("both", Estimate(700.0, 680.0, 720.0))

costs = st.floats(1, 1e5).map(lambda value: Estimate(value, value * 0.9, value * 1.1))


def test_a_composed_cost_is_that_of_the_probe_with_what_the_action_adds() -> None:
    found = composed(*(one.known_cost for one in (PARTS[2], PARTS[1], PARTS[0])))
    assert found.value == pytest.approx(1050)
    # The ends of the sum add; those of the difference are 10 and 10, which makes the root of 200.
    assert (found.low, found.high) == pytest.approx((950 + 50 - 200**0.5, 1050 + 50 + 200**0.5))


@given(costs, costs)
def test_an_action_that_adds_nothing_leaves_the_probes_cost(probe: Estimate, plain: Estimate) -> None:
    found = composed(probe, plain, plain)
    assert found.value == pytest.approx(probe.value)
    assert found.low is not None
    assert probe.low is not None
    assert found.low < probe.low


def test_a_part_without_an_interval_leaves_the_composed_cost_without_one() -> None:
    assert composed(Estimate(1000.0), Estimate(150.0, 140.0, 160.0), Estimate(100.0, 90.0, 110.0)) == Estimate(1050.0)


def test_a_measured_combination_stands_beside_what_its_parts_predict() -> None:
    (found,) = checked(evidence((COMBINATIONS,), *PARTS, WHOLE), MACHINE)
    assert (found.case, found.kind, found.holds) == ("whole", "probe and action", True)
    assert found.predicted.value == pytest.approx(1050)
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1060 / 1050)


def test_several_probes_are_compared_by_operation_because_each_makes_events_of_it() -> None:
    (found,) = checked(evidence((COMBINATIONS,), *PARTS, BOTH), MACHINE)
    assert (found.case, found.kind, found.holds) == ("both", "several probes", False)
    assert found.measured == Estimate(1400.0, 1360.0, 1440.0)
    assert found.predicted.value == pytest.approx(1100)


def test_a_combination_is_checked_only_where_all_of_it_was_measured() -> None:
    elsewhere = [measured(one.case, one.known_cost, machine="other") for one in PARTS]
    assert checked(evidence((COMBINATIONS,), *elsewhere, WHOLE), MACHINE) == []
    with_another = [measured(one.case, one.known_cost, tracer="libbpf") for one in PARTS]
    assert checked(evidence((COMBINATIONS,), *with_another, WHOLE), MACHINE) == []


def test_a_combination_without_an_interval_checks_nothing() -> None:
    assert checked(evidence((COMBINATIONS,), *PARTS, measured("whole", Estimate(1060.0))), MACHINE) == []


def test_checks_of_one_kind_are_summed_up_by_their_ratios() -> None:
    found = agreement(checked(evidence((COMBINATIONS,), *PARTS, WHOLE, BOTH), MACHINE), "several probes")
    assert found is not None
    assert (found.count, found.holding) == (1, 0)
    assert found.median_ratio == found.least_ratio == found.greatest_ratio == pytest.approx(1400 / 1100)


def test_without_checks_nothing_is_summed_up() -> None:
    assert agreement([], "several probes") is None


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (Estimate(1.0, 0.0, 2.0), Estimate(3.0, 2.0, 4.0), True),
        (Estimate(1.0, 0.0, 2.0), Estimate(3.0, 2.1, 4.0), False),
        (Estimate(5.0, 0.0, 9.0), Estimate(3.0, 2.1, 4.0), True),
        (Estimate(5.0), Estimate(3.0, 2.1, 4.0), None),
        (Estimate(5.0, 4.0, None), Estimate(3.0, 2.1, 4.0), None),
    ],
)
def test_intervals_meet_where_they_have_a_value_in_common(
    first: Estimate, second: Estimate, together: bool | None
) -> None:
    assert overlap(first, second) is overlap(second, first) is together
