"""Estimates with 95 % intervals from paired runs, and sums, ratios, ranks and spreads of estimates.

Hodges-Lehmann estimate: Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, 3rd edition, sections
3.1 to 3.3. Its interval assumes independent differences, symmetric about one value, and not that they are normal.
Disturbance that only adds time is skewed, and so is one run minus the mean of two; one run minus one run is symmetric.
So each baseline is taken separately, and the results are averaged. The averaged interval is wider than it must be:
`tests/evidence/coverage.py` measures what both methods cover.

Arithmetic of intervals (MOVER): the distance from a value to either end is the error on that side, so an interval that
leans to one side leans in the result too. Zou and Donner (2008), Statistics in Medicine 27(10), for differences;
Donner and Zou (2012), Statistical Methods in Medical Research 21(4), and Newcombe (2016), the same journal 25(5), for
ratios. An estimate without both ends gives a result without ends: arithmetic does not make it certain.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe_effect.model import Estimate

Floats = NDArray[np.float64]

CONFIDENCE = 0.95

MIN_BLOCKS = 6
"""With 5 differences the widest interval (smallest to largest) covers 1 - 2/32 = 93.75 %; with 6, 96.9 %."""


def walsh_averages(differences: Floats) -> Floats:
    """All (n * (n + 1) / 2,) means of two of n differences, each with itself too, in their unit and ascending order."""
    first, second = _pairs(len(differences))
    return np.sort((differences[first] + differences[second]) / 2)


_pairs = cache(np.triu_indices)


@cache
def critical_rank(n: int) -> int:
    """How many Walsh averages to drop at each end, plus one; 0 when no interval reaches `CONFIDENCE`.

    The largest c with P(W <= c - 1) <= (1 - CONFIDENCE) / 2 under the exact null distribution of the signed-rank sum W.
    """
    probability = np.zeros(n * (n + 1) // 2 + 1)
    probability[0] = 1.0
    for rank in range(1, n + 1):  # rank joins the sum with probability 1/2
        joined = np.zeros_like(probability)
        joined[rank:] = probability[: len(probability) - rank]
        probability = (probability + joined) / 2
    tail = np.cumsum(probability)
    return int(np.searchsorted(tail, (1 - CONFIDENCE) / 2, side="right"))


def estimate(differences: Floats) -> Estimate:
    """The Hodges-Lehmann estimate with its exact 95 % interval; without an interval below `MIN_BLOCKS`.

    The estimate is the median of the Walsh averages, in the unit of the differences: (n,) float64, one per block, and
    one at least.
    """
    averages = walsh_averages(differences)
    half = len(averages) // 2
    middle = float(averages[half] if len(averages) % 2 else (averages[half - 1] + averages[half]) / 2)
    rank = critical_rank(len(differences))
    return Estimate(middle, float(averages[rank - 1]), float(averages[-rank])) if rank else Estimate(middle)


def noise_floor(differences: Floats) -> float | None:
    """The largest difference that baseline minus baseline, (n,) float64, leaves possible; None below `MIN_BLOCKS`."""
    if len(differences) == 0:
        return None
    _, low, high = estimate(differences)
    return None if low is None or high is None else max(abs(low), abs(high))


def equal_runs(differences: Floats) -> float | None:
    """How far two single equal runs are apart in 95 % of such pairs, as of `noise_floor`; None below `MIN_BLOCKS`."""
    if len(differences) < MIN_BLOCKS:
        return None
    return float(np.quantile(np.abs(differences), 0.95, method="higher"))


def outliers(values: Floats) -> tuple[int, ...]:
    """The indices, in ascending order, of the values (n,), n > 0, beyond the outer fences; none of fewer than 5.

    The fences are three interquartile ranges beyond the quartiles (Tukey 1977, Exploratory Data Analysis, section 2D:
    "far out"). About one normal value in 400 000 is an outlier, and more if there are few values.
    """
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 3 * (third - first)
    return tuple(int(index) for index in np.flatnonzero((values < first - reach) | (values > third + reach)))


def fastest(traced_ns: Floats, baseline_ns: Floats) -> float:
    """The least traced time minus the least untraced time, ns per event; each arm has a run.

    It has no interval. It estimates the cost on an undisturbed machine where every disturbance only adds time (Chen
    and Revels 2016, arXiv 1608.04295). It is biased upward where more runs are untraced than traced and where
    disturbance is frequent; downward where the cost itself varies from run to run.
    """
    return float(traced_ns.min() - baseline_ns.min())


def ragged(lists: Iterable[Sequence[float]]) -> Floats:
    """An array, (n, m) float64, of n lists of at most m values; nan where a list has fewer."""
    return np.array(list(zip_longest(*lists, fillvalue=np.nan)), dtype=np.float64).T


def paired_estimate(differences: Floats) -> Estimate:
    """The mean of the signed-rank estimates against each baseline, and the mean of the ends of their intervals.

    If some baselines have too few blocks for an interval, the others make the result; if all have, it has no interval.
    The differences are (n, m) float64, any unit: one row per block, one column per baseline of a block in the order
    run, nan where a block has fewer; one difference at least.
    """
    columns = [column[~np.isnan(column)] for column in differences.T]
    estimates = [estimate(column) for column in columns if len(column)]
    ends = [
        (interval.value, interval.low, interval.high)
        for interval in estimates
        if interval.low is not None and interval.high is not None
    ]
    if not ends:
        return Estimate(float(np.mean([interval.value for interval in estimates])))
    value, low, high = np.mean(ends, axis=0)
    return Estimate(float(value), float(low), float(high))


Bounds = tuple[float, float, float]
"""Low end, value, high end."""


def total(intervals: Sequence[Estimate]) -> Estimate:
    """The sum of estimates in one unit that may err together, such as costs of one submission; of none 0.

    The ends add: the interval is as wide as errors that all point the same way make it.
    """
    value = math.fsum(interval.value for interval in intervals)
    bounds = _bounds(*intervals)
    if bounds is None:
        return Estimate(value)
    return Estimate(value, math.fsum(low for low, _, _ in bounds), math.fsum(high for _, _, high in bounds))


def spanning(intervals: Sequence[Estimate], weights: Sequence[float] = ()) -> Estimate:
    """The mean of estimates in one unit, with an interval that contains all of theirs, or none where one has none.

    `weights`: of each in the mean; by default all are equal. Raises: ZeroDivisionError for none.
    """
    weights = weights or [1.0] * len(intervals)
    value = math.fsum(interval.value * weight for interval, weight in zip(intervals, weights, strict=True)) / math.fsum(
        weights
    )
    bounds = _bounds(*intervals)
    if bounds is None:
        return Estimate(value)
    return Estimate(value, min(low for low, _, _ in bounds), max(high for _, _, high in bounds))


def difference(first: Estimate, second: Estimate) -> Estimate:
    """`first` minus `second`, two independent estimates in one unit (Zou and Donner 2008)."""
    value = first.value - second.value
    bounds = _bounds(first, second)
    if bounds is None:
        return Estimate(value)
    (a_low, a, a_high), (b_low, b, b_high) = bounds
    return Estimate(value, value - math.hypot(a - a_low, b_high - b), value + math.hypot(a_high - a, b - b_low))


def product(first: Estimate, second: Estimate) -> Estimate:
    """`first` times `second`, two independent estimates; the second is not below 0, such as a rate.

    On each side the relative distances to the ends are added in quadrature: to the first order, that is the method for
    the sum of two logarithms. No end is beyond the products of the ends themselves.
    """
    value = first.value * second.value
    bounds = _bounds(first, second)
    if bounds is None:
        return Estimate(value)
    a, b = bounds
    ends = b if a[1] >= 0 else b[::-1]
    down, up = (math.hypot((a[1] - a[end]) * b[1], (b[1] - ends[end]) * a[1]) for end in (0, 2))
    corners = multiplied(first, second)
    assert corners.low is not None
    assert corners.high is not None
    return Estimate(value, max(value - down, corners.low), min(value + up, corners.high))


def multiplied(first: Estimate, second: Estimate) -> Estimate:
    """The product of two estimates, as wide as their ends make it; without ends where either has none."""
    value = first.value * second.value
    bounds = _bounds(first, second)
    if bounds is None:
        return Estimate(value)
    a, b = bounds
    corners = [factor * other for factor in (a[0], a[2]) for other in (b[0], b[2])]
    return Estimate(value, min(corners), max(corners))


def at_least(interval: Estimate, other: Estimate) -> Estimate:
    """The first, but nowhere below the second; without ends where either has none."""
    value, bounds = max(interval.value, other.value), _bounds(interval, other)
    if bounds is None:
        return Estimate(value)
    a, b = bounds
    return Estimate(value, max(a[0], b[0]), max(a[2], b[2]))


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Whether two intervals have a value in common; None where either has no ends."""
    bounds = _bounds(first, second)
    if bounds is None:
        return None
    a, b = bounds
    return a[0] <= b[2] and b[0] <= a[2]


