"""CSV tables with typed columns: read strictly, report every fault with its place, write canonically, row by row.

A cell is an integer, a decimal or one line of text; an empty cell is a missing value and reads as None.
Decimals stay `Decimal`, because their printed digits say how precise a figure claims to be.
Format: RFC 4180 with LF line ends, UTF-8, a header, no blank lines.
"""

import csv
import errno
import io
import os
import re
import stat
from _csv import Reader as Lines
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from probe_effect.model import HostNotReady, ProbeEffectError, Problem
from probe_effect.records import beside

Cell = int | Decimal | str | None
ColumnKind = Literal["integer", "number", "string"]

MAX_FILE_BYTES = 5 * 1024 * 1024
"""Largest file that is read at all: 5 MiB holds about 50 000 runs, and bounds what a hostile file can cost."""

FURTHER_NAME = re.compile("[a-z][a-z0-9_]{0,60}")

MAX_COLUMNS = 200
MAX_TEXT_LENGTH = 1000
MAX_PROBLEMS_PER_FILE = 200

INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,12})?")
FORBIDDEN_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control characters, and those that change the direction of text (Unicode TR 9): neither belongs in a cell."""
BYTE_ORDER_MARK = "\ufeff"
FORMULA_SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
"""What starts a formula in a spreadsheet (OWASP, CSV injection), also as full-width signs."""
FORMULA_START = re.compile(f"[{re.escape(FORMULA_SIGNS)}]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name carries the unit, its text goes to the dictionary."""

    name: str
    kind: ColumnKind
    text: str
    required: bool = False
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    minimum: int | None = 0
    may_be_absent: bool = False
    """Whether a file may do without the column: it joined the format after the first files were written."""


def read_columns(table: str, **choices: tuple[str, ...]) -> tuple[Column, ...]:
    columns = []
    for name, own in beside(__file__, "columns")[table].items():
        bounds = {"minimum": None} if own.pop("signed", False) else {}
        columns.append(Column(name, **own | bounds | {"choices": choices.get(name, tuple(own.get("choices", ())))}))
    return tuple(columns)


class Row(NamedTuple):
    """One data row: its cells by column name, each a `Cell`, and its line."""

    line: int
    cells: Mapping[str, Any]


MOST_KNOWN = 1000
"""The texts of a column whose values are remembered while its file is read: most cells have that of another row."""


