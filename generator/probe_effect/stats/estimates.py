"""Estimates of which only value and interval are known: sums, ratios and ranks.

The method of variance estimates recovery (MOVER) takes the distance from a value to either end of its interval as the
error on that side. So an interval that leans to one side leans in the result too.
Sources: Zou and Donner (2008), Statistics in Medicine 27(10), for differences; Donner and Zou (2012), Statistical
Methods in Medical Research 21(4), and Newcombe (2016), the same journal 25(5), for ratios.
An estimate without both ends gives a result without ends: arithmetic does not make it certain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from probe_effect.model import Estimate

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
    `benchmarks/coverage.py` measures how often any two of 22 equal cases part.
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
