"""Whether two things go together: ranks that agree, a straight line, and a drift over time.

Sources of the rank correlation: Kendall and Gibbons (1990), Rank Correlation Methods, 5th edition. Chapters 3 to 5 have
tau-b and its distribution when the orders are unrelated; chapter 10, after Esscher (1924), has its variance when they
are related. The usual interval, Fisher's z with a constant variance, is for correlations below 0.8 (Bonett and Wright
2000, Psychometrika 65(1)), and covers too little beyond; orders of costs often agree more than that.

Source of the line: Press et al., Numerical Recipes, 3rd edition, section 15.2 (fitting data to a straight line).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from probe_effect.model import Estimate
from probe_effect.stats.robust import CONFIDENCE, Floats, estimate

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
    ties, and rough below 10 pairs. The interval needs `MIN_PAIRS`; it is exact in neither case, and assumes that some
    change of scale makes the values jointly normal. Raises: ValueError when the lengths differ.
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


LEAST_POINTS = 3
"""With two there is nothing left that could tell whether it is a line."""

T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""The 97.5 % quantiles of Student's t with 1, 2, 3 .. degrees of freedom."""


@dataclass(frozen=True, slots=True)
class StraightLine:
    """`base + slope * x`, with the covariance of both, in the units of the points.

    An interval is `quantile` standard errors to either side.
    """

    base: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    quantile: float

    def at(self, x: float) -> Estimate:
        """The value at `x` with its 95 % interval."""
        return self._estimate(self.base + self.slope * x, (1.0, x))

    @property
    def per_x(self) -> Estimate:
        """The slope with its 95 % interval."""
        return self._estimate(self.slope, (0.0, 1.0))

    def _estimate(self, value: float, terms: tuple[float, float]) -> Estimate:
        half = self.quantile * float(np.sqrt(np.array(terms) @ np.array(self.covariance) @ np.array(terms)))
        return Estimate(value, value - half, value + half)


def straight_line(points: Sequence[tuple[float, Estimate]]) -> StraightLine | None:
    """The line through (x, value with a 95 % interval); None for fewer than three points that have both ends.

    Where the points scatter more than their intervals allow, the line's errors grow with the scatter: by the root of
    chi-square over its degrees of freedom. They are estimated then and no longer known, so that Student's t is taken.
    """
    known = [
        (x, one.value, (one.high - one.low) / 2 / Z_95)
        for x, one in points
        if one.low is not None and one.high is not None and one.high > one.low
    ]
    if len(known) < LEAST_POINTS or len({x for x, _, _ in known}) < LEAST_POINTS:
        return None
    x, y, error = np.array(known).T
    (slope, base), covariance = np.polyfit(x, y, 1, w=1 / error, cov="unscaled")
    freedom = len(known) - 2
    scatter = float((((y - base - slope * x) / error) ** 2).sum()) / freedom
    quantile = T_95[min(freedom, len(T_95)) - 1] if scatter > 1 else Z_95
    (vs, sb), (_, vb) = covariance * max(1.0, scatter)
    return StraightLine(float(base), float(slope), ((float(vb), float(sb)), (float(sb), float(vs))), quantile)


def trend(values_by_block: Floats) -> Estimate | None:
    """How much slower the machine became from the first block to the last, as a ratio; None below two blocks.

    It is the Theil-Sen slope (the median of the slopes between all pairs of blocks) times the length of the run, over
    the median. Its interval is the exact one of Kendall's statistic and needs 5 blocks.
    Sources: Sen 1968, Journal of the American Statistical Association 63(324); Hollander, Wolfe and Chicken 2014,
    sections 9.2 and 9.3.
    A trend does not harm the costs, whose blocks each have their own baselines; it says why a run cannot be repeated.
    The values are (n,) float64 above 0, any unit: the mean of each block's baselines in the order run.
    """
    n = len(values_by_block)
    if n < 2:
        return None
    before, after = np.triu_indices(n, k=1)
    slopes = np.sort((values_by_block[after] - values_by_block[before]) / (after - before))
    whole = slopes * (n - 1) / np.median(values_by_block)
    rank = _critical_rank(n)
    ends = (float(whole[rank - 1]), float(whole[-rank])) if rank else (None, None)
    return Estimate(float(np.median(whole)), *ends)


@cache
def _critical_rank(n: int) -> int:
    """How many slopes to drop at each end, plus one; 0 when no interval reaches the confidence."""
    tail = np.cumsum(discordance_distribution(n))
    return int(np.searchsorted(tail, (1 - CONFIDENCE) / 2, side="right"))


def within_blocks(first: Floats, second: Floats) -> Estimate | None:
    """How much slower the machine became from the first baseline of a block to its second; None without a block.

    It is the Hodges-Lehmann estimate of the differences, over the median of all; its interval needs 6 blocks.
    Such drift widens the intervals of costs. If it is not a straight line it may shift them too, because baselines
    are then at other places of the curve, on average, than traced runs. Both are (n,) float64 above 0, in any unit.
    """
    if len(first) == 0:
        return None
    middle = float(np.median(np.concatenate([first, second])))
    return estimate(second - first).times(1 / middle)