class TableReader:
    """Reads one table and gathers its problems; a bad row is left out, the others are kept."""

    def __init__(self, file: str, rule: str, columns: Sequence[Column], *, may_be_absent: bool = False) -> None:
        self.file, self.rule, self.may_be_absent = file, rule, may_be_absent
        self.columns = {column.name: column for column in columns}
        self.problems: list[Problem] = []

    def read(self, path: Path) -> list[Row]:
        """Every sound row of the file at `path`; what is wrong with the others is in `problems`."""
        text = None if self.may_be_absent and not os.path.lexists(path) else self._text(path)
        if text is None:
            return []
        lines = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            header = next(lines, [])
            return self._rows(lines, header) if self._header_is_sound(header) else []
        except csv.Error as error:
            self.add(max(lines.line_num, 1), None, "csv", f"not CSV: {error}", "write the file as RFC 4180 CSV")
            return []

    def is_full(self, line: int) -> bool:
        """Whether the file has shown so many problems that reading stops at `line`; says so once."""
        if len(self.problems) < MAX_PROBLEMS_PER_FILE:
            return False
        if self.problems[-1].rule != f"{self.rule}/too-many":
            self.add(line, None, "too-many", "further problems are not listed", "mend those above first")
        return True

    def _text(self, path: Path) -> str | None:
        text = plain_text(path, MAX_FILE_BYTES, "split the run into submissions")
        if not isinstance(text, str):
            self.add(*text)
            return None
        if bad := re.search("[\r\0]", text):
            self.add(text.count("\n", 0, bad.start()) + 1, None, "line-ends", *_bad_end(text, bad.start()))
            return None
        if text and not text.endswith("\n"):
            line = text.count("\n") + 1
            self.add(line, None, "line-ends", "the last line has no end, and may be torn", "look whether it is whole")
        return text

    def _header_is_sound(self, header: Sequence[str]) -> bool:
        expected = f"the header is {','.join(self.columns)}"
        if len(header) > MAX_COLUMNS:
            faults = [(f"more than {MAX_COLUMNS} columns", expected)]
        elif not self.columns.keys() & set(header):
            is_saved = separator(",".join(header)) is not None
            faults = [(SAVED, MENDED) if is_saved else ("the first line is no header", expected)]
        else:
            missing = [name for name, column in self.columns.items() if name not in header and not column.may_be_absent]
            repeated = sorted(name for name, times in Counter(header).items() if times > 1)
            odd = [printable(name) for name in header if not FURTHER_NAME.fullmatch(name)]
            faults = [(f"column `{name}` is missing", expected) for name in missing]
            faults += [(f"column `{printable(name)}` is there twice", "name each column once") for name in repeated]
            faults += [(f"column `{name}` has an odd name", "use small letters, digits and _") for name in odd]
        for message, hint in faults:
            self.add(1, None, "header", message, hint)
        return not faults

    def _rows(self, lines: Lines, header: Sequence[str]) -> list[Row]:
        rows, end = [], lines.line_num
        columns = [self.columns.get(name) or further_column(name) for name in header]
        caches: list[dict[str, Cell]] = [{} for _ in columns]
        empty: dict[str, Cell] = dict.fromkeys(self.columns)
        for texts in lines:
            number, end = end + 1, lines.line_num  # where it begins: a quoted cell may go on for several lines
            if self.is_full(number):
                break
            if not any(texts):
                self.add(number, None, "cells", "a blank line", "`probe-effect check --fix` removes it")
                continue
            if len(texts) != len(header):
                message = f"{len(texts)} cells where the header has {len(header)}"
                self.add(number, None, "cells", message, "quote cells that hold a comma")
                continue
            before = len(self.problems)
            cells = empty.copy()
            for index, text in enumerate(texts):
                if text in caches[index]:
                    value = caches[index][text]
                else:
                    value = self._cell(columns[index], texts, index, number)
                    if len(self.problems) == before and len(caches[index]) < MOST_KNOWN:
                        caches[index][text] = value
                if (name := columns[index].name) in empty:
                    cells[name] = value
            if len(self.problems) == before:
                rows.append(Row(number, cells))
        return rows

    def _cell(self, column: Column, texts: Sequence[str], index: int, line: int) -> Cell:
        """The value of the cell at `index`; a problem and None when its text does not fit its column."""
        text = texts[index]
        if fault := cell_fault(column, text):
            message, hint = fault
            shown = f"`{printable(text)}` " if text else ""
            start = len(csv_line([*texts[:index], ""])) if index else 1
            self.add(line, start, "cell", f"{column.name}: {shown}{message}", hint)
        if fault or text == "":
            return None
        if column.kind == "integer":
            return int(text)
        return Decimal(text) if column.kind == "number" else text

    def add(self, line: int | None, column: int | None, fault: str, message: str, hint: str) -> None:
        self.problems.append(Problem("error", self.file, line, column, f"{self.rule}/{fault}", message, hint))


SAVED = "a spreadsheet saved it with another sign than the comma between the cells"
MENDED = "`probe-effect check --fix` mends it; or take the file back from git"
SEPARATORS = ",;\t"


def separator(text: str) -> str | None:
    """What a spreadsheet wrote between the cells: `;`, a tab, or what a line `sep=` before the header says.

    None for a header with commas.
    """
    first = text.partition("\n")[0].rstrip(",\r")
    if first.startswith("sep="):
        return next((sign for sign in SEPARATORS if sign == first[4:]), ",")
    return None if "," in first else next((sign for sign in SEPARATORS if sign in first), None)


