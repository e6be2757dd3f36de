"""One row for each number of the site, and one for each published figure.

Times and instructions are two tables, whose fields, in `number_fields.toml`, differ; nothing puts them into one.
Published figures are a third.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from probe_effect.exports.files import CellValue, Field, TableRow, fields_of
from probe_effect.exports.script_values import short
from probe_effect.model import interval_json, spread_json, thresholds_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import PublishedSource
from probe_effect.numbers.index import Numbers
from probe_effect.reduce.submission import Number, Submission
from probe_effect.reduce.thresholds import THRESHOLDS
from probe_effect.store.source_file import FIGURE_COLUMNS
from probe_effect.toml import beside

Cells = dict[str, "CellValue"]

ENDS = {
    "interval": {"_low": "Low end of its 95 % interval.", "_high": "High end of its 95 % interval."},
    "range": {"_least": "The least of its blocks.", "_greatest": "The greatest of its blocks."},
}
"""The ends of a time and of a count: the end of the field's name, and its meaning."""

_FILE = beside(__file__, "number_fields")


def _fields(*tables: str) -> tuple[Field, ...]:
    """The fields of some tables of the file, each quantity with its ends."""
    columns = ((name, *column) for table in tables for name, column in _FILE[table].items())
    return tuple(field for name, kind, text in columns for field in _with_ends(name, kind, text))


def _with_ends(name: str, kind: Any, text: str) -> Iterator[Field]:  # noqa: ANN401 (of TOML)
    if kind in ENDS:
        quantity, _, unit = name.rpartition("_")
        yield from (
            Field(f"{quantity}{end}_{unit}", "number", words) for end, words in {"": text, **ENDS[kind]}.items()
        )
    else:
        yield Field(name, kind, text)


COST_FIELDS = _fields("place", "time", "events", "trust_in_time")
COUNT_FIELDS = _fields("place", "count", "events", "trust_in_count")
FIGURE_FIELDS = (*_fields("source"), *fields_of(FIGURE_COLUMNS), *_fields("recomputed"))
CLAIMS = _fields("claim")
RUN_FIELDS = _fields("run")
"""Before the columns of each row of the files of submissions."""


def number_rows(submissions: Iterable[Submission], numbers: Numbers) -> Iterator[TableRow]:
    """Every case of each of `submissions`, all of times or all of instructions; of one withdrawn, none is current."""
    for submission in submissions:
        # The cells that all rows of a submission share.
        document = submission.document
        place: Cells = {
            "machine": submission.machine,
            "machine_name": names.machine_name(submission),
            "tier": names.tier(document.machine, submission.metric),
            "kernel_release": document.system.kernel_release,
            "submission": submission.id,
            "date": submission.date,
            "suite": submission.suite,
        }
        fields = COST_FIELDS if submission.metric == "time" else COUNT_FIELDS
        for one in submission.numbers:
            made = place | {"tracer_version": one.tool_version, "current": numbers.is_current(one)}
            made |= _time(one) if one.is_time else _count(one)
            yield TableRow((field.name, _cell(one, made, field)) for field in fields)


def figure_rows(sources: Iterable[PublishedSource]) -> Iterator[TableRow]:
    """Every published figure, by source, beside what it comes to when computed again."""
    for source in sources:
        document = source.document
        place: Cells = {"source": source.id, "source_title": document.title, "source_date": document.date}
        for figure in source.figures:
            own = {column.name: _plain(getattr(figure, column.name)) for column in FIGURE_COLUMNS}
            found = source.recomputed.get(figure.figure)
            again: Cells = {
                "recomputed": short(float(found.value)) if found else None,
                "verdict": found.verdict if found else None,
            }
            yield TableRow(place | own | again)


def _time(one: Number) -> Cells:
    """Cells of a time that it does not have under their own names."""
    cells = {"baseline_ns": one.baseline.value if one.baseline else None}
    cells |= interval_json(one.cost, "cost", "ns") | interval_json(one.slowdown, "slowdown", "ratio")
    cells |= thresholds_json({percent: one.threshold(percent) for percent in THRESHOLDS})
    cells |= interval_json(one.attach, "attach", "ns") | interval_json(one.detach, "detach", "ns")
    cells |= interval_json(one.tracer_cpu or one.cpu, "tracer_cpu", "ns")
    cells |= interval_json(one.memory, "tracer_rss", "bytes")
    return {**cells, "grade_reasons": "; ".join(one.grade_reasons) or None}


def _count(one: Number) -> Cells:
    """Cells of a count that it does not have under their own names."""
    ends = spread_json(one.baseline, "baseline") | spread_json(one.cost, "cost")
    ends |= spread_json(one.attach, "attach") | spread_json(one.detach, "detach")
    machine = one.submission.document.machine
    place: Cells = {"architecture": names.architecture(machine.architecture), "cpus": machine.threads}
    return {**place, **ends, "faults": "; ".join(one.faults) or None}


def _cell(one: Number, made: Cells, field: Field) -> CellValue:
    """The cell that was made for a field, or else the number's attribute of that name."""
    found: Any = made[field.name] if field.name in made else getattr(one, field.name)
    cell: CellValue = short(found) if field.kind == "number" else found
    return cell


def _plain(value: object) -> CellValue:
    """A cell of `figures.csv`; decimals become numbers."""
    return value if value is None or isinstance(value, int | str) else float(str(value))
