"""From the histograms of runs to how long single operations take: percentiles with intervals, and the longest."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from probe_effect.model import Bucket, Estimate, Key, Sample
from probe_effect.reduce.rows import over_runs
from probe_effect.stats.tail import percentile_ns, pooled

Buckets = tuple[Bucket, ...]

SHARES = (0.5, 0.9, 0.99, 0.999)
"""Of the operations, those that take no longer than a percentile."""


class Tail(NamedTuple):
    """How long single operations took, ns: of a case with a tracer, or of the baselines of a level.

    `percentiles_ns` are those of `SHARES`, None where too few operations lie beyond one: the Hodges-Lehmann estimate
    over the blocks. `buckets` are those of all blocks together, and end with the longest of all.
    """

    percentiles_ns: tuple[Estimate | None, ...]
    buckets: Buckets

    @property
    def longest_ns(self) -> int:
        """What the longest operation took."""
        return self.buckets[-1].high_ns

    @property
    def operations(self) -> int:
        """The number of operations that were timed."""
        return sum(one.operations for one in self.buckets)


def tails(samples: Iterable[Sample]) -> dict[Key, Tail]:
    """The tail of everything whose operations were timed one by one; the baselines of a block count as one run."""
    runs: dict[Key, dict[int, list[Buckets]]] = defaultdict(lambda: defaultdict(list))
    for row in samples:
        if row.histogram and row.status == "ok":
            runs[Key(row.case, row.tracer, row.level)][row.block].append(row.histogram)
    return {key: _tail(blocks) for key, blocks in runs.items()}


def _tail(blocks: Mapping[int, Sequence[Buckets]]) -> Tail:
    of_blocks = [pooled(runs) for runs in blocks.values()]
    percentiles_ns = tuple(over_runs(percentile_ns(one, share) for one in of_blocks) for share in SHARES)
    return Tail(percentiles_ns, pooled(of_blocks))
