"""Only files that the data format names, and nothing that runs or points elsewhere."""

from __future__ import annotations

import stat
from itertools import islice
from typing import TYPE_CHECKING

from probe_effect.checks.rule import Fault, Rule
from probe_effect.checks.sizes import MAX_FILES
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.store.places import SubmissionFolder

SUBMISSION_FILES = frozenset({"machine.json", "samples.csv", "histogram.csv"})
UNFINISHED = "plan.json"
SOURCE_FILES = frozenset({"source.toml", "figures.csv"})


def _faults(folder: Path, known: frozenset[str]) -> Iterator[Fault]:
    names = ", ".join(sorted(known))
    found = list(islice(folder.iterdir(), MAX_FILES + 1))
    if len(found) > MAX_FILES:
        return  # told by `sizes`, once
    for path in sorted(found):
        shown = printable(path.name)
        mode = path.lstat().st_mode
        if path.name == UNFINISHED:
            hint = "complete it with `probe-effect measure --resume`; the file goes then"
            yield Fault(shown, None, "says that the run is not complete", hint)
        elif path.name not in known:
            yield Fault(shown, None, "is not a file of this folder", f"remove it; known are {names}")
        elif not stat.S_ISREG(mode):
            yield Fault(shown, None, "is not a regular file", "put the file itself here, no link or folder")
        elif mode & 0o111:
            yield Fault(shown, None, "is executable", f"chmod -x {shown}")


TEXT = "A folder holds only the files that the data format names: regular, not executable, no links."


def _submission_faults(submission: SubmissionFolder) -> Iterator[Fault]:
    return _faults(submission.folder, SUBMISSION_FILES)


def _source_faults(folder: Path) -> Iterator[Fault]:
    return _faults(folder, SOURCE_FILES)


GOOD = "machine.json and samples.csv"
BAD = "notes.txt beside them"

IN_SUBMISSION: Rule[SubmissionFolder] = Rule("known-files", TEXT, _submission_faults, GOOD, BAD)
IN_SOURCE: Rule[Path] = Rule("known-files", TEXT, _source_faults, "source.toml and figures.csv", BAD)
