"""Whether the machine changed during a run: what its baselines say about the assumption that blocks are alike."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from probe_effect.stats.correlation import discordance_distribution
from probe_effect.stats.signed_rank import CONFIDENCE, Floats, estimate


@dataclass(frozen=True, slots=True)
class Trend:
    """How much slower something became, as a share of its median, with its 95 % interval: 0.04 is 4 % slower.

    The ends are None if there are too few blocks for an interval.
    """

    ratio: float
    low_ratio: float | None
    high_ratio: float | None

    @property
    def significant(self) -> bool:
        """Whether the interval excludes 0: in at most 5 % of runs without drift, if their blocks are independent."""
        return (self.low_ratio or 0) > 0 or (self.high_ratio or 0) < 0


def trend(values_by_block: Floats) -> Trend | None:
    """How much slower the machine became from the first block to the last; None below two blocks.

    It is the Theil-Sen slope (the median of the slopes between all pairs of blocks) times the length of the run, over
    the median. Its interval is the exact one of Kendall's statistic and needs 5 blocks.
    Sources: Sen 1968, Journal of the American Statistical Association 63(324); Hollander, Wolfe and Chicken 2014,
    sections 9.2 and 9.3.
    A trend does not harm the costs, whose blocks each have their own baselines; it says why a run cannot be repeated.

    Args:
        values_by_block: (n,) float64 above 0, any unit: the mean of each block's baselines in the order run.
    """
    n = len(values_by_block)
    if n < 2:
        return None
    before, after = np.triu_indices(n, k=1)
    slopes = np.sort((values_by_block[after] - values_by_block[before]) / (after - before))
    whole = slopes * (n - 1) / np.median(values_by_block)
    rank = _critical_rank(n)
    ends = (float(whole[rank - 1]), float(whole[-rank])) if rank else (None, None)
    return Trend(float(np.median(whole)), *ends)


@cache
def _critical_rank(n: int) -> int:
    """How many slopes to drop at each end, plus one; 0 when no interval reaches the confidence."""
    tail = np.cumsum(discordance_distribution(n))
    return int(np.searchsorted(tail, (1 - CONFIDENCE) / 2, side="right"))


def within_blocks(first: Floats, second: Floats) -> Trend | None:
    """How much slower the machine became from the first baseline of a block to its second; None without a block.

    It is the Hodges-Lehmann estimate of the differences, over the median of all; its interval needs 6 blocks.
    Such drift widens the intervals of costs. If it is not a straight line it may shift them too, because baselines
    are then at other places of the curve, on average, than traced runs.

    Args:
        first, second: (n,) float64 above 0, any unit: the earlier and the later baseline of each block.
    """
    if len(first) == 0:
        return None
    middle = float(np.median(np.concatenate([first, second])))
    return Trend(*estimate(second - first).mapped(lambda value: value / middle))
