"""Estimates that a few odd runs do not move, with exact intervals from the Wilcoxon signed-rank statistic.

Source of the Hodges-Lehmann estimate: Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, 3rd
edition, sections 3.2 and 3.3. Its interval assumes that the differences are independent and symmetric about one value;
it does not assume that they are normal.

If disturbance only ever adds time, noise is skewed. One run minus the mean of two is then skewed too, and the centre
of the signed-rank interval is not the cost: the more blocks, the less it covers. One run minus one run is symmetric,
if both have the same noise (Hollander, Wolfe and Chicken 2014, section 3.1). It is also symmetric if tracing changes
the size of a symmetric noise. So the signed-rank method takes each baseline separately, and its results are averaged,
which keeps the precision that further baselines give.
The averaged interval is wider than it must be; `benchmarks/coverage.py` measures what both methods cover.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from probe_effect.errors import TooFewBlocks
from probe_effect.model import Estimate

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
