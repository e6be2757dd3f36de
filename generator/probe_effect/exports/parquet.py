"""Tables as Parquet, typed: a reader gets numbers, dates and missing values without being told how to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from probe_effect.exports import licence
from probe_effect.exports.table import Field, Table, fields_of
from probe_effect.store.samples import SAMPLE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.reduce.submission import Submission

TYPES: dict[str, Any] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}

ROWS_OF_A_GROUP = 64 * 1024
"""Of a row group: an engine that asks for some submissions skips the groups of others, by the least and greatest id."""

PLACE_FIELDS = (
    Field("submission", "string", "Id of the submission, `<machine>/<date>-<suite>[-n]`."),
    Field("machine", "string", "Id of the machine."),
    Field("suite", "string", "Id of the suite."),
    Field("metric", "string", "`time`, or `instructions` counted in an emulated machine; the two never compare."),
)
SAMPLE_FIELDS = (*PLACE_FIELDS, *fields_of(SAMPLE_COLUMNS))
SAMPLES_TITLE = "Every run of every submission"


def write_samples(catalogue: Catalogue, path: Path, version: str) -> Table:
    """Write every timed or counted run of every submission in force to `path`, by submission.

    Returns: the table without its rows, which are never all in memory.
    """
    schema = _schema(SAMPLE_FIELDS, SAMPLES_TITLE, version)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[pa.Table] = []
        for submission in sorted(catalogue.active, key=lambda one: one.id):
            waiting.append(_samples(submission, schema))
            if sum(table.num_rows for table in waiting) >= ROWS_OF_A_GROUP:
                writer.write_table(pa.concat_tables(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    return Table(SAMPLES_TITLE, SAMPLE_FIELDS, (), count=sum(one.rows for one in catalogue.active))


def write_parquet(table: Table, path: Path, version: str) -> None:
    """Write `table` to `path`; units and meanings go into the metadata of each field.

    Args:
        version: of the data.
    """
    schema = _schema(table.fields, table.title, version)
    # Our dates are text; Arrow reads them.
    read = pa.schema([field.with_type(pa.string()) if field.type == TYPES["date"] else field for field in schema])
    pq.write_table(pa.Table.from_pylist(table.rows, read).cast(schema), path, compression="zstd")


def _schema(fields: Iterable[Field], title: str, version: str) -> pa.Schema:
    return pa.schema(
        [pa.field(field.name, TYPES[field.kind], metadata=_metadata(field)) for field in fields],
        metadata={"title": title, "data_version": version, "licence": licence.URL, "creator": licence.CREATOR},
    )


def _samples(one: Submission, schema: pa.Schema) -> pa.Table:
    """The rows of a submission, whose file was checked before: it is read without looking for faults."""
    names = [column.name for column in SAMPLE_COLUMNS]
    options = pyarrow.csv.ConvertOptions(
        column_types={name: schema.field(name).type for name in names},
        include_columns=names,
        include_missing_columns=True,
        null_values=[""],
        strings_can_be_null=True,
    )
    rows = pyarrow.csv.read_csv(one.files.samples, convert_options=options)
    place = {"submission": one.id, "machine": one.machine, "suite": one.suite, "metric": one.metric}
    shared = [pa.array([place[field.name]] * rows.num_rows, type=pa.string()) for field in PLACE_FIELDS]
    return pa.Table.from_arrays([*shared, *rows.columns], schema=schema)


def _metadata(field: Field) -> dict[str, str]:
    return {"description": field.text} | ({"unit": field.unit} if field.unit else {})