def ratio(first: Estimate, second: Estimate) -> Estimate | None:
    """`first` over `second`, two independent estimates (Donner and Zou 2012); a pure number where the units are equal.

    None if the divisor may be 0: its interval contains 0, or it has no interval and is 0.
    """
    divisor = _bounds(second)
    if second.value == 0 if divisor is None else divisor[0][0] <= 0 <= divisor[0][2]:
        return None
    value = first.value / second.value
    bounds = _bounds(first, second)
    if bounds is None:
        return Estimate(value)
    a, b = bounds
    if b[1] < 0:
        a, b = _opposite(a), _opposite(b)
    unit_a, unit_b = max(map(abs, a)) or 1.0, b[2]  # so that no square of the ends is too small for a float
    a, b = (a[0] / unit_a, a[1] / unit_a, a[2] / unit_a), (b[0] / unit_b, b[1] / unit_b, b[2] / unit_b)
    low, high = _low_ratio(a, b), -_low_ratio(_opposite(a), b)
    return Estimate(value, low * (unit_a / unit_b), high * (unit_a / unit_b))


def _bounds(*intervals: Estimate) -> list[Bounds] | None:
    """The bounds of each; None where one has no ends."""
    bounds = [
        (interval.low, interval.value, interval.high)
        for interval in intervals
        if interval.low is not None and interval.high is not None
    ]
    return bounds if len(bounds) == len(intervals) else None


