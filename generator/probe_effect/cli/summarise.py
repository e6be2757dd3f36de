"""`probe-effect summarise`: cost, interval, slowdown, thresholds, loss, noise floor and grade per case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from probe_effect import units
from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option, given_folders
from probe_effect.errors import BadData
from probe_effect.guidance import names
from probe_effect.guidance.catalogue import read_submission
from probe_effect.pages import wording
from probe_effect.store.places import Submission

if TYPE_CHECKING:
    from probe_effect.guidance.catalogue import MeasuredSubmission
    from probe_effect.model import CaseSummary, Problem, SubmissionSummary


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR...")
@data_option
@output.format_option
def summarise(folders: tuple[Path, ...], data_path: Path | None, form: str) -> None:
    """Say what the submissions in DIR measured.

    \b
    Example: probe-effect summarise data/results/*/* --format json
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path)
    problems: list[Problem] = []
    read = [read_submission(Submission(path.resolve()), data, problems) for path in given_folders(folders)]
    if problems:
        raise BadData(problems)
    submissions = [one for one in read if one is not None]
    if form == "json":
        output.product_json({"submissions": [_submission_json(one.summary) for one in submissions]})
        return
    for one in submissions:
        _print_submission(one)


def _submission_json(summary: SubmissionSummary) -> dict[str, Any]:
    """The JSON contract of `summarise`; null where there is no value."""
    return {
        "id": summary.id,
        "machine": summary.machine,
        "suite": summary.suite,
        "metric": summary.metric,
        "grade": summary.grade,
        "grade_reasons": list(summary.grade_reasons),
        "noise_floor_ns": summary.noise_floor_ns,
        "baseline_ns": summary.baseline_ns,
        "cases": [_case_json(case) for case in summary.cases],
    }


def _case_json(case: CaseSummary) -> dict[str, Any]:
    return {
        "case": case.case,
        "tracer": case.tracer,
        "level": case.level,
        "status": case.status,
        "blocks": case.blocks,
        "baseline_ns": case.baseline_ns,
        **output.interval_json(case.cost, "cost", "ns"),
        "fastest_ns": case.fastest_ns,
        "noise_floor_ns": case.noise_floor_ns,
        **output.interval_json(case.slowdown, "slowdown", "ratio"),
        **output.interval_json(case.threshold_1, "threshold_1", "hz"),
        **output.interval_json(case.threshold_5, "threshold_5", "hz"),
        **output.interval_json(case.threshold_30, "threshold_30", "hz"),
        **output.interval_json(case.attach, "attach", "ns"),
        **output.interval_json(case.detach, "detach", "ns"),
        "loss_ratio": case.loss_ratio,
        "reconciled": case.reconciled,
        "distinguishable": case.distinguishable,
        "grade": case.grade,
        "grade_reasons": list(case.grade_reasons),
        "rate_hz": case.rate_hz,
        "far_out_blocks": list(case.far_out_blocks),
        "note": case.note,
    }


def _print_submission(submission: MeasuredSubmission) -> None:
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
