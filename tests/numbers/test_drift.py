"""Drift over a run and inside its blocks, against closed forms, scipy and noise without any."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from evidence.coverage_estimators import trend
from probe_effect.model import Estimate
from probe_effect.numbers.estimates import excludes_0
from probe_effect.numbers.trends import within_blocks

TIMES = st.lists(st.integers(100, 10_000).map(float), min_size=2, max_size=20)


def array(values: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def ends(found: Estimate | None) -> tuple[float, float, float]:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.value, found.high


def significant(found: Estimate | None) -> bool:
    assert found is not None
    return excludes_0(found)


def test_a_steady_slowdown_is_its_share_of_the_median_over_the_whole_run() -> None:
    assert ends(trend(array([98.0, 99.0, 100.0, 101.0, 102.0]))) == pytest.approx((0.04, 0.04, 0.04))


def test_a_machine_that_becomes_faster_has_a_trend_below_zero() -> None:
    found = trend(array([110.0, 106.0, 104.0, 100.0, 97.0, 95.0]))
    assert significant(found)
    assert ends(found)[2] < 0


@given(TIMES)
def test_the_slope_is_that_of_theil_and_sen(values: list[float]) -> None:
    found = trend(array(values))
    assert found is not None
    slope = scipy.stats.theilslopes(array(values)).slope
    assert found.value == pytest.approx(slope * (len(values) - 1) / np.median(values))


@pytest.mark.parametrize("blocks", [5, 6, 7])
def test_a_trend_is_significant_for_the_orders_that_kendalls_exact_test_rejects(blocks: int) -> None:
    for order in itertools.islice(itertools.permutations(range(blocks)), 0, None, 7):
        values = array([100.0 + place for place in order])
        p_value = scipy.stats.kendalltau(np.arange(blocks), values, method="exact").pvalue
        assert significant(trend(values)) is bool(p_value <= 0.05)


@pytest.mark.parametrize("blocks", [2, 3, 4])
def test_below_five_blocks_a_trend_has_a_value_and_no_interval(blocks: int) -> None:
    found = trend(array([100.0 + block for block in range(blocks)]))
    assert found is not None
    assert (found.low, found.high, excludes_0(found)) == (None, None, False)


@pytest.mark.parametrize("values", [[], [100.0]])
def test_below_two_blocks_there_is_no_trend(values: list[float]) -> None:
    assert trend(array(values)) is None


def test_one_disturbed_block_makes_no_trend() -> None:
    assert not significant(trend(array([100.0, 102.0, 99.0, 101.0, 100.5, 99.5, 101.5, 900.0])))


@given(TIMES, st.sampled_from([0.25, 8.0]))
def test_the_unit_does_not_matter(values: list[float], factor: float) -> None:
    assert trend(array(values) * factor) == trend(array(values))


def test_blocks_that_slow_down_inside_show_by_how_much() -> None:
    first = array([100.0, 101.0, 99.0, 100.0, 102.0, 98.0])
    assert ends(within_blocks(first, first + 10)) == pytest.approx((10 / 105, 10 / 105, 10 / 105), rel=0.05)


def test_blocks_without_drift_inside_show_none() -> None:
    first = array([100.0, 101.0, 99.0, 103.0, 102.0, 98.0])
    second = array([101.0, 99.0, 100.0, 102.0, 103.5, 97.0])
    assert not significant(within_blocks(first, second))


def test_swapped_baselines_have_the_opposite_drift() -> None:
    first, second = array([100.0, 104.0, 99.0, 103.0, 97.0, 98.0]), array([101.0, 99.0, 105.0, 102.0, 110.0, 97.0])
    low, ratio, high = ends(within_blocks(first, second))
    assert ends(within_blocks(second, first)) == (-high, -ratio, -low)


def test_below_six_blocks_drift_inside_has_a_value_and_no_interval() -> None:
    found = within_blocks(array([100.0] * 5), array([110.0] * 5))
    assert found is not None
    assert found.value == pytest.approx(10 / 105)
    assert (found.low, found.high, excludes_0(found)) == (None, None, False)


def test_without_blocks_there_is_no_drift_inside() -> None:
    assert within_blocks(array([]), array([])) is None
