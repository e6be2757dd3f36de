"""What a change of the data would publish: new submissions, and every number that is added, changed or gone."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from probe_effect.compare.subjects import Nearest, nearest
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, PublishedSource, read_published
from probe_effect.reduce.reading import read_submissions
from probe_effect.reduce.submission import Submission
from probe_effect.review.shows import Flag, Shows, review_flags, shows
from probe_effect.store.beside_files import Change, changed_ids, read_changes
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.source_file import Figure
from probe_effect.store.version import TreeDifference

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
    return Review(
        files,
        tuple(
            NewSubmission(one, nearest(one, base.active), tuple(review_flags(one, base.active)), shows(one, base))
            for one in submissions
            if one.id not in known
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
