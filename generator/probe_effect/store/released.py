"""What a release holds of the data, read from its own files: what it was made of, however the data went on."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING
from zipfile import ZipFile

from probe_effect.store.changes_file import CHANGES_FILE, ChangesFile

if TYPE_CHECKING:
    from probe_effect.store.changes_file import Change
    from probe_effect.store.release_file import Release

RESULTS, PUBLISHED = "results", "published"


def released_submissions(release: Release) -> frozenset[str]:
    """Ids of its submissions, `<machine>/<folder>`."""
    found = (one.path.split("/") for one in release.document.files)
    return frozenset("/".join(parts[1:3]) for parts in found if parts[0] == RESULTS)


def released_sources(release: Release) -> frozenset[str]:
    """Ids of its published sources."""
    found = (one.path.split("/") for one in release.document.files)
    return frozenset(parts[1] for parts in found if parts[0] == PUBLISHED)


def released_changes(release: Release) -> tuple[Change, ...]:
    """The change log as it was then, oldest first."""
    name = f"{release.archive.stem}/data/{CHANGES_FILE}"
    with ZipFile(release.archive) as archive:
        if name not in archive.namelist():
            return ()
        found = tomllib.loads(archive.read(name).decode("utf-8"))
    return ChangesFile.model_validate(found, strict=False).changes
