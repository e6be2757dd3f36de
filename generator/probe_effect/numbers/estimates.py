"""Estimates with intervals: from paired runs, so that a few odd ones do not move them; and sums, ratios, ranks and
spreads of estimates of which only value and interval are known.

Source of the Hodges-Lehmann estimate: Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, 3rd
edition, sections 3.2 and 3.3. Its interval assumes that the differences are independent and symmetric about one value;
it does not assume that they are normal.

If disturbance only ever adds time, noise is skewed. One run minus the mean of two is then skewed too, and the centre
of the signed-rank interval is not the cost: the more blocks, the less it covers. One run minus one run is symmetric,
if both have the same noise (Hollander, Wolfe and Chicken 2014, section 3.1). It is also symmetric if tracing changes
the size of a symmetric noise. So the signed-rank method takes each baseline separately, and its results are averaged,
which keeps the precision that further baselines give.
The averaged interval is wider than it must be; `tests/evidence/coverage.py` measures what both methods cover.

The method of variance estimates recovery (MOVER) takes the distance from a value to either end of its interval as the
error on that side. So an interval that leans to one side leans in the result too.
Sources: Zou and Donner (2008), Statistics in Medicine 27(10), for differences; Donner and Zou (2012), Statistical
Methods in Medical Research 21(4), and Newcombe (2016), the same journal 25(5), for ratios.
An estimate without both ends gives a result without ends: arithmetic does not make it certain.

How far true ratios differ from each other, from measured ones of which some are known well and others hardly.

The random-effects model of meta-analysis, for ratios that errors may make 0 or negative. (DerSimonian and Laird,
Meta-analysis in clinical trials, Controlled Clinical Trials 7 (1986), 177-188.) The logarithms of the true ratios are
normal, and each measured ratio is normal around its true one, with its own standard error. Median and width of the true
ratios are unknown: all pairs of them in the grid below are equally likely beforehand.

The result is the distribution of the next true ratio, over all models as likely as the measured ratios make them: the
predictive distribution. (Higgins, Thompson and Spiegelhalter, A re-evaluation of random-effects meta-analysis, Journal
of the Royal Statistical Society A 172 (2009), 137-159.) So nothing is selected by its outcome: a ratio that is hardly
known says little, whether it differs from 0 or not.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe_effect.model import Estimate, TooFewBlocks

Floats = NDArray[np.float64]
Ranks = NDArray[np.intp]

CONFIDENCE = 0.95

MIN_BLOCKS = 6
"""With 5 differences the widest interval (smallest to largest) covers 1 - 2/32 = 93.75 %; with 6, 96.9 %."""


def walsh_averages(differences: Floats) -> Floats:
    """All (n * (n + 1) / 2,) means of two of n differences, each with itself too, in their unit and ascending order."""
    first, second = _pairs(len(differences))
    return np.sort((differences[first] + differences[second]) / 2)


@cache
def _pairs(n: int) -> tuple[Ranks, Ranks]:
    """The indices of every two of `n`, each with itself too."""
    first, second = np.triu_indices(n)
    return first, second


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

    The estimate is the median of the Walsh averages, in the unit of the differences: (n,) float64, one per block.
    Raises: TooFewBlocks when there are none.
    """
    if len(differences) == 0:
        raise TooFewBlocks("no block has both a traced run and a baseline")
    averages = walsh_averages(differences)
    half = len(averages) // 2
    middle = float(averages[half] if len(averages) % 2 else (averages[half - 1] + averages[half]) / 2)
    rank = critical_rank(len(differences))
    return Estimate(middle, float(averages[rank - 1]), float(averages[-rank])) if rank else Estimate(middle)


def noise_floor(differences: Floats) -> float | None:
    """The largest difference that baseline against baseline leaves possible; None below `MIN_BLOCKS`.

    The differences are (n,) float64, ns per event: first baseline minus second, one per block.
    """
    if len(differences) == 0:
        return None
    _, low, high = estimate(differences)
    return None if low is None or high is None else max(abs(low), abs(high))


EQUAL_RUNS = 0.95
"""The share of pairs of equal runs that are no farther apart than is said of them."""


def equal_runs(differences: Floats) -> float | None:
    """How far two single equal runs are apart, in 95 % of such pairs or more; None below `MIN_BLOCKS`.

    The differences are (n,) float64, ns per event, as of `noise_floor`; of few pairs it is the largest.
    """
    if len(differences) < MIN_BLOCKS:
        return None
    return float(np.quantile(np.abs(differences), EQUAL_RUNS, method="higher"))


OUTER_FENCE = 3.0
"""Interquartile ranges beyond the quartiles: Tukey (1977), Exploratory Data Analysis, section 2D: "far out"."""


def outliers(values: Floats) -> tuple[int, ...]:
    """The indices, in ascending order, of the values (n,) beyond Tukey's outer fences; fewer than 5 values have none.

    About one normal value in 400 000 is an outlier, and more if there are few values, because the quartiles vary.
    Quartiles are interpolated between order statistics, as numpy does by default.
    """
    if len(values) == 0:
        return ()
    first, third = np.quantile(values, [0.25, 0.75])
    reach = OUTER_FENCE * (third - first)
    return tuple(int(index) for index in np.flatnonzero((values < first - reach) | (values > third + reach)))


