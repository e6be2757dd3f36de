"""`paths.csv`: what is executed for one event, by function, as an emulated machine recorded it.

It is beside `samples.csv` of a count. The rows of one event are a tree in the order in which its functions were
entered first: each row is a function, and its callers are the rows above it of lower depths.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from probe_effect.model import Key, Problem
from probe_effect.store.samples import TableWriter
from probe_effect.store.tables import Row, TableReader, read_columns

PATH_COLUMNS = read_columns("paths")

USER = "(user space)"
"""The row at the top of each event: the program, which calls the kernel and is interrupted by it."""

Stack = tuple[str, ...]
"""Functions from the program to the one that executes."""

BESIDE = ";"
"""What parts the functions beside a path."""


class Classes(NamedTuple):
    """Instructions of one stack, and how many of them are of a kind that a plain count hides.

    `repetitions`: of one string instruction, which is counted each time and which hardware retires once. `traps`:
    returns from exceptions, of which each was one. `indirect`: calls and jumps to an address in a register or in
    memory. `flags`: what saves, restores or masks interrupts, or exchanges the base of `gs`.
    """

    instructions: int = 0
    repetitions: int = 0
    traps: int = 0
    indirect: int = 0
    returns: int = 0
    atomics: int = 0
    flags: int = 0

    def plus(self, other: "Classes") -> "Classes":
        """The sum of each."""
        return Classes(*(one + two for one, two in zip(self, other, strict=True)))

    def less(self, other: "Classes") -> "Classes":
        """The difference of each."""
        return Classes(*(one - two for one, two in zip(self, other, strict=True)))


@dataclass(frozen=True)
class EventPath:
    """One event: what it executes in each stack.

    Attributes:
        stacks: in the order in which they were entered.
        alike: how many of the `recorded` events are this one, to the instruction.
        counted: instructions an operation of the whole run, of which the events were a part.
        beside: functions of which the run executes more an operation, or less, than the event: the interrupts and the
            events that are not alike, in instructions an operation.
    """

    key: Key
    stacks: Mapping[Stack, Classes]
    alike: int
    recorded: int
    counted: float
    beside: Mapping[str, float]

    @cached_property
    def total(self) -> Classes:
        """The whole event."""
        return summed(self.stacks.values())


def summed(parts: Iterable[Classes]) -> Classes:
    """The sum of some."""
    return Classes(*map(sum, zip(Classes(), *parts, strict=True)))


def added(traced: EventPath, untraced: EventPath) -> dict[Stack, Classes]:
    """What an event executes more where it is traced, by stack; those where nothing differs are left out."""
    stacks = dict.fromkeys([*traced.stacks, *untraced.stacks])
    nothing = Classes()
    more = {one: traced.stacks.get(one, nothing).less(untraced.stacks.get(one, nothing)) for one in stacks}
    return {stack: classes for stack, classes in more.items() if any(classes)}


def read_paths(path: Path, file: str) -> tuple[list[EventPath], list[Problem]]:
    """The events of a `paths.csv`, and every problem found in it; nothing where there is none."""
    reader = TableReader(file, "paths", PATH_COLUMNS, may_be_absent=True)
    groups: dict[Key, list[Row]] = {}
    for row in reader.read(path):
        groups.setdefault(Key(*(row.cells[name] for name in Key._fields)), []).append(row)
    if reader.problems:
        return [], reader.problems
    problems = [problem for rows in groups.values() for problem in _faults(rows, file)]
    return ([] if problems else [_event(key, rows) for key, rows in groups.items()]), problems


MOST_DEPTH = 200
"""The calls in one another; a kernel's stack has room for no more."""


def _faults(rows: Sequence[Row], file: str) -> Iterable[Problem]:
    """What keeps rows from being a tree, if anything: its top is the program, and callers are above what they call."""
    before = -1
    for row in rows:
        depth = row.cells["depth"]
        if depth > MOST_DEPTH:
            hint = "record the run again with --paths"
            yield Problem("error", file, row.line, None, "paths/tree", f"deeper than {MOST_DEPTH} calls", hint)
            return
        if depth > before + 1 or (depth == 0) != (before == -1):
            wanted = f"from 1 to {before + 1}" if before >= 0 else "0"
            hint = "a row's callers are above it; record the run again with --paths"
            yield Problem("error", file, row.line, None, "paths/tree", f"found depth {depth}, expected {wanted}", hint)
            return
        if depth == 0 and None in (row.cells[name] for name in ("alike", "recorded", "counted")):
            hint = "the first row of an event says of how many it is, and what the run counted"
            yield Problem("error", file, row.line, None, "paths/event", "alike, recorded or counted is empty", hint)
            return
        before = depth


def _event(key: Key, rows: Sequence[Row]) -> EventPath:
    stacks: dict[Stack, Classes] = {}
    stack: Stack = ()
    for row in rows:
        stack = (*stack[: row.cells["depth"]], row.cells["function"])
        classes = Classes(*(row.cells[name] for name in Classes._fields))
        stacks[stack] = stacks.get(stack, Classes()).plus(classes)
    first = rows[0].cells
    beside = [one.rsplit(" ", 1) for one in (first["beside"] or "").split(BESIDE) if " " in one]
    known = {name: float(number) for name, number in beside}
    return EventPath(key, stacks, first["alike"], first["recorded"], float(first["counted"]), known)


def add_paths(path: Path, events: Sequence[EventPath]) -> None:
    """Write the events that the file does not have yet. Raises: HostNotReady when it cannot be written."""
    done = {event.key for event in read_paths(path, str(path))[0]}
    new = [row for event in events if event.key not in done for row in _cells(event)]
    if new:
        with TableWriter(path, PATH_COLUMNS) as table:
            table.put(new)


def _cells(event: EventPath) -> Iterable[tuple[object, ...]]:
    beside = BESIDE.join(f"{name} {number}" for name, number in event.beside.items())
    whole: tuple[object, ...] = event.alike, event.recorded, event.counted, beside
    for stack in sorted(event.stacks, key=_in_order(event.stacks)):
        yield *event.key, len(stack) - 1, stack[-1], *event.stacks[stack], *whole
        whole = None, None, None, None


def _in_order(stacks: Iterable[Stack]) -> Callable[[Stack], list[tuple[int, int]]]:
    """By which stacks are a tree in the order of its functions: by when each caller was entered first."""
    first: dict[Stack, int] = {}
    for place, stack in enumerate(stacks):
        for depth in range(1, len(stack) + 1):
            first.setdefault(stack[:depth], place)
    return lambda stack: [(first[stack[:depth]], depth) for depth in range(1, len(stack) + 1)]
