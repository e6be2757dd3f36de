"""The releases of the data: a page for each, and the list of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.numbers import names
from probe_effect.pages import citing
from probe_effect.pages.markdown import page, render

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.store.release_file import Release

WHAT = {
    ".zip": "all data of the release, with the files below",
    "costs.csv": "every time that was measured, with its interval",
    "counts.csv": "every count of instructions",
    "manifest.json": "path, length and SHA-256 of each file in the archive",
    "SHA256SUMS": "checksums of the files here",
}


def write(release: Release, catalogue: Catalogue) -> str:
    """The page of one release."""
    document = release.document
    front = {
        "title": f"Release {release.version}",
        "kind": "release",
        "kicker": names.date_words(document.date),
        "description": f"The data of Probe Effect as of {names.date_words(document.date)}, which stays as it is.",
        "url": f"/releases/{release.version}/",
        "weight": len(catalogue.releases) - catalogue.releases.index(release),
        **citing.release(release, catalogue),
    }
    return page("release.md.j2", front, release=release, files=files(release), held=held(release))


def fragment(catalogue: Catalogue) -> str:
    """All releases, newest first."""
    newest_first = tuple(reversed(catalogue.releases))
    return render("fragments/releases.md.j2", releases=newest_first, held=held, sizes=size_bytes)


def current(catalogue: Catalogue) -> str:
    """Which release is the newest, in a sentence."""
    return render("fragments/current-release.md.j2", releases=catalogue.releases)


def files(release: Release) -> list[tuple[str, str, int]]:
    """Each file's name, what it is, and its bytes."""
    return [
        (name, WHAT.get(name) or WHAT[(release.folder / name).suffix], (release.folder / name).stat().st_size)
        for name in release.names
    ]


def held(release: Release) -> dict[str, int]:
    """How many submissions and sources a release holds."""
    paths = [one.path for one in release.document.files]
    return {
        "submissions": sum(path.startswith("results/") and path.endswith("/samples.csv") for path in paths),
        "sources": sum(path.startswith("published/") and path.endswith("/figures.csv") for path in paths),
    }


def size_bytes(release: Release) -> int:
    """The archive's bytes."""
    return release.archive.stat().st_size
