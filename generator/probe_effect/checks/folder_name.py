"""A submission's folder says the same as its `machine.json`; a source's is an id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSource, CheckedSubmission, Fault, Rule
from probe_effect.store.samples import SLUG
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator


def _source_faults(checked: CheckedSource) -> Iterator[Fault]:
    if not re.fullmatch(SLUG, checked.folder.name):
        found = f"folder `{printable(checked.folder.name)}` is not an id"
        yield Fault("source.toml", None, found, "name it with small letters and digits, joined by hyphens")


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    document, submission = checked.document, checked.submission
    if submission.machine != document.machine.id:
        found = f"machine.id `{document.machine.id}` in the folder of `{printable(submission.machine)}`"
        yield Fault("machine.json", None, found, f"move the submission to data/results/{document.machine.id}/")
    wanted = f"{document.run.started[:10]}-{document.run.suite}"
    if not re.fullmatch(rf"{re.escape(wanted)}(-[1-9][0-9]*)?", submission.folder.name):
        found = f"folder `{printable(submission.folder.name)}` holds a run of {wanted}"
        yield Fault("machine.json", None, found, f"name the folder {wanted}, or {wanted}-2 for a second run")


IN_SOURCE = Rule(
    "folder-name",
    "A source's folder has a name that can stand in an address: it becomes its page's.",
    _source_faults,
    good="published/gregg-2011-pid-provider/",
    bad="published/Gregg 2011/",
)
RULE = Rule(
    "folder-name",
    "Folder names give the machine, the date and the suite of the run.",
    _faults,
    good="2026-11-20-per-event-2 for the second run of `per-event` that began on that day",
    bad="2026-11-21-per-event for a run that began the day before",
)
