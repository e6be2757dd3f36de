"""A folder holds what a person can have measured: few files, none of them large, and not too many runs."""

from __future__ import annotations

import os
import stat
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.store.tables import MAX_FILE_BYTES, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from probe_effect.store.places import SubmissionFolder
    from probe_effect.store.source_file import Figure

MAX_FILES = 20
MAX_FOLDER_BYTES = 4 * MAX_FILE_BYTES
MAX_BLOCKS = 200
"""The exact intervals take the cube of the blocks; more of them belong into another submission."""

MAX_BASELINES = 16
"""In one block, of one level. The program makes two."""

MAX_SUBJECTS = 2000
"""Cases, each with its tracer and level; 11 tracers and 27 cases are 300."""

MAX_FIGURES = 1000
"""Of one source; their formulas are all computed."""


def _folder_faults(folder: Path) -> Iterator[Fault]:
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


def _run_faults(checked: CheckedSubmission) -> Iterator[Fault]:
    blocks = {sample.block for sample in checked.samples}
    if max(len(blocks), checked.document.run.blocks) > MAX_BLOCKS:
        yield _too_many(f"more than {MAX_BLOCKS} blocks", "split the run into submissions")
    subjects = {(sample.case, sample.tracer, sample.level) for sample in checked.samples}
    if len(subjects) > MAX_SUBJECTS:
        yield _too_many(f"more than {MAX_SUBJECTS} cases, tracers and levels", "split the run by tracer")
    baselines = Counter((sample.block, sample.level) for sample in checked.samples if sample.arm == "baseline")
    if baselines and max(baselines.values()) > MAX_BASELINES:
        yield _too_many(f"more than {MAX_BASELINES} baselines in a block", "make two in each block")


def _figure_faults(figures: Sequence[Figure]) -> Iterator[Fault]:
    if len(figures) > MAX_FIGURES:
        yield Fault("figures.csv", None, f"holds more than {MAX_FIGURES} figures", "enter those that compare with ours")


def _too_many(found: str, hint: str) -> Fault:
    return Fault("samples.csv", None, f"holds {found}", hint)


TEXT = "At most 20 files in a folder, 5 MiB in a file, 20 MiB in all."
GOOD, BAD = "samples.csv of 80 KiB", "samples.csv of 6 MiB"


def _submission_faults(submission: SubmissionFolder) -> Iterator[Fault]:
    return _folder_faults(submission.folder)


IN_SUBMISSION: Rule[SubmissionFolder] = Rule("sizes", TEXT, _submission_faults, GOOD, BAD)
IN_SOURCE: Rule[Path] = Rule("sizes", TEXT, _folder_faults, GOOD.replace("samples", "figures"), "figures.csv of 6 MiB")
OF_RUN = Rule(
    "run-size",
    "At most 200 blocks, 16 baselines of a level in a block, and 2000 cases with their tracers and levels.",
    _run_faults,
    good="20 blocks of 27 cases with 4 tracers",
    bad="a thousand blocks",
)
OF_FIGURES: Rule[Sequence[Figure]] = Rule(
    "source-size", "At most 1000 figures in a source.", _figure_faults, good="60 figures", bad="5000 figures"
)
