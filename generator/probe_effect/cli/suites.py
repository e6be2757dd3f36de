"""`probe-effect suites`: what there is to measure, and what can be measured here."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option

if TYPE_CHECKING:
    from probe_effect.store.suite_file import Suite


@click.command()
@data_option
@output.format_option
def suites(data_path: Path | None, output_format: str) -> None:
    """List suites and cases, and for each tracer whether it can run here and why not."""
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.host.mounts import mount_for_our_time
    from probe_effect.measure.request import choose_suites

    mount_for_our_time()
    rows = [row for folder, suite in choose_suites(data, []) for row in _rows(folder, suite)]
    if output_format == "json":
        output.product_json({"cases": rows})
        return

    from probe_effect.cli.tables import show_section, show_table

    reasons = list(dict.fromkeys(row["missing"] for row in rows if row["missing"]))
    marks = {None: "yes"} | {reason: f"no [{number}]" for number, reason in enumerate(reasons, 1)}
    cells = ([row["suite"], row["case"], row["tracer"], marks[row["missing"]]] for row in rows)
    show_table(["suite", "case", "tracer", "can run here"], [], cells)
    show_section("\nWhy not", ([f"[{number}]", reason] for number, reason in enumerate(reasons, 1)))


def _rows(folder: Path, suite: "Suite") -> list[dict[str, Any]]:
    """One row per case and tracer that the suite has a script for."""
    from probe_effect.machine.kernel import architecture
    from probe_effect.numbers import names
    from probe_effect.store.suite_file import script_paths
    from probe_effect.tracers.registry import known_tracers

    here = architecture()
    rows: list[dict[str, Any]] = []
    # Many start their tool to find out, and are asked once, not once for each case.
    absent = {tracer.id: tracer.available() for tracer in known_tracers().values()}
    for case in suite.cases:
        elsewhere = (
            None if case.is_of(here) else f"only {' and '.join(map(names.architecture, case.architectures))} has it"
        )
        for tracer in known_tracers().values():
            if scripts := script_paths(folder, suite, case.id, tracer.tool):
                reasons = (elsewhere, absent[tracer.id], *(tracer.missing(need) for need in case.needs))
                missing = next(filter(None, reasons), None)
                named = {"suite": suite.id, "case": case.id, "tracer": tracer.id}
                rows.append({**named, "levels": tuple(chain.from_iterable(scripts.values())), "missing": missing})
    return rows
