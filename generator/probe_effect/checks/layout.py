"""What a folder is called and holds: few files that the data format names, none of them large, not too many runs."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule, rule
from probe_effect.store.tables import MAX_FILE_BYTES, printable

SUBMISSION_FILES = frozenset({"machine.json", "samples.csv", "histogram.csv", "calibration.csv", "paths.csv"})
UNFINISHED = "plan.json"
SOURCE_FILES = frozenset({"source.toml", "figures.csv"})

MAX_FILES = 20
MAX_FOLDER_BYTES = 4 * MAX_FILE_BYTES
MAX_BLOCKS = 200
"""The exact intervals take the cube of the blocks; more of them belong into another submission."""

MAX_BASELINES = 16
"""In one block, of one level. The program makes two."""

MAX_SUBJECTS = 2000
"""Cases, each with its tracer and level; 11 tracers and 27 cases are 300."""


def _known_files(folder: Path, known: frozenset[str]) -> Iterator[Fault]:
    """Nothing that runs or points elsewhere."""
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
            hint = f"remove it; known are {', '.join(sorted(known))}"
            yield Fault(shown, None, "is not a file of this folder", hint)
        elif not stat.S_ISREG(mode):
            yield Fault(shown, None, "is not a regular file", "put the file itself here, no link or folder")
        elif mode & 0o111:
            yield Fault(shown, None, "is executable", f"chmod -x {shown}")


def _sizes(folder: Path) -> Iterator[Fault]:
    with os.scandir(folder) as listed:
        entries = list(islice(listed, MAX_FILES + 1))
    if len(entries) > MAX_FILES:
        yield Fault("", None, f"holds more than {MAX_FILES} files", "leave only the files that the data format names")
    total = 0
    for entry in sorted(entries, key=lambda one: one.name):
        found = entry.stat(follow_symlinks=False)
        size = found.st_size if stat.S_ISREG(found.st_mode) else 0
        total += size
        if size > MAX_FILE_BYTES:
            yield Fault(printable(entry.name), None, f"larger than {MAX_FILE_BYTES} bytes", "split it, or remove it")
    if total > MAX_FOLDER_BYTES:
        yield Fault("", None, f"larger than {MAX_FOLDER_BYTES} bytes", "split the run into submissions")


OF_SUBMISSION: tuple[Rule[Path], ...] = (
    rule("submission/known-files")(partial(_known_files, known=SUBMISSION_FILES)),
    rule("submission/sizes")(_sizes),
)
OF_SOURCE: tuple[Rule[Path], ...] = (
    rule("source/known-files")(partial(_known_files, known=SOURCE_FILES)),
    rule("source/sizes")(_sizes),
)
"""What can be said of a folder before its files are read."""


@rule("run-size")
def run_size(checked: CheckedSubmission) -> Iterator[Fault]:
    """Asked first: what a run of any size would cost to check has no end."""
    blocks = {sample.block for sample in checked.samples}
    if max(len(blocks), checked.document.run.blocks) > MAX_BLOCKS:
        yield _too_many(f"more than {MAX_BLOCKS} blocks", "split the run into submissions")
    subjects = {(sample.case, sample.tracer, sample.level) for sample in checked.samples}
    if len(subjects) > MAX_SUBJECTS:
        yield _too_many(f"more than {MAX_SUBJECTS} cases, tracers and levels", "split the run by tracer")
    baselines = Counter((sample.block, sample.level) for sample in checked.samples if sample.arm == "baseline")
    if baselines and max(baselines.values()) > MAX_BASELINES:
        yield _too_many(f"more than {MAX_BASELINES} baselines in a block", "make two in each block")


def _too_many(found: str, hint: str) -> Fault:
    return Fault("samples.csv", None, f"holds {found}", hint)


@rule("submission/folder-name")
def submission_name(checked: CheckedSubmission) -> Iterator[Fault]:
    """The folder says the same as its `machine.json`."""
    document, submission = checked.document, checked.submission
    if submission.machine != document.machine.id:
        found = f"machine.id `{document.machine.id}` in the folder of `{printable(submission.machine)}`"
        yield Fault("machine.json", None, found, f"move the submission to data/results/{document.machine.id}/")
    wanted = f"{document.run.started[:10]}-{document.run.suite}"
    if not re.fullmatch(rf"{re.escape(wanted)}(-[1-9][0-9]*)?", submission.folder.name):
        found = f"folder `{printable(submission.folder.name)}` holds a run of {wanted}"
        yield Fault("machine.json", None, found, f"name the folder {wanted}, or {wanted}-2 for a second run")
