"""The cost against each baseline apart: how it is put together, and that skewed noise does not move it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from probe_effect.model import Estimate
from probe_effect.numbers.estimates import MIN_BLOCKS, estimate, paired_estimate

DIFFERENCES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(MIN_BLOCKS, 20), st.integers(1, 3)),
    elements=st.integers(-10_000, 10_000).map(float),
)
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def ends(interval: Estimate) -> tuple[float, float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.value, interval.high


def test_with_one_baseline_it_is_the_signed_rank_estimate() -> None:
    column = np.array([5.0, 1.0, 4.0, 2.0, 6.0, 3.0])
    assert paired_estimate(column[:, np.newaxis]) == estimate(column)


def test_value_and_ends_are_the_means_over_the_baselines() -> None:
    first, second = np.array([5.0, 1.0, 4.0, 2.0, 6.0, 3.0]), np.array([9.0, 7.0, 1.0, 5.0, 4.0, 3.0])
    both = [ends(estimate(one)) for one in (first, second)]
    assert ends(paired_estimate(np.column_stack([first, second]))) == pytest.approx(tuple(np.mean(both, axis=0)))


@given(DIFFERENCES)
def test_the_interval_holds_its_own_value(differences: Floats) -> None:
    low, value, high = ends(paired_estimate(differences))
    assert low <= value + 1e-9
    assert value <= high + 1e-9


@given(DIFFERENCES, st.integers(-1000, 1000), st.sampled_from([0.25, 8.0]))
def test_a_shift_and_another_unit_move_it_alike(differences: Floats, shift: int, factor: float) -> None:
    moved = ends(paired_estimate(differences * factor + shift))
    assert moved == pytest.approx(tuple(end * factor + shift for end in ends(paired_estimate(differences))))


def test_a_block_without_its_second_baseline_counts_for_the_first() -> None:
    differences = np.array([[value, value + 1] for value in range(8)], dtype=np.float64)
    differences[3, 1] = np.nan
    first, second = estimate(differences[:, 0]), estimate(np.delete(differences[:, 1], 3))
    assert paired_estimate(differences).value == pytest.approx((first.value + second.value) / 2)


def test_a_baseline_with_too_few_blocks_for_an_interval_leaves_the_result_to_the_other() -> None:
    differences = np.array([[value, 100.0] for value in range(6)], dtype=np.float64)
    differences[0, 1] = np.nan
    assert paired_estimate(differences) == estimate(differences[:, 0])


def test_fewer_than_six_blocks_carry_a_value_and_no_interval() -> None:
    assert paired_estimate(np.array([[1.0, 3.0]] * 5)) == Estimate(2.0)


def test_skewed_noise_moves_the_mean_of_baselines_and_not_the_baselines_apart() -> None:
    random, rounds = np.random.default_rng(8), 600
    apart, averaged = [], []
    for _ in range(rounds):
        times = random.lognormal(0, 1, (20, 3))
        apart.append(paired_estimate(times[:, :1] - times[:, 1:]).value)
        averaged.append(estimate(times[:, 0] - times[:, 1:].mean(axis=1)).value)
    error = 3 * np.std(apart) / np.sqrt(rounds)
    assert abs(np.mean(apart)) < error + 0.02
    assert np.mean(averaged) < -2 * error
