"""A review to the values that are printed of it (`review_report`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.numbers import names
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
from probe_effect.reduce.submission import Number
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.compare.comparison import Comparison
    from probe_effect.compare.nearest import Nearest
    from probe_effect.compare.review import Kind, NewSubmission, NumberChange, Review, Value
    from probe_effect.compare.review_flags import Flag
    from probe_effect.model import Problem
    from probe_effect.numbers.catalogue import PublishedSource
    from probe_effect.reduce.submission import Number
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
    document = one.document
    is_time = one.metric == "time"
    return SubmissionRow(
        id=_line(one.id),
        machine=_line(one.machine),
        name=_line(names.machine_title(document)),
        tier=_line(wording.tier(document)),
        suite=_line(one.suite),
        metric=one.metric,
        submitter=_optional(document.submitter.name),
        grade=one.grade,
        grade_reasons=_few(one.grade_reasons),
        blocks=document.run.blocks,
        noise_floor_ns=_value(one.noise_floor_ns),
        baseline_ns=_value(one.baseline.value) if one.baseline and is_time else None,
        cases=_listed(_case(number) for number in one.numbers),
        remarks=_listed(_flag(flag) for flag in new.flags),
        nearest=_nearest(new.nearest) if new.nearest else None,
    )


def _case(one: Number) -> CaseRow:
    low, value, high = (None, None, None) if one.cost is None else (one.cost.low, one.cost.value, one.cost.high)
    if one.is_time:
        cost = {"cost_ns": value, "cost_low_ns": low, "cost_high_ns": high, "noise_floor_ns": one.noise_floor_ns}
        notes = [one.note]
    else:
        names = ("cost_instructions", "cost_least_instructions", "cost_greatest_instructions")
        cost = dict(zip(names, (value, low, high), strict=True))
        notes = [*one.faults, one.note]
    return CaseRow(
        case=_line(one.case),
        tracer=_line(one.tracer),
        level=_optional(one.level),
        status=one.status,
        blocks=one.blocks,
        distinguishable=one.distinguishable,
        loss_ratio=_value(one.loss_ratio),
        grade=one.grade,
        note=_optional("; ".join(filter(None, notes)) or None),
        **{name: _value(value) for name, value in cost.items()},
    )


def _flag(one: Flag) -> RemarkRow:
    case, tracer, level = one.key
    return RemarkRow(case=_line(case), tracer=_line(tracer), level=_optional(level), words=_line(one.words))


def _nearest(one: Nearest) -> NearestRow:
    return NearestRow(
        machine=_line(one.likeness.machine),
        name=_line(names.machine_title(one.newest.document)),
        reasons=_few(one.likeness.reasons),
        comparable=one.likeness.comparable,
        sentences=_few(_sentences([found for found in one.comparisons if found.first.is_time])),
        compared=_listed(_compared(found) for found in one.comparisons),
    )


def _sentences(comparisons: Sequence[Comparison]) -> list[str]:
    """How often each outcome came out, and how often by chance alone."""
    if not comparisons:
        return []
    here = names.machine_label(comparisons[0].second.submission)
    return [comparison.summary(comparisons, f"on {here}"), comparison.chance(comparisons)]


def _compared(found: Comparison) -> ComparedRow:
    if found.first.is_time:
        before, after = (units.interval(one.cost, units.DURATION) for one in (found.first, found.second))
        difference, ratio = comparison.cells(found)[:2]
    else:
        before, after = instructions.counts(found)
        difference = units.quantity(found.difference.value, units.INSTRUCTIONS)
        ratio = instructions.change(found)
    return ComparedRow(
        **found.second.key._asdict(),
        before=_line(before),
        after=_line(after),
        difference=_line(difference),
        ratio=_line(ratio),
        outcome=_line(found.outcome),
    )


def _number(one: NumberChange) -> NumberRow:
    old, new = (_written(value, one.kind) for value in (one.old, one.new))
    return NumberRow(id=_line(one.id), kind=one.kind, old=old, new=new)


def _written(value: Value | None, kind: Kind) -> str | None:
    if value is None:
        return None
    if isinstance(value, Estimate):
        is_time = kind == "cost"
        return _line(units.interval(value, units.DURATION) if is_time else units.spread(value, units.INSTRUCTIONS))
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
