"""Kendall's tau-b, its p-value and its interval, against scipy, every order of short lists, and normal values."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.numbers.trends import MIN_PAIRS, Correlation, concordance, discordance_distribution, kendall

DISTINCT = st.integers(2, 20).flatmap(lambda n: st.permutations(range(n)))
TIED = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=25)


def array(values: list[int] | range) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def known(found: Correlation | None) -> Correlation:
    assert found is not None
    return found


def ends(found: Correlation | None) -> tuple[float, float]:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@given(DISTINCT)
@pytest.mark.deep
def test_without_ties_tau_and_its_exact_p_value_are_scipys(order: list[int]) -> None:
    found = known(kendall(array(range(len(order))), array(order)))
    reference = scipy.stats.kendalltau(range(len(order)), order, method="exact")
    assert (found.tau, found.p_value) == pytest.approx((reference.statistic, reference.pvalue))


@given(TIED)
def test_with_ties_tau_b_and_its_approximate_p_value_are_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = (list(one) for one in zip(*pairs, strict=True))
    found = kendall(array(first), array(second))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    elif len(set(first)) < len(first) or len(set(second)) < len(second):
        reference = scipy.stats.kendalltau(first, second, method="asymptotic")
        assert (known(found).tau, known(found).p_value) == pytest.approx((reference.statistic, reference.pvalue))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_the_distribution_of_discordance_is_that_of_all_orders(n: int) -> None:
    pairs = n * (n - 1) // 2
    counts = Counter(
        (pairs - concordance(array(range(n)), array(list(one)))) // 2 for one in itertools.permutations(range(n))
    )
    expected = [counts[discordant] / math.factorial(n) for discordant in range(pairs + 1)]
    assert discordance_distribution(n).tolist() == pytest.approx(expected)


def test_equal_orders_agree_whole_and_opposite_ones_not_at_all() -> None:
    values = array(range(9))
    assert known(kendall(values, values**3)).tau == 1
    assert known(kendall(values, -values)).tau == -1


def test_agreement_of_six_is_as_unlikely_as_one_order_or_its_opposite_in_all() -> None:
    values = array(range(6))
    assert known(kendall(values, values)).p_value == pytest.approx(2 / math.factorial(6))


def test_fewer_than_two_pairs_have_no_correlation() -> None:
    assert kendall(array([]), array([])) is None
    assert kendall(array([1]), array([2])) is None


def test_below_the_least_number_of_pairs_there_is_no_interval() -> None:
    values = array(range(MIN_PAIRS - 1))
    assert known(kendall(values, values)).low is None
    assert ends(kendall(array(range(MIN_PAIRS)), array(range(MIN_PAIRS))))[1] == 1


@given(st.integers(MIN_PAIRS, 25).flatmap(lambda n: st.permutations(range(n))))
def test_tau_lies_within_its_interval_and_that_within_one(order: list[int]) -> None:
    found = known(kendall(array(range(len(order))), array(order)))
    low, high = ends(found)
    assert -1 <= low <= found.tau <= high <= 1


@given(st.integers(MIN_PAIRS, 20).flatmap(lambda n: st.permutations(range(n))))
def test_the_reverse_of_one_list_reverses_tau_and_its_interval(order: list[int]) -> None:
    found, opposite = (kendall(array(range(len(order))), sign * array(order)) for sign in (1, -1))
    assert known(opposite).tau == -known(found).tau
    assert ends(opposite) == pytest.approx(tuple(-end for end in reversed(ends(found))))


@pytest.mark.parametrize("tau", [0.0, 0.5, 0.9])
def test_the_interval_of_normal_values_covers_the_true_tau(tau: float) -> None:
    random, rounds, n = np.random.default_rng(17), 1000, 12
    rho = math.sin(math.pi * tau / 2)
    held = 0
    for _ in range(rounds):
        first, noise = random.standard_normal((2, n))
        low, high = ends(kendall(first, rho * first + math.sqrt(1 - rho**2) * noise))
        held += low <= tau <= high
    assert held / rounds >= 0.93