def fastest(traced_ns: Floats, baseline_ns: Floats) -> float | None:
    """The least traced time minus the least untraced time, ns per event; None where an arm has no run.

    It is the statistic of the book and of the talk, and has no interval. It estimates the cost on an undisturbed
    machine where every disturbance only adds time: the least of many runs then comes near the undisturbed time in both
    arms (Chen and Revels 2016, arXiv 1608.04295). It is biased upward where more runs are untraced than traced, and
    where disturbance is frequent or lasts. It is biased downward where the cost itself varies from run to run (full
    buffers, wake-ups, another state after attaching), and either way where one run can be too fast. An untraced event
    is an operation's time over the events that it makes when traced.
    """
    if len(traced_ns) == 0 or len(baseline_ns) == 0:
        return None
    return float(traced_ns.min() - baseline_ns.min())


def ragged(lists: Iterable[Sequence[float]]) -> Floats:
    """An array, (n, m) float64, of n lists of at most m values; nan where a list has fewer."""
    return np.array(list(zip_longest(*lists, fillvalue=np.nan)), dtype=np.float64).T


def paired_estimate(differences: Floats) -> Estimate:
    """The mean of the signed-rank estimates against each baseline, and the mean of the ends of their intervals.

    The value is inside the interval, and a shift or another unit of the differences moves both alike. If some
    baselines have too few blocks for an interval, the others make the result; if all have, it has no interval.

    The differences are (n, m) float64, any unit: one row per block, one column per baseline of a block in the order
    run, nan where a block has fewer. Raises: TooFewBlocks when there are none.
    """
    columns = [column[~np.isnan(column)] for column in differences.T]
    found = [estimate(column) for column in columns if len(column)]
    if not found:
        raise TooFewBlocks("no block has both a traced run and a baseline")
    ends = [(one.value, one.low, one.high) for one in found if one.low is not None and one.high is not None]
    if not ends:
        return Estimate(float(np.mean([one.value for one in found])))
    value, low, high = np.mean(ends, axis=0)
    return Estimate(float(value), float(low), float(high))


Bounds = tuple[float, float, float]
"""Low end, value, high end."""


def total(intervals: Sequence[Estimate]) -> Estimate:
    """The sum of estimates that may err together, such as costs of one submission, which share their baselines.

    The ends add: the sum's interval is as wide as errors that all point the same way make it, and wider than needed
    where they are independent. All are in one unit; no estimates sum to 0.
    """
    value = math.fsum(interval.value for interval in intervals)
    bounds = [_bounds(interval) for interval in intervals]
    known = [one for one in bounds if one is not None]
    if len(known) < len(bounds):
        return Estimate(value)
    return Estimate(value, math.fsum(low for low, _, _ in known), math.fsum(high for _, _, high in known))


def spanning(intervals: Sequence[Estimate], weights: Sequence[float] = ()) -> Estimate:
    """What stands for any of some estimates in one unit: their mean, with an interval that holds all of theirs.

    Without ends where one of them has none. `weights`: of each in the mean; by default all are equal.
    Raises: ZeroDivisionError for none.
    """
    known = list(weights) or [1.0] * len(intervals)
    value = math.fsum(one.value * weight for one, weight in zip(intervals, known, strict=True)) / math.fsum(known)
    bounds = [found for one in intervals if (found := _bounds(one)) is not None]
    if len(bounds) < len(intervals):
        return Estimate(value)
    return Estimate(value, min(low for low, _, _ in bounds), max(high for _, _, high in bounds))


def difference(first: Estimate, second: Estimate) -> Estimate:
    """`first` minus `second`, two independent estimates in one unit (Zou and Donner 2008)."""
    value = first.value - second.value
    a, b = _bounds(first), _bounds(second)
    if a is None or b is None:
        return Estimate(value)
    (a_low, a_value, a_high), (b_low, b_value, b_high) = a, b
    down = math.hypot(a_value - a_low, b_high - b_value)
    up = math.hypot(a_high - a_value, b_value - b_low)
    return Estimate(value, value - down, value + up)


def product(first: Estimate, second: Estimate) -> Estimate:
    """`first` times `second`, two independent estimates; the second is not below 0, such as a rate.

    On each side the relative distances to the ends are added in quadrature: to the first order, that is the method for
    the sum of two logarithms. No end is beyond the products of the ends themselves.
    """
    value = first.value * second.value
    a, b = _bounds(first), _bounds(second)
    if a is None or b is None:
        return Estimate(value)
    ends = b if a[1] >= 0 else b[::-1]
    down, up = (math.hypot((a[1] - a[end]) * b[1], (b[1] - ends[end]) * a[1]) for end in (0, 2))
    corners = [a[0] * b[0], a[0] * b[2], a[2] * b[0], a[2] * b[2]]
    return Estimate(value, max(value - down, min(corners)), min(value + up, max(corners)))


