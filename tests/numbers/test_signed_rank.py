"""The estimate and its interval, against closed forms, every sign pattern of small samples, and scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.numbers.estimates import MIN_BLOCKS, critical_rank, equal_runs, estimate, noise_floor, walsh_averages

SAMPLES = st.lists(st.integers(-10_000, 10_000).map(float), min_size=MIN_BLOCKS, max_size=25)


def array(values: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def rank_sums(n: int) -> list[int]:
    """The signed-rank sum of each of the 2^n equally likely sign patterns."""
    return [sum(itertools.compress(range(1, n + 1), signs)) for signs in itertools.product((0, 1), repeat=n)]


def test_walsh_averages_are_all_pairs_and_each_value_itself_in_order() -> None:
    assert walsh_averages(array([4.0, 0.0, 1.0])).tolist() == [0.0, 0.5, 1.0, 2.0, 2.5, 4.0]


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        pytest.param([3.0], 3.0, id="one"),
        pytest.param([1.0, 2.0], 1.5, id="two"),
        pytest.param([0.0, 1.0, 5.0], 1.75, id="three: between 1 and 2.5"),
        pytest.param([1.0] * 9 + [1e9], 1.0, id="one wild value does not move it"),
    ],
)
def test_the_estimate_is_the_median_of_the_walsh_averages(values: list[float], middle: float) -> None:
    assert estimate(array(values)).value == middle


@pytest.mark.parametrize("n", range(1, 13))
def test_critical_ranks_follow_from_every_sign_pattern(n: int) -> None:
    sums = rank_sums(n)
    tails = [sum(one <= limit for one in sums) / len(sums) for limit in range(n * (n + 1) // 2 + 1)]
    assert critical_rank(n) == sum(tail <= 0.025 for tail in tails)


@pytest.mark.parametrize(("n", "rank"), [(5, 0), (6, 1), (7, 3), (8, 4), (9, 6), (10, 9), (15, 26), (20, 53), (25, 90)])
def test_critical_ranks_are_those_of_printed_tables(n: int, rank: int) -> None:
    """Two-sided 5 % table of the signed-rank test gives 0, 2, 3, 5, 8, 25, 52, 89: one less, as it counts from 0."""
    assert critical_rank(n) == rank


@pytest.mark.parametrize("n", [6, 12, 30])
def test_the_null_distribution_is_that_of_scipy(n: int) -> None:
    rank = critical_rank(n)
    below = _tail(n, rank - 1)
    above = _tail(n, rank)
    assert below <= 0.025 < above


def _tail(n: int, total: int) -> float:
    """P(W <= total) as scipy's exact test gives it for a sample with that sum of positive ranks."""
    values = -np.arange(1, n + 1, dtype=np.float64)
    left = total
    for rank in range(n, 0, -1):
        if rank <= left:
            values[rank - 1] = rank
            left -= rank
    return float(scipy.stats.wilcoxon(values, alternative="less", method="exact").pvalue)


@pytest.mark.parametrize("n", [6, 7, 8, 10])
def test_the_interval_holds_exactly_the_shifts_that_the_exact_test_accepts(n: int) -> None:
    generator = np.random.default_rng(n)
    values = generator.normal(10, 3, n)
    interval = estimate(values)
    assert interval.low is not None
    assert interval.high is not None
    for shift, accepted in (
        (interval.low + 1e-6, True),
        (interval.low - 1e-6, False),
        (interval.high - 1e-6, True),
        (interval.high + 1e-6, False),
    ):
        p_value = scipy.stats.wilcoxon(values - shift, method="exact").pvalue
        assert bool(p_value > 0.05) is accepted


@pytest.mark.parametrize("blocks", range(1, MIN_BLOCKS))
def test_fewer_than_six_blocks_carry_a_value_and_no_interval(blocks: int) -> None:
    interval = estimate(array([1.0] * blocks))
    assert (interval.value, interval.low, interval.high) == (1.0, None, None)


def test_six_blocks_carry_the_interval_from_smallest_to_largest() -> None:
    interval = estimate(array([5.0, 1.0, 4.0, 2.0, 6.0, 3.0]))
    assert (interval.value, interval.low, interval.high) == (3.5, 1.0, 6.0)


