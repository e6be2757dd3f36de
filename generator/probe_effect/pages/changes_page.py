"""What became of the data: its change log, by day, and its releases."""

from dataclasses import dataclass

from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.pages import addresses, citing
from probe_effect.pages.markdown import page, render
from probe_effect.reduce.submission import Submission
from probe_effect.store.beside_files import ChangeKind
from probe_effect.store.release_file import Release, released, released_changes


@dataclass(frozen=True, slots=True)
class Entry:
    """One change on one day. `submission` is set where one was added by being there."""

    date: str
    kind: ChangeKind
    what: tuple[str, ...]
    why: str = ""
    old: str | None = None
    new: str | None = None
    submission: Submission | None = None

    @property
    def id(self) -> str:
        """A name that stays: day, kind and the first thing that changed."""
        return f"{self.date}/{self.kind}/{self.what[0]}"


def entries(catalogue: Catalogue) -> list[Entry]:
    """All changes, newest day first; on one day those of the log before the submissions, by id."""
    written = [Entry(one.date, one.kind, one.what, one.why, one.old, one.new) for one in reversed(catalogue.changes)]
    added = [Entry(one.date, "added", (one.id,), submission=one) for one in catalogue.everything]
    return sorted([*written, *added], key=lambda entry: entry.date, reverse=True)  # stable within a day


PAGE, FEED = "/data/changes/", "/data/changes.xml"


def heading(entry: Entry) -> str:
    """What changed, in a few words without links."""
    if entry.submission is not None:
        one, submitter = entry.submission, entry.submission.document.submitter
        done = "measured" if one.metric == "time" else "counted"
        by = f" by {submitter.name}" if submitter.name else ""
        return f"{entry.kind.capitalize()}: suite {one.suite}, {done} on {names.machine_name(one)}{by}"
    if len(entry.what) > 1:
        return f"{entry.kind.capitalize()}: {len(entry.what)} {_noun(entry)}s"
    return f"{entry.kind.capitalize()}: {entry.what[0]}"


def sentence(entry: Entry) -> str:
    """Why it changed, with the old and the new value of a correction; empty for what was measured."""
    values = f"Was {entry.old}, is {entry.new}." if entry.kind == "corrected" else ""
    return " ".join(filter(None, (values, entry.why)))


def withdrawn(submission_id: str, catalogue: Catalogue) -> dict[str, str]:
    """Front matter `withdrawn`, which the page's header prints, where the submission is; else none."""
    for one in catalogue.changes:
        if one.kind == "withdrawn" and submission_id in one.what:
            why = f"Withdrawn on {names.date_words(one.date)}: {one.why}"
            return {"withdrawn": f"{why} No table, chart or guidance of this site has it."}
    return {}


def address(what: str) -> str:
    """The page of what an entry names."""
    source, _, figure = what.partition("#")
    if figure:
        return addresses.figure(source, figure)
    # A number's id is its submission's with more behind it, and so is its address.
    return addresses.submission(what) if "/" in what else addresses.figure(source)


def _noun(entry: Entry) -> str:
    first = entry.what[0]
    return "figure" if "#" in first else "source" if "/" not in first else "number" if first.count("/") > 1 else "run"


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
    known = (released_changes(before), released(before, "results", 2)) if before else ((), frozenset[str]())
    new_submissions = released(release, "results", 2) - known[1]
    added = [one for one in entries(catalogue) if one.submission and one.submission.id in new_submissions]
    logged = [
        Entry(one.date, one.kind, one.what, one.why, one.old, one.new)
        for one in reversed(released_changes(release)[len(known[0]) :])
    ]
    news = sorted([*logged, *added], key=lambda entry: entry.date, reverse=True)
    return render(
        "release-notes.md.j2",
        release=release,
        before=before,
        held=held(release),
        news=news,
        heading=heading,
        sentence=sentence,
    )


def files(release: Release) -> list[tuple[str, str, int]]:
    """Each file's name, what it is, and its bytes."""
    paths = (release.folder / name for name in release.names)
    return [(path.name, WHAT.get(path.name) or WHAT[path.suffix], path.stat().st_size) for path in paths]


def held(release: Release) -> dict[str, int]:
    """How many submissions and sources a release holds."""
    return {"submissions": len(released(release, "results", 2)), "sources": len(released(release, "published", 1))}
