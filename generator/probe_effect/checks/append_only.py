"""What is published stays: new data are added beside it, and a correction is told in the change log.

These rules look at two states of the data: what is published, and what a change would make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.checks.rule import Fault, Rule
from probe_effect.store.changes_file import CHANGES_FILE, read_changes
from probe_effect.store.source_file import read_figures
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.store.changes_file import Change
    from probe_effect.store.difference import TreeDifference
    from probe_effect.store.places import DataFolder
    from probe_effect.store.source_file import Figure

FIGURES = "figures.csv"

CORRECT = 'append an entry of kind "corrected" to changes.toml, with the old and the new value'

FIXED = {"results": 2, "releases": 1}
"""Folders whose things never change once they are there, and how deep a thing lies."""


@dataclass(frozen=True, slots=True)
class CheckedDifference:
    """What is published, and what would be."""

    base: DataFolder
    head: DataFolder
    files: TreeDifference


def _fixed(checked: CheckedDifference) -> Iterator[Fault]:
    for part, depth in FIXED.items():
        for thing in checked.files.things(part, depth):
            if (checked.base.root / part / thing).is_dir():
                yield from _in_thing(f"{part}/{thing}/", checked.files)


def _in_thing(prefix: str, files: TreeDifference) -> Iterator[Fault]:
    hint = "restore it; add a new submission, or withdraw the old one in changes.toml"
    words = (("is added to", files.added), ("is changed in", files.changed), ("is gone from", files.gone))
    for what, paths in words:
        for path in paths:
            if path.startswith(prefix):
                yield Fault(path, None, f"{what} what is published, which stays as it is", hint)


def _kept_entries(checked: CheckedDifference) -> Iterator[Fault]:
    before, after = _log(checked.base), _log(checked.head)
    if after is None or before is None:
        return
    for place, entry in enumerate(before):
        if place >= len(after) or after[place] != entry:
            found = f"entry {place + 1}, of {entry.date}, is not as it was published"
            yield Fault(CHANGES_FILE, None, found, "restore it, and append a new entry at the end")
            return


def _told_corrections(checked: CheckedDifference) -> Iterator[Fault]:
    before = _log(checked.base) or ()
    fresh = [entry for entry in _log(checked.head) or () if entry not in before]
    told = {what for entry in fresh if entry.kind == "corrected" for what in entry.what}
    for source in checked.files.things("published", 1):
        file = f"published/{source}/{FIGURES}"
        new = {figure.figure: figure for figure in _figures(checked.head, source)}
        for figure in _figures(checked.base, source):
            now = new.get(figure.figure)
            name = f"figure `{printable(figure.figure)}`"
            if now is None:
                yield Fault(file, None, f"{name} is gone, and somebody may have cited it", "restore it, or correct it")
            elif now.said != figure.said and f"{source}#{figure.figure}" not in told:
                yield Fault(file, now.line, f"{name} is corrected, and the change log does not say so", CORRECT)


def _log(data: DataFolder) -> tuple[Change, ...] | None:
    document, _ = read_changes(data)
    return document.changes if document else None


def _figures(data: DataFolder, source: str) -> list[Figure]:
    figures, _ = read_figures(data.root / "published" / source / FIGURES, source)
    return figures


DIFFERENCE_RULES: tuple[Rule[CheckedDifference], ...] = (
    Rule(
        "append-only",
        "Files of a published submission or release stay as they are, and none is added to them.",
        _fixed,
        good="a new folder beside the published ones",
        bad="a published samples.csv with another row",
    ),
    Rule(
        "log-append-only",
        "Entries of the change log stay as they were published; new ones stand after them.",
        _kept_entries,
        good="a new entry at the end of changes.toml",
        bad="an old entry with another day",
    ),
    Rule(
        "told-correction",
        "A published figure changes only with an entry in the change log that names it, and is never removed.",
        _told_corrections,
        good="a corrected value, and an entry with the old and the new one",
        bad="a corrected value alone",
    ),
)
"""Rules about a change of the data, not about a state of it."""