def _opposite(bounds: Bounds) -> Bounds:
    low, value, high = bounds
    return -high, -value, -low


def _low_ratio(first: Bounds, second: Bounds) -> float:
    """The ratio r at which the low end of `first - r * second` is 0; all of `second` is above 0.

    The end solves r^2 * square - 2 * r * product + constant = 0. Which end of the divisor counts depends on the sign
    of r, which is that of the dividend's low end.
    """
    a_low, a, _ = first
    b_low, b, b_high = second
    b_end = b_high if a_low > 0 else b_low
    product, constant, square = a * b, a_low * (2 * a - a_low), b_end * (2 * b - b_end)
    root = math.sqrt(max(product**2 - constant * square, 0.0))
    # Two forms of one root: each is free of cancellation where it is used, and the first of a division by 0.
    return constant / (product + root) if product > 0 else (product - root) / square


INTERVAL_WIDTHS = 2 * NormalDist().inv_cdf(0.975)
"""Standard errors in an interval of 95 %."""


class Rank(NamedTuple):
    """The ranks, counted from 1, that an estimate may have: from `first` to `last`; equal if there is only one."""

    first: int
    last: int


def ranks(intervals: Sequence[Estimate | None]) -> list[Rank]:
    """The rank of each estimate in one unit, the least value first, in the order given; None for no estimate.

    One is before another only if their 95 % intervals do not overlap; one without an interval may have any rank.
    Two equal estimates part in 0.6 % of pairs, not in 5 % (Schenker and Gentleman 2001, The American Statistician
    55(3)), which makes up for the number of pairs: `tests/evidence/coverage.py` measures it.
    """
    return [
        Rank(
            1 + sum(is_below(other, interval) for other in intervals),
            len(intervals) - sum(is_below(interval, other) for other in intervals),
        )
        for interval in intervals
    ]


