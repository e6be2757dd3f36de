"""The change log speaks of things that are there; what is published stays, and a correction is told in the log.

The last of these rules look at two states of the data: what is published, and what a change would make of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.changes_file import CHANGES_FILE, Change, ChangesFile, read_changes
from probe_effect.store.difference import TreeDifference
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.samples import read_samples
from probe_effect.store.source_file import Figure, read_figures
from probe_effect.store.tables import printable

OF_KIND = {
    "added": (("source",), "only a source is added here; a submission is, by being there"),
    "corrected": (("figure", "number"), "name the figure, or the case and tracer of a submission"),
    "withdrawn": (("submission",), "withdraw the whole submission; a figure is corrected"),
    "accepted": (("submission",), "accept the whole submission"),
}
"""What each kind of change can happen to, and what to do about another."""

CORRECT = 'append an entry of kind "corrected" to changes.toml, with the old and the new value'

FIXED = {"results": 2, "releases": 1}
"""Folders whose things never change once they are there, and how deep a thing lies."""


@dataclass(frozen=True, slots=True)
class CheckedChanges:
    """A change log that could be read, and the data that it is of."""

    document: ChangesFile
    data: DataFolder


@rule("known-changes")
def _known_changes(checked: CheckedChanges) -> Iterator[Fault]:
    last = ""
    for change in checked.document.changes:
        if change.date < last:
            yield Fault(CHANGES_FILE, None, f"{change.date} comes after {last}", "append an entry at the end")
        last = max(last, change.date)
        yield from _of_change(change, checked.data)
    yield from _unlisted(checked)


def _of_change(change: Change, data: DataFolder) -> Iterator[Fault]:
    kinds, hint = OF_KIND[change.kind]
    for what in change.what:
        place = f"{change.date}, {change.kind}: `{printable(what)}`"
        if (kind := _thing(what)) not in kinds:
            yield Fault(CHANGES_FILE, None, f"{place} is a {kind}", hint)
        elif not _exists(what, data):
            found = f"{place} is not in the data"
            yield Fault(CHANGES_FILE, None, found, "write an id as the site's addresses have it")


def _unlisted(checked: CheckedChanges) -> Iterator[Fault]:
    """Sources that nobody would learn of; a data folder without a log has none to learn from."""
    if not (checked.data.root / CHANGES_FILE).exists():
        return
    listed = {what for change in checked.document.changes if change.kind == "added" for what in change.what}
    for folder in checked.data.sources():
        if folder.name not in listed:
            found = f"source `{printable(folder.name)}` was never added"
            yield Fault(CHANGES_FILE, None, found, 'append an entry of kind "added" with its day')


def _thing(what: str) -> str:
    """What an id of the log is of: source, figure, submission or number."""
    if "#" in what:
        return "figure"
    return {0: "source", 1: "submission"}.get(what.count("/"), "number")


def _exists(what: str, data: DataFolder) -> bool:
    kind = _thing(what)
    if kind == "source":
        return (data.root / "published" / what).is_dir()
    if kind == "figure":
        source, _, figure = what.partition("#")
        return figure in _figures(data, source)
    machine, folder, *number = what.split("/")
    submission = SubmissionFolder(data.results / machine / folder)
    if not number or not submission.folder.is_dir():
        return submission.folder.is_dir()
    rows, _ = read_samples(submission.samples, submission.id)
    names = ([row.case, row.tracer, *([row.level] if row.level is not None else [])] for row in rows)
    return number in names


@rule("append-only")
def _append_only(files: TreeDifference) -> Iterator[Fault]:
    hint = "restore it; add a new submission, or withdraw the old one in changes.toml"
    words = (("is added to", files.added), ("is changed in", files.changed), ("is gone from", files.gone))
    things = [f"{part}/{thing}/" for part, depth in FIXED.items() for thing in files.things(part, depth)]
    for prefix in things:
        if (files.base.root / prefix).is_dir():
            for what, paths in words:
                for path in (one for one in paths if one.startswith(prefix)):
                    yield Fault(path, None, f"{what} what is published, which stays as it is", hint)


@rule("log-append-only")
def _kept_entries(files: TreeDifference) -> Iterator[Fault]:
    before, after = _log(files.base), _log(files.head)
    if after is None or before is None:
        return
    for place, entry in enumerate(before):
        if place >= len(after) or after[place] != entry:
            found = f"entry {place + 1}, of {entry.date}, is not as it was published"
            yield Fault(CHANGES_FILE, None, found, "restore it, and append a new entry at the end")
            return


@rule("told-correction")
def _told_corrections(files: TreeDifference) -> Iterator[Fault]:
    before = _log(files.base) or ()
    fresh = [entry for entry in _log(files.head) or () if entry not in before]
    told = {what for entry in fresh if entry.kind == "corrected" for what in entry.what}
    for source in files.things("published", 1):
        file = f"published/{source}/figures.csv"
        new = _figures(files.head, source)
        for name, figure in _figures(files.base, source).items():
            now = new.get(name)
            shown = f"figure `{printable(name)}`"
            if now is None:
                yield Fault(file, None, f"{shown} is gone, and somebody may have cited it", "restore it, or correct it")
            elif now.said != figure.said and f"{source}#{name}" not in told:
                yield Fault(file, now.line, f"{shown} is corrected, and the change log does not say so", CORRECT)


def _log(data: DataFolder) -> tuple[Change, ...] | None:
    document, _ = read_changes(data)
    return document.changes if document else None


def _figures(data: DataFolder, source: str) -> dict[str, Figure]:
    """The sound figures of a source by id."""
    figures, _ = read_figures(data.root / "published" / source / "figures.csv", source)
    return {figure.figure: figure for figure in figures}


RULES = (_known_changes,)

DIFFERENCE_RULES = (_append_only, _kept_entries, _told_corrections)
"""Rules about a change of the data, not about a state of it."""
