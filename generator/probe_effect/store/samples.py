"""`samples.csv`: one row per timed run, in the order run (data format, version 1)."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

from probe_effect.errors import HostNotReady
from probe_effect.model import NO_TRACER, Arm, Problem, Sample, Status
from probe_effect.store.tables import FORMULA_SIGNS, MAX_TEXT_LENGTH, Column, TableReader, csv_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import FileIO
    from pathlib import Path
    from typing import Self

SLUG = "[a-z0-9]+(-[a-z0-9]+)*"

SAMPLE_COLUMNS = (
    Column("block", "integer", "The round in which the run was made, from 0.", required=True),
    Column("position", "integer", "The run's place in its block, from 0.", required=True),
    Column("case", "string", "Id of the case; the baseline's case is `baseline`.", required=True, pattern=SLUG),
    Column("tracer", "string", f"Id of the tracer, or `{NO_TRACER}`.", required=True, pattern=SLUG),
    Column(
        "arm",
        "string",
        "`baseline` (no tracer), `traced`, or `check`: a run made only to count events, its times unused.",
        required=True,
        choices=get_args(Arm),
    ),
    Column("level", "string", "The value of the suite's varied factor; empty where there is none.", pattern=SLUG),
    Column("events", "integer", "Events expected: operations performed, times the events that each makes."),
    Column("seen", "integer", "Events that the tracer reported."),
    Column("lost", "integer", "Events that the tracer said it dropped."),
    Column("wall_ns", "integer", "Monotonic time of the workload's loop, ns."),
    Column("user_ns", "integer", "CPU time of the workload in user mode, ns."),
    Column("sys_ns", "integer", "CPU time of the workload in the kernel, ns."),
    Column(
        "instructions",
        "integer",
        "Instructions that the whole emulated machine executed while the loop ran; empty where times are taken.",
    ),
    Column("tracer_cpu_ns", "integer", "CPU time of the tracer itself, user and kernel, from start to exit, ns."),
    Column("tracer_rss_bytes", "integer", "Largest resident memory of the tracer, bytes."),
    Column("output_bytes", "integer", "Bytes that the tracer wrote."),
    Column("attach_ns", "integer", "From starting the tracer until its probes were live, ns."),
    Column("detach_ns", "integer", "From asking the tracer to stop until it had exited, ns."),
    Column("status", "string", "How the run ended.", required=True, choices=get_args(Status)),
    Column("note", "string", "Why, when the status is not `ok`."),
    Column(
        "operations",
        "integer",
        "Operations that the workload performed; empty or absent: as many as events.",
        may_be_absent=True,
    ),
)


def read_samples(path: Path, file: str) -> tuple[list[Sample], list[Problem]]:
    """The sound rows of a `samples.csv`, and every problem found in it.

    Args:
        path: where to read.
        file: the name that problems give, usually relative to the data folder.
    """
    reader = TableReader(file, "samples", SAMPLE_COLUMNS)
    samples: list[Sample] = []
    taken: dict[tuple[int, int], int] = {}
    for row in reader.read(path):
        if reader.is_full(row.line):
            break
        cells: dict[str, Any] = dict(row.cells)
        sample = Sample(**cells)
        place = (sample.block, sample.position)
        if place in taken:
            message = f"block {place[0]}, position {place[1]} stands already in line {taken[place]}"
            reader.problems.append(
                Problem("error", file, row.line, 1, "samples/place", message, "give each run its own place")
            )
            continue
        taken[place] = row.line
        samples.append(sample)
        reader.problems.extend(_row_problems(sample, file, row.line))
    return samples, reader.problems


def _row_problems(sample: Sample, file: str, line: int) -> Iterable[Problem]:
    """What one row says that cannot be, across its columns."""
    rules = (
        (sample.status == "ok" and not sample.events, "an `ok` run needs `events` above 0", "count the operations"),
        (
            sample.status == "ok" and sample.arm != "check" and not sample.wall_ns and not sample.instructions,
            "an `ok` run needs `wall_ns` or `instructions` above 0",
            "set status to failed when neither is known",
        ),
        (sample.status != "ok" and not sample.note, f"`{sample.status}` without a note", "say why in `note`"),
        (
            (sample.arm == "baseline") != (sample.tracer == NO_TRACER),
            f"arm `{sample.arm}` with tracer `{sample.tracer}`",
            f"a baseline has tracer `{NO_TRACER}`, and nothing else has",
        ),
    )
    for broken, message, hint in rules:
        if broken:
            yield Problem("error", file, line, None, "samples/row", message, hint)


class SampleWriter:
    """Appends rows to a `samples.csv`; each is on disk, written and synced, before `write` returns.

    A run that is killed loses nothing that was measured: at most its last line is torn, and a torn line is cut off
    when the file is opened again. Use as a context manager, which raises HostNotReady when the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            raise self._refused(error) from error
        try:
            self._file.truncate(self._path.read_bytes().rfind(b"\n") + 1)  # a torn line
            if self._path.stat().st_size == 0:
                self._put(column.name for column in SAMPLE_COLUMNS)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, sample: Sample) -> None:
        """Append one row, whole or not at all. Raises: HostNotReady when the disk is full or gone."""
        self._put(getattr(sample, column.name) for column in SAMPLE_COLUMNS)

    def _put(self, cells: Iterable[object]) -> None:
        line = csv_line(cells).encode()
        before = self._path.stat().st_size
        try:
            _write_whole(self._file, line)
        except OSError as error:
            with suppress(OSError):  # a disk that is gone keeps what it has
                self._file.truncate(before)
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> HostNotReady:
        return HostNotReady(f"{self._path}: a row cannot be written: {error.strerror}")


def _write_whole(file: FileIO, line: bytes) -> None:
    """Write and sync. Raises: OSError; a full disk takes part of a line without a word."""
    if file.write(line) != len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(file.fileno())


OWN_FOLDER = re.compile(r"""(?<![\w./~-])/(?!(?:sys|proc|dev|usr|lib\w*|s?bin|etc|boot)/)(?:[^\s/'"`:,;()\[\]]+/)+""")
"""The folders of an absolute path, but for those that every system has. Others can hold user names."""


def as_note(text: str) -> str:
    """A tracer's own words fit for the `note` column: one line, printable, never a formula, never empty.

    Files are named without their folders, except for the system's own.
    """
    line = printable(" ".join(OWN_FOLDER.sub("", text).split()), MAX_TEXT_LENGTH - 1)
    return line.lstrip(f"{FORMULA_SIGNS} ") or "no reason given"
