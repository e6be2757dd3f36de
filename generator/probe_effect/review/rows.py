"""A review to the values that are printed of it (`review.report`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from probe_effect import units
from probe_effect.compare.comparison import Comparison
from probe_effect.model import Estimate, Problem, interval_json, spread_json
from probe_effect.numbers import names
from probe_effect.pages import comparison, instructions, wording
from probe_effect.reduce.submission import Number
from probe_effect.review import report
from probe_effect.review.changes import NewSubmission, NumberKind, NumberValue, Review
from probe_effect.review.mending import grouped
from probe_effect.review.report import MAX_FEW, MAX_LINE, D, Listed, ReviewReport, is_writable
from probe_effect.store.tables import printable

T = TypeVar("T")

FIGURE_UNITS = {"percent": "%", "us": "µs", "hz": "/s"}
"""How units are written that a column of `figures.csv` spells otherwise."""


def report_of(found: Review, problems: Iterable[Problem], base: str, head: str) -> ReviewReport:
    """The report of a review, with everything that is printed, in its order; `base` and `head` are called so."""
    groups = grouped(problems)
    return ReviewReport(
        schema_version=1,
        base=_line(base),
        head=_line(head),
        errors=sum(group.times for group in groups if group.first.severity == "error"),
        warnings=sum(group.times for group in groups if group.first.severity == "warning"),
        odd_cases=sum(flag.is_odd for one in found.submissions for flag in one.flags),
        problems=_listed(_row(report.ProblemRow, one.first, message=one.message, times=one.times) for one in groups),
        submissions=_listed(_submission(one) for one in found.submissions),
        sources=_listed(
            _row(report.SourceRow, one, title=one.document.title, figures=len(one.figures)) for one in found.sources
        ),
        changes=_listed(_row(report.ChangeRow, one, more=max(0, len(one.what) - MAX_FEW)) for one in found.changes),
        numbers=_listed(
            _row(report.NumberRow, one, old=_written(one.old, one.kind), new=_written(one.new, one.kind))
            for one in found.numbers
        ),
        files=_listed(
            _row(report.FileRow, change=change, path=path)
            for change in ("changed", "gone", "added")
            for path in getattr(found.files, change)
        ),
    )


def _listed(rows: Iterable[T]) -> Listed[T]:
    return Listed(rows=tuple(rows))


def _row(kind: type[D], like: object = None, **values: object) -> D:
    """A row of `values`, the others being what `like` calls the same; each as short and plain as a row has it."""
    missing = kind.model_fields.keys() - values.keys()
    copied = {name: getattr(like, name) for name in missing if hasattr(like, name)}
    return kind.model_validate({name: _printable(value) for name, value in (copied | values).items()})


def _printable(value: object) -> object:
    """Text as lines; of numbers those that can be written: what no measurement could have is left out."""
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, tuple):
        return tuple(_line(text) for text in value[:MAX_FEW])
    return None if isinstance(value, float) and not is_writable(value) else value


def _line(text: str) -> str:
    """One line of plain text, cut where it is too long; never empty. The blanks of our own numbers stay."""
    plain = (char if char in (units.GAP, units.GROUP) else printable(char) for char in text[:MAX_LINE])
    found = "".join(plain)
    return (found if len(found) <= MAX_LINE else f"{found[: MAX_LINE - 1]}…") or units.MISSING


def _submission(new: NewSubmission) -> report.SubmissionRow:
    one, document = new.submission, new.submission.document
    return _row(
        report.SubmissionRow,
        one,
        name=names.machine_name(one),
        tier=wording.tier(document),
        submitter=document.submitter.name,
        blocks=document.run.blocks,
        baseline_ns=one.baseline.value if one.baseline and one.metric == "time" else None,
        cases=_listed(_case(number, new.shows.cells.get(number.key, {})) for number in one.numbers),
        remarks=_listed(_row(report.RemarkRow, flag.key, words=flag.words, is_odd=flag.is_odd) for flag in new.flags),
        shows=new.shows.lines,
        nearest=_row(
            report.NearestRow,
            new.nearest.likeness,
            name=names.machine_name(new.nearest.newest),
            sentences=_sentences([found for found in new.nearest.comparisons if found.first.is_time]),
            compared=_listed(_compared(found) for found in new.nearest.comparisons),
        )
        if new.nearest
        else None,
    )


def _case(one: Number, beside: Mapping[str, str]) -> report.CaseRow:
    notes = [one.note] if one.is_time else [*one.faults, one.note]
    cost = interval_json(one.cost, "cost", "ns") if one.is_time else spread_json(one.cost, "cost")
    return _row(report.CaseRow, one, note="; ".join(filter(None, notes)) or None, **cost, **beside)


def _sentences(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """How often each outcome came out, and how often by chance alone."""
    if not comparisons:
        return ()
    here = names.machine_name(comparisons[0].second.submission)
    return comparison.summary(comparisons, f"on {here}"), comparison.chance(comparisons)


def _compared(found: Comparison) -> report.ComparedRow:
    if found.first.is_time:
        before, after = (units.interval(one.cost, units.DURATION) for one in (found.first, found.second))
        difference, ratio = comparison.cells(found)[:2]
    else:
        before, after = instructions.counts(found)
        difference = units.quantity(found.difference.value, units.INSTRUCTIONS)
        ratio = instructions.change(found)
    given = {"before": before, "after": after, "difference": difference, "ratio": ratio, "outcome": found.outcome}
    return _row(report.ComparedRow, found.second.key, **given)


def _written(value: NumberValue | None, kind: NumberKind) -> str | None:
    if value is None:
        return None
    if isinstance(value, Estimate):
        is_time = kind == "cost"
        return units.interval(value, units.DURATION) if is_time else units.spread(value, units.INSTRUCTIONS)
    return f"{value.value}{units.GAP}{FIGURE_UNITS.get(value.unit, value.unit)}"
