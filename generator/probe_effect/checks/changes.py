"""The change log speaks of things that are there; what is published stays, and a release is what its manifest says."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from itertools import zip_longest

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.beside_files import CHANGES_FILE, Change, ChangesFile, Figure, read_changes, read_figures
from probe_effect.store.places import DataFolder, SubmissionFolder, sha256
from probe_effect.store.release_file import MANIFEST, SUMS, Release, TreeDifference
from probe_effect.store.result_tables import read_samples
from probe_effect.store.tables import MAX_FILE_BYTES, printable

OF_KIND = {
    "added": (("source",), "only a source is added here; a submission is, by being there"),
    "corrected": (("figure", "number"), "name the figure, or the case and tracer of a submission"),
    "withdrawn": (("submission",), "withdraw the whole submission; a figure is corrected"),
    "accepted": (("submission",), "accept the whole submission"),
}
"""What each kind of change can happen to, and what to do about another."""

FIXED = {"results": 2, "releases": 1}
"""Folders whose things never change once they are there, and how deep a thing lies."""


@rule("known-changes")
def _known_changes(log: tuple[ChangesFile, DataFolder]) -> Iterator[Fault]:
    document, data = log
    last = ""
    for change in document.changes:
        if change.date < last:
            yield Fault(CHANGES_FILE, None, f"{change.date} comes after {last}", "append an entry at the end")
        last = max(last, change.date)
        kinds, hint = OF_KIND[change.kind]
        for what in change.what:
            entry = f"{change.date}, {change.kind}: `{printable(what)}`"
            kind, is_there = _thing(what, data)
            if kind not in kinds:
                yield Fault(CHANGES_FILE, None, f"{entry} is a {kind}", hint)
            elif not is_there:
                found = f"{entry} is not in the data"
                yield Fault(CHANGES_FILE, None, found, "write an id as the site's addresses have it")
    if not (data.root / CHANGES_FILE).exists():
        return  # nobody looks there for new sources
    listed = {what for change in document.changes if change.kind == "added" for what in change.what}
    for folder in data.sources():
        if folder.name not in listed:
            found = f"source `{printable(folder.name)}` was never added"
            yield Fault(CHANGES_FILE, None, found, 'append an entry of kind "added" with its day')


def _thing(what: str, data: DataFolder) -> tuple[str, bool]:
    """What an id of the log is of: source, figure, submission or number; and whether it is there."""
    source, sign, figure = what.partition("#")
    if sign:
        return "figure", figure in _figures(data, source)
    if "/" not in what:
        return "source", (data.root / "published" / what).is_dir()
    machine, folder, *number = what.split("/")
    submission = SubmissionFolder(data.results / machine / folder)
    if not number:
        return "submission", submission.folder.is_dir()
    rows = read_samples(submission.samples, submission.id)[0]
    return "number", any(
        number == [part for part in (row.case, row.tracer, row.level) if part is not None] for row in rows
    )


MOST_FILES = 1000
"""Of one change: about 400 submissions."""


@rule("change-size")
def change_size(files: TreeDifference) -> Iterator[Fault]:
    """Asked first, because the time of all other rules grows with the size of the change."""
    if (number := len(files.added) + len(files.changed)) > MOST_FILES:
        yield Fault("", None, f"{number} files are added or changed")


@rule("append-only")
def _append_only(files: TreeDifference) -> Iterator[Fault]:
    words = (("is added to", files.added), ("is changed in", files.changed), ("is gone from", files.gone))
    things = [f"{part}/{thing}/" for part, depth in FIXED.items() for thing in files.things(part, depth)]
    for prefix in (thing for thing in things if (files.base.root / thing).is_dir()):
        for what, paths in words:
            for path in (one for one in paths if one.startswith(prefix)):
                yield Fault(path, None, f"{what} what is published, which stays as it is")


@rule("log-append-only")
def _kept_entries(files: TreeDifference) -> Iterator[Fault]:
    before, after = _log(files.base), _log(files.head)
    if before and after is not None:
        for place, (entry, now) in enumerate(zip_longest(before, after[: len(before)]), start=1):
            if entry != now:
                yield Fault(CHANGES_FILE, None, f"entry {place}, of {entry.date}, is not as it was published")
                return


@rule("told-correction")
def _told_corrections(files: TreeDifference) -> Iterator[Fault]:
    before = _log(files.base) or ()
    fresh = [entry for entry in _log(files.head) or () if entry not in before]
    told = {what for entry in fresh if entry.kind == "corrected" for what in entry.what}
    for source in files.things("published", 1):
        file, new = f"published/{source}/figures.csv", _figures(files.head, source)
        for name, figure in _figures(files.base, source).items():
            now, shown = new.get(name), f"figure `{printable(name)}`"
            if now is None:
                yield Fault(file, None, f"{shown} is gone, and somebody may have cited it", "restore it, or correct it")
            elif now.said != figure.said and f"{source}#{name}" not in told:
                yield Fault(file, now.line, f"{shown} is corrected, and the change log does not say so")


def _log(data: DataFolder) -> tuple[Change, ...] | None:
    document = read_changes(data)[0]
    return document.changes if document else None


def _figures(data: DataFolder, source: str) -> dict[str, Figure]:
    figures = read_figures(data.root / "published" / source / "figures.csv", source)[0]
    return {figure.figure: figure for figure in figures}


UNREADABLE = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error)
"""What `zipfile` raises for an archive that is damaged, encrypted, or packed in a way that it does not know."""


@rule("release-files")
def _release_files(checked: tuple[Release, DataFolder]) -> Iterator[Fault]:
    release, data = checked
    found = {path.name: path for path in release.folder.iterdir()}
    for name in sorted(found.keys() ^ set(release.names)):
        yield Fault(printable(name), None, "is not a file of a release" if name in found else "is missing")
    if odd := [name for name, path in found.items() if path.is_symlink() or not path.is_file()]:
        for name in odd:
            yield Fault(printable(name), None, "is not a regular file", "put the file itself here")
        return  # a pipe has no end
    yield from _sums(release)
    yield from _archive(release)
    # Suites get new versions and figures get corrections; nobody changes results.
    for one in (one for one in release.document.files if one.path.startswith("results/")):
        path = data.root / one.path
        if not (path.is_file() and sha256(path) == one.sha256):
            message = f"{one.path} is no longer as it was released"
            yield Fault(MANIFEST, None, message, "rows are only added, never changed")


def _sums(release: Release) -> Iterator[Fault]:
    try:
        lines = (release.folder / SUMS).read_text(encoding="utf-8").splitlines()
        wanted = {name: sha256(release.folder / name) for name in release.names if name != SUMS}
    except (OSError, UnicodeDecodeError):
        return  # told as missing already, or not readable as the list that it has to be
    for name, digest in wanted.items():
        if f"{digest}  {name}" not in lines:
            yield Fault(SUMS, None, f"does not have the hash of {name}")


def _archive(release: Release) -> Iterator[Fault]:
    name = release.archive.name
    try:
        with zipfile.ZipFile(release.archive) as archive:
            for one in release.document.files:
                member = f"{release.archive.stem}/data/{one.path}"
                if member not in archive.NameToInfo:
                    yield Fault(name, None, f"does not hold {one.path}")
                # The length is looked at first: an archive may be made to unpack to more than a machine has.
                elif (
                    archive.getinfo(member).file_size != one.bytes
                    or one.bytes > MAX_FILE_BYTES
                    or hashlib.sha256(archive.read(member)).hexdigest() != one.sha256
                ):
                    yield Fault(name, None, f"{one.path} is not as the manifest says")
    except UNREADABLE:
        if release.archive.exists():
            yield Fault(name, None, "is not a sound zip archive")


RULES = (_known_changes,)
RELEASE_RULES = (_release_files,)
DIFFERENCE_RULES = (change_size, _append_only, _kept_entries, _told_corrections)
"""Rules about a change of the data: about what is published, and what a change would make of it."""
