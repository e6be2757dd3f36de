"""Files as a build writes them: tables with their units, zips that are the same wherever they are made, rows of pages.

Beside a page are its rows, one for each number of ours and each published figure. `data` holds what the page is about.
A page on which times, instructions and published figures meet has `counts` and `published` beside it, because the three
never share a table; `number_fields.toml` has the fields of each.
"""

import filecmp
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from probe_effect.model import interval_json, spread_json, thresholds_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import Numbers, grouped_by
from probe_effect.numbers.shown import shown_machines
from probe_effect.numbers.submission import THRESHOLDS, Number, Submission
from probe_effect.records import beside
from probe_effect.site.facts import verdicts
from probe_effect.site.pages import addresses
from probe_effect.site.script_values import short
from probe_effect.store.beside_files import FIGURE_COLUMNS
from probe_effect.store.tables import FORMULA_START, Column, csv_line

FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the time of every file in a zip: the earliest that the format has
READABLE = 0o644 << 16


def write(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, into a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def copy(source: Path, target: Path) -> None:
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

FORMS = ("csv", "json", "parquet")  # the endings that a whole table may have
FieldType = Literal["integer", "number", "string", "boolean", "date"]  # as Table Schema calls them
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


# The end of a quantity's name to its unit; a ratio of 0.05 reads 5 %.
UNITS = {"_ns": "ns", "_hz": "events/s", "_ratio": "ratio", "_bytes": "bytes", "_calls": "calls"}
UNITS |= {"instructions": "instructions"}


class Field(NamedTuple):
    """One column of a table."""

    name: str
    kind: FieldType
    text: str

    @property
    def unit(self) -> str | None:
        if self.kind not in {"integer", "number"}:
            return None
        return next((unit for end, unit in UNITS.items() if self.name.endswith(end)), None)

    def described(self) -> dict[str, str | None]:
        return {"name": self.name, "type": self.kind, "unit": self.unit, "description": self.text}


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows with the fields that each of them has, and what they are."""

    title: str
    fields: tuple[Field, ...]
    rows: tuple[TableRow, ...]
    count: int | None = None  # how many rows there are, where they are not all here


def fields_of(columns: Iterable[Column]) -> tuple[Field, ...]:
    return tuple(Field(column.name, column.kind, column.text) for column in columns)


def forms(name: str, folder: Path) -> list[Path]:
    paths = (folder / f"{name}.{ending}" for ending in FORMS)
    return [path for path in paths if path.is_file()]


def write_table(table: DataTable, path: Path, about: Mapping[str, object]) -> None:
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
    described = ({key: value for key, value in field.described().items() if value is not None} for field in fields)
    return {"fields": list(described), "missingValues": [""]}


def safe_cell(value: CellValue) -> CellValue:
    """A cell that no spreadsheet runs: text that starts like a formula gets an apostrophe (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and FORMULA_START.match(value) else value


json_of = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # one line, without NaN

# The ends of a time and of a count: the end of the field's name, and its meaning.
ENDS = {
    "interval": {"_low": "Low end of its 95 % interval.", "_high": "High end of its 95 % interval."},
    "range": {"_least": "The least of its blocks.", "_greatest": "The greatest of its blocks."},
}
_FILE = beside(__file__, "number_fields")


def _fields(*tables: str) -> tuple[Field, ...]:
    """The fields of some tables of the file, each quantity with its ends."""
    fields = []
    for name, (kind, text) in (column for table in tables for column in _FILE[table].items()):
        if kind in ENDS:
            quantity, _, unit = name.rpartition("_")
            ends = {"": text, **ENDS[kind]}
            fields += [Field(f"{quantity}{end}_{unit}", "number", words) for end, words in ends.items()]
        else:
            fields.append(Field(name, kind, text))
    return tuple(fields)


COST_FIELDS = _fields("place", "time", "events", "trust_in_time")
COUNT_FIELDS = _fields("place", "count", "events", "trust_in_count")
FIGURE_FIELDS = (*_fields("source"), *fields_of(FIGURE_COLUMNS), *_fields("recomputed"))
CLAIMS = _fields("claim")
RUN_FIELDS = _fields("run")  # before the columns of each row of the files of submissions


def number_rows(submissions: Iterable[Submission], numbers: Numbers) -> Iterator[TableRow]:
    """Every case of each of `submissions`, all of times or all of instructions; of one withdrawn, none is current."""
    for submission in submissions:
        document, is_time = submission.document, submission.metric == "time"
        shared: dict[str, CellValue] = {
            "machine": submission.machine,
            "machine_name": names.machine_name(submission),
            "tier": names.tier(document.machine, submission.metric),
            "kernel_release": document.system.kernel_release,
            "submission": submission.id,
            "date": submission.date,
            "suite": submission.suite,
            "architecture": names.architecture(document.machine.architecture),
            "cpus": document.machine.threads,
        }
        fields = COST_FIELDS if is_time else COUNT_FIELDS
        for number in submission.numbers:
            made = (
                shared | {"tracer_version": number.tool_version, "current": numbers.is_current(number)} | _cells(number)
            )
            result = number.time if is_time else number.count
            row = TableRow()
            for field in fields:
                holder = number if hasattr(number, field.name) else result
                cell: Any = made[field.name] if field.name in made else getattr(holder, field.name)
                row[field.name] = short(cell) if field.kind == "number" else cell
            yield row


def _cells(number: Number) -> dict[str, CellValue]:
    """What is no attribute of a number, or not in words and figures."""
    if not number.is_time:
        return {
            **spread_json(number.baseline, "baseline"),
            **spread_json(number.cost, "cost"),
            **spread_json(number.event.attach, "attach"),
            **spread_json(number.event.detach, "detach"),
            "faults": "; ".join(number.faults) or None,
        }
    return {
        "baseline_ns": number.baseline.value if number.baseline else None,
        **interval_json(number.cost, "cost", "ns"),
        **interval_json(number.time.slowdown, "slowdown", "ratio"),
        **thresholds_json({percent: number.threshold(percent) for percent in THRESHOLDS}),
        **interval_json(number.event.attach, "attach", "ns"),
        **interval_json(number.event.detach, "detach", "ns"),
        **interval_json(number.own_use.cpu or number.time.cpu, "tracer_cpu", "ns"),
        **interval_json(number.own_use.memory or number.time.memory, "tracer_rss", "bytes"),
        "tracer_calls": number.own_use.calls,
        "grade_reasons": "; ".join(number.grade_reasons) or None,
    }


def figure_rows(sources: Iterable[PublishedSource]) -> Iterator[TableRow]:
    for source in sources:
        document = source.document
        for figure in source.figures:
            row = TableRow(source=source.id, source_title=document.title, source_date=document.date)
            for column in FIGURE_COLUMNS:
                cell = getattr(figure, column.name)
                row[column.name] = float(cell) if isinstance(cell, Decimal) else cell
            again = source.recomputed.get(figure.figure)
            row["recomputed"] = short(float(again.value)) if again else None
            row["verdict"] = again.verdict if again else None
            yield row


Tables = dict[str, DataTable]  # file name without its ending, to the table in it
TITLES = {"data": "This page's numbers", "counts": "Its instructions", "published": "Its published figures"}
"""The title that a page gives each of its tables."""


class Rows(NamedTuple):
    """Every number of the site, times, instructions and published figures apart."""

    costs: tuple[TableRow, ...]
    counts: tuple[TableRow, ...]
    figures: tuple[TableRow, ...]


def rows(catalogue: Catalogue) -> Rows:
    return Rows(
        tuple(number_rows(catalogue.timed, catalogue.numbers)),
        tuple(number_rows(catalogue.counted, catalogue.numbers)),
        tuple(figure_rows(catalogue.sources)),
    )


def whole_tables(every: Rows) -> Tables:
    return {
        "costs": DataTable("Costs of all submissions", COST_FIELDS, every.costs),
        "counts": DataTable("Instructions of all submissions", COUNT_FIELDS, every.counts),
        "figures": DataTable("Published figures of all sources", FIGURE_FIELDS, every.figures),
    }


def page_tables(catalogue: Catalogue, whole: Rows) -> dict[str, Tables]:
    """Address of a page to its tables; what was skipped, half of all rows, is beside its submission only."""
    kept_rows = Rows(*(tuple(row for row in some if row.get("status") != "skipped") for some in whole))
    costs, counts = (tuple(row for row in some if row["current"]) for some in (kept_rows.costs, kept_rows.counts))
    of_our_cases = (row for row in kept_rows.figures if row["case"] is not None and row["cost_ns"] is not None)
    claims = tuple(TableRow((field.name, claim[field.name]) for field in CLAIMS) for claim in verdicts(catalogue))
    pages = {
        "/costs/": {"data": DataTable("What one event costs, current on each machine", COST_FIELDS, costs)},
        "/kernels/": {"data": DataTable("Instructions of one event, all counts", COUNT_FIELDS, kept_rows.counts)},
        "/sources/": {"data": DataTable("Published figures", FIGURE_FIELDS, kept_rows.figures)},
        "/claims/": {"data": DataTable("Claims on what tracing costs, with verdicts", CLAIMS, claims)},
    }
    # A page that shows some machines has their rows beside it; those of a case, and of all costs, have every machine's.
    shown = set(shown_machines(catalogue.numbers))
    few = Rows(tuple(row for row in costs if row["machine"] in shown), counts, ())
    by_suite = [grouped_by(some, itemgetter("suite")) for some in few]
    by_case = [grouped_by(some, itemgetter("case")) for some in (costs, counts, of_our_cases)]
    by_tool = [grouped_by(some, lambda row: names.tool_of(str(row["tracer"]))) for some in few]
    for folder in catalogue.suites:
        suite = folder.suite
        pages[addresses.suite(suite.id)] = _mixed(f"Suite {suite.id}: {suite.title}", by_suite, suite.id)
        for case in suite.cases:
            pages[addresses.case(case.id)] = _mixed(catalogue.titles[case.id], by_case, case.id)
    for tool in sorted({names.tool_of(str(row["tracer"])) for row in (*kept_rows.costs, *kept_rows.counts)}):
        pages[addresses.tracer(tool)] = _mixed(f"Measured with {tool}", by_tool, tool)
    pages |= _each("machine", addresses.machine, "Times on", COST_FIELDS, kept_rows.costs)
    pages |= _each("machine", addresses.kernel, "Instructions on", COUNT_FIELDS, kept_rows.counts)
    pages |= _each("submission", addresses.submission, "Submission", COST_FIELDS, whole.costs)
    pages |= _each("submission", addresses.submission, "Submission", COUNT_FIELDS, whole.counts)
    for submission in catalogue.withdrawn:
        fields = COST_FIELDS if submission.metric == "time" else COUNT_FIELDS
        own = tuple(number_rows([submission], catalogue.numbers))
        pages[addresses.submission(submission.id)] = {
            "data": DataTable(f"Submission {submission.id}, withdrawn", fields, own)
        }
    return pages | _each("source", addresses.figure, "Published figures of", FIGURE_FIELDS, kept_rows.figures)


def write_page_data(pages: dict[str, Tables], catalogue: Catalogue, static: Path) -> str:
    """Write the tables of every page below `static`, and return the index of them that the layouts read, as JSON."""
    for address, tables in pages.items():
        for name, table in tables.items():
            write_table(table, static / address.strip("/") / name, about(catalogue, address))
    listed = {
        address.rstrip("/"): [
            {"name": name, "label": TITLES[name], "title": table.title, "rows": len(table.rows)}
            for name, table in tables.items()
        ]
        for address, tables in pages.items()
    }
    return json_of(listed)


def about(catalogue: Catalogue, address: str) -> dict[str, object]:
    """The head of every JSON file: its page, the version of the data, and the terms."""
    return {
        "page": catalogue.edition.address(address),
        "data_version": catalogue.version,
        "licence": {"name": LICENCE["name"], "url": LICENCE["url"]},
        "creator": LICENCE["creator"],
    }


def _mixed(title: str, kinds: Iterable[dict[str, list[TableRow]]], value: str) -> Tables:
    """The tables of a page on which all three kinds meet; costs always, so that their path stays."""
    costs, counts, figures = (tuple(groups.get(value, ())) for groups in kinds)
    tables = {"data": DataTable(title, COST_FIELDS, costs)}
    if counts:
        tables["counts"] = DataTable(f"{title}, instructions", COUNT_FIELDS, counts)
    if figures:
        tables["published"] = DataTable(f"{title}, published figures", FIGURE_FIELDS, figures)
    return tables


def _each(
    key: str, address: Callable[[str], str], title: str, fields: tuple[Field, ...], rows: Iterable[TableRow]
) -> dict[str, Tables]:
    groups: dict[str, list[TableRow]] = grouped_by(rows, itemgetter(key))
    called = "machine_name" if key == "machine" else key
    return {
        address(value): {"data": DataTable(f"{title} {own[0][called]}", fields, tuple(own))}
        for value, own in groups.items()
    }
