"""What became of the data: its change log, by day, and its releases."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.submission import Submission
from probe_effect.site.pages import addresses, citing, parts
from probe_effect.site.pages.parts import Heading, Items, Part, Table, columns
from probe_effect.site.pages.text import bracketed, link, safe, say, together
from probe_effect.store.beside_files import Change, ChangeKind
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
    return by_day(catalogue.changes, catalogue.everything)


def by_day(changes: Sequence[Change], submissions: Iterable[Submission]) -> list[Entry]:
    """Some changes, newest day first; on one day those of the log before the submissions, by id."""
    written = [
        Entry(change.date, change.kind, change.what, change.why, change.old, change.new) for change in reversed(changes)
    ]
    added = [Entry(submission.date, "added", (submission.id,), submission=submission) for submission in submissions]
    return sorted([*written, *added], key=lambda entry: entry.date, reverse=True)  # stable within a day


PAGE, FEED = "/data/changes/", "/data/changes.xml"


def heading(entry: Entry) -> str:
    if entry.submission is not None:
        submission, submitter = entry.submission, entry.submission.document.submitter
        done = "measured" if submission.metric == "time" else "counted"
        by = f" by {submitter.name}" if submitter.name else ""
        return f"{entry.kind.capitalize()}: suite {submission.suite}, {done} on {names.machine_name(submission)}{by}"
    first, count = entry.what[0], len(entry.what)
    noun = "figure" if "#" in first else "source" if "/" not in first else "number" if first.count("/") > 1 else "run"
    return f"{entry.kind.capitalize()}: {f'{count} {noun}s' if count > 1 else first}"


def sentence(entry: Entry) -> str:
    """Why it changed, with the old and the new value of a correction; empty for what was measured."""
    values = f"Was {entry.old}, is {entry.new}." if entry.kind == "corrected" else ""
    return " ".join(filter(None, (values, entry.why)))


def withdrawn(submission_id: str, catalogue: Catalogue) -> dict[str, str]:
    """Front matter `withdrawn`, which the page's header prints, where the submission is; else none."""
    for change in catalogue.changes:
        if change.kind == "withdrawn" and submission_id in change.what:
            why = f"Withdrawn on {names.date_words(change.date)}: {change.why}"
            return {"withdrawn": f"{why} No table, chart or guidance of this site has it."}
    return {}


def address(what: str) -> str:
    source, _, figure = what.partition("#")
    if figure:
        return addresses.figure(source, figure)
    # A number's id is its submission's with more behind it, and so is its address.
    return addresses.submission(what) if "/" in what else addresses.figure(source)


FILES = (
    "`{}` holds all of it, `manifest.json` the hash of each file in it; the Parquet files hold the same numbers and "
    "every run.\nAn attestation says which commit and workflow made these files: `gh attestation verify FILE --repo "
    "OWNER/REPOSITORY`."
)
CHECK = say(
    "To check what you loaded, put the files into one folder and run:\n\n```sh\nsha256sum --check SHA256SUMS\n```"
)

WHAT = {
    ".zip": "all data of the release, with the files below",
    "costs.csv": "every time that was measured, with its interval",
    "counts.csv": "every count of instructions",
    "manifest.json": "path, length and SHA-256 of each file in the archive",
    "SHA256SUMS": "checksums of the files here",
}


def write(release: Release, catalogue: Catalogue) -> str:
    document = release.document
    front = {
        "title": f"Release {release.version}",
        "kind": "release",
        "kicker": names.date_words(document.date),
        "description": f"The data of Probe Effect as of {names.date_words(document.date)}, which stays as it is.",
        "url": _address(release),
        "weight": len(catalogue.releases) - catalogue.releases.index(release),
        **citing.front(citing.cite_release(release, catalogue)),
    }
    return parts.page(front, _parts(release))


def _parts(release: Release) -> Iterator[Part]:
    day, version = names.date_words(release.document.date), release.document.data_version
    what = "It holds {} submissions and {} published sources in {} files, and it stays as it is."
    yield together(
        say("This is the data as it was on {}, data version **{}**.", day, version),
        say(what, *held(release), units.count(len(release.document.files))),
        say("What was measured or corrected later is in the [change log](/data/changes/)."),
    )
    rows = []
    for path in (release.folder / name for name in release.names):
        meaning = WHAT.get(path.name) or WHAT[path.suffix]
        rows.append((link(path.name, _address(release, path.name)), meaning, units.size(path.stat().st_size)))
    yield Heading("Files")
    yield Table(columns("file", "file-what", "file-size"), rows)
    yield CHECK


def fragment(catalogue: Catalogue) -> str:
    rows = []
    for release in reversed(catalogue.releases):
        day, version = names.date_words(release.document.date), release.document.data_version
        size = units.size(release.archive.stat().st_size)
        rows.append((link(release.version, _address(release)), day, version, *held(release), size))
    heads = columns("release", "day", "data-version", "submissions", "sources", "archive")
    none = say("Nothing has been released yet; the [data](/data/) of today is on this site all the same.")
    return parts.fragment([Table(heads, rows) if rows else none])


def current(catalogue: Catalogue) -> str:
    words = say("There is no release yet.")
    for newest in catalogue.releases[-1:]:
        day = names.date_words(newest.document.date)
        words = say("The current release is {} of {}.", link(newest.version, _address(newest)), day)
    return parts.fragment([words])


def _address(release: Release, file: str = "") -> str:
    return f"/releases/{release.version}/{file}"


def notes(release: Release, catalogue: Catalogue) -> str:
    """What `release` holds, and what was added, corrected and withdrawn since the one before, newest first."""
    index = catalogue.releases.index(release)
    before = catalogue.releases[index - 1] if index else None
    # Told from the files of both releases: a run may be older than the release before, and still be new in this.
    earlier = (released_changes(before), released(before, "results", 2)) if before else ((), frozenset[str]())
    new_ids, new_changes = released(release, "results", 2) - earlier[1], released_changes(release)[len(earlier[0]) :]
    news = by_day(new_changes, [submission for submission in catalogue.everything if submission.id in new_ids])
    items = []
    for entry in news:
        changed = bracketed(heading(entry), entry.what[0] if entry.submission else None)
        items.append(say("{}. {}", changed, sentence(entry)) if sentence(entry) else changed)
    day, version = names.date_words(release.document.date), release.document.data_version
    what = "The data of Probe Effect as it was on {}, data version **{}**: {} submissions and {} published sources."
    new = Heading(f"New since {before.version}" if before else "What it holds")
    files = (Heading("Files"), say(FILES, safe(release.archive.name)), CHECK)
    nothing = "Nothing but new rules or documents."
    return parts.fragment([say(what, day, version, *held(release)), new, Items(items) or nothing, *files])


def held(release: Release) -> tuple[str, str]:
    return units.count(len(released(release, "results", 2))), units.count(len(released(release, "published", 1)))
