"""`samples.csv`: one row per timed run, in the order run, each on disk before the next."""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Self, get_args

from probe_effect.model import NO_TRACER, Arm, HostNotReady, ProbeEffectError, Problem, Sample, Status
from probe_effect.store.tables import (
    BYTE_ORDER_MARK,
    FORMULA_SIGNS,
    MAX_TEXT_LENGTH,
    Column,
    TableReader,
    csv_line,
    printable,
    read_columns,
    with_commas,
)

HEADER_BYTES = 4096


class TableWriter:
    """Appends rows to a table; they are on disk, written and synced, before `put` returns.

    A run that is killed loses nothing that was measured: at most the last line is torn, and a torn line is cut off
    when the file is opened again. Use as a context manager, which raises HostNotReady when the file cannot be opened.
    """

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._path, self._columns = path, columns
        self._file: FileIO

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            raise self._refused(error) from error
        try:
            self._begin(self._path.read_bytes())
        except BaseException:
            self._file.close()
            raise
        return self

    def _begin(self, written: bytes) -> None:
        """Cut off a torn line, and write the header of a new table.

        Raises: HostNotReady for one that was saved in another form, ProbeEffectError for one of other columns.
        """
        names = [column.name for column in self._columns]
        header = csv_line(names).encode()
        whole = written[: written.rfind(b"\n") + 1]
        # How it begins, whatever an editor or a spreadsheet made of its line ends and commas.
        begins = written[:HEADER_BYTES].decode("utf-8", "replace").removeprefix(BYTE_ORDER_MARK)
        ours = with_commas(re.sub("\r\n?", "\n", begins))
        if not whole and header.startswith(written.rstrip(b"\0")):
            self._file.truncate(0)
            self.put([names])
        elif whole.startswith(header):
            self._file.truncate(len(whole))
        elif ours.startswith(header.decode()):
            raise HostNotReady(
                f"{self._path}: an editor or a spreadsheet has saved it in a form of its own\n"
                f"`probe-effect check --fix {self._path.parent}` mends it"
            )
        else:
            raise ProbeEffectError(
                f"{self._path}: begun by another version of probe-effect, its columns are not "
                f"{header.decode().rstrip()}\nits rows are kept; to measure again, do without --resume"
            )

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, rows: Iterable[Iterable[object]]) -> None:
        """Append rows, all of them or none. Raises: HostNotReady when the disk is full or gone."""
        text = "".join(map(csv_line, rows)).encode()
        before = self._path.stat().st_size
        try:
            _write_whole(self._file, text)
        except OSError as error:
            with suppress(OSError):  # a disk that is gone keeps what it has
                self._file.truncate(before)
            raise self._refused(error) from error

    def cut(self, size_bytes: int) -> None:
        """Keep the first bytes of the file, which end with a whole line. Raises: HostNotReady."""
        try:
            self._file.truncate(size_bytes)
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> HostNotReady:
        return HostNotReady(f"{self._path}: a row cannot be written: {error.strerror}")


def _write_whole(file: FileIO, text: bytes) -> None:
    """Write and sync. Raises: OSError; a full disk takes part of a line without a word."""
    if file.write(text) != len(text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(file.fileno())


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
        place = (sample.block, sample.position)
        if place in taken:
            message = f"block {place[0]}, position {place[1]} is already in line {taken[place]}"
            reader.add(row.line, 1, "place", message, "give each run its own place")
            continue
        taken[place] = row.line
        samples.append(sample)
        for message, hint in _faults(sample):
            reader.add(row.line, None, "row", message, hint)
    return samples, reader.problems


def _faults(sample: Sample) -> Iterator[tuple[str, str]]:
    measured = sample.wall_ns or sample.instructions or (sample.arm == "traced" and sample.tracer_cpu_ns)
    if sample.status == "ok" and not sample.events:
        yield "an `ok` run needs `events` above 0", "count the operations"
    if sample.status == "ok" and sample.arm != "check" and not measured:
        needed = "an `ok` run needs `wall_ns` or `instructions` above 0, or `tracer_cpu_ns` where that was measured"
        yield needed, "set status to failed when none is known"
    if sample.status != "ok" and not sample.note:
        yield f"`{sample.status}` without a note", "say why in `note`"
    if (sample.arm == "baseline") != (sample.tracer == NO_TRACER):
        found = f"arm `{sample.arm}` with tracer `{sample.tracer}`"
        yield found, f"a baseline has tracer `{NO_TRACER}`, and nothing else has"


OWN_FOLDER = re.compile(r"""(?<![\w./~-])/(?!(?:sys|proc|dev|usr|lib\w*|s?bin|etc|boot)/)(?:[^\s/'"`:,;()\[\]]+/)+""")
"""The folders of an absolute path, but for those that every system has. Others can hold user names."""


def as_note(text: str) -> str:
    """A tracer's own words fit for the `note` column: one line, printable, never a formula, never empty.

    Files are named without their folders, except for the system's own.
    """
    line = printable(" ".join(OWN_FOLDER.sub("", text).split()), MAX_TEXT_LENGTH - 1)
    return line.lstrip(f"{FORMULA_SIGNS} ") or "no reason given"
