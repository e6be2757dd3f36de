"""A review to the values that are printed of it (`review_report`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from probe_effect import units
from probe_effect.guidance import names
from probe_effect.guidance.catalogue import MeasuredSubmission
from probe_effect.guidance.instruction_change import difference_instructions
from probe_effect.model import CaseSummary, Interval, Spread
from probe_effect.pages import comparison, instructions, wording
from probe_effect.pages.review_report import (
    MAX_FEW,
    MAX_LINE,
    CaseRow,
    ChangeRow,
    ComparedRow,
    FileRow,
    Listed,
    NearestRow,
    NumberRow,
    ProblemRow,
    RemarkRow,
    ReviewReport,
    SourceRow,
    SubmissionRow,
    is_writable,
)
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.guidance.catalogue import CountedSubmission, PublishedSource
    from probe_effect.guidance.comparison import Comparison
    from probe_effect.guidance.instruction_change import Change as CountChange
    from probe_effect.guidance.nearest import Nearest
    from probe_effect.guidance.remarkable import Remark
    from probe_effect.guidance.review import NewSubmission, NumberChange, Review, Value
    from probe_effect.model import InstructionCase, Problem
    from probe_effect.store.changes_file import Change

T = TypeVar("T")

FIGURE_UNITS = {"percent": "%", "us": "µs", "hz": "/s"}
"""How units are written that a column of `figures.csv` spells otherwise."""


def report(found: Review, problems: Iterable[Problem], base: str, head: str) -> ReviewReport:
    """Everything that is printed, in the order in which it is.

    Args:
        base, head: how the two states are called.
    """
    return ReviewReport(
        schema_version=1,
        base=_line(base),
        head=_line(head),
        problems=_listed(_problem(one) for one in problems),
        submissions=_listed(_submission(one) for one in found.submissions),
        sources=_listed(_source(one) for one in found.sources),
        changes=_listed(_log_entry(one) for one in found.changes),
        numbers=_listed(_number(one) for one in found.numbers),
        files=_listed(
            [
                *(FileRow(change="changed", path=_line(path)) for path in found.files.changed),
                *(FileRow(change="gone", path=_line(path)) for path in found.files.gone),
                *(FileRow(change="added", path=_line(path)) for path in found.files.added),
            ]
        ),
    )


def _listed(rows: Iterable[T]) -> Listed[T]:
    return Listed(rows=tuple(rows))


def _line(text: str) -> str:
    """One line of plain text, cut where it is too long; never empty. The blanks of our own numbers stay."""
    plain = (char if char in (units.GAP, units.GROUP) else printable(char) for char in text[:MAX_LINE])
    found = "".join(plain)
    return (found if len(found) <= MAX_LINE else f"{found[: MAX_LINE - 1]}…") or units.MISSING


def _optional(text: str | None) -> str | None:
    return None if text is None else _line(text)


def _few(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_line(text) for text in texts)[:MAX_FEW]


def _value(number: float | None) -> float | None:
    """A number that can be written; what no measurement could have is left out."""
    return number if number is not None and is_writable(number) else None


def _problem(one: Problem) -> ProblemRow:
    return ProblemRow(
        severity=one.severity,
        file=_line(one.file),
        line=one.line,
        column=one.column,
        rule=_line(one.rule),
        message=_line(one.message),
        hint=_line(one.hint),
    )


def _submission(new: NewSubmission) -> SubmissionRow:
    one = new.submission
    document, summary = one.document, one.summary
    timed = one.summary if isinstance(one, MeasuredSubmission) else None
    return SubmissionRow(
        id=_line(one.files.id),
        machine=_line(document.machine.id),
        name=_line(_name(one)),
        tier=_line(wording.tier(document)),
        suite=_line(summary.suite),
        metric=document.run.metric,
        submitter=_optional(document.submitter.name),
        grade=timed.grade if timed else None,
        grade_reasons=_few(timed.grade_reasons) if timed else (),
        blocks=document.run.blocks,
        noise_floor_ns=_value(timed.noise_floor_ns) if timed else None,
        baseline_ns=_value(timed.baseline_ns) if timed else None,
        cases=_listed(_timed(case) if isinstance(case, CaseSummary) else _counted(case) for case in summary.cases),
        remarks=_listed(_remark(remark) for remark in new.remarks),
        nearest=_nearest(new.nearest) if new.nearest else None,
    )


def _name(one: MeasuredSubmission | CountedSubmission) -> str:
    if isinstance(one, MeasuredSubmission):
        return names.machine_name(one.document)
    return instructions.machine_name(one.document)


def _timed(case: CaseSummary) -> CaseRow:
    cost = case.cost or Interval(0.0)
    return CaseRow(
        case=_line(case.case),
        tracer=_line(case.tracer),
        level=_optional(case.level),
        status=case.status,
        blocks=case.blocks,
        distinguishable=case.distinguishable,
        noise_floor_ns=_value(case.noise_floor_ns),
        cost_ns=_value(cost.value) if case.cost else None,
        cost_low_ns=_value(cost.low),
        cost_high_ns=_value(cost.high),
        loss_ratio=_value(case.loss_ratio),
        grade=case.grade,
        note=_optional(case.note),
    )


def _counted(case: InstructionCase) -> CaseRow:
    cost = case.cost_instructions
    return CaseRow(
        case=_line(case.case),
        tracer=_line(case.tracer),
        level=_optional(case.level),
        status=case.status,
        blocks=case.blocks,
        cost_instructions=_value(cost.median) if cost else None,
        cost_least_instructions=_value(cost.least) if cost else None,
        cost_greatest_instructions=_value(cost.greatest) if cost else None,
        loss_ratio=_value(case.loss_ratio),
        note=_optional("; ".join([*case.faults, *filter(None, [case.note])]) or None),
    )


def _remark(one: Remark) -> RemarkRow:
    case, tracer, level = one.key
    return RemarkRow(case=_line(case), tracer=_line(tracer), level=_optional(level), words=_line(one.words))


def _nearest(one: Nearest) -> NearestRow:
    timed = [_compared(found) for found in one.comparisons]
    counted = [_count_compared(found) for found in one.changes]
    return NearestRow(
        machine=_line(one.likeness.machine),
        name=_line(_name(one.newest)),
        reasons=_few(one.likeness.reasons),
        comparable=one.likeness.comparable,
        sentences=_few(_sentences(one.comparisons)),
        compared=_listed([*timed, *counted]),
    )


def _sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """How often each outcome came out, and how often by chance alone."""
    if not comparisons:
        return []
    here = comparison.machine_label(comparisons[0].second.submission)
    return [comparison.summary(comparisons, f"on {here}"), comparison.chance(comparisons)]


def _compared(found: Comparison) -> ComparedRow:
    difference, ratio, outcome = comparison.cells(found)
    before, after = (units.interval(one.case.cost, units.DURATION) for one in (found.first, found.second))
    key = found.second.key
    return ComparedRow(
        case=key.case,
        tracer=key.tracer,
        level=key.level,
        before=_line(before),
        after=_line(after),
        difference=_line(difference),
        ratio=_line(ratio),
        outcome=_line(outcome),
    )


def _count_compared(found: CountChange) -> ComparedRow:
    before, after = instructions.counts(found)
    key = found.second.key
    return ComparedRow(
        case=key.case,
        tracer=key.tracer,
        level=key.level,
        before=_line(before),
        after=_line(after),
        difference=_line(units.quantity(difference_instructions(found), units.INSTRUCTIONS)),
        ratio=_line(instructions.change(found)),
        outcome=_line(found.outcome),
    )


def _number(one: NumberChange) -> NumberRow:
    return NumberRow(id=_line(one.id), kind=one.kind, old=_written(one.old), new=_written(one.new))


def _written(value: Value | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, Interval):
        return _line(units.interval(value, units.DURATION))
    if isinstance(value, Spread):
        return _line(units.spread(value, units.INSTRUCTIONS))
    return _line(f"{value.value}{units.GAP}{FIGURE_UNITS.get(value.unit, value.unit)}")


def _log_entry(one: Change) -> ChangeRow:
    return ChangeRow(
        date=one.date,
        kind=one.kind,
        what=_few(one.what),
        more=max(0, len(one.what) - MAX_FEW),
        why=_line(one.why),
        old=_optional(one.old),
        new=_optional(one.new),
    )


def _source(one: PublishedSource) -> SourceRow:
    return SourceRow(id=_line(one.id), title=_line(one.document.title), figures=len(one.figures))
