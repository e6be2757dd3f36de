"""A release is what its manifest says, and the rows that it holds are still in the data, unchanged."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.places import DataFolder, sha256
from probe_effect.store.release_file import MANIFEST, SUMS, Release, ReleasedFile
from probe_effect.store.tables import MAX_FILE_BYTES, printable

UNREADABLE = (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error)
"""What `zipfile` raises for an archive that is damaged, encrypted, or packed in a way that it does not know."""

HINT = "a release stays as it was made; take its files from the repository's history, and make a new one"

NOT_REGULAR = "is not a regular file"

APPEND_ONLY = "results/"
"""What nobody changes. Suites get new versions and figures get corrections: the archive holds them as they were."""


@dataclass(frozen=True, slots=True)
class CheckedRelease:
    """A release whose manifest could be read, and the data as they are now."""

    release: Release
    data: DataFolder


@rule("release-files")
def _release_files(checked: CheckedRelease) -> Iterator[Fault]:
    faults = list(_files(checked.release))
    yield from faults
    if any(fault.message == NOT_REGULAR for fault in faults):
        return  # a pipe has no end
    yield from _sums(checked.release)
    yield from _archive(checked.release)
    for one in checked.release.document.files:
        path = checked.data.root / one.path
        if one.path.startswith(APPEND_ONLY) and not (path.is_file() and sha256(path) == one.sha256):
            found = f"{one.path} is no longer as it was released"
            yield Fault(MANIFEST, None, found, "rows are only added, never changed")


def _files(release: Release) -> Iterator[Fault]:
    found = {path.name for path in release.folder.iterdir()}
    for name in sorted(found ^ set(release.names)):
        said = "is not a file of a release" if name in found else "is missing"
        yield Fault(printable(name), None, said, HINT)
    for path in release.folder.iterdir():
        if path.is_symlink() or not path.is_file():
            yield Fault(printable(path.name), None, NOT_REGULAR, "put the file itself here")


def _sums(release: Release) -> Iterator[Fault]:
    """Each file beside the sums has a line there, with its own hash."""
    try:
        lines = (release.folder / SUMS).read_text(encoding="utf-8").splitlines()
        wanted = {name: sha256(release.folder / name) for name in release.names if name != SUMS}
    except (OSError, UnicodeDecodeError):
        return  # told as missing already, or not readable as the list that it has to be
    for name, digest in wanted.items():
        if f"{digest}  {name}" not in lines:
            yield Fault(SUMS, None, f"does not have the hash of {name}", HINT)


def _archive(release: Release) -> Iterator[Fault]:
    name = release.archive.name
    try:
        with zipfile.ZipFile(release.archive) as archive:
            for one in release.document.files:
                member = f"{release.archive.stem}/data/{one.path}"
                if member not in archive.NameToInfo:
                    yield Fault(name, None, f"does not hold {one.path}", HINT)
                elif not _same(archive, member, one):
                    yield Fault(name, None, f"{one.path} is not as the manifest says", HINT)
    except UNREADABLE:
        if release.archive.exists():
            yield Fault(name, None, "is not a sound zip archive", HINT)


def _same(archive: zipfile.ZipFile, member: str, one: ReleasedFile) -> bool:
    """The length is looked at first: an archive may be made to unpack to more than a machine has."""
    if archive.getinfo(member).file_size != one.bytes or one.bytes > MAX_FILE_BYTES:
        return False
    return hashlib.sha256(archive.read(member)).hexdigest() == one.sha256


RULES = (_release_files,)