def with_commas(text: str) -> str:
    """A table with commas between its cells and without the line `sep=`, whatever a spreadsheet wrote."""
    delimiter = separator(text)
    if delimiter is None:
        return text
    whole = text.partition("\n")[2] if text.startswith("sep=") else text
    mended = "".join(map(csv_line, csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter)))
    return mended if text.endswith("\n") else mended.removesuffix("\n")


def _bad_end(text: str, bad: int) -> tuple[str, str]:
    """(what is wrong, how to mend it) where a text has a carriage return or a NUL at `bad`."""
    if text[bad] == "\r":
        return "holds a carriage return", "end lines with LF; `probe-effect check --fix` does it"
    if text[bad:].strip("\0"):
        return "holds a NUL", "take the file back from git, or remove that line"
    left = f"ends with {len(text) - bad} NUL, as a power cut leaves them"
    return left, "`probe-effect check --fix` removes them; `measure --resume` does it too and goes on"


def further_column(name: str) -> Column:
    """A column that the format does not know: it may be there, but its cells must be as harmless as all others."""
    return Column(name, "string", "A further column.")


def cell_fault(column: Column, text: str) -> tuple[str, str] | None:
    """(what is wrong, how to mend it) for a cell, or None when it is sound."""
    if text == "":
        return ("is empty", "fill it in") if column.required else None
    if column.kind == "string":
        return _text_fault(column, text)
    form = INTEGER if column.kind == "integer" else NUMBER
    if not form.fullmatch(text):
        wanted = "a whole number" if column.kind == "integer" else "a plain decimal"
        return f"is not {wanted}", f"write {wanted}: no sign +, exponent, spaces or grouping"
    if column.minimum is not None and float(text) < column.minimum:
        return f"is below {column.minimum}", f"{column.name} is at least {column.minimum}; leave it empty when missing"
    return None


def _text_fault(column: Column, text: str) -> tuple[str, str] | None:
    if column.choices:
        return None if text in column.choices else ("is not known", f"one of {', '.join(column.choices)}")
    if len(text) > MAX_TEXT_LENGTH:
        return f"is longer than {MAX_TEXT_LENGTH} characters", "shorten it"
    if FORBIDDEN_TEXT.search(text):
        return "holds a control or direction-changing character", "use plain text on one line"
    if FORMULA_START.match(text):
        return "would run as a formula in a spreadsheet", "begin with a letter, a digit or a quote"
    if column.pattern and not re.fullmatch(column.pattern, text):
        return "has an unexpected form", f"expected the form {column.pattern}"
    return None


def plain_text(path: Path, most_bytes: int, smaller: str) -> str | tuple[int | None, int | None, str, str, str]:
    """The text of a file; or what is wrong with it: line, column, kind of fault, message and hint.

    `smaller` is the hint for a file of more than `most_bytes`.
    """
    try:
        if regular_size(path) > most_bytes:
            return None, None, "size", f"larger than {most_bytes} bytes", smaller
        raw = path.read_bytes()
    except OSError as error:
        return None, None, "file", f"cannot be read: {error.strerror}", "put the file where it is expected"
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return line, None, "encoding", "not UTF-8", "save the file as UTF-8 without a byte order mark"
    if text.startswith(BYTE_ORDER_MARK):
        return 1, 1, "encoding", "begins with a byte order mark", "`probe-effect check --fix` takes it away"
    return text


def regular_size(path: Path) -> int:
    """Size of a file in bytes. Raises: OSError, also for a link, pipe or device: those lead elsewhere or never end."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return status.st_size


def printable(text: str, limit: int = 60) -> str:
    """`text` fit for a message: control characters as escapes, cut at `limit`."""
    plain = (char if char.isprintable() and not FORBIDDEN_TEXT.match(char) else ascii(char)[1:-1] for char in text)
    shown = "".join(islice(plain, limit + 1))
    return shown if len(shown) <= limit else shown[:limit] + "…"


def csv_line(cells: Iterable[object]) -> str:
    """One CSV line with its LF; None becomes an empty cell."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(["" if cell is None else cell for cell in cells])
    return out.getvalue()


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
