"""The version of the data, what differs between two states of it, and releases: the data as it was on one day."""

import hashlib
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from zipfile import ZipFile

from pydantic import AfterValidator, Field

from probe_effect.model import Problem, release_numbers
from probe_effect.store.beside_files import CHANGES_FILE, Change, ChangesFile, Day, read_changes
from probe_effect.store.documents import Document, Text, read_document
from probe_effect.store.places import DataFolder, is_known_file, sha256, walk
from probe_effect.store.tables import printable

PARTS = ("results", "published", "suites")
"""The folders under `data/` that are the data; what is beside them describes it."""

DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?=-)")


def data_version(data: DataFolder) -> str:
    """The version of what lies under `data`, `2026-11-21.3f2a9c1e`: the same wherever the same files lie.

    Its day is that of the newest submission or of the newest entry in the change log; without either it has none.
    """
    days = [match[0] for submission in data.submissions() if (match := DATED.match(submission.folder.name))]
    document, _ = read_changes(data)
    dates = [change.date for change in document.changes] if document else []
    listing = "".join(f"{sha256(path)}  {name}\n" for name, path in data_files(data))
    digest = hashlib.sha256(listing.encode()).hexdigest()[:8]
    return ".".join(filter(None, (max([*days, *dates], default=""), digest)))


def data_files(data: DataFolder) -> Iterator[tuple[str, Path]]:
    """Every file of the data that the format knows, by its path relative to `data/`."""
    paths = (path for part in PARTS for path in walk(data.root / part))
    by_name = {path.relative_to(data.root).as_posix(): path for path in paths}
    for name, path in sorted(by_name.items()):
        if is_known_file(name.split("/")) and path.is_file() and not path.is_symlink():
            yield name, path


def folders_digest(folders: Iterable[Path]) -> str:
    """A digest of every regular file of some folders, by their names and the files' paths in them."""
    files = ((folder, path) for folder in folders for path in walk(folder) if path.is_file() and not path.is_symlink())
    lines = (f"{folder.name} {path.relative_to(folder).as_posix()} {sha256(path)}\n" for folder, path in files)
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class TreeDifference:
    """Files that one state has and the other has not, or has otherwise: paths relative to `data/`, in order."""

    base: DataFolder
    head: DataFolder
    added: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(sorted({*self.added, *self.changed, *self.gone}))

    @property
    def beside(self) -> tuple[str, ...]:
        """Every path that differs, but those of submissions that are new."""
        new = tuple(
            f"results/{folder}/" for folder in self.things("results", 2) if not (self.base.results / folder).is_dir()
        )
        return tuple(path for path in self.all if not path.startswith(new))

    def things(self, part: str, depth: int) -> list[str]:
        """What differs below `part`, by the first `depth` names: `results`, 2 gives `<machine>/<folder>`."""
        below = (path.split("/") for path in self.all)
        prefixes = {"/".join(names[1 : depth + 1]) for names in below if names[0] == part and len(names) > depth + 1}
        return sorted(prefixes)


def difference(base: DataFolder, head: DataFolder) -> TreeDifference:
    """What `head` has otherwise than `base`."""
    old, new = _tree(base), _tree(head)
    return TreeDifference(
        base,
        head,
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(path for path in old.keys() & new.keys() if old[path] != new[path])),
        gone=tuple(sorted(old.keys() - new.keys())),
    )


def _tree(data: DataFolder) -> dict[str, str]:
    """Every file below `data`, hidden ones too, to what tells its content from another; links are never followed."""
    by_path = {}
    for path in (path for path in walk(data.root) if path.is_symlink() or not path.is_dir()):
        mode = path.lstat().st_mode
        content = f"{mode & 0o111:o} {sha256(path)}" if stat.S_ISREG(mode) else "not a regular file"
        by_path[path.relative_to(data.root).as_posix()] = f"link to {path.readlink()}" if path.is_symlink() else content
    return by_path


VERSION = re.compile(r"[0-9]{4}\.(0[1-9]|1[0-2])(\.[1-9][0-9]{0,2})?")
"""Year and month, and which release of that month where it is not the first: `2026.11`, `2026.11.2`."""

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
TABLES = ("costs.csv", "counts.csv")

MAX_MANIFEST_BYTES = 4 << 20
"""A manifest has a line for every file of the data: of about 10 000 submissions."""

MAX_RELEASED_BYTES = 1 << 30
"""In all files of a release, which are hashed one by one; an archive may be made to unpack to any size."""


class ReleasedFile(Document):
    """One file in a release's archive."""

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$")]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _each_once(files: tuple[ReleasedFile, ...]) -> tuple[ReleasedFile, ...]:
    if len({file.path for file in files}) < len(files):
        raise ValueError("names a file twice")
    if sum(file.bytes for file in files) > MAX_RELEASED_BYTES:
        raise ValueError(f"names more than {MAX_RELEASED_BYTES} bytes")
    return files


class Manifest(Document):
    """The whole document `manifest.json`."""

    schema_version: Literal[1]
    version: Annotated[str, Field(pattern=f"^{VERSION.pattern}$")]
    date: Day
    data_version: Text
    files: Annotated[tuple[ReleasedFile, ...], AfterValidator(_each_once)]


@dataclass(frozen=True, slots=True)
class Release:
    """One release and where its files lie."""

    folder: Path
    document: Manifest

    @property
    def version(self) -> str:
        return self.document.version

    @property
    def archive(self) -> Path:
        return self.folder / f"probe-effect-{self.version}.zip"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its files, what a reader wants most first."""
        return (self.archive.name, *TABLES, MANIFEST, SUMS)


def read_releases(data: DataFolder) -> tuple[list[Release], list[Problem]]:
    releases: list[Release] = []
    problems: list[Problem] = []
    folders = (path for path in (data.root / "releases").glob("*") if path.is_dir())
    # By version, and not by letter: `2026.11.10` comes after `2026.11.2`.
    for folder in sorted(folders, key=lambda folder: (release_numbers(folder.name), folder.name)):
        file = data.relative(folder / MANIFEST)
        document, faults = read_document(folder / MANIFEST, file, "release", Manifest, MAX_MANIFEST_BYTES)
        problems += faults
        if document and document.version != folder.name:
            message = f"is of version {document.version}, but is in the folder {printable(folder.name)}"
            hint = "a release's folder has its version as its name"
            problems.append(Problem("error", file, None, None, "release/version", message, hint))
        elif document:
            releases.append(Release(folder, document))
    return releases, problems


def released(release: Release, part: str, depth: int) -> frozenset[str]:
    """What a release has below `part`, by the first `depth` names: `results` and 2 give `<machine>/<folder>`."""
    paths = (file.path.split("/") for file in release.document.files)
    return frozenset("/".join(names[1 : depth + 1]) for names in paths if names[0] == part)


def released_changes(release: Release) -> tuple[Change, ...]:
    """The change log as it was then, read from its own files, oldest first."""
    name = f"{release.archive.stem}/data/{CHANGES_FILE}"
    with ZipFile(release.archive) as archive:
        if name not in archive.namelist():
            return ()
        document = tomllib.loads(archive.read(name).decode("utf-8"))
    return ChangesFile.model_validate(document, strict=False).changes
