"""Every command of the guide was run as it is written, and printed what it is there for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probe_effect.checks.rule import Fault, rule
from probe_effect.store.places import DataFolder
from probe_effect.store.tables import printable
from probe_effect.store.transcripts import Shown, recorded_file, recorded_files

AGAIN = "run `probe-effect transcripts --write {}`"


@dataclass(frozen=True, slots=True)
class CheckedTranscripts:
    """All transcripts that could be read."""

    data: DataFolder
    shown: Sequence[Shown]

    def fault(self, one: Shown, found: str, hint: str) -> Fault:
        """What is wrong with a transcript, in the file of its chapter."""
        return Fault(f"{one.chapter}.toml", None, f"`{printable(one.transcript.id)}` {found}", hint)


@rule("transcript-ids")
def _ids(checked: CheckedTranscripts) -> Iterator[Fault]:
    times = Counter(one.transcript.id for one in checked.shown)
    for one in checked.shown:
        if times[one.transcript.id] > 1:
            yield checked.fault(one, "is the id of several", "give each its own id")


@rule("transcript-recorded")
def _recorded(checked: CheckedTranscripts) -> Iterator[Fault]:
    for one in checked.shown:
        if one.recorded is None or not one.recorded.is_of(one.transcript):
            found = "was never recorded" if one.recorded is None else "was recorded with another command"
            yield checked.fault(one, found, AGAIN.format(one.transcript.id))
    known = {recorded_file(checked.data, one.transcript.id) for one in checked.shown}
    for path in recorded_files(checked.data):
        if path not in known:
            yield Fault(f"recorded/{printable(path.name)}", None, "is of no transcript", "remove it")


@rule("transcript-shows")
def _shows(checked: CheckedTranscripts) -> Iterator[Fault]:
    for one in checked.shown:
        for pattern in one.transcript.missing_from(one.recorded.output) if one.recorded else ():
            yield checked.fault(one, f"does not show {printable(pattern)}", AGAIN.format(one.transcript.id))


RULES = (_ids, _recorded, _shows)
"""Runs in this order over all transcripts."""
