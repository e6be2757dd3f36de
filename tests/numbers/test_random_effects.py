"""How far true ratios differ, from measured ones of which some are known well and others hardly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.tiers import deep_but
from probe_effect.numbers.estimates import MeasuredRatio, next_ratio


def measured(rng: np.random.Generator, own: float, error: float, number: int) -> list[MeasuredRatio]:
    """Ratios around 1.3 that differ by `own`, the standard deviation of logarithms, each measured with an `error`."""
    true = np.exp(math.log(1.3) + own * rng.standard_normal(number))
    return [MeasuredRatio(float(one), error) for one in true + error * rng.standard_normal(number)]


@pytest.mark.parametrize("error", deep_but([0.02, 0.1, 0.5], [0.1]))
@pytest.mark.parametrize("own", deep_but([0.1, 0.3, 0.6], [0.3]))
def test_the_range_holds_four_in_five_of_the_true_ratios_however_well_they_were_measured(
    own: float, error: float
) -> None:
    found = next_ratio(measured(np.random.default_rng(1), own, error, 1_000), 0.8)
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(1.3, rel=0.06)
    assert math.log(found.high / found.low) / 2 == pytest.approx(1.28 * own, rel=0.15, abs=0.12 * error)


def test_ratios_that_are_not_distinguishable_from_0_do_not_move_the_range() -> None:
    known = measured(np.random.default_rng(1), 0.3, 0.05, 40)
    vague = [MeasuredRatio(value, 25.0) for value in (-30.0, -5.0, 0.0, 12.0, 40.0)] * 10
    assert next_ratio([*known, *vague], 0.8) == pytest.approx(next_ratio(known, 0.8), rel=0.02)


def test_leaving_out_what_is_not_clear_would_move_it_up() -> None:
    """So what has no clear slowdown is kept."""
    every = measured(np.random.default_rng(1), 0.2, 0.7, 400)
    clear = [one for one in every if one.value > 1.96 * one.error]
    assert next_ratio(every, 0.8).value == pytest.approx(1.3, rel=0.1)
    assert next_ratio(clear, 0.8).value > 1.5


def test_fewer_ratios_leave_a_wider_range() -> None:
    few, many = (next_ratio([MeasuredRatio(1.3, 0.1)] * number, 0.8) for number in (3, 100))
    assert few.low is not None
    assert many.low is not None
    assert few.low < many.low < 1.3


def test_one_precise_ratio_outweighs_many_that_are_not() -> None:
    vague = [MeasuredRatio(1.8, 1.5)] * 6
    assert next_ratio([*[MeasuredRatio(1.0, 0.01)] * 3, *vague], 0.8).value == pytest.approx(1.0, abs=0.1)


def test_a_ratio_between_two_points_of_the_grid_counts_as_any_other() -> None:
    found = next_ratio([MeasuredRatio(1.01, 0.0002)] * 20, 0.8)
    assert found == pytest.approx((1.01, 0.98, 1.05), rel=0.02)
