"""`data/releases/<version>/`: the data as it was on one day, which stays as it is."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from zipfile import ZipFile

from pydantic import Field

from probe_effect.model import Problem
from probe_effect.store.beside_files import CHANGES_FILE, Change, ChangesFile, Day
from probe_effect.store.documents import Document, Text, read_document
from probe_effect.store.places import DataFolder
from probe_effect.store.tables import printable

VERSION = re.compile(r"[0-9]{4}\.(0[1-9]|1[0-2])(\.[1-9][0-9]{0,2})?")
"""Year and month, and which release of that month where it is not the first: `2026.11`, `2026.11.2`."""

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
TABLES = ("costs.csv", "counts.csv")

MAX_MANIFEST_BYTES = 16 << 20
"""A manifest has a line for every file of the data."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ReleasedFile(Document):
    """One file in a release's archive."""

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$")]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Sha256


class Manifest(Document):
    """The whole document `manifest.json`."""

    schema_version: Literal[1]
    version: Annotated[str, Field(pattern=f"^{VERSION.pattern}$")]
    date: Day
    data_version: Text
    files: tuple[ReleasedFile, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """One release and where its files lie."""

    folder: Path
    document: Manifest

    @property
    def version(self) -> str:
        """`2026.11`."""
        return self.document.version

    @property
    def archive(self) -> Path:
        """All its data in one file."""
        return self.folder / archive_name(self.version)

    @property
    def names(self) -> tuple[str, ...]:
        """Its files, what a reader wants most first."""
        return (self.archive.name, *TABLES, MANIFEST, SUMS)


def archive_name(version: str) -> str:
    """The archive of a release."""
    return f"probe-effect-{version}.zip"


def _order(folder: Path) -> tuple[list[int], str]:
    """By version, and not by letter: `2026.11.10` comes after `2026.11.2`."""
    return [int(part) for part in folder.name.split(".") if part.isascii() and part.isdigit()], folder.name


def read_releases(data: DataFolder) -> tuple[list[Release], list[Problem]]:
    """Every sound release, oldest first, and every problem found."""
    releases: list[Release] = []
    problems: list[Problem] = []
    folders = (path for path in (data.root / "releases").glob("*") if path.is_dir())
    for folder in sorted(folders, key=_order):
        path = folder / MANIFEST
        document, faults = read_document(path, data.relative(path), "release", Manifest, MAX_MANIFEST_BYTES)
        problems += faults
        if document and document.version != folder.name:
            message = f"is of version {document.version}, but is in the folder {printable(folder.name)}"
            hint = "a release's folder has its version as its name"
            problems.append(Problem("error", data.relative(path), None, None, "release/version", message, hint))
        elif document:
            releases.append(Release(folder, document))
    return releases, problems


def released_submissions(release: Release) -> frozenset[str]:
    """Ids of its submissions, `<machine>/<folder>`."""
    found = (one.path.split("/") for one in release.document.files)
    return frozenset("/".join(parts[1:3]) for parts in found if parts[0] == "results")


def released_sources(release: Release) -> frozenset[str]:
    """Ids of its published sources."""
    found = (one.path.split("/") for one in release.document.files)
    return frozenset(parts[1] for parts in found if parts[0] == "published")


def released_changes(release: Release) -> tuple[Change, ...]:
    """The change log as it was then, read from its own files, oldest first."""
    name = f"{release.archive.stem}/data/{CHANGES_FILE}"
    with ZipFile(release.archive) as archive:
        if name not in archive.namelist():
            return ()
        found = tomllib.loads(archive.read(name).decode("utf-8"))
    return ChangesFile.model_validate(found, strict=False).changes