def is_above_0(interval: Estimate) -> bool:
    """Whether the value and, where there is one, all of the interval is above 0."""
    return interval.value > 0 and (interval.low is None or interval.low > 0)


def excludes_0(interval: Estimate) -> bool:
    """Whether all of the interval is on one side of 0; False without one."""
    return (interval.low or 0) > 0 or (interval.high or 0) < 0


def is_below(first: Estimate | None, second: Estimate | None) -> bool:
    """Whether all of the first interval is below all of the second; False if one of them has no such end."""
    if first is None or second is None or first.high is None or second.low is None:
        return False
    return first.high < second.low


LOGARITHMS = np.linspace(np.log(0.01), np.log(100), 461)
"""The logarithms of the true ratios that `next_ratio` considers, in steps of 2 %."""

LEAST_LIKELIHOOD = 1e-300


class MeasuredRatio(NamedTuple):
    """A ratio, which may be negative, and its standard error, above 0."""

    value: float
    error: float


def next_ratio(ratios: Sequence[MeasuredRatio], share: float) -> Estimate:
    """The median of the next true ratio, with ends between which it is with a probability of `share`.

    The random-effects model of meta-analysis (DerSimonian and Laird, Controlled Clinical Trials 7 (1986), 177-188) for
    ratios that errors may make 0 or negative. Logarithms of true ratios are normal, and each measured ratio is normal
    around its true one. All medians and widths of the grid are equally likely beforehand, and the result is the
    predictive distribution over them (Higgins, Thompson and Spiegelhalter, Journal of the Royal Statistical Society A
    172 (2009), 137-159). So nothing is selected by its outcome. Of no ratios it is as wide as the grid.
    """
    values, errors = np.array(ratios, dtype=float).reshape(-1, 2, 1).swapaxes(0, 1)
    # What is beyond the grid is at its end, and nothing is known to less than half a step.
    values = np.minimum(values, np.exp(LOGARITHMS[-1]))
    errors = np.maximum(errors, np.abs(values) * (LOGARITHMS[1] - LOGARITHMS[0]) / 2)
    likelihoods = np.exp(-(((values - np.exp(LOGARITHMS)) / errors) ** 2) / 2)
    each = np.log(np.maximum(likelihoods @ _DENSITIES.T, LEAST_LIKELIHOOD)).sum(axis=0)
    weights = np.exp(each - each.max())
    density = weights @ _DENSITIES / weights.sum()
    low, median, high = np.interp([(1 - share) / 2, 0.5, (1 + share) / 2], np.cumsum(density) - density / 2, LOGARITHMS)
    return Estimate(*np.exp([median, low, high]).tolist())


def _densities() -> Floats:
    """A row for each median and standard deviation of the logarithms: how likely each of `LOGARITHMS` is.

    Programs that all take 60 times the prediction are beyond the grid.
    """
    grid = np.meshgrid(np.linspace(np.log(0.1), np.log(10), 116), np.linspace(0.02, 2.0, 67))
    medians, widths = (axis.reshape(-1, 1) for axis in grid)
    densities: Floats = np.exp(-(((LOGARITHMS - medians) / widths) ** 2) / 2)
    densities /= densities.sum(axis=1, keepdims=True)
    return densities


_DENSITIES = _densities()
