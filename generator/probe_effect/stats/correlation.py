"""Whether two lists order the same things alike: Kendall's rank correlation.

Sources: Kendall and Gibbons (1990), Rank Correlation Methods, 5th edition. Chapters 3 to 5 have tau-b and its
distribution when the orders are unrelated; chapter 10, after Esscher (1924), has its variance when they are related.
The usual interval, Fisher's z with a constant variance, is for correlations below 0.8 (Bonett and Wright 2000,
Psychometrika 65(1)), and covers too little beyond; orders of costs often agree more than that.
"""

import math
from dataclasses import dataclass

import numpy as np

from probe_effect.stats.signed_rank import Floats

MIN_PAIRS = 8
"""Fewest pairs for an interval, which then covers 93 % up to a true tau of 0.95 (`benchmarks/coverage.py`)."""

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

BISECTIONS = 40
"""Steps that leave an error of 2^-39 in the ends of the interval."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Kendall's tau-b from -1 (opposite order) to 1 (same order), its p-value, and its 95 % interval or None.

    `p_value` is the chance, were the two orders unrelated, of a tau at least as far from 0.
    """

    tau: float
    p_value: float
    low: float | None = None
    high: float | None = None


def kendall(first: Floats, second: Floats) -> Correlation | None:
    """The rank correlation of paired values; None for fewer than 2 pairs or where all values of a list are equal.

    Without ties the p-value is exact. With ties it is that of the normal approximation with the variance corrected for
    ties, and rough below 10 pairs. The interval needs `MIN_PAIRS`; it is exact in neither
    case, and assumes that some change of scale makes the values jointly normal.

    Args:
        first, second: (n,) float64, any units; the same index is the same thing.
    Raises: ValueError when the lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values against {len(second)}; pairs need as many of each")
    pairs = len(first) * (len(first) - 1) // 2
    score = concordance(first, second)
    untied = [pairs - sum(t * (t - 1) // 2 for t in _ties(values)) for values in (first, second)]
    if 0 in untied:
        return None
    tau = score / math.sqrt(untied[0] * untied[1])
    exact = untied == [pairs, pairs]
    p_value = _exact_p_value(score, len(first)) if exact else _approximate_p_value(score, first, second)
    return Correlation(tau, p_value, *_interval(tau, len(first)))


def concordance(first: Floats, second: Floats) -> int:
    """Kendall's S: pairs in the same order minus pairs in opposite order; pairs tied in either list count 0."""
    before, after = np.triu_indices(len(first), k=1)
    return int(np.sum(np.sign(first[after] - first[before]) * np.sign(second[after] - second[before])))


def discordance_distribution(n: int) -> Floats:
    """The chance of 0, 1, .. n(n-1)/2 pairs in opposite order when all n! orders are equally likely.

    The recurrence inserts one value after another: the k-th joins with 0 to k - 1 inversions, each with chance 1/k.
    """
    chance = np.ones(1)
    for k in range(2, n + 1):
        chance = np.convolve(chance, np.full(k, 1 / k))
    return chance


def _exact_p_value(score: int, n: int) -> float:
    chance = discordance_distribution(n)
    fewest = (len(chance) - 1 - abs(score)) // 2
    return min(1.0, 2 * float(chance[: fewest + 1].sum()))


def _approximate_p_value(score: int, first: Floats, second: Floats) -> float:
    """The p-value of tau from the variance of S with ties in both lists (Kendall and Gibbons, equation 4.4)."""
    n = len(first)
    ties = [_ties(values) for values in (first, second)]
    spread = n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in (*ties[0], *ties[1]))
    twos = [sum(t * (t - 1) for t in one) for one in ties]
    threes = [sum(t * (t - 1) * (t - 2) for t in one) for one in ties]
    variance = spread / 18 + twos[0] * twos[1] / (2 * n * (n - 1))
    if n > 2:
        variance += threes[0] * threes[1] / (9 * n * (n - 1) * (n - 2))
    return math.erfc(abs(score) / math.sqrt(2 * variance))


def _ties(values: Floats) -> list[int]:
    """How often each value occurs."""
    return [int(count) for count in np.unique(values, return_counts=True)[1]]


def _interval(tau: float, n: int) -> tuple[float, float] | tuple[None, None]:
    """The least and greatest true tau from which `tau` is at most 1.96 standard deviations away, by bisection."""
    if n < MIN_PAIRS:
        return None, None
    return _end(tau, -1.0, n), _end(tau, 1.0, n)


def _end(tau: float, outside: float, n: int) -> float:
    inside = tau
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        if abs(tau - middle) <= Z_95 * _standard_deviation(middle, n):
            inside = middle
        else:
            outside = middle
    return inside


def _standard_deviation(tau: float, n: int) -> float:
    """The standard deviation of a sample's tau, if the true `tau` is that of jointly normal values (Esscher 1924)."""
    half = 2 / math.pi * math.asin(math.sin(math.pi * tau / 2) / 2)
    return math.sqrt(max(0.0, 2 / (n * (n - 1)) * (1 - tau**2 + 2 * (n - 2) * (1 / 9 - half**2))))
