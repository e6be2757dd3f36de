"""A CSV table of somebody's own, read by a mapping file that says which column is what.

```toml
schema_version = 1
unit = "ns"                 # of the values: a time (ns, us, ms, s), or operations a second (hz)
of = "operation"            # what a time is the time of: an operation unless it says "run"
baseline = "none"           # the name of the untraced rows; --baseline says the same
delimiter = ";"             # a comma unless given

[columns]
name = "probe"              # what was run; rows of one name are repeated runs of it
value = "time"              # the number
operations = "calls"        # where the time is that of a run: how many operations it made

[arms."kprobe, empty"]      # what is known of a name; each key may be left out
case = "02-kprobe"
tracer = "bpftrace"
probe = "kprobe"
action = "none"
```
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from probe_effect.errors import UsageError
from probe_effect.importers.extracted import Extracted, Reading, Repeats, named, repeats_text
from probe_effect.importers.files import refuse, told
from probe_effect.importers.numbers import measured
from probe_effect.store.documents import Document, Slug, Text, read_document
from probe_effect.store.tables import MAX_TEXT_LENGTH, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from probe_effect.importers.files import GivenFile

WANTED = "a CSV table with a header"

MISSING = (
    "whether the tracer saw every event",
    "the order of the runs, and baselines between them",
    "the machine, its kernel and its settings",
    "the cost of starting and stopping the tracer",
)

WRITTEN = {"hz": " /s", "us": " µs", "count": ""}

MAX_SHOWN_FAULTS = 5
MAX_SHOWN_COLUMNS = 20


class Columns(Document):
    """Which column holds what."""

    name: Text
    value: Text
    operations: Text | None = None


class KnownSeries(Document):
    """What the mapping says of one name."""

    case: Slug | None = None
    tracer: Slug | None = None
    probe: Slug | None = None
    action: Slug | None = None


class Mapping(Document):
    """A mapping file."""

    schema_version: Literal[1]
    unit: Literal["ns", "us", "ms", "s", "hz"]
    columns: Columns
    of: Literal["operation", "run"] = "operation"
    delimiter: Annotated[str, Field(pattern=r"^[,;|\t]$")] = ","
    baseline: Text | None = None
    arms: dict[str, KnownSeries] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _runs_have_times(self) -> Self:
        if self.unit == "hz" and (self.of == "run" or self.columns.operations):
            msg = "a rate is of operations already; `of` and `operations` are for times"
            raise ValueError(msg)
        return self

    @property
    def whole_runs(self) -> bool:
        """Whether nothing says how many operations a time is of."""
        return self.of == "run" and self.columns.operations is None


def read_mapping(path: Path) -> Mapping:
    """The mapping at `path`. Raises: UsageError with what is wrong in it."""
    name = printable(str(path), 200)
    found, problems = read_document(path, name, "mapping", Mapping)
    if found is None:
        faults = (f"{problem.file}:{problem.line or 1}: {problem.message}" for problem in problems[:MAX_SHOWN_FAULTS])
        msg = f"{'; '.join(faults)}. Expected a mapping as `probe-effect import --help` shows. Mend it."
        raise UsageError(msg)
    return found


def read_mapped_csv(files: Sequence[GivenFile], mapping: Mapping) -> Extracted:
    """The names of the files, rows of one name as repeated runs. Raises: UsageError."""
    where = ", ".join(file.name for file in files)
    runs = Repeats()
    for file in files:
        for place, row in _rows(file, mapping):
            readings, time = _run(row, mapping, place)
            runs.add(told(row[mapping.columns.name]), place, readings, time)
    if not runs.times:
        refuse(where, "no row under the header", WANTED, "Give the table with its rows.")
    known = {named(told(name), list(runs.times), "--mapping, arms"): said for name, said in mapping.arms.items()}
    counts = runs.counts()
    return Extracted(
        series=tuple(
            replace(one, **known[one.name].model_dump()) if one.name in known else one for one in runs.series()
        ),
        facts={
            "statistic": "the value of one row" if max(counts) == 1 else "median of the rows of one name",
            "repeats": repeats_text(counts),
        },
        missing=MISSING,
        whole_runs=mapping.whole_runs,
        baseline=mapping.baseline,
    )


def _rows(file: GivenFile, mapping: Mapping) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row by its header, with its place for messages."""
    lines = csv.reader(io.StringIO(file.text, newline=""), delimiter=mapping.delimiter, strict=True)
    try:
        header = next(lines, [])
        _check_header(file, header, mapping.columns)
        for texts in lines:
            place = f"{file.name}:{lines.line_num}"
            if len(texts) != len(header):
                refuse(place, f"{len(texts)} cells", f"{len(header)} as in the header", "Mend that row.")
            cells = dict(zip(header, texts, strict=True))
            if not 0 < len(cells[mapping.columns.name].strip()) <= MAX_TEXT_LENGTH:
                refuse(place, "no name, or a very long one", "what was run", "Mend that row.")
            yield place, cells
    except csv.Error as error:
        refuse(f"{file.name}:{lines.line_num}", str(error), WANTED, "Write it as RFC 4180 CSV.")


def _check_header(file: GivenFile, header: Sequence[str], columns: Columns) -> None:
    shown = ", ".join(f"`{printable(one)}`" for one in header[:MAX_SHOWN_COLUMNS]) or "empty"
    for column in (columns.name, columns.value, columns.operations):
        if column is not None and header.count(column) != 1:
            found = f"not one column `{printable(column)}`; the header is {shown}"
            refuse(f"{file.name}:1", found, "the columns of the mapping", "Mend the mapping file.")


def _run(row: dict[str, str], mapping: Mapping, place: str) -> tuple[list[Reading], str]:
    """The numbers of one row, and the formula of the time of one operation."""
    columns, unit = mapping.columns, mapping.unit
    what, time = ("operations per second", "1000000000 / {value}") if unit == "hz" else ("time", "{value}")
    readings = [_reading(row, columns.value, place, key="value", what=what, unit=unit)]
    if columns.operations is None:
        return readings, time
    operations = _reading(row, columns.operations, place, key="operations", what="operations", unit="count")
    return [*readings, operations], "{value} / {operations}"


def _reading(row: dict[str, str], column: str, place: str, *, key: str, what: str, unit: str) -> Reading:
    text = row[column].strip()
    value = measured(text, unit, f"{place}, {printable(column)}")
    return Reading(key=key, what=what, printed=f"{text}{WRITTEN.get(unit, f' {unit}')}", value=value, unit=unit)
