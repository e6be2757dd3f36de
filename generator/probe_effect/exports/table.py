"""A table as the site publishes it: fields with their units, rows, and its forms as CSV, JSON and Table Schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from probe_effect.store.tables import FORMULA_START, csv_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probe_effect.store.tables import Column

Kind = Literal["integer", "number", "string", "boolean", "date"]
"""As Table Schema calls them."""

Value = int | float | str | bool | None
Row = dict[str, Value]

UNITS = {"_ns": "ns", "_hz": "events/s", "_ratio": "ratio", "_bytes": "bytes", "instructions": "instructions"}
"""The end of a quantity's name to its unit; a ratio of 0.05 reads 5 %."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a table."""

    name: str
    kind: Kind
    text: str

    @property
    def unit(self) -> str | None:
        """The unit that its name ends in; None where it has none."""
        if self.kind not in {"integer", "number"}:
            return None
        return next((unit for end, unit in UNITS.items() if self.name.endswith(end)), None)

    def described(self) -> dict[str, str | None]:
        """What a program needs to know of it."""
        return {"name": self.name, "type": self.kind, "unit": self.unit, "description": self.text}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the fields that each of them has, and what they are."""

    title: str
    fields: tuple[Field, ...]
    rows: tuple[Row, ...]


def fields_of(columns: Iterable[Column]) -> tuple[Field, ...]:
    """The columns of a data file as fields."""
    return tuple(Field(column.name, column.kind, column.text) for column in columns)


def csv_text(table: Table) -> str:
    """The table as CSV that no spreadsheet runs; a missing value is an empty cell."""
    names = [field.name for field in table.fields]
    return "".join([csv_line(names), *(csv_line(_csv_cell(row[name]) for name in names) for row in table.rows)])


def json_text(table: Table, about: Mapping[str, object]) -> str:
    """The table as JSON, a row a line: `about`, then `columns` with units and meaning, then `rows`.

    A missing value is null.
    """
    head = {"title": table.title, **about, "columns": [field.described() for field in table.fields]}
    return rows_document(head, table.rows)


def rows_document(head: Mapping[str, object], rows: Iterable[Mapping[str, object]]) -> str:
    """JSON of what `head` has, which is not nothing, and `rows`.

    A row has a line of its own, so that the difference between two files is the rows that differ.
    """
    lines = ",\n".join(_json(row) for row in rows)
    return f'{_json(head)[:-1]}, "rows": [\n{lines}\n]}}\n'


def schema(fields: Sequence[Field]) -> dict[str, Any]:
    """A Table Schema of the fields (https://datapackage.org/standard/table-schema/), with their units."""
    described = ({key: value for key, value in field.described().items() if value is not None} for field in fields)
    return {"fields": list(described), "missingValues": [""]}


def safe_cell(value: Value) -> Value:
    """A cell that no spreadsheet runs: text that starts like a formula gets an apostrophe (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and FORMULA_START.match(value) else value


def _csv_cell(value: Value) -> Value:
    """Booleans as Table Schema has them."""
    return str(value).lower() if isinstance(value, bool) else safe_cell(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
