"""`samples.csv`: one row per timed run, in the order run (data format, version 1)."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from probe_effect.model import NO_TRACER, Arm, Problem, Sample, Status
from probe_effect.store.table_writer import TableWriter
from probe_effect.store.tables import FORMULA_SIGNS, MAX_TEXT_LENGTH, TableReader, printable, read_columns

SLUG = "[a-z0-9]+(-[a-z0-9]+)*"

SAMPLE_COLUMNS = read_columns("samples", arm=get_args(Arm), status=get_args(Status))

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

    def drop_from(self, block: int) -> None:
        """Drop the rows of a block, which is the last one. Raises: HostNotReady."""
        header, *rows = self._path.read_bytes().splitlines(keepends=True)
        self.cut(len(header) + sum(len(row) for row in rows if int(row.split(b",", 1)[0]) < block))


OWN_FOLDER = re.compile(r"""(?<![\w./~-])/(?!(?:sys|proc|dev|usr|lib\w*|s?bin|etc|boot)/)(?:[^\s/'"`:,;()\[\]]+/)+""")
"""The folders of an absolute path, but for those that every system has. Others can hold user names."""


def as_note(text: str) -> str:
    """A tracer's own words fit for the `note` column: one line, printable, never a formula, never empty.

    Files are named without their folders, except for the system's own.
    """
    line = printable(" ".join(OWN_FOLDER.sub("", text).split()), MAX_TEXT_LENGTH - 1)
    return line.lstrip(f"{FORMULA_SIGNS} ") or "no reason given"
