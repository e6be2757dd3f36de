"""What was added to the data, corrected in it and withdrawn from it: the newest first."""

from dataclasses import dataclass

from probe_effect.numbers.catalogue import Catalogue
from probe_effect.reduce.submission import Submission
from probe_effect.store.beside_files import ChangeKind


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
