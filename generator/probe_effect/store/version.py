"""The version of the data: which day it is of, and a digest by which anybody can tell two versions apart."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from probe_effect.store.changes_file import read_changes
from probe_effect.store.places import DataFolder, walk

PARTS = ("results", "published", "suites")
"""The folders under `data/` that are the data; what is beside them describes it."""

DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?=-)")

DIGEST_DIGITS = 8


@dataclass(frozen=True, slots=True)
class DataVersion:
    """One state of the data; `date` is empty while nothing dated is there."""

    date: str
    digest: str

    @property
    def text(self) -> str:
        """As it is printed: `2026-11-21.3f2a9c1e`."""
        return ".".join(filter(None, (self.date, self.digest)))


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of the data: its path relative to `data/`, its bytes counted and hashed."""

    path: str
    size_bytes: int
    sha256: str


def data_version(data: DataFolder) -> DataVersion:
    """The version of what lies under `data`: the same wherever the same files lie.

    Its day is that of the newest submission or of the newest entry in the change log.
    """
    found = [match[0] for one in data.submissions() if (match := DATED.match(one.folder.name))]
    document, _ = read_changes(data)
    dates = [change.date for change in document.changes] if document else []
    listing = "".join(f"{one.sha256}  {one.path}\n" for one in data_files(data))
    digest = hashlib.sha256(listing.encode()).hexdigest()[:DIGEST_DIGITS]
    return DataVersion(max([*found, *dates], default=""), digest)


def data_files(data: DataFolder) -> Iterator[DataFile]:
    """Every regular file of the data, by path; hidden ones are an editor's, not the data's."""
    found = {path.relative_to(data.root).as_posix(): path for part in PARTS for path in (data.root / part).rglob("*")}
    for name, path in sorted(found.items()):
        is_hidden = any(part.startswith(".") for part in name.split("/"))
        if path.is_file() and not path.is_symlink() and not is_hidden:
            content = path.read_bytes()
            yield DataFile(name, len(content), hashlib.sha256(content).hexdigest())


def folders_digest(folders: Iterable[Path]) -> str:
    """A digest of every regular file of some folders, by their names and the files' paths in them."""
    files = ((folder, path) for folder in folders for path in walk(folder) if path.is_file() and not path.is_symlink())
    lines = (
        f"{folder.name} {path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        for folder, path in files
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()
