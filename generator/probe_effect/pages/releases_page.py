"""The releases of the data: a page for each, the list of all, and what is new in one where its files are fetched."""

from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.changes import Entry, entries
from probe_effect.pages import changes_page, citing
from probe_effect.pages.markdown import page, render
from probe_effect.store.release_file import Release, released_changes, released_sources, released_submissions

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
        **citing.front(citing.cite_release(release, catalogue)),
    }
    return page("release.md.j2", front, release=release, files=files(release), held=held(release))


def fragment(catalogue: Catalogue) -> str:
    """All releases, newest first."""
    return render("fragments/releases.md.j2", releases=catalogue.releases[::-1], held=held)


def current(catalogue: Catalogue) -> str:
    """Which release is the newest, in a sentence."""
    return render("fragments/current-release.md.j2", releases=catalogue.releases)


def notes(release: Release, catalogue: Catalogue) -> str:
    """What `release` holds, and what was added, corrected and withdrawn since the one before, newest first."""
    place = catalogue.releases.index(release)
    before = catalogue.releases[place - 1] if place else None
    # Told from the files of both releases: a run may be older than the release before, and still be new in this.
    known = (released_changes(before), released_submissions(before)) if before else ((), frozenset[str]())
    new_submissions = released_submissions(release) - known[1]
    added = [one for one in entries(catalogue) if one.submission and one.submission.id in new_submissions]
    logged = [
        Entry(one.date, one.kind, one.what, one.why, one.old, one.new)
        for one in reversed(released_changes(release)[len(known[0]) :])
    ]
    news = sorted([*logged, *added], key=lambda entry: entry.date, reverse=True)
    return render(
        "release-notes.md.j2", release=release, before=before, held=held(release), news=news, log=changes_page
    )


def files(release: Release) -> list[tuple[str, str, int]]:
    """Each file's name, what it is, and its bytes."""
    paths = (release.folder / name for name in release.names)
    return [(path.name, WHAT.get(path.name) or WHAT[path.suffix], path.stat().st_size) for path in paths]


def held(release: Release) -> dict[str, int]:
    """How many submissions and sources a release holds."""
    return {"submissions": len(released_submissions(release)), "sources": len(released_sources(release))}
