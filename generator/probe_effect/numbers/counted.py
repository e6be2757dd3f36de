"""From counts to values: rates over a time of which only parts were counted, and percentiles of times in buckets."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from statistics import NormalDist

import numpy as np

from probe_effect.model import Bucket

TAIL = 0.025
"""What each end of an interval of 95 % excludes."""

BUSIEST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the time, `length_s`, in which `events` were counted for `counted_s`.

    `slowed`: by what counting made the time longer, as a ratio. `cpu_ratio`: CPU time of who makes the events, without
    that of counting, over the time that `counted_s` would be without it; where it is known. `taken`: CPU time of
    counting over that, where it is another ratio than `slowed` says.
    """

    length_s: float
    counted_s: float
    events: int
    slowed: float = 1.0
    cpu_ratio: float = 0.0
    taken: float | None = None


@dataclass(frozen=True, slots=True)
class SampledRate:
    """Events per second over the whole time, the ends of its interval, and the mean of the busiest tenth of the time.

    `busiest_hz` is None for a single stratum. `cpu_scale`: what CPU time makes of rates by time, 1 where none is known.
    """

    hz: float
    low_hz: float
    high_hz: float
    busiest_hz: float | None
    cpu_scale: float = 1.0


def sampled_rate(
    strata: Sequence[Stratum], unsure_ratio: float = 0.0, waiting_ratio: float = 0.0, busy_ratio: float | None = None
) -> SampledRate:
    """The mean of the strata's rates, weighted by their lengths, with an interval of 95 %.

    Lengths are those that the strata would have without counting, which makes the time of a window longer. So events
    that were all counted are exact, whatever counting took; only the time that is left without it is not.

    The interval is that of a weighted sum of Poisson counts: Fay and Feuer, Confidence intervals for directly
    standardized rates, Statistics in Medicine 16 (1997), 791-801. As events come in bursts, the variance is the larger
    one of Poisson's and that of differences between neighbouring strata (Wolter, Introduction to Variance Estimation,
    2007, chapter 8). It widens as Student's does for few strata, and not for what was counted completely. The low end
    is not below the events that were seen.

    Args:
        strata: in the order of time, at least one.
        unsure_ratio: how far the cost of an event may be wrong, as a ratio; the interval allows for it.
        waiting_ratio: share of the time in which who makes the events waited for a CPU. Counting takes CPU time from
            others than them too, so that share may differ in what was counted, and the interval allows for it.
        busy_ratio: CPU time of who makes the events over the whole time. Where it is known, the rate is that for each
            second of CPU time, times this: the ratio estimator (Cochran, Sampling Techniques, 1977, chapter 6). What
            else ran on their CPU during the windows does not disturb it.
    """
    length_s, counted_s, events, slowed, cpu_ratio = np.array(
        [astuple(stratum)[:5] for stratum in strata], dtype=float
    ).T
    taken_ratio = np.array([stratum.slowed - 1 if stratum.taken is None else stratum.taken for stratum in strata])
    missed = 1 - np.minimum(1, counted_s / length_s)
    worked_s = counted_s / slowed
    taken_s = counted_s - worked_s
    share = shares(strata)
    rates = events / worked_s
    hz = float(share @ rates)
    seen_ratio = float(share @ cpu_ratio)
    scale, apart, base_s = 1.0, rates, np.ones(len(strata))
    if busy_ratio is not None and seen_ratio:
        scale, apart, base_s = busy_ratio / seen_ratio, rates - hz / seen_ratio * cpu_ratio, cpu_ratio
    weights = share / worked_s
    between = float(share**2 @ (missed * _local_variance(apart))) * _few(int((missed > 0).sum()))
    variance = max(float(weights**2 @ (events * missed)), between)
    low, high = _interval(hz, variance, float((weights * missed).max()))
    seen_hz = float(events.sum() / (length_s - taken_s).sum())
    slowed_hz = float((share * rates * missed) @ taken_ratio) + hz * float(
        taken_s @ base_s / ((length_s - taken_s) @ base_s)
    )
    unsure_hz = math.hypot(unsure_ratio * slowed_hz, waiting_ratio * float((share * rates) @ missed))
    return SampledRate(
        hz=scale * hz,
        low_hz=scale * max(min(hz, seen_hz * (1 - unsure_ratio)), hz - math.hypot(hz - low, unsure_hz)),
        high_hz=scale * (hz + math.hypot(high - hz, unsure_hz)),
        busiest_hz=_busiest(share, scale * rates),
        cpu_scale=scale,
    )