NOISES = {
    "normal": lambda generator, n: generator.normal(0, 1, n),
    "heavy tails": lambda generator, n: generator.standard_t(2, n),
    "difference of two lognormals": lambda generator, n: generator.lognormal(0, 1, n) - generator.lognormal(0, 1, n),
    "contaminated": lambda generator, n: generator.normal(0, np.where(generator.random(n) < 0.1, 20.0, 1.0)),
    "equal except for rare jumps": lambda generator, n: np.round(generator.normal(0, 1, n)),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("blocks", [6, 20])
def test_the_interval_covers_the_truth_as_often_as_it_says(noise: str, blocks: int) -> None:
    generator = np.random.default_rng(2026)
    truth, rounds = 37.0, 800
    covered = 0
    for _ in range(rounds):
        interval = estimate(truth + NOISES[noise](generator, blocks))
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= truth <= interval.high
    assert covered / rounds >= 0.93


def test_the_interval_of_normal_noise_is_not_much_wider_than_it_must_be() -> None:
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(2000):
        interval = estimate(generator.normal(0, 1, 20))
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= 0 <= interval.high
    assert covered / 2000 < 0.97


@given(SAMPLES)
def test_the_interval_holds_its_own_estimate_and_stays_within_the_values(values: list[float]) -> None:
    interval = estimate(array(values))
    assert interval.low is not None
    assert interval.high is not None
    assert min(values) <= interval.low <= interval.value <= interval.high <= max(values)


@given(SAMPLES, st.integers(-1000, 1000))
def test_a_shift_of_all_differences_shifts_the_interval(values: list[float], shift: int) -> None:
    before, after = estimate(array(values)), estimate(array(values) + shift)
    assert before.low is not None
    assert before.high is not None
    assert (after.value, after.low, after.high) == (before.value + shift, before.low + shift, before.high + shift)


@given(SAMPLES, st.sampled_from([0.25, 2.0, 64.0]))
def test_another_unit_changes_the_interval_by_its_factor(values: list[float], factor: float) -> None:
    before, after = estimate(array(values)), estimate(array(values) * factor)
    assert before.low is not None
    assert before.high is not None
    assert (after.value, after.low, after.high) == (before.value * factor, before.low * factor, before.high * factor)


@given(SAMPLES)
def test_opposite_differences_have_the_opposite_interval(values: list[float]) -> None:
    before, after = estimate(array(values)), estimate(-array(values))
    assert before.low is not None
    assert before.high is not None
    assert (after.value, after.low, after.high) == (-before.value, -before.high, -before.low)


@given(SAMPLES.flatmap(lambda values: st.tuples(st.just(values), st.permutations(values))))
def test_the_order_of_blocks_does_not_matter(orders: tuple[list[float], list[float]]) -> None:
    given_order, another = orders
    assert estimate(array(given_order)) == estimate(array(another))


def test_the_noise_floor_is_the_end_of_the_interval_that_is_further_from_zero() -> None:
    assert noise_floor(array([-9.0, 1.0, 2.0, 3.0, 4.0, 5.0])) == 9.0


def test_single_equal_runs_are_as_far_apart_as_nearly_all_pairs_whatever_the_sign() -> None:
    assert equal_runs(array([-10.0, *[1.0] * 99])) == 1.0
    assert equal_runs(array([-10.0, 10.0, *[1.0] * 18])) == 10.0
    assert equal_runs(array([1.0])) is None
    assert noise_floor(array([-1.0, 1.0, 2.0, 3.0, 4.0, 5.0])) == 5.0


def test_too_few_blocks_have_no_noise_floor() -> None:
    assert noise_floor(array([1.0] * (MIN_BLOCKS - 1))) is None
    assert noise_floor(array([])) is None


def test_equal_differences_have_an_interval_without_width() -> None:
    interval = estimate(array([2.5] * 8))
    assert (interval.low, interval.high) == (2.5, 2.5)
    assert math.isfinite(interval.value)
