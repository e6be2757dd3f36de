"""What a number is made of, block by block: each run over its operations, and where it stands in `samples.csv`.

The same values that `guidance.summary` and `guidance.instructions` estimate from, so that a reader can do it again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.guidance.instructions import per_operation
from probe_effect.guidance.rows import CaseKey, baselines, by_case, events_per_operation, per_operation_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from probe_effect.model import Sample

    OfRun = Callable[[Sample], float | None]
    Untraced = Mapping[tuple[str | None, int], Sequence[Sample]]

HEADER_LINES = 1


@dataclass(frozen=True, slots=True)
class Block:
    """One block of one case, tracer and level: ns or instructions of an operation, and of an event in `differences`.

    `traced` is None where that run did not end well; `problem` then says how it ended. `expected`, `seen` and `lost`
    are events of the run in which they were counted. `lines` are those of the file, its header being line 1.
    """

    number: int
    untraced: tuple[float, ...]
    traced: float | None
    differences: tuple[float, ...]
    expected: int | None
    seen: int | None
    lost: int | None
    lines: tuple[int, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """The blocks of a number, and the events that one operation makes, by which its differences are divided."""

    events: float
    blocks: tuple[Block, ...]


def timed(samples: Sequence[Sample]) -> dict[CaseKey, Made]:
    """What each cost of a submission of times is made of; a level of n threads makes the events of all at once."""
    levels = baselines(samples)
    untraced = _untraced(samples)
    lines = _lines(samples)
    found = {}
    for key, rows in by_case(samples).items():
        level = key.level if key.level in levels else None
        baseline = levels.get(level)
        events = events_per_operation(rows) / (baseline.threads if baseline else 1.0)
        found[key] = Made(events, _blocks(rows, level, untraced, lines, (per_operation_ns, events)))
    return found


def counted(samples: Sequence[Sample]) -> dict[CaseKey, Made]:
    """What each count of a submission of instructions is made of."""
    untraced, lines = _untraced(samples), _lines(samples)
    found = {}
    for key, rows in by_case(samples).items():
        events = events_per_operation(rows)
        found[key] = Made(events, _blocks(rows, key.level, untraced, lines, (per_operation, events)))
    return found


def _untraced(samples: Iterable[Sample]) -> dict[tuple[str | None, int], list[Sample]]:
    found: dict[tuple[str | None, int], list[Sample]] = defaultdict(list)
    for row in samples:
        if row.arm == "baseline":
            found[row.level, row.block].append(row)
    return found


def _lines(samples: Iterable[Sample]) -> dict[tuple[int, int], int]:
    """Block and position to the line; a cell holds no line end, so each row has one."""
    return {(row.block, row.position): line for line, row in enumerate(samples, start=HEADER_LINES + 1)}


def _blocks(
    rows: Iterable[Sample],
    level: str | None,
    untraced: Untraced,
    lines: Mapping[tuple[int, int], int],
    measure: tuple[OfRun, float],
) -> tuple[Block, ...]:
    blocks: dict[int, list[Sample]] = defaultdict(list)
    for row in rows:
        blocks[row.block].append(row)
    return tuple(
        _block(number, blocks[number], untraced.get((level, number), ()), lines, measure) for number in sorted(blocks)
    )


def _block(
    number: int,
    rows: Sequence[Sample],
    untraced: Sequence[Sample],
    lines: Mapping[tuple[int, int], int],
    measure: tuple[OfRun, float],
) -> Block:
    of_run, events = measure
    bases = tuple(value for row in untraced if (value := of_run(row)) is not None)
    traced = next((value for row in rows if row.arm == "traced" and (value := of_run(row)) is not None), None)
    counted_in = next((row for row in rows if row.seen is not None), None)
    bad = next((row for row in rows if row.status != "ok"), None)
    return Block(
        number=number,
        untraced=bases,
        traced=traced,
        differences=() if traced is None else tuple((traced - base) / events for base in bases),
        expected=counted_in.events if counted_in else None,
        seen=counted_in.seen if counted_in else None,
        lost=(counted_in.lost or 0) if counted_in else None,
        lines=tuple(sorted(lines[row.block, row.position] for row in (*untraced, *rows))),
        problem=f"{bad.status}: {bad.note}" if bad else None,
    )
