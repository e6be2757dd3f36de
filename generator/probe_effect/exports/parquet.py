"""Tables as Parquet, typed: a reader gets numbers, dates and missing values without being told how to read them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from probe_effect.exports.number_rows import RUN_FIELDS
from probe_effect.exports.table import DataTable, Field, fields_of
from probe_effect.exports.words import LICENCE
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.reduce.submission import Submission
from probe_effect.store.further_tables import HISTOGRAM_COLUMNS
from probe_effect.store.samples import SAMPLE_COLUMNS
from probe_effect.store.tables import Column

TYPES: dict[str, Any] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}

ROWS_OF_A_GROUP = 64 * 1024
"""The rows of a row group: an engine that asks for some submissions skips groups by their least and greatest id."""


RUNS = {
    "samples": ("Every run of every submission", SAMPLE_COLUMNS),
    "histogram": ("How long single operations took, in every run that timed them", HISTOGRAM_COLUMNS),
}
"""The files of submissions that are one table each, by the stem of their name, to its title and their columns."""


def write_runs(name: str, catalogue: Catalogue, path: Path) -> DataTable:
    """Write one table of all files called `name`, of every submission in force that has one, to `path`.

    Returns: the table without its rows, which are never all in memory.
    """
    title, columns = RUNS[name]
    fields = (*RUN_FIELDS, *fields_of(columns))
    in_order = sorted(catalogue.active, key=lambda one: one.id)
    files = ((one, file) for one in in_order if (file := getattr(one.files, name)).exists())
    schema, count = _schema(fields, title, catalogue.version), 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[pa.Table] = []
        for submission, file in files:
            waiting.append(_rows(submission, file, columns, schema))
            count += waiting[-1].num_rows
            if sum(table.num_rows for table in waiting) >= ROWS_OF_A_GROUP:
                writer.write_table(pa.concat_tables(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    return DataTable(title, fields, (), count=count)


def write_parquet(table: DataTable, path: Path, version: str) -> None:
    """Write `table` to `path`; units and meanings go into the metadata of each field, the data's `version` beside."""
    schema = _schema(table.fields, table.title, version)
    # Our dates are text; Arrow reads them.
    read = pa.schema([field.with_type(pa.string()) if field.type == TYPES["date"] else field for field in schema])
    pq.write_table(pa.Table.from_pylist(table.rows, read).cast(schema), path, compression="zstd")


def _schema(fields: Iterable[Field], title: str, version: str) -> pa.Schema:
    return pa.schema(
        [pa.field(field.name, TYPES[field.kind], metadata=_metadata(field)) for field in fields],
        metadata={"title": title, "data_version": version, "licence": LICENCE["url"], "creator": LICENCE["creator"]},
    )


def _rows(one: Submission, file: Path, columns: Sequence[Column], schema: pa.Schema) -> pa.Table:
    """The rows of a file of a submission, which was checked before: it is read without looking for faults."""
    names = [column.name for column in columns]
    options = pyarrow.csv.ConvertOptions(
        column_types={name: schema.field(name).type for name in names},
        include_columns=names,
        include_missing_columns=True,
        null_values=[""],
        strings_can_be_null=True,
    )
    rows = pyarrow.csv.read_csv(file, convert_options=options)
    place = {"submission": one.id, "machine": one.machine, "suite": one.suite, "metric": one.metric}
    shared = [pa.array([place[field.name]] * rows.num_rows, type=pa.string()) for field in RUN_FIELDS]
    return pa.Table.from_arrays([*shared, *rows.columns], schema=schema)


def _metadata(field: Field) -> dict[str, str]:
    return {"description": field.text} | ({"unit": field.unit} if field.unit else {})
