"""Only files that the data format names, and nothing that runs or points elsewhere."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSource, CheckedSubmission, Fault, Rule
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUBMISSION_FILES = frozenset({"machine.json", "samples.csv", "histogram.csv"})
UNFINISHED = "plan.json"
SOURCE_FILES = frozenset({"source.toml", "figures.csv"})


def _faults(folder: Path, known: frozenset[str]) -> Iterator[Fault]:
    names = ", ".join(sorted(known))
    for path in sorted(folder.iterdir()):
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

IN_SUBMISSION: Rule[CheckedSubmission] = Rule(
    "known-files", TEXT, lambda checked: _faults(checked.submission.folder, SUBMISSION_FILES)
)
IN_SOURCE: Rule[CheckedSource] = Rule("known-files", TEXT, lambda checked: _faults(checked.folder, SOURCE_FILES))
