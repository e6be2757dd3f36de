"""What a change of the data would publish: new submissions, and every number that is added, changed or gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from probe_effect.guidance.catalogue import MeasuredSubmission, read_published, read_submission
from probe_effect.guidance.changes import withdrawn_ids
from probe_effect.guidance.names import number_id
from probe_effect.guidance.nearest import nearest
from probe_effect.guidance.remarkable import remarks
from probe_effect.store.changes_file import read_changes
from probe_effect.store.places import Submission
from probe_effect.store.source_file import Figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from probe_effect.guidance.catalogue import Catalogue, PublishedSource
    from probe_effect.guidance.nearest import AnySubmission, Nearest
    from probe_effect.guidance.remarkable import Remark
    from probe_effect.model import Interval, Problem, Spread
    from probe_effect.store.changes_file import Change
    from probe_effect.store.difference import TreeDifference
    from probe_effect.store.places import DataFolder

    Value = Interval | Spread | Figure
    Numbers = dict[str, tuple["Kind", Value]]

Kind = Literal["cost", "count", "figure"]


@dataclass(frozen=True, slots=True)
class NumberChange:
    """A number by its id, before and after; None where it is not there, or no longer in force."""

    id: str
    kind: Kind
    old: Value | None
    new: Value | None


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A submission that is not published yet, the machine most like its own, and what to look at."""

    submission: AnySubmission
    nearest: Nearest | None
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """All of it, each list in a stable order. `files` has what changed by its path."""

    files: TreeDifference
    submissions: tuple[NewSubmission, ...]
    sources: tuple[PublishedSource, ...]
    changes: tuple[Change, ...]
    numbers: tuple[NumberChange, ...]


def review(base: Catalogue, head: DataFolder, files: TreeDifference, unsound: Collection[str]) -> Review:
    """What `head` has otherwise than `base`.

    Args:
        unsound: the submissions and sources, by id, in which `checks` found an error: they are left out.
    """
    results = [one for one in files.things("results", 2) if one not in unsound]
    published = [one for one in files.things("published", 1) if one not in unsound]
    submissions, sources = _submissions(head, results), _sources(head, published)
    log, _ = read_changes(head)
    changes = log.changes if log else base.changes
    gone = withdrawn_ids(changes)
    known: list[AnySubmission] = [*base.submissions, *base.counted]
    before = _numbers(known, base.sources, {*results, *published, *gone})
    after = _numbers((one for one in submissions if one.files.id not in gone), sources, {*results, *published})
    return Review(
        files,
        _new_submissions(submissions, base),
        tuple(one for one in sources if one.id not in {other.id for other in base.sources}),
        tuple(one for one in changes if one not in base.changes),
        tuple(number_changes(before, after)),
    )


def number_changes(before: Numbers, after: Numbers) -> list[NumberChange]:
    """Every number that is not the same, by id."""
    found = []
    for name in sorted(before.keys() | after.keys()):
        (kind, old), (other_kind, new) = before.get(name, (None, None)), after.get(name, (None, None))
        if old is None or new is None or _said(old) != _said(new):
            found.append(NumberChange(name, kind or other_kind or "figure", old, new))
    return found


def _new_submissions(submissions: Iterable[AnySubmission], base: Catalogue) -> tuple[NewSubmission, ...]:
    """Those that `base` has not; all of what it has published is what they are held against."""
    known = {one.files.id for one in base.all_submissions()}
    published: list[AnySubmission] = [*base.submissions, *base.counted]
    return tuple(
        NewSubmission(one, nearest(one, published), tuple(remarks(one, published)))
        for one in submissions
        if one.files.id not in known
    )


def _submissions(head: DataFolder, ids: Iterable[str]) -> list[AnySubmission]:
    ignored: list[Problem] = []
    folders = (head.results / one for one in ids)
    read = (read_submission(Submission(folder), head, ignored) for folder in folders if folder.is_dir())
    return [one for one in read if one is not None]


def _sources(head: DataFolder, ids: Iterable[str]) -> list[PublishedSource]:
    ignored: list[Problem] = []
    folders = (head.root / "published" / one for one in ids)
    read = (read_published(folder, head, ignored) for folder in folders if folder.is_dir())
    return [one for one in read if one is not None]


def _numbers(
    submissions: Iterable[AnySubmission], sources: Iterable[PublishedSource], wanted: Collection[str]
) -> Numbers:
    """The numbers of those submissions and sources that are wanted, by the id that the site's addresses have."""
    found: Numbers = {}
    for one in submissions:
        if one.files.id in wanted:
            found |= _numbers_of(one)
    for source in sources:
        if source.id in wanted:
            found |= {f"{source.id}#{figure.figure}": ("figure", figure) for figure in source.figures}
    return found


def _numbers_of(one: AnySubmission) -> Numbers:
    if isinstance(one, MeasuredSubmission):
        costs = ((case, case.cost) for case in one.summary.cases)
        return {number_id(one.files.id, case): ("cost", cost) for case, cost in costs if cost is not None}
    counts = ((case, case.cost_instructions) for case in one.summary.cases)
    return {number_id(one.files.id, case): ("count", count) for case, count in counts if count is not None}


def _said(value: Value) -> object:
    """What makes a number the same: of a figure what it says, wherever in its file it stands."""
    return value.said if isinstance(value, Figure) else value
