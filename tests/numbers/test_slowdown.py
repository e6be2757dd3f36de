"""From cost to slowdown at a rate, and to the rates of the thresholds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.model import Estimate
from probe_effect.numbers.submission import THRESHOLDS, slowdown_at, threshold

COST = Estimate(500.0, 400.0, 1000.0)


def test_slowdown_is_rate_times_cost_with_its_interval() -> None:
    found = slowdown_at(COST, 100_000)
    assert (found.value, found.low, found.high) == pytest.approx((0.05, 0.04, 0.1))


def test_slowdown_without_an_interval_has_none() -> None:
    found = slowdown_at(Estimate(500.0), 100_000)
    assert found.value == pytest.approx(0.05)
    assert (found.low, found.high) == (None, None)


def test_no_events_slow_nothing() -> None:
    assert slowdown_at(COST, 0) == Estimate(0, 0, 0)


@pytest.mark.parametrize(("percent", "rate_hz"), [(1, 20_000), (5, 100_000), (30, 600_000)])
def test_a_threshold_is_the_rate_at_which_its_slowdown_is_reached(percent: int, rate_hz: float) -> None:
    found = threshold(COST, percent)
    assert found is not None
    assert found.value == pytest.approx(rate_hz)


def test_the_highest_cost_gives_the_lowest_rate() -> None:
    found = threshold(COST, 5)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((50_000, 125_000))


@pytest.mark.parametrize("cost_ns", [0.0, -20.0])
def test_what_costs_nothing_has_no_threshold(cost_ns: float) -> None:
    assert threshold(Estimate(cost_ns, -30.0, 40.0), 5) is None


def test_a_cost_that_may_be_zero_has_no_upper_rate() -> None:
    found = threshold(Estimate(10.0, -5.0, 20.0), 1)
    assert found is not None
    assert found.low == pytest.approx(500_000)
    assert found.high is None


def test_a_cost_without_an_interval_has_a_threshold_without_one() -> None:
    found = threshold(Estimate(10.0), 1)
    assert found == Estimate(1_000_000.0)


def test_the_three_thresholds_have_their_words() -> None:
    assert THRESHOLDS == {1: "measurable", 5: "significant", 30: "expensive"}


@given(st.floats(0.01, 1e6), st.sampled_from(sorted(THRESHOLDS)))
def test_at_a_threshold_the_slowdown_is_the_threshold(cost_ns: float, percent: int) -> None:
    found = threshold(Estimate(cost_ns, cost_ns / 2, cost_ns * 2), percent)
    assert found is not None
    assert math.isclose(slowdown_at(Estimate(cost_ns), found.value).value, percent / 100)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
