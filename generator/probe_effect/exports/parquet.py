"""Tables as Parquet, typed: a reader gets numbers, dates and missing values without being told how to read them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from probe_effect.exports import licence
from probe_effect.exports.number_rows import standing
from probe_effect.exports.table import Field, Table, fields_of
from probe_effect.store.samples import SAMPLE_COLUMNS, read_samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from probe_effect.exports.table import Row, Value
    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission, MeasuredSubmission

TYPES: dict[str, Any] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}

SAMPLE_FIELDS = (
    Field("submission", "string", "Id of the submission, `<machine>/<date>-<suite>[-n]`."),
    Field("machine", "string", "Id of the machine."),
    Field("suite", "string", "Id of the suite."),
    Field("metric", "string", "`time`, or `instructions` counted in an emulated machine; the two never compare."),
    *fields_of(SAMPLE_COLUMNS),
)


def samples_table(catalogue: Catalogue) -> Table:
    """Every timed or counted run of every submission."""
    rows = (row for one in standing(catalogue) for row in _sample_rows(one))
    return Table("Every run of every submission", SAMPLE_FIELDS, tuple(rows))


def write_parquet(table: Table, path: Path, version: str) -> None:
    """Write `table` to `path`; units and meanings go into the metadata of each field.

    Args:
        version: of the data.
    """
    schema = pa.schema(
        [pa.field(field.name, TYPES[field.kind], metadata=_metadata(field)) for field in table.fields],
        metadata={"title": table.title, "data_version": version, "licence": licence.URL, "creator": licence.CREATOR},
    )
    columns = [
        pa.array(_cells(field, table.rows), type=found.type) for field, found in zip(table.fields, schema, strict=True)
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), path, compression="zstd")


def _sample_rows(one: MeasuredSubmission | CountedSubmission) -> Iterator[Row]:
    place: Row = {
        "submission": one.files.id,
        "machine": one.summary.machine,
        "suite": one.summary.suite,
        "metric": one.document.run.metric,
    }
    samples, _ = read_samples(one.files.samples, one.files.id)  # read once before, when its problems were told
    names = [column.name for column in SAMPLE_COLUMNS]
    return (place | {name: getattr(sample, name) for name in names} for sample in samples)


def _metadata(field: Field) -> dict[str, str]:
    return {"description": field.text} | ({"unit": field.unit} if field.unit else {})


def _cells(field: Field, rows: Iterable[Row]) -> list[Value | date]:
    """The cells of a column; dates as such, because Parquet has a type for them."""
    cells = (row[field.name] for row in rows)
    return [date.fromisoformat(cell) if field.kind == "date" and isinstance(cell, str) else cell for cell in cells]
