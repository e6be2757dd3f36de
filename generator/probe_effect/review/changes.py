"""What a change of the data would publish, and a review to the values that are printed of it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from probe_effect import units
from probe_effect.compare.comparison import Comparison
from probe_effect.compare.subjects import Nearest, nearest
from probe_effect.model import Estimate, Problem, interval_json, spread_json
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, read_published
from probe_effect.pages import comparison, instructions, wording
from probe_effect.reduce.reading import read_submissions
from probe_effect.reduce.submission import Number, Submission
from probe_effect.review import report
from probe_effect.review.report import MAX_FEW, MAX_LINE, D, Listed, ReviewReport, grouped, is_writable
from probe_effect.review.shows import Flag, Shows, over_releases, review_flags, shows
from probe_effect.store.beside_files import Change, Figure, changed_ids, read_changes
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.release_file import TreeDifference
from probe_effect.store.tables import printable

NumberValue = Estimate | Figure
NumbersById = dict[str, tuple["NumberKind", NumberValue]]

NumberKind = Literal["cost", "count", "figure"]


@dataclass(frozen=True, slots=True)
class NumberChange:
    """A number by its id, before and after; None where it is not there, or no longer in force."""

    id: str
    kind: NumberKind
    old: NumberValue | None
    new: NumberValue | None


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A submission that is not published yet, the machine most like its own, and what to look at."""

    submission: Submission
    nearest: Nearest | None
    flags: tuple[Flag, ...]
    shows: Shows


@dataclass(frozen=True, slots=True)
class Review:
    """All that a change of the data would publish, each list in a stable order; `files` has the changed paths."""

    files: TreeDifference
    submissions: tuple[NewSubmission, ...]
    sources: tuple[PublishedSource, ...]
    changes: tuple[Change, ...]
    numbers: tuple[NumberChange, ...]


def review(base: Catalogue, head: DataFolder, files: TreeDifference, unsound: Collection[str]) -> Review:
    """The differences of `head` from `base`, but for submissions and sources, by id, that `checks` found `unsound`."""
    results = [one for one in files.things("results", 2) if one not in unsound]
    published = [one for one in files.things("published", 1) if one not in unsound]
    folders = (head.results / one for one in results)
    submissions = read_submissions([SubmissionFolder(folder) for folder in folders if folder.is_dir()], head, [])
    sources = _sources(head, published)
    log, _ = read_changes(head)
    changes = log.changes if log else base.changes
    gone = changed_ids(changes, "withdrawn")
    before = _numbers(base.active, base.sources, {*results, *published, *gone})
    after = _numbers((one for one in submissions if one.id not in gone), sources, {*results, *published})
    known = {one.id for one in base.everything}
    new = [replace(one, titles=base.titles) for one in submissions if one.id not in known]
    together = replace(base, active=(*base.active, *new))
    return Review(
        files,
        tuple(
            NewSubmission(
                one,
                nearest(one, base.active),
                tuple(review_flags(one, base.active)),
                shows(one, base) if one.metric == "time" else Shows(tuple(over_releases(one, together))),
            )
            for one in new
        ),
        tuple(one for one in sources if one.id not in {other.id for other in base.sources}),
        tuple(one for one in changes if one not in base.changes),
        tuple(number_changes(before, after)),
    )


def number_changes(before: NumbersById, after: NumbersById) -> list[NumberChange]:
    """Every number that is not the same, by id."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        (kind, old), (other_kind, new) = before.get(name, (None, None)), after.get(name, (None, None))
        if old is None or new is None or _said(old) != _said(new):
            found.append(NumberChange(name, kind or other_kind or "figure", old, new))
    return found


def _sources(head: DataFolder, ids: Iterable[str]) -> list[PublishedSource]:
    folders = (head.root / "published" / one for one in ids)
    read = (read_published(folder, head, []) for folder in folders if folder.is_dir())
    return [one for one in read if one is not None]


def _numbers(
    submissions: Iterable[Submission], sources: Iterable[PublishedSource], wanted: Collection[str]
) -> NumbersById:
    """The numbers of those submissions and sources that are wanted, by the id that the site's addresses have."""
    found: NumbersById = {}
    for one in submissions:
        if one.id in wanted:
            kind: NumberKind = "cost" if one.metric == "time" else "count"
            found |= {number.id: (kind, number.cost) for number in one.numbers if number.cost is not None}
    for source in sources:
        if source.id in wanted:
            found |= {f"{source.id}#{figure.figure}": ("figure", figure) for figure in source.figures}
    return found


def _said(value: NumberValue) -> object:
    """The part of a number that two states are compared by; of a figure all but its line in the file."""
    return value.said if isinstance(value, Figure) else value


T = TypeVar("T")

FIGURE_UNITS = {"percent": "%", "us": "µs", "hz": "/s"}
"""How units are written that a column of `figures.csv` spells otherwise."""


def report_of(found: Review, problems: Iterable[Problem], base: str, head: str) -> ReviewReport:
    """The report of a review, with everything that is printed, in its order; `base` and `head` are called so."""
    groups, beside = grouped(problems), frozenset(found.files.beside)
    of_change = {change: getattr(found.files, change) for change in get_args(report.FileChange)}
    return ReviewReport(
        schema_version=1,
        base=_line(base),
        head=_line(head),
        errors=sum(group.times for group in groups if group.first.severity == "error"),
        warnings=sum(group.times for group in groups if group.first.severity == "warning"),
        odd_cases=sum(flag.is_odd for one in found.submissions for flag in one.flags),
        beside={change: number for change, paths in of_change.items() if (number := len(beside.intersection(paths)))},
        of_project=sum(one.submission.document.provenance.kind == "project" for one in found.submissions),
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
            _row(report.FileRow, change=change, path=path, beside=path in beside)
            for change, paths in of_change.items()
            for path in paths
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
        of_project=document.provenance.kind == "project",
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
    note, floor_ns = "; ".join(filter(None, notes)) or None, one.time.noise_floor_ns
    loss_ratio = one.event.loss_ratio
    return _row(report.CaseRow, one, note=note, noise_floor_ns=floor_ns, loss_ratio=loss_ratio, **cost, **beside)


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
