"""Percentiles of times that were counted in buckets, and the share of them that are at least so long."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from probe_effect.model import Bucket

FEWEST_BEYOND = 10
"""Operations that must have taken longer than a percentile: with fewer it depends on the luck of a few."""


def percentile_ns(buckets: Sequence[Bucket], share: float) -> float | None:
    """The time, ns, that `share` of the operations did not exceed; None if too few exceeded it (`FEWEST_BEYOND`).

    It is in the same bucket as the true percentile: inside a bucket, times are assumed to be spread evenly.

    Args:
        buckets: not overlapping, in the order of their times.
        share: above 0 and below 1.
    """
    total = sum(one.operations for one in buckets)
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
    highs_ns: dict[int, int] = defaultdict(int)
    operations: dict[int, int] = defaultdict(int)
    for bucket in (one for run in runs for one in run):
        highs_ns[bucket.low_ns] = max(highs_ns[bucket.low_ns], bucket.high_ns)
        operations[bucket.low_ns] += bucket.operations
    return tuple(Bucket(low_ns, highs_ns[low_ns], operations[low_ns]) for low_ns in sorted(operations))


def at_least(buckets: Sequence[Bucket]) -> list[tuple[int, float]]:
    """(time in ns, share of the operations that took it or longer) where each bucket begins, and for the longest."""
    left = total = sum(one.operations for one in buckets)
    found = []
    for bucket in buckets:
        found.append((bucket.low_ns, left / total))
        left -= bucket.operations
    return [*found, (buckets[-1].high_ns, 1 / total)] if buckets else []