def shares(strata: Sequence[Stratum]) -> np.ndarray:
    """The share of the time of each stratum, if nobody counted: (n,) float64."""
    own_s = np.array([stratum.length_s - stratum.counted_s * (1 - 1 / stratum.slowed) for stratum in strata])
    return np.asarray(own_s / own_s.sum())


def _few(strata: int) -> float:
    """By what a variance from so many strata is multiplied: the squared ratio of Student's quantile to the normal one.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.5; 11 % too low for two strata, and
    within 1 % for more.
    """
    normal, freedom = NormalDist().inv_cdf(1 - TAIL), max(1, strata - 1)
    terms = (
        normal,
        (normal**3 + normal) / 4,
        (5 * normal**5 + 16 * normal**3 + 3 * normal) / 96,
        (3 * normal**7 + 19 * normal**5 + 17 * normal**3 - 15 * normal) / 384,
        (79 * normal**9 + 776 * normal**7 + 1482 * normal**5 - 1920 * normal**3 - 945 * normal) / 92160,
    )
    student = math.fsum(term / freedom**power for power, term in enumerate(terms))
    return (student / normal) ** 2


def _local_variance(rates: np.ndarray) -> np.ndarray:
    """The variance of each stratum's rate, from the differences to both neighbours."""
    if len(rates) < 2:
        return np.zeros(len(rates))
    squares = np.diff(rates) ** 2 / 2
    return (np.append(squares[:1], squares) + np.append(squares, squares[-1:])) / 2


def _interval(hz: float, variance: float, largest: float) -> tuple[float, float]:
    """Fay and Feuer's interval. `largest`: the weight of the event that counts most, which the upper end allows for."""
    low = gamma_quantile(hz**2 / variance, TAIL) * variance / hz if variance and hz else hz if not variance else 0.0
    if not variance + largest:
        return low, hz
    spread, above = variance + largest**2, hz + largest
    return low, max(hz, gamma_quantile(above**2 / spread, 1 - TAIL) * spread / above)


def gamma_quantile(shape: float, probability: float) -> float:
    """A quantile of the gamma distribution of scale 1, within some per cent for a shape above 0.5.

    Source: Wilson and Hilferty, The distribution of chi-square, PNAS 17 (1931), 684-688.
    """
    normal = NormalDist().inv_cdf(probability)
    return shape * max(0.0, 1 - 1 / (9 * shape) + normal / (3 * math.sqrt(shape))) ** 3


def _busiest(share: np.ndarray, rates: np.ndarray) -> float | None:
    if len(rates) < 2:
        return None
    order = np.argsort(rates)[::-1]
    taken = np.diff(np.minimum(np.cumsum(share[order]), BUSIEST_SHARE), prepend=0.0)
    return float(taken @ rates[order] / BUSIEST_SHARE)


FEWEST_BEYOND = 10
"""Operations that must have taken longer than a percentile: of fewer, chance decides."""


def percentile_ns(buckets: Sequence[Bucket], share: float) -> float | None:
    """The time, ns, that `share` (of 1) of the operations did not exceed; None if too few did (`FEWEST_BEYOND`).

    Inside a bucket, times are assumed to be spread evenly. The buckets do not overlap, and are in order.
    """
    total = sum(bucket.operations for bucket in buckets)
    wanted = share * total
    if total - wanted < FEWEST_BEYOND:
        return None
    seen = 0
    for low_ns, high_ns, number in buckets:
        if seen + number >= wanted:
            return low_ns + (high_ns - low_ns) * (wanted - seen) / number
        seen += number
    return None


def pooled(runs: Iterable[Iterable[Bucket]]) -> tuple[Bucket, ...]:
    """The buckets of several runs as one: those that begin at the same time are added up, in the order of times.

    The last bucket of a run ends with its longest time, so a pooled bucket has the greatest end.
    """
    made: dict[int, Bucket] = {}
    for low_ns, high_ns, operations in chain.from_iterable(runs):
        bucket = made.get(low_ns, Bucket(low_ns, 0, 0))
        made[low_ns] = Bucket(low_ns, max(bucket.high_ns, high_ns), bucket.operations + operations)
    return tuple(made[low_ns] for low_ns in sorted(made))


def at_least(buckets: Sequence[Bucket]) -> list[tuple[int, float]]:
    """(time in ns, share of the operations that took it or longer) where each bucket begins, and for the longest."""
    left = total = sum(time_bucket.operations for time_bucket in buckets)
    points = []
    for bucket in buckets:
        points.append((bucket.low_ns, left / total))
        left -= bucket.operations
    return [*points, (buckets[-1].high_ns, 1 / total)] if buckets else []
