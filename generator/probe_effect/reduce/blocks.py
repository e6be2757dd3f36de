"""What a number is made of, block by block: each run over its operations, and its line in `samples.csv`.

Every estimate is made from these blocks, and pages print them, so that a reader can do it again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from probe_effect.model import Key, Metric, Sample
from probe_effect.reduce.rows import NO_RUNS, Baseline, by_case, events_per_operation, per_operation, tracer_cpu_ns


class Block(NamedTuple):
    """One block of one case, tracer and level: ns or instructions of an operation.

    `traced` is None where that run did not end well; `problem` then says how it ended. `expected`, `seen` and `lost`
    are events of the run in which they were counted. `lines` are those of the file, its header being line 1. `own`: CPU
    time, ns, that the tracer itself took for an operation, where that is what was measured.
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
        """Block to what the tracer itself took for an operation, ns; empty where something else was measured."""
        return {block.number: block.own for block in self.blocks if block.own is not None}


def block_tables(
    samples: Sequence[Sample], levels: Mapping[str | None, Baseline], metric: Metric
) -> dict[Key, BlockTable]:
    """What each number of a submission is made of, by case.

    The samples are all rows, in the order of the file, and the levels those of their baselines: a case at a level
    without any has those without a level.
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
