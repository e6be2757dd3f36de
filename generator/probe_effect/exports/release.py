"""Freezing the data: a release is made once, and afterwards only copied."""

import json
import shutil
from pathlib import Path

from probe_effect.errors import UsageError
from probe_effect.exports.files import copy, write, write_zip
from probe_effect.exports.page_data import rows, whole_tables
from probe_effect.exports.table import csv_text
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.store import release_file
from probe_effect.store.places import DataFolder, sha256
from probe_effect.store.release_file import Manifest, Release, ReleasedFile, archive_name
from probe_effect.store.version import data_files

EXPLAINING = ("LICENSE", "README.md", "changes.toml")
"""The files that go into the archive beside the data, as far as they exist."""


def make_release(data: DataFolder, catalogue: Catalogue, version: str, date: str) -> Release:
    """Write `data/releases/<version>/` of the day `date` (ISO), whole or not at all.

    Raises: UsageError when `version` is none, or was released before.
    """
    folder = _free_folder(data, version)
    files = tuple(ReleasedFile(path=one.path, bytes=one.size_bytes, sha256=one.sha256) for one in data_files(data))
    manifest = Manifest(schema_version=1, version=version, date=date, data_version=catalogue.version, files=files)
    release = Release(folder.with_name(f".{version}"), manifest)
    shutil.rmtree(release.folder, ignore_errors=True)
    # The files beside the archive and in it, by name: every number as of then, and what the archive holds.
    tables = whole_tables(rows(catalogue))
    texts = {name: csv_text(tables[name.removesuffix(".csv")]) for name in release_file.TABLES}
    texts[release_file.MANIFEST] = json.dumps(manifest.model_dump(), indent=1) + "\n"
    beside = {name: text.encode() for name, text in texts.items()}
    for name, content in beside.items():
        write(release.folder / name, content)
    top = archive_name(release.version).removesuffix(".zip")
    names = [*(one.path for one in release.document.files), *EXPLAINING]
    paths = {f"{top}/data/{name}": data.root / name for name in names}
    inside = {name: path for name, path in paths.items() if path.is_file()}
    write_zip(release.archive, inside | {f"{top}/{name}": content for name, content in beside.items()})
    lines = (f"{sha256(release.folder / name)}  {name}\n" for name in release.names if name != release_file.SUMS)
    write(release.folder / release_file.SUMS, "".join(lines))
    release.folder.rename(folder)
    return Release(folder, manifest)


def copy_releases(catalogue: Catalogue, target: Path) -> None:
    """Copy every release's files, as they were made, to `target/<version>/`."""
    for release in catalogue.releases:
        for name in release.names:
            copy(release.folder / name, target / release.version / name)


def _free_folder(data: DataFolder, version: str) -> Path:
    folder = data.root / "releases" / version
    if not release_file.VERSION.fullmatch(version):
        msg = f"{version}: is not a version. Expected year and month, such as 2026.11, or 2026.11.2 for a second one."
        raise UsageError(msg)
    if folder.exists():
        raise UsageError(f"{data.relative(folder)}: was released before, and a release stays. Give the next version.")
    return folder