def multiplied(first: Estimate, second: Estimate) -> Estimate:
    """The product of two estimates, as wide as their ends make it; without ends where either has none."""
    value = first.value * second.value
    a, b = _bounds(first), _bounds(second)
    if a is None or b is None:
        return Estimate(value)
    corners = [one * other for one in (a[0], a[2]) for other in (b[0], b[2])]
    return Estimate(value, min(corners), max(corners))


def at_least(one: Estimate, other: Estimate) -> Estimate:
    """The first, but nowhere below the second; without ends where either has none."""
    value, a, b = max(one.value, other.value), _bounds(one), _bounds(other)
    return Estimate(value) if a is None or b is None else Estimate(value, max(a[0], b[0]), max(a[2], b[2]))


def overlap(first: Estimate, second: Estimate) -> bool | None:
    """Whether two intervals have a value in common; None where either has no ends."""
    a, b = _bounds(first), _bounds(second)
    return None if a is None or b is None else a[0] <= b[2] and b[0] <= a[2]


def ratio(first: Estimate, second: Estimate) -> Estimate | None:
    """`first` over `second`, two independent estimates (Donner and Zou 2012); a pure number where the units are equal.

    None if the divisor may be 0: its interval contains 0, or it has no interval and is 0.
    """
    b = _bounds(second)
    if (b is None and second.value == 0) or (b is not None and b[0] <= 0 <= b[2]):
        return None
    value = first.value / second.value
    a = _bounds(first)
    if a is None or b is None:
        return Estimate(value)
    if b[1] < 0:
        a, b = _opposite(a), _opposite(b)
    unit_a, unit_b = max(map(abs, a)) or 1.0, b[2]  # so that no square of the ends is too small for a float
    a, b = (a[0] / unit_a, a[1] / unit_a, a[2] / unit_a), (b[0] / unit_b, b[1] / unit_b, b[2] / unit_b)
    low, high = _low_ratio(a, b), -_low_ratio(_opposite(a), b)
    return Estimate(value, low * (unit_a / unit_b), high * (unit_a / unit_b))


def _bounds(interval: Estimate) -> Bounds | None:
    if interval.low is None or interval.high is None:
        return None
    return interval.low, interval.value, interval.high


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


@dataclass(frozen=True, slots=True)
class Rank:
    """The ranks, counted from 1, that an estimate may have: from `first` to `last`; equal if there is only one."""

    first: int
    last: int


def ranks(intervals: Sequence[Estimate | None]) -> list[Rank]:
    """The rank of each estimate in one unit, the least value first, in the order given; None for no estimate.

    One is before another only if their 95 % intervals do not overlap; one without an interval may have any rank.
    The 95 % intervals of two equal estimates with normal errors of the same size part in 0.6 % of pairs, not in 5 %
    (Schenker and Gentleman 2001, The American Statistician 55(3)). That makes up for the number of pairs:
    `tests/evidence/coverage.py` measures how often any two of 22 equal cases part.
    """
    return [
        Rank(
            1 + sum(is_below(other, one) for other in intervals),
            len(intervals) - sum(is_below(one, other) for other in intervals),
        )
        for one in intervals
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
"""The logarithms of true ratios that are thought of, in steps of 2 %."""

MEDIANS = np.linspace(np.log(0.1), np.log(10), 116)
WIDTHS = np.linspace(0.02, 2.0, 67)
"""Medians of logarithms, and standard deviations: programs that all take 60 times the prediction are beyond it."""

LEAST = 1e-300


class MeasuredRatio(NamedTuple):
    """A ratio, which may be negative, and its standard error, above 0."""

    value: float
    error: float


def next_ratio(ratios: Sequence[MeasuredRatio], share: float) -> Estimate:
    """The median of the next true ratio, with ends between which it is with a probability of `share`.

    `share`: above 0 and below 1. Of no ratios it is as wide as the grid.
    """
    values, errors = np.array(ratios, dtype=float).reshape(-1, 2, 1).swapaxes(0, 1)
    # What is beyond the grid is at its end, and nothing is known to less than half a step.
    values = np.minimum(values, np.exp(LOGARITHMS[-1]))
    errors = np.maximum(errors, np.abs(values) * (LOGARITHMS[1] - LOGARITHMS[0]) / 2)
    likelihoods = np.exp(-(((values - np.exp(LOGARITHMS)) / errors) ** 2) / 2)
    each = np.log(np.maximum(likelihoods @ _DENSITIES.T, LEAST)).sum(axis=0)
    weights = np.exp(each - each.max())
    density = weights @ _DENSITIES / weights.sum()
    low, median, high = np.interp([(1 - share) / 2, 0.5, (1 + share) / 2], np.cumsum(density) - density / 2, LOGARITHMS)
    return Estimate(*np.exp([median, low, high]).tolist())


def _densities() -> np.ndarray:
    """A row for each median and width: how likely each of the logarithms is."""
    medians, widths = (one.reshape(-1, 1) for one in map(np.ravel, np.meshgrid(MEDIANS, WIDTHS)))
    made = np.exp(-(((LOGARITHMS - medians) / widths) ** 2) / 2)
    whole: np.ndarray = made / made.sum(axis=1, keepdims=True)
    return whole


_DENSITIES = _densities()
