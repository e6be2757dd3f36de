"""What values differ by more than their errors explain is their own spread."""

from __future__ import annotations

import math

import numpy as np
import pytest

from probe_effect.model import Estimate
from probe_effect.stats.estimates import range_of_ratios


def measured(rng: np.random.Generator, own: float, error: float, number: int) -> list[Estimate]:
    """Ratios around 1.3 that differ by `own`, each measured with an `error`; both standard deviations of logarithms."""
    true = math.log(1.3) + own * rng.standard_normal(number)
    seen = true + error * rng.standard_normal(number)
    return [Estimate(*np.exp([one, one - 1.96 * error, one + 1.96 * error]).tolist()) for one in seen]


@pytest.mark.parametrize("error", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("own", [0.0, 0.1, 0.5])
def test_the_range_holds_four_in_five_of_the_true_ratios_however_well_they_were_measured(
    own: float, error: float
) -> None:
    found = range_of_ratios(measured(np.random.default_rng(1), own, error, 2_000), 0.8)
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(1.3, rel=0.05)
    assert math.log(found.high / found.low) / 2 == pytest.approx(1.28 * own, rel=0.1, abs=1.28 * error / 2)


def test_ratios_that_errors_explain_have_a_range_that_shrinks_with_their_number() -> None:
    few, many = (range_of_ratios([Estimate(1.3, 1.0, 1.7)] * number, 0.8) for number in (2, 200))
    assert few.low is not None
    assert many.low is not None
    assert few.low < many.low < 1.3


def test_one_precise_ratio_outweighs_many_that_are_not() -> None:
    vague = [Estimate(1.5, 0.25, 9.0)] * 9
    assert range_of_ratios([Estimate(1.0, 0.99, 1.01), *vague], 0.8).value == pytest.approx(1.0, abs=0.1)


def test_a_few_ratios_differ_as_much_as_many_others_that_are_alike() -> None:
    alike = measured(np.random.default_rng(1), 0.5, 0.1, 200)
    alone, among = (range_of_ratios([Estimate(1.3, 1.0, 1.7)] * 3, 0.8, others) for others in ([], alike))
    assert among.value == alone.value
    assert among.low is not None
    assert alone.low is not None
    assert among.low < alone.low
