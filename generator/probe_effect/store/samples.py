"""`samples.csv`: one row per timed run, in the order run (data format, version 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from probe_effect.model import NO_TRACER, Arm, Problem, Sample, Status
from probe_effect.store.table_writer import TableWriter
from probe_effect.store.tables import FORMULA_SIGNS, MAX_TEXT_LENGTH, Column, TableReader, printable

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
    Column(
        "probes",
        "integer",
        "Probes that the tracer says it attached, its own included; empty or absent: it does not say.",
        may_be_absent=True,
    ),
    Column(
        "attach_instructions",
        "integer",
        "Instructions that the emulated machine executed to have the tracer start; empty or absent: not counted.",
        may_be_absent=True,
    ),
    Column(
        "detach_instructions",
        "integer",
        "Instructions that it executed to have the tracer stop; empty or absent: not counted.",
        may_be_absent=True,
    ),
)

TIMES = tuple(column.name for column in SAMPLE_COLUMNS if column.name.endswith("_ns"))
"""The columns that have times."""


def read_samples(path: Path, file: str) -> tuple[list[Sample], list[Problem]]:
    """The sound rows of a `samples.csv`, and every problem found in it.

    `file` is the name that problems give, usually relative to the data folder.
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
            message = f"block {place[0]}, position {place[1]} is already in line {taken[place]}"
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
            sample.status == "ok"
            and sample.arm != "check"
            and not (sample.wall_ns or sample.instructions or (sample.arm == "traced" and sample.tracer_cpu_ns)),
            "an `ok` run needs `wall_ns` or `instructions` above 0, or `tracer_cpu_ns` where that was measured",
            "set status to failed when none is known",
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


class SampleWriter(TableWriter):
    """Appends rows to a `samples.csv`; each is on disk, written and synced, before `write` returns."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, SAMPLE_COLUMNS)

    def write(self, sample: Sample) -> None:
        """Append one row, whole or not at all. Raises: HostNotReady when the disk is full or gone."""
        self.put([[getattr(sample, column.name) for column in SAMPLE_COLUMNS]])


OWN_FOLDER = re.compile(r"""(?<![\w./~-])/(?!(?:sys|proc|dev|usr|lib\w*|s?bin|etc|boot)/)(?:[^\s/'"`:,;()\[\]]+/)+""")
"""The folders of an absolute path, but for those that every system has. Others can hold user names."""


def as_note(text: str) -> str:
    """A tracer's own words fit for the `note` column: one line, printable, never a formula, never empty.

    Files are named without their folders, except for the system's own.
    """
    line = printable(" ".join(OWN_FOLDER.sub("", text).split()), MAX_TEXT_LENGTH - 1)
    return line.lstrip(f"{FORMULA_SIGNS} ") or "no reason given"
