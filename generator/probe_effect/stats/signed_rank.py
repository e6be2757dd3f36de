"""The Hodges-Lehmann estimate and its exact interval from the Wilcoxon signed-rank statistic.

Source: Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, 3rd edition, sections 3.2 and 3.3.
It assumes that the differences are independent and symmetric about one value; it does not assume that they are normal.
"""

from functools import cache

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
    """All (n * (n + 1) / 2,) means of two differences, each with itself too, in ascending order.

    Args:
        differences: (n,) float64, any unit.
    """
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

    The estimate is the median of the Walsh averages, in the unit of the differences.

    Args:
        differences: (n,) float64, one per block.
    Raises: TooFewBlocks when there are no differences.
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

    Args:
        differences: (n,) float64, ns per event: first baseline minus second, one per block.
    """
    if len(differences) == 0:
        return None
    _, low, high = estimate(differences)
    return None if low is None or high is None else max(abs(low), abs(high))
