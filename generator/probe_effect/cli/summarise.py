"""`probe-effect summarise`: what submissions measured; here the table of times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option, given_folders
from probe_effect.cli.summarise_instructions import show_counts
from probe_effect.cli.summarise_json import as_json
from probe_effect.errors import BadData
from probe_effect.guidance import names
from probe_effect.guidance.catalogue import MeasuredSubmission, read_submission
from probe_effect.pages import wording
from probe_effect.store.places import Submission

if TYPE_CHECKING:
    from probe_effect.model import CaseSummary, Problem


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@data_option
@output.format_option
def summarise(folders: tuple[Path, ...], data_path: Path | None, form: str) -> None:
    """Say what the submissions in DIR measured.

    \b
    Example: probe-effect summarise data/results/*/* --format json
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, may_be_new=True)
    problems: list[Problem] = []
    read = [read_submission(Submission(path.resolve()), data, problems) for path in given_folders(folders)]
    if problems:
        raise BadData(problems)
    submissions = [one for one in read if one is not None]
    if form == "json":
        output.product_json({"submissions": [as_json(one.summary) for one in submissions]})
        return
    for place, one in enumerate(submissions):
        if place:
            output.tables.print()
        if isinstance(one, MeasuredSubmission):
            _show_times(one)
        else:
            show_counts(one)


def _show_times(submission: MeasuredSubmission) -> None:
    console, summary = output.tables, submission.summary
    reasons = f" ({'; '.join(summary.grade_reasons)})" if summary.grade_reasons else ""
    console.print(f"{summary.id}: {names.machine_name(submission.document)}", markup=False)
    console.print(
        f"grade {summary.grade}{reasons}; untraced operation {units.duration(summary.baseline_ns)}, "
        f"noise floor {units.duration(summary.noise_floor_ns, 2)}\n",
        markup=False,
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("case")
    table.add_column("tracer")
    has_levels = any(case.level for case in summary.cases)
    if has_levels:
        table.add_column("level", justify="right")
    for title in ("cost of one event (95 %)", "slowdown of the loop", "1 % at", "5 % at", "30 % at", "lost", "grade"):
        table.add_column(title, justify="right")
    for case in summary.cases:
        if case.cost is not None:
            table.add_row(case.case, case.tracer, *([case.level] if has_levels else []), *_cells(case))
    console.print(table)
    for case in summary.cases:
        if case.cost is None or case.note:
            console.print(f"{case.case} {case.tracer}: {case.status}: {case.note}", markup=False)


def _cells(case: CaseSummary) -> tuple[str, ...]:
    return (
        wording.cost(case),
        wording.slowdown(case),
        *wording.thresholds(case),
        units.percent(case.loss_ratio),
        case.grade or units.MISSING,
    )
