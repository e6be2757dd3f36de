"""Files as a build writes them: tables with their units, zips that are the same wherever they are made."""

import filecmp
import json
import shutil
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from probe_effect.pages.markdown import environment, render
from probe_effect.store.tables import FORMULA_START, Column, csv_line
from probe_effect.toml import beside

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip: the earliest that the format has."""

READABLE = 0o644 << 16


def write(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, into a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def copy(source: Path, target: Path) -> None:
    """Copy a file into a folder that is made where it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write_zip(path: Path, files: Mapping[str, bytes | Path]) -> None:
    """Pack `files`, name to content or to where it is, by name into the zip at `path`; one at a time is in memory.

    The zip is the same bytes wherever and whenever the same files are packed.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = READABLE
            entry.create_system = 3  # Unix, also where this is packed on another system
            content = files[name]
            archive.writestr(entry, content if isinstance(content, bytes) else content.read_bytes())


def mirror(fresh: Path, target: Path) -> None:
    """Make `target`, which a program may watch, hold just the files of `fresh`; those that are the same stay untouched.

    New files come before old ones go.
    """
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for name in sorted(wanted):
        if not (target / name).is_file() or not filecmp.cmp(fresh / name, target / name, shallow=False):
            copy(fresh / name, target / name)
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()


WORDS: dict[str, Any] = beside(__file__, "words")
LICENCE: dict[str, str] = WORDS["licence"]


def plain(template: str, **values: object) -> str:
    """The text of a template with nothing in it escaped: for words of our own, which are in files and on no page."""
    return render(template, environment().overlay(autoescape=False, finalize=str), **values)


FORMS = ("csv", "json", "parquet")
"""The endings that a whole table may have."""

FieldType = Literal["integer", "number", "string", "boolean", "date"]
"""As Table Schema calls them."""

CellValue = int | float | str | bool | None


class TableRow(dict[str, CellValue]):
    """The cells of a row by field, in the order of its fields; a row of many tables is written once."""

    @cached_property
    def csv(self) -> str:
        """The row as a line of CSV, with booleans as Table Schema has them."""
        return csv_line(str(cell).lower() if isinstance(cell, bool) else safe_cell(cell) for cell in self.values())

    @cached_property
    def json(self) -> str:
        """The row as a line of JSON: a list, because rows that name their cells are three times as large."""
        return json_of(list(self.values()))


UNITS = {
    "_ns": "ns",
    "_hz": "events/s",
    "_ratio": "ratio",
    "_bytes": "bytes",
    "_calls": "calls",
    "instructions": "instructions",
}
"""The end of a quantity's name to its unit; a ratio of 0.05 reads 5 %."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a table."""

    name: str
    kind: FieldType
    text: str

    @property
    def unit(self) -> str | None:
        """The unit that its name ends in; None where it has none."""
        if self.kind not in {"integer", "number"}:
            return None
        return next((unit for end, unit in UNITS.items() if self.name.endswith(end)), None)

    def described(self) -> dict[str, str | None]:
        """The description of the field for programs: name, type, unit and meaning."""
        return {"name": self.name, "type": self.kind, "unit": self.unit, "description": self.text}


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows with the fields that each of them has, and what they are."""

    title: str
    fields: tuple[Field, ...]
    rows: tuple[TableRow, ...]
    count: int | None = None
    """How many rows there are, where they are not all here."""

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(self.rows) if self.count is None else self.count


def fields_of(columns: Iterable[Column]) -> tuple[Field, ...]:
    """The columns of a data file as fields."""
    return tuple(Field(column.name, column.kind, column.text) for column in columns)


def forms(name: str, folder: Path) -> list[Path]:
    """The files that the table called `name` has in `folder`."""
    paths = (folder / f"{name}.{ending}" for ending in FORMS)
    return [path for path in paths if path.is_file()]


def write_table(table: DataTable, path: Path, about: Mapping[str, object]) -> None:
    """Write the table as CSV and as JSON to `path`, which has no ending."""
    write(path.with_suffix(".csv"), csv_text(table))
    write(path.with_suffix(".json"), json_text(table, about))


def csv_text(table: DataTable) -> str:
    """The table as CSV that no spreadsheet runs; a missing value is an empty cell."""
    return "".join([csv_line(field.name for field in table.fields), *(row.csv for row in table.rows)])


def json_text(table: DataTable, about: Mapping[str, object]) -> str:
    """The table as JSON, a row a line: `about`, then `columns` with units and meaning, then `rows`.

    A row is a list of its cells in the order of the columns; a missing value is null.
    """
    head = {"title": table.title, **about, "columns": [field.described() for field in table.fields]}
    return rows_document(head, (row.json for row in table.rows))


def rows_document(head: Mapping[str, object], rows: Iterable[str]) -> str:
    """JSON of what `head` has, which is not nothing, and `rows`, each as JSON.

    A row has a line of its own, so that the difference between two files is the rows that differ.
    """
    lines = ",\n".join(rows)
    return f'{json_of(head)[:-1]}, "rows": [\n{lines}\n]}}\n'


def schema(fields: Sequence[Field]) -> dict[str, Any]:
    """A Table Schema of the fields (https://datapackage.org/standard/table-schema/), with their units."""
    described = ({key: value for key, value in field.described().items() if value is not None} for field in fields)
    return {"fields": list(described), "missingValues": [""]}


def safe_cell(value: CellValue) -> CellValue:
    """A cell that no spreadsheet runs: text that starts like a formula gets an apostrophe (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and FORMULA_START.match(value) else value


WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def json_of(value: object) -> str:
    """One line of JSON, which has no NaN."""
    return WRITER.encode(value)
