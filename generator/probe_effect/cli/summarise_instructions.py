"""The table that `probe-effect summarise` prints of a submission that counts instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from probe_effect import units
from probe_effect.cli import output
from probe_effect.guidance import names
from probe_effect.guidance.instructions import added_ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe_effect.guidance.catalogue import CountedSubmission
    from probe_effect.model import InstructionCase, InstructionSummary

COLUMNS: tuple[tuple[str, Callable[[InstructionCase], str]], ...] = (
    ("instructions per event (range)", lambda case: units.spread(case.cost_instructions, units.INSTRUCTIONS)),
    ("untraced", lambda case: units.spread(case.baseline_instructions, units.INSTRUCTIONS)),
    ("share added", lambda case: units.percent(added_ratio(case))),
    ("lost", lambda case: units.percent(case.loss_ratio)),
    ("kprobes made by", lambda case: case.mechanism or units.MISSING),
    ("blocks", lambda case: units.count(case.blocks)),
)
"""Title, and what stands in a row of it."""


def show_counts(submission: CountedSubmission) -> None:
    """The table on stdout, then the cases that are not to be compared, those without a count, and why."""
    console, summary = output.tables, submission.summary
    console.print(f"{summary.id}: {names.machine_name(submission.document)}", markup=False)
    console.print(
        f"instructions counted under Linux {submission.document.system.kernel_release}, no times; "
        f"untraced operation {units.spread(summary.baseline_instructions, units.INSTRUCTIONS)}\n",
        markup=False,
    )
    console.print(_table(summary))
    for case in summary.cases:
        for remark in _remarks(case):
            console.print(f"{case.case} {case.tracer}{_at_level(case)}: {remark}", markup=False)


def _table(summary: InstructionSummary) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("case")
    table.add_column("tracer")
    has_levels = any(case.level for case in summary.cases)
    if has_levels:
        table.add_column("level", justify="right")
    for title, _ in COLUMNS:
        table.add_column(title, justify="right")
    for case in summary.cases:
        if case.cost_instructions is not None:
            labels = [case.case, case.tracer, *([case.level] if has_levels else [])]
            table.add_row(*labels, *(cell(case) for _, cell in COLUMNS))
    return table


def _remarks(case: InstructionCase) -> list[str]:
    """What a reader must know before using the count."""
    faults = [f"not to be compared: {fault}" for fault in case.faults]
    return faults + ([f"{case.status}: {case.note}"] if case.note else [])


def _at_level(case: InstructionCase) -> str:
    return "" if case.level is None else f" at level {case.level}"
