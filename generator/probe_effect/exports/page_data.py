"""The numbers of each page from data as files beside it, at paths that stay: `data.csv` and `data.json`.

`data` holds what the page is about. A page on which times, instructions and published figures meet has `counts` and
`published` beside it, because the three never share a table.
"""

from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from probe_effect.exports.claims import verdicts
from probe_effect.exports.files import LICENCE, DataTable, Field, TableRow, json_of, write_table
from probe_effect.exports.number_rows import CLAIMS, COST_FIELDS, COUNT_FIELDS, FIGURE_FIELDS, figure_rows, number_rows
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.once import grouped_by
from probe_effect.numbers.shown import shown_machines
from probe_effect.pages import addresses

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
