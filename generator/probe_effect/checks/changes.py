"""The change log speaks of things that are there, each kind of change of what it can happen to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.checks.rule import Fault, Rule
from probe_effect.store.changes_file import CHANGES_FILE
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.samples import read_samples
from probe_effect.store.source_file import read_figures
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.store.changes_file import Change, ChangesFile
    from probe_effect.store.places import DataFolder

OF_KIND = {
    "added": (("source",), "only a source is added here; a submission is, by being there"),
    "corrected": (("figure", "number"), "name the figure, or the case and tracer of a submission"),
    "withdrawn": (("submission",), "withdraw the whole submission; a figure is corrected"),
}
"""What each kind of change can happen to, and what to do about another."""


@dataclass(frozen=True, slots=True)
class CheckedChanges:
    """A change log that could be read, and the data that it is of."""

    document: ChangesFile
    data: DataFolder


def thing(what: str) -> str:
    """What an id of the log is of: source, figure, submission or number."""
    if "#" in what:
        return "figure"
    return {0: "source", 1: "submission"}.get(what.count("/"), "number")


def _faults(checked: CheckedChanges) -> Iterator[Fault]:
    last = ""
    for change in checked.document.changes:
        if change.date < last:
            yield Fault(CHANGES_FILE, None, f"{change.date} stands after {last}", "append an entry at the end")
        last = max(last, change.date)
        yield from _of_change(change, checked.data)
    yield from _unlisted(checked)


def _of_change(change: Change, data: DataFolder) -> Iterator[Fault]:
    kinds, hint = OF_KIND[change.kind]
    for what in change.what:
        place = f"{change.date}, {change.kind}: `{printable(what)}`"
        if thing(what) not in kinds:
            yield Fault(CHANGES_FILE, None, f"{place} is a {thing(what)}", hint)
        elif not _exists(what, data):
            yield Fault(
                CHANGES_FILE, None, f"{place} is not in the data", "write an id as the site's addresses have it"
            )


def _unlisted(checked: CheckedChanges) -> Iterator[Fault]:
    """Sources that nobody would learn of; a data folder without a log has none to learn from."""
    if not (checked.data.root / CHANGES_FILE).exists():
        return
    listed = {what for change in checked.document.changes if change.kind == "added" for what in change.what}
    for folder in checked.data.sources():
        if folder.name not in listed:
            found = f"source `{printable(folder.name)}` was never added"
            yield Fault(CHANGES_FILE, None, found, 'append an entry of kind "added" with its day')


def _exists(what: str, data: DataFolder) -> bool:
    source, _, figure = what.partition("#")
    kind = thing(what)
    if kind == "source":
        return (data.root / "published" / what).is_dir()
    if kind == "figure":
        figures, _ = read_figures(data.root / "published" / source / "figures.csv", source)
        return any(one.figure == figure for one in figures)
    machine, folder, *rest = what.split("/")
    submission = SubmissionFolder(data.results / machine / folder)
    return submission.folder.is_dir() and (not rest or _has_rows(submission, rest))


def _has_rows(submission: SubmissionFolder, rest: list[str]) -> bool:
    rows, _ = read_samples(submission.samples, submission.id)
    names = ([row.case, row.tracer, *([row.level] if row.level is not None else [])] for row in rows)
    return rest in names


RULE: Rule[CheckedChanges] = Rule(
    "known-changes",
    "The change log names things that are there, in the order of their days, and every source as added.",
    _faults,
    good='2026-11-21, corrected: `gregg-2011-pid-provider#cost_count`, old "550 ns", new "551 ns"',
    bad="2026-11-21, corrected: `gregg-2012#cost`, and there is no such source",
)
