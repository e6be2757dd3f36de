"""Appending to a CSV table: whole rows, each on disk before the next thing is done, and a torn end cut off."""

import errno
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Self

from probe_effect.errors import HostNotReady
from probe_effect.store.tables import Column, csv_line


class TableWriter:
    """Appends rows to a table; they are on disk, written and synced, before `put` returns.

    A run that is killed loses nothing that was measured: at most the last line is torn, and a torn line is cut off
    when the file is opened again. Use as a context manager, which raises HostNotReady when the file cannot be opened.
    """

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self._path = path
        self._columns = columns
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
        """Cut off a torn line, and write the header of a new table. Raises: HostNotReady for one of other columns."""
        whole = written[: written.rfind(b"\n") + 1]
        self._file.truncate(len(whole))
        names = [column.name for column in self._columns]
        if not whole:
            self.put([names])
        elif whole.split(b"\n", 1)[0] != (header := csv_line(names).rstrip().encode()):
            raise HostNotReady(
                f"{self._path}: begun by another version of probe-effect, its columns are not {header.decode()}\n"
                "its rows are kept; to measure again, do without --resume"
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
