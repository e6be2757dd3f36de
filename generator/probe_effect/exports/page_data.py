"""The numbers of each page as files beside it, a row for each number of ours and each published figure.

`data` holds what the page is about. A page on which times, instructions and published figures meet has `counts` and
`published` beside it, because the three never share a table; `number_fields.toml` has the fields of each.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from probe_effect.exports.facts import verdicts
from probe_effect.exports.files import LICENCE, CellValue, DataTable, Field, TableRow, fields_of, json_of, write_table
from probe_effect.exports.script_values import short
from probe_effect.model import interval_json, spread_json, thresholds_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.index import Numbers, grouped_by
from probe_effect.numbers.shown import shown_machines
from probe_effect.pages import addresses
from probe_effect.reduce.submission import THRESHOLDS, Number, Submission
from probe_effect.store.beside_files import FIGURE_COLUMNS
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
    cells |= interval_json(one.cost, "cost", "ns") | interval_json(one.time.slowdown, "slowdown", "ratio")
    cells |= thresholds_json({percent: one.threshold(percent) for percent in THRESHOLDS})
    cells |= interval_json(one.event.attach, "attach", "ns") | interval_json(one.event.detach, "detach", "ns")
    cells |= interval_json(one.own_use.cpu or one.time.cpu, "tracer_cpu", "ns")
    cells |= interval_json(one.own_use.memory or one.time.memory, "tracer_rss", "bytes")
    cells["tracer_calls"] = one.own_use.calls
    return {**cells, "grade_reasons": "; ".join(one.grade_reasons) or None}


def _count(one: Number) -> Cells:
    """Cells of a count that it does not have under their own names."""
    ends = spread_json(one.baseline, "baseline") | spread_json(one.cost, "cost")
    ends |= spread_json(one.event.attach, "attach") | spread_json(one.event.detach, "detach")
    machine = one.submission.document.machine
    place: Cells = {"architecture": names.architecture(machine.architecture), "cpus": machine.threads}
    return {**place, **ends, "faults": "; ".join(one.faults) or None}


def _cell(one: Number, made: Cells, field: Field) -> CellValue:
    """The cell that was made for a field, or else the attribute of that name of the number or of its result."""
    holder = one if hasattr(one, field.name) else one.time if one.is_time else one.count
    found: Any = made[field.name] if field.name in made else getattr(holder, field.name)
    cell: CellValue = short(found) if field.kind == "number" else found
    return cell


def _plain(value: object) -> CellValue:
    """A cell of `figures.csv`; decimals become numbers."""
    return value if value is None or isinstance(value, int | str) else float(str(value))


Tables = dict[str, DataTable]
"""File name without its ending, to the table in it."""

TITLES = {"data": "This page's numbers", "counts": "Its instructions", "published": "Its published figures"}
"""The title that a page gives each of its tables."""


class Rows(NamedTuple):
    """Every number of the site, times, instructions and published figures apart."""

    costs: tuple[TableRow, ...]
    counts: tuple[TableRow, ...]
    figures: tuple[TableRow, ...]


def rows(catalogue: Catalogue) -> Rows:
    """The rows of all numbers, each made once."""
    return Rows(
        tuple(number_rows(catalogue.timed, catalogue.numbers)),
        tuple(number_rows(catalogue.counted, catalogue.numbers)),
        tuple(figure_rows(catalogue.sources)),
    )


def whole_tables(found: Rows) -> Tables:
    """The whole tables for `/data/`: one for each type of number."""
    return {
        "costs": DataTable("Costs of all submissions", COST_FIELDS, found.costs),
        "counts": DataTable("Instructions of all submissions", COUNT_FIELDS, found.counts),
        "figures": DataTable("Published figures of all sources", FIGURE_FIELDS, found.figures),
    }


def page_tables(catalogue: Catalogue, whole: Rows) -> dict[str, Tables]:
    """Address of a page to its tables; what was skipped, half of all rows, is beside its submission only."""
    found = Rows(*(tuple(row for row in some if row.get("status") != "skipped") for some in whole))
    costs, counts = (tuple(row for row in some if row["current"]) for some in (found.costs, found.counts))
    of_our_cases = (row for row in found.figures if row["case"] is not None and row["cost_ns"] is not None)
    claims = tuple(TableRow((field.name, one[field.name]) for field in CLAIMS) for one in verdicts(catalogue))
    pages = {
        "/costs/": {"data": DataTable("What one event costs, current on each machine", COST_FIELDS, costs)},
        "/kernels/": {"data": DataTable("Instructions of one event, all counts", COUNT_FIELDS, found.counts)},
        "/sources/": {"data": DataTable("Published figures", FIGURE_FIELDS, found.figures)},
        "/claims/": {"data": DataTable("Claims on what tracing costs, with verdicts", CLAIMS, claims)},
    }
    # A page that shows some machines has their rows beside it; those of a case, and of all costs, have every machine's.
    shown = set(shown_machines(catalogue.numbers))
    few = Rows(tuple(row for row in costs if row["machine"] in shown), counts, ())
    by_suite = [grouped_by(some, itemgetter("suite")) for some in few]
    by_case = [grouped_by(some, itemgetter("case")) for some in (costs, counts, of_our_cases)]
    by_tool = [grouped_by(some, _tool) for some in few]
    for folder in catalogue.suites:
        suite = folder.suite
        pages[addresses.suite(suite.id)] = _mixed(f"Suite {suite.id}: {suite.title}", by_suite, suite.id)
        for case in suite.cases:
            pages[addresses.case(case.id)] = _mixed(catalogue.titles[case.id], by_case, case.id)
    for tool in sorted({_tool(row) for row in (*found.costs, *found.counts)}):
        pages[addresses.tracer(tool)] = _mixed(f"Measured with {tool}", by_tool, tool)
    pages |= _each("machine", addresses.machine, "Times on", COST_FIELDS, found.costs)
    pages |= _each("machine", addresses.kernel, "Instructions on", COUNT_FIELDS, found.counts)
    pages |= _each("submission", addresses.submission, "Submission", COST_FIELDS, whole.costs)
    pages |= _each("submission", addresses.submission, "Submission", COUNT_FIELDS, whole.counts)
    for one in catalogue.withdrawn:
        fields = COST_FIELDS if one.metric == "time" else COUNT_FIELDS
        own = tuple(number_rows([one], catalogue.numbers))
        pages[addresses.submission(one.id)] = {"data": DataTable(f"Submission {one.id}, withdrawn", fields, own)}
    return pages | _each("source", addresses.figure, "Published figures of", FIGURE_FIELDS, found.figures)


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
    """A page for each value of `key`, with its rows."""
    groups: dict[str, list[TableRow]] = grouped_by(rows, itemgetter(key))
    called = "machine_name" if key == "machine" else key
    return {
        address(value): {"data": DataTable(f"{title} {own[0][called]}", fields, tuple(own))}
        for value, own in groups.items()
    }


def _tool(row: TableRow) -> str:
    """The tool that measured the row, whatever its version."""
    return names.tool_of(str(row["tracer"]))
