"""The rows of a submission in the blocks that a number is made of, and the tails of its histograms.

Every estimate is made from these blocks, and pages print them, so that a reader can do it again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from probe_effect.model import Bucket, Estimate, Key, Metric, Sample, level_order
from probe_effect.numbers.counted import percentile_ns, pooled
from probe_effect.numbers.estimates import Floats, estimate
from probe_effect.numbers.trends import within_blocks
from probe_effect.units import NS_PER_SECOND


@dataclass(frozen=True, slots=True)
class Baseline:
    """The untraced runs of a submission at one level: ns or instructions per operation, by block, in the order run."""

    by_block: Mapping[int, list[float]]
    threads: float = 1.0
    """How many threads perform the operations at once: the events of all over the operations of one."""

    @property
    def all(self) -> list[float]:
        return [value for values in self.by_block.values() for value in values]

    def drift_within(self) -> Estimate | None:
        """How much slower the machine became from the first baseline of a block to its second."""
        return within_blocks(*self.pairs())

    def pairs(self) -> tuple[Floats, Floats]:
        """The first and the second run of each block that has both."""
        pairs = [values[:2] for values in self.by_block.values() if len(values) > 1]
        first, second = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return first, second


NO_RUNS = Baseline({})


def baselines(samples: Iterable[Sample], metric: Metric = "time") -> dict[str | None, Baseline]:
    """Level, None where the suite has no factor, to its untraced runs; in the order of levels."""
    levels: dict[str | None, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm == "baseline":
            levels[sample.level].append(sample)
    made = {}
    for level in sorted(levels, key=level_order):
        by_block: dict[int, list[float]] = defaultdict(list)
        for row in levels[level]:
            if (value := per_operation(row, metric)) is not None:
                by_block[row.block].append(value)
        made[level] = Baseline(dict(by_block), events_per_operation(levels[level]))
    return made


def by_case(samples: Iterable[Sample]) -> dict[Key, list[Sample]]:
    """Traced and check rows by what they measure, in the order of case ids."""
    groups: dict[Key, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm != "baseline":
            groups[Key(sample.case, sample.tracer, sample.level)].append(sample)
    return dict(sorted(groups.items(), key=lambda item: item[0].order))


def per_operation(sample: Sample, metric: Metric = "time") -> float | None:
    """ns or instructions per operation of one run, as runs may be of different lengths; None unless it ended well."""
    operations = sample.operations or sample.events
    measured = sample.wall_ns if metric == "time" else sample.instructions
    return measured / operations if sample.status == "ok" and operations and measured else None


def tracer_cpu_ns(sample: Sample) -> float | None:
    """CPU time, ns, of the tracer for an operation, of a run that measured this and no workload; else None."""
    operations = sample.operations or sample.events
    is_of_tracer = sample.arm == "traced" and sample.wall_ns is None and sample.instructions is None
    if sample.status != "ok" or not is_of_tracer or sample.tracer_cpu_ns is None or not operations:
        return None
    return sample.tracer_cpu_ns / operations


def events_per_operation(rows: Iterable[Sample]) -> float:
    """How many events one operation makes for the probe of a case: 2 for a probe on every system call of dd."""
    counted = [(row.events, row.operations) for row in rows if row.events and row.operations]
    return sum(events for events, _ in counted) / sum(operations for _, operations in counted) if counted else 1.0


def highest_rate_hz(rows: Iterable[Sample]) -> float | None:
    """Events per second in the median timed run; None without any that ended well."""
    rates = [
        row.events / row.wall_ns * NS_PER_SECOND
        for row in rows
        if row.arm == "traced" and row.events and per_operation(row) and row.wall_ns
    ]
    return float(np.median(rates)) if rates else None


def event_bytes(rows: Iterable[Sample]) -> float | None:
    """Bytes that the tool wrote for each event that it saw, in the median run; None where it writes or sees nothing."""
    sizes = [row.output_bytes / row.seen for row in rows if row.output_bytes and row.seen]
    return float(np.median(sizes)) if sizes else None


def bad_runs(rows: Sequence[Sample]) -> str | None:
    """How many runs did not end well, and why the first did not; None where all did."""
    bad = [row for row in rows if row.status != "ok"]
    return f"{len(bad)} of {len(rows)} runs did not end well: {bad[0].note}" if bad else None


def over_runs(values: Iterable[float | None]) -> Estimate | None:
    """What runs, or blocks, say together; None when none says it."""
    answers = [value for value in values if value is not None]
    return estimate(np.array(answers, dtype=np.float64)) if answers else None


def middle(values: Iterable[int | None]) -> int | None:
    """The median of what the runs say, the lower one of two; None when none says it."""
    answers = sorted(value for value in values if value is not None)
    return answers[(len(answers) - 1) // 2] if answers else None


RECONCILE_TOLERANCE = 0.001
"""Events seen and lost must add up to those made within 0.1 %: more is another process, fewer is silent loss."""

ADD_UP = "its events do not add up"
"""The fault of a number whose events do not."""


def adds_up(row: Sample) -> bool | None:
    """Whether the events of a run add up; None where they were not counted, or none were made."""
    if row.seen is None or not row.events:
        return None
    return abs(row.seen + (row.lost or 0) - row.events) <= RECONCILE_TOLERANCE * row.events


def reconcile_events(rows: Sequence[Sample]) -> tuple[bool | None, float | None]:
    """Whether the events of every counted run of a case add up, and the share of all events that was lost.

    A run is counted where the tracer said how many events it saw. Both are None where no run was counted.
    """
    counted = [row for row in rows if adds_up(row) is not None]
    if not counted:
        return None, None
    lost, made = sum(row.lost or 0 for row in counted), sum(row.events or 0 for row in counted)
    return all(adds_up(row) for row in counted), lost / made


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
        return self.buckets[-1].high_ns

    @property
    def operations(self) -> int:
        return sum(bucket.operations for bucket in self.buckets)


def tails(samples: Iterable[Sample]) -> dict[Key, Tail]:
    """The tail of everything whose operations were timed one by one; the baselines of a block count as one run."""
    runs: dict[Key, dict[int, list[Buckets]]] = defaultdict(lambda: defaultdict(list))
    for row in samples:
        if row.histogram and row.status == "ok":
            runs[Key(row.case, row.tracer, row.level)][row.block].append(row.histogram)
    made = {}
    for key, blocks in runs.items():
        of_blocks = [pooled(of_block) for of_block in blocks.values()]
        percentiles_ns = tuple(over_runs(percentile_ns(buckets, share) for buckets in of_blocks) for share in SHARES)
        made[key] = Tail(percentiles_ns, pooled(of_blocks))
    return made


class Block(NamedTuple):
    """One block of one case, tracer and level: ns or instructions of an operation.

    `traced` is None where that run did not end well; `problem` then says how it ended. `expected`, `seen` and `lost`
    are events of the run in which they were counted. `lines` are those of the file, its header being line 1. `own`: CPU
    time, ns, of the tracer itself for an operation, where that is what was measured.
    """

    number: int
    untraced: tuple[float, ...]
    traced: float | None
    expected: int | None
    seen: int | None
    lost: int | None
    lines: tuple[int, ...]
    problem: str | None = None
    own: float | None = None


class BlockTable(NamedTuple):
    """The blocks of a number, and the events that one operation makes in one thread: differences are divided by it."""

    events: float
    blocks: tuple[Block, ...]

    def differences(self, block: Block) -> tuple[float, ...]:
        """Traced less untraced, of an event: one for each untraced run of the block."""
        if block.traced is None:
            return ()
        return tuple((block.traced - untraced) / self.events for untraced in block.untraced)

    def usable(self) -> list[Block]:
        """Those with both a traced run and a baseline that ended well."""
        return [block for block in self.blocks if block.untraced and block.traced is not None]

    def traced(self) -> dict[int, float]:
        """Block to its traced run, of an event."""
        return {block.number: block.traced / self.events for block in self.blocks if block.traced is not None}

    def own(self) -> dict[int, float]:
        """Block to the CPU time of the tracer itself for an operation, ns; empty where something else was measured."""
        return {block.number: block.own for block in self.blocks if block.own is not None}


def block_tables(
    samples: Sequence[Sample], levels: Mapping[str | None, Baseline], metric: Metric
) -> dict[Key, BlockTable]:
    """The blocks of each number of a submission, by case, from all rows in the order of the file.

    A case at a level without baselines has those without a level.
    """
    untraced: dict[tuple[str | None, int], list[Sample]] = defaultdict(list)
    for row in samples:
        if row.arm == "baseline":
            untraced[row.level, row.block].append(row)
    # A cell holds no line end, so each row has one line, after that of the header.
    lines = {(row.block, row.position): line for line, row in enumerate(samples, start=2)}
    made = {}
    for key, rows in by_case(samples).items():
        level = key.level if key.level in levels else None
        events = events_per_operation(rows) / levels.get(level, NO_RUNS).threads
        of_block: dict[int, list[Sample]] = defaultdict(list)
        for row in rows:
            of_block[row.block].append(row)
        made[key] = BlockTable(
            events,
            tuple(
                _block(number, of_block[number], untraced.get((level, number), ()), lines, metric)
                for number in sorted(of_block)
            ),
        )
    return made


def _block(
    number: int,
    rows: Sequence[Sample],
    untraced: Iterable[Sample],
    lines: Mapping[tuple[int, int], int],
    metric: Metric,
) -> Block:
    own = (value for row in rows if (value := tracer_cpu_ns(row)) is not None)
    traced = (value for row in rows if row.arm == "traced" and (value := per_operation(row, metric)) is not None)
    counted = next((row for row in rows if row.seen is not None), None)
    bad = next((row for row in rows if row.status != "ok"), None)
    return Block(
        number=number,
        untraced=tuple(value for row in untraced if (value := per_operation(row, metric)) is not None),
        traced=next(traced, None),
        expected=counted.events if counted else None,
        seen=counted.seen if counted else None,
        lost=(counted.lost or 0) if counted else None,
        lines=tuple(sorted(lines[row.block, row.position] for row in (*untraced, *rows))),
        problem=f"{bad.status}: {bad.note}" if bad else None,
        own=next(own, None),
    )
