"""The cost from traced runs and the baselines of their blocks, each baseline compared separately.

If disturbance only ever adds time, noise is skewed. One run minus the mean of two is then skewed too, and the centre
of the signed-rank interval is not the cost: the more blocks, the less it covers. One run minus one run is symmetric,
if both have the same noise (Hollander, Wolfe and Chicken 2014, section 3.1). It is also symmetric if tracing changes
the size of a symmetric noise. So the signed-rank method takes each baseline separately, and its results are averaged,
which keeps the precision that further baselines give.
The averaged interval is wider than it must be; `benchmarks/coverage.py` measures what both methods cover.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np

from probe_effect.errors import TooFewBlocks
from probe_effect.model import Estimate
from probe_effect.stats.signed_rank import Floats, estimate


def ragged(lists: Iterable[Sequence[float]]) -> Floats:
    """An array, (n, m) float64, of n lists of at most m values; nan where a list has fewer."""
    return np.array(list(zip_longest(*lists, fillvalue=np.nan)), dtype=np.float64).T


def paired_estimate(differences: Floats) -> Estimate:
    """The mean of the signed-rank estimates against each baseline, and the mean of the ends of their intervals.

    The value is inside the interval, and a shift or another unit of the differences moves both alike. If some
    baselines have too few blocks for an interval, the others make the result; if all have, it has no interval.

    Args:
        differences: (n, m) float64, any unit: one row per block, one column per baseline of a block in the order run,
            nan where a block has fewer.
    Raises: TooFewBlocks when there are no differences.
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
