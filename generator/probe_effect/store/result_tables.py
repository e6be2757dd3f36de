"""The tables of a submission: `samples.csv`, and beside it `histogram.csv`, `calibration.csv` and `paths.csv`.

A row of `samples.csv` is a timed run, in the order run, each on disk before the next. A row of `histogram.csv` is a
bucket of one run; buckets without an operation have no row, and the last one ends with the longest time, so that the
maximum is exact. A row of `calibration.csv` is a probe of a script, and the rows of one script are written at once.
`paths.csv` has what is executed for one event in an emulated machine: a tree of functions in the order in which they
were entered first, each below its caller.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, NamedTuple, Self, get_args

from probe_effect.model import NO_TRACER, Arm, Bucket, Estimate, Key, Problem, Sample, Status
from probe_effect.store.tables import (
    FORMULA_SIGNS,
    MAX_TEXT_LENGTH,
    Row,
    TableReader,
    TableWriter,
    printable,
    read_columns,
)

SAMPLE_COLUMNS = read_columns("samples", arm=get_args(Arm), status=get_args(Status))

TIMES = tuple(column.name for column in SAMPLE_COLUMNS if column.name.endswith("_ns"))


def read_samples(path: Path, file: str) -> tuple[list[Sample], list[Problem]]:
    """The sound rows of a `samples.csv`, and every problem found in it; `file` is the name that problems give."""
    reader = TableReader(file, "samples", SAMPLE_COLUMNS)
    samples: list[Sample] = []
    taken: dict[tuple[int, int], int] = {}
    for row in reader.read(path):
        if reader.is_full(row.line):
            break
        sample = Sample(**row.cells)
        slot = (sample.block, sample.position)
        if slot in taken:
            message = f"block {slot[0]}, position {slot[1]} is already in line {taken[slot]}"
            reader.add(row.line, 1, "place", message, "give each run its own place")
            continue
        taken[slot] = row.line
        samples.append(sample)
        for message, hint in _sample_faults(sample):
            reader.add(row.line, None, "row", message, hint)
    return samples, reader.problems


def _sample_faults(sample: Sample) -> Iterator[tuple[str, str]]:
    measured = sample.wall_ns or sample.instructions or (sample.arm == "traced" and sample.tracer_cpu_ns)
    if sample.status == "ok" and not sample.events:
        yield "an `ok` run needs `events` above 0", "count the operations"
    if sample.status == "ok" and sample.arm != "check" and not measured:
        needed = "an `ok` run needs `wall_ns` or `instructions` above 0, or `tracer_cpu_ns` where that was measured"
        yield needed, "set status to failed when none is known"
    if sample.status != "ok" and not sample.note:
        yield f"`{sample.status}` without a note", "say why in `note`"
    if (sample.arm == "baseline") != (sample.tracer == NO_TRACER):
        what = f"arm `{sample.arm}` with tracer `{sample.tracer}`"
        yield what, f"a baseline has tracer `{NO_TRACER}`, and nothing else has"


OWN_FOLDER = re.compile(r"""(?<![\w./~-])/(?!(?:sys|proc|dev|usr|lib\w*|s?bin|etc|boot)/)(?:[^\s/'"`:,;()\[\]]+/)+""")
"""The folders of an absolute path, but for those that every system has. Others can hold user names."""


def as_note(text: str) -> str:
    """A tracer's own words fit for the `note` column: one line, printable, never a formula, never empty.

    Files are named without their folders, except for the system's own.
    """
    line = printable(" ".join(OWN_FOLDER.sub("", text).split()), MAX_TEXT_LENGTH - 1)
    return line.lstrip(f"{FORMULA_SIGNS} ") or "no reason given"


HISTOGRAM = "histogram.csv"

PART_BITS = 4
"""A power of two has 2 to the power of this many buckets: a bucket is no wider than a 16th of its times."""

HISTOGRAM_COLUMNS = read_columns("histogram")


class HistogramRow(NamedTuple):
    """One row; the columns are described in `HISTOGRAM_COLUMNS`."""

    block: int
    position: int
    low_ns: int
    high_ns: int
    operations: int

    @property
    def place(self) -> tuple[int, int]:
        return self.block, self.position


def bucket_around(time_ns: int) -> tuple[int, int]:
    """Least and greatest time of the bucket that a time is counted in, ns."""
    width_ns: int = 1 << max(time_ns.bit_length() - 1 - PART_BITS, 0)
    low_ns = time_ns // width_ns * width_ns
    return low_ns, low_ns + width_ns - 1


def read_histogram(path: Path, file: str) -> tuple[list[HistogramRow], list[Problem]]:
    reader = TableReader(file, "histogram", HISTOGRAM_COLUMNS, may_be_absent=True)
    return [HistogramRow(**row.cells) for row in reader.read(path)], reader.problems


def with_histograms(samples: Iterable[Sample], rows: Iterable[HistogramRow]) -> list[Sample]:
    buckets: dict[tuple[int, int], list[Bucket]] = defaultdict(list)
    for row in rows:
        buckets[row.place].append(Bucket(row.low_ns, row.high_ns, row.operations))
    return [
        replace(sample, histogram=tuple(buckets[slot]))
        if (slot := (sample.block, sample.position)) in buckets
        else sample
        for sample in samples
    ]


class RunWriter(TableWriter):
    """Appends runs to a `samples.csv`, and what they say of single operations to the `histogram.csv` beside it.

    The row of a run is written last: a run without one is made again, and what `histogram.csv` has of it already is
    cut off when both are opened.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, SAMPLE_COLUMNS)
        self._beside = path.with_name(HISTOGRAM)

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            if self._beside.exists():
                # Keep what is of runs that have their row; both headers begin alike.
                done = {_place(line) for line in self._path.read_bytes().splitlines()}
                with TableWriter(self._beside, HISTOGRAM_COLUMNS) as table:
                    lines = self._beside.read_bytes().splitlines(keepends=True)
                    table.cut(sum(map(len, takewhile(lambda line: _place(line) in done, lines))))
        except BaseException:
            self.__exit__()
            raise
        return self

    def write(self, sample: Sample) -> None:
        """Append one run. Raises: HostNotReady when the disk is full or gone."""
        if sample.histogram:
            with TableWriter(self._beside, HISTOGRAM_COLUMNS) as table:
                table.put((sample.block, sample.position, *bucket) for bucket in sample.histogram)
        self.put([[getattr(sample, column.name) for column in SAMPLE_COLUMNS]])

    def drop_from(self, block: int) -> None:
        """Drop the rows of a block, which is the last one. Raises: HostNotReady."""
        header, *rows = self._path.read_bytes().splitlines(keepends=True)
        self.cut(len(header) + sum(len(row) for row in rows if int(row.split(b",", 1)[0]) < block))


def _place(line: bytes) -> tuple[bytes, ...]:
    return tuple(line.split(b",", 2)[:2])


CALIBRATION_COLUMNS = read_columns("calibration")


class ProbeCalibration(NamedTuple):
    """One row: a probe of a script, in ns; the columns are described in `CALIBRATION_COLUMNS`."""

    case: str
    tracer: str
    level: str | None
    probe: str | None = None
    mechanism: str | None = None
    cost: Estimate | None = None
    call: Estimate | None = None
    note: str | None = None

    @property
    def key(self) -> Key:
        return Key(self.case, self.tracer, self.level)

    @property
    def cells(self) -> tuple[object, ...]:
        figures = (None if end is None else f"{end:.1f}" for end in chain(self.cost or NONE, self.call or NONE))
        return *self[:5], *figures, self.note


NONE = (None, None, None)
WORDS = ("case", "tracer", "level", "probe", "mechanism", "note")


def read_calibration(path: Path, file: str) -> tuple[list[ProbeCalibration], list[Problem]]:
    reader = TableReader(file, "calibration", CALIBRATION_COLUMNS, may_be_absent=True)
    calibrations = []
    for row in reader.read(path):
        cells = row.cells
        figures = {
            name: [None if (cell := cells[f"{name}_{end}ns"]) is None else float(cell) for end in ("", "low_", "high_")]
            for name in ("cost", "call")
        }
        if fault := _calibration_fault(cells, figures):
            reader.add(row.line, None, "row", *fault)
            continue
        fields: dict[str, Any] = {name: cells[name] for name in WORDS}
        fields |= {name: Estimate(value, *ends) for name, (value, *ends) in figures.items() if value is not None}
        calibrations.append(ProbeCalibration(**fields))
    return calibrations, reader.problems


def _calibration_fault(
    cells: Mapping[str, Any], figures: Mapping[str, Sequence[float | None]]
) -> tuple[str, str] | None:
    """What the cells of a row say that cannot be, and how to mend it."""
    for name, (value, low, high) in figures.items():
        if (low is None) != (high is None) or (value is None and low is not None):
            return f"`{name}_ns` has one part of an interval", "give value, low and high, or leave all empty"
        if value is not None and low is not None and high is not None and not low <= value <= high:
            return f"`{name}_ns` {value:g} is not between {low:g} and {high:g}", "leave the file as the tool wrote it"
    if cells["cost_ns"] is None and cells["note"] is None:
        return "neither a cost nor a note", "say in `note` why there is no cost"
    return None


PATH_COLUMNS = read_columns("paths")

USER = "(user space)"
"""The row at the top of each event: the program, which calls the kernel and is interrupted by it."""

Stack = tuple[str, ...]
"""Functions from the program to the one that executes."""


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
        return Classes(*(count + two for count, two in zip(self, other, strict=True)))

    def less(self, other: "Classes") -> "Classes":
        return Classes(*(count - two for count, two in zip(self, other, strict=True)))


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
        return summed(self.stacks.values())


def summed(parts: Iterable[Classes]) -> Classes:
    return Classes(*map(sum, zip(Classes(), *parts, strict=True)))


def added(traced: EventPath, untraced: EventPath) -> dict[Stack, Classes]:
    """What an event executes more where it is traced, by stack; those where nothing differs are left out."""
    stacks = dict.fromkeys([*traced.stacks, *untraced.stacks])
    nothing = Classes()
    more = {
        call_stack: traced.stacks.get(call_stack, nothing).less(untraced.stacks.get(call_stack, nothing))
        for call_stack in stacks
    }
    return {stack: classes for stack, classes in more.items() if any(classes)}


def read_paths(path: Path, file: str) -> tuple[list[EventPath], list[Problem]]:
    reader = TableReader(file, "paths", PATH_COLUMNS, may_be_absent=True)
    groups: dict[Key, list[Row]] = {}
    for row in reader.read(path):
        groups.setdefault(Key(*(row.cells[name] for name in Key._fields)), []).append(row)
    for rows in groups.values() if not reader.problems else ():
        for line, fault, message, hint in _tree_faults(rows):
            reader.add(line, None, fault, message, hint)
    return [] if reader.problems else [_event(key, rows) for key, rows in groups.items()], reader.problems


MOST_DEPTH = 200
"""The calls in one another; a kernel's stack has room for no more."""


def _tree_faults(rows: Sequence[Row]) -> Iterator[tuple[int, str, str, str]]:
    """What keeps rows from being a tree, if anything: its top is the program, and callers are above what they call."""
    before = -1
    for row in rows:
        depth = row.cells["depth"]
        if depth > MOST_DEPTH:
            yield row.line, "tree", f"deeper than {MOST_DEPTH} calls", "record the run again with --paths"
            return
        if depth > before + 1 or (depth == 0) != (before == -1):
            what = f"found depth {depth}, expected {f'from 1 to {before + 1}' if before >= 0 else '0'}"
            yield row.line, "tree", what, "a row's callers are above it; record the run again with --paths"
            return
        if depth == 0 and None in (row.cells[name] for name in ("alike", "recorded", "counted")):
            hint = "the first row of an event says of how many it is, and what the run counted"
            yield row.line, "event", "alike, recorded or counted is empty", hint
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
    beside = [entry.rsplit(" ", 1) for entry in (first["beside"] or "").split(";") if " " in entry]
    numbers = {name: float(number) for name, number in beside}
    return EventPath(key, stacks, first["alike"], first["recorded"], float(first["counted"]), numbers)


def add_paths(path: Path, events: Sequence[EventPath]) -> None:
    """Write the events that the file does not have yet. Raises: HostNotReady when it cannot be written."""
    done = {event.key for event in read_paths(path, str(path))[0]}
    new = [row for event in events if event.key not in done for row in _cells(event)]
    if new:
        with TableWriter(path, PATH_COLUMNS) as table:
            table.put(new)


def _cells(event: EventPath) -> Iterator[tuple[object, ...]]:
    """Its rows, as a tree: by when each caller was entered first."""
    first: dict[Stack, int] = {}
    for index, stack in enumerate(event.stacks):
        for depth in range(1, len(stack) + 1):
            first.setdefault(stack[:depth], index)

    def in_order(stack: Stack) -> list[tuple[int, int]]:
        return [(first[stack[:depth]], depth) for depth in range(1, len(stack) + 1)]

    beside = ";".join(f"{name} {number}" for name, number in event.beside.items())
    whole: tuple[object, ...] = event.alike, event.recorded, event.counted, beside
    for stack in sorted(event.stacks, key=in_order):
        yield *event.key, len(stack) - 1, stack[-1], *event.stacks[stack], *whole
        whole = None, None, None, None
