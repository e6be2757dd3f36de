"""A table as the site publishes it: fields with their units, rows, and its forms as CSV, JSON and Table Schema."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from probe_effect.exports.files import write
from probe_effect.store.tables import FORMULA_START, Column, csv_line

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
