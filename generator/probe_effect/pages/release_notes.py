"""What is new in a data release, for the page where its files are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.numbers.changes import Entry, entries
from probe_effect.pages.changes_page import heading, sentence
from probe_effect.pages.markdown import render
from probe_effect.store.release_file import released_changes, released_sources, released_submissions

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.release_file import Release


def notes(release: Release, catalogue: Catalogue) -> str:
    """What `release` holds, and what was added, corrected and withdrawn since the one before, newest first."""
    before = _before(release, catalogue)
    return render(
        "release-notes.md.j2",
        release=release,
        before=before,
        submissions=len(released_submissions(release)),
        sources=len(released_sources(release)),
        lines=[(heading(entry), _id(entry), sentence(entry)) for entry in _since(release, before, catalogue)],
    )


def _id(entry: Entry) -> str:
    return entry.what[0] if entry.submission else ""


def _before(release: Release, catalogue: Catalogue) -> Release | None:
    place = [one.version for one in catalogue.releases].index(release.version)
    return catalogue.releases[place - 1] if place else None


def _since(release: Release, before: Release | None, catalogue: Catalogue) -> list[Entry]:
    """Told from the files of both releases: a run may be older than the release before, and still be new in this."""
    known = (released_changes(before), released_submissions(before)) if before else ((), frozenset[str]())
    new_submissions = released_submissions(release) - known[1]
    added = [one for one in entries(catalogue) if one.submission and one.submission.id in new_submissions]
    logged = [
        Entry(one.date, one.kind, one.what, one.why, one.old, one.new)
        for one in reversed(released_changes(release)[len(known[0]) :])
    ]
    return sorted([*logged, *added], key=lambda entry: entry.date, reverse=True)
