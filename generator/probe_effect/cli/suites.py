"""`probe-effect suites`: what there is to measure, and what can be measured here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option
from probe_effect.errors import BadData
from probe_effect.store.suite_file import read_suite, script_path
from probe_effect.tracers.registry import known_tracers

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@data_option
@output.format_option
def suites(data_path: Path | None, form: str) -> None:
    """List suites and cases, and for each tracer whether it can run here and why not."""
    rows = [row for folder in data_folder(data_path, may_be_new=True).suites() for row in _rows(folder)]
    if form == "json":
        output.product_json({"cases": rows})
        return
    table = Table(box=None, pad_edge=False)
    for title in ("suite", "case", "tracer", "can run here"):
        table.add_column(title)
    for row in rows:
        table.add_row(row["suite"], row["case"], row["tracer"], row["missing"] or "yes")
    output.tables.print(table)


def _rows(folder: Path) -> list[dict[str, Any]]:
    """One row per case and tracer that the suite has a script for."""
    suite, problems = read_suite(folder, str(folder / "suite.toml"))
    if suite is None:
        raise BadData(problems)
    rows: list[dict[str, Any]] = []
    for case in suite.cases:
        for tracer in known_tracers().values():
            if script_path(folder, case.id, tracer.tool):
                reasons = (tracer.available(), *(tracer.missing(need) for need in case.needs))
                missing = next(filter(None, reasons), None)
                named = {"suite": suite.id, "case": case.id, "tracer": tracer.id}
                rows.append({**named, "levels": suite.levels, "missing": missing})
    return rows
