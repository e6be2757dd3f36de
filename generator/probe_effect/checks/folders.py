"""What a folder is called and holds: few files that the data format names, and in a suite the files of its cases."""

import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule, rule
from probe_effect.records import TOOLS
from probe_effect.store.places import (
    BELONGS,
    GIT,
    MAX_PATH_LENGTH,
    SOURCE_FILES,
    STEERS,
    SUBMISSION_FILES,
    UNFINISHED,
    is_known_file,
    is_known_folder,
    linux_form,
    plain_form,
)
from probe_effect.store.suite_file import Suite, script_path, script_paths, workload_source
from probe_effect.store.tables import MAX_FILE_BYTES, printable

MAX_FILES = 20
MAX_FOLDER_BYTES = 4 * MAX_FILE_BYTES
MAX_BLOCKS = 200
"""The exact intervals take the cube of the blocks; more of them belong into another submission."""

MAX_BASELINES = 16
"""In one block, of one level. The program makes two."""

MAX_SUBJECTS = 2000
"""Cases, each with its tracer and level; 11 tracers and 27 cases are 300."""


def _known_files(folder: Path, all_names: frozenset[str]) -> Iterator[Fault]:
    paths = list(islice(folder.iterdir(), MAX_FILES + 1))
    for path in sorted(paths) if len(paths) <= MAX_FILES else ():  # of more tells `sizes`, once
        shown, mode = printable(path.name), path.lstat().st_mode
        if path.name == UNFINISHED:
            hint = "complete it with `probe-effect measure --resume`; the file goes then"
            yield Fault(shown, None, "says that the run is not complete", hint)
        elif path.name not in all_names:
            yield Fault(
                shown, None, "is not a file of this folder", f"remove it; known are {', '.join(sorted(all_names))}"
            )
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
    for entry in sorted(entries, key=lambda dir_entry: dir_entry.name):
        status = entry.stat(follow_symlinks=False)
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        total += size
        if size > MAX_FILE_BYTES:
            yield Fault(printable(entry.name), None, f"larger than {MAX_FILE_BYTES} bytes", "split it, or remove it")
    if total > MAX_FOLDER_BYTES:
        yield Fault("", None, f"larger than {MAX_FOLDER_BYTES} bytes", "split the run into submissions")


OF_SUBMISSION: tuple[Rule[Path], ...] = (
    rule("submission/known-files")(partial(_known_files, all_names=SUBMISSION_FILES)),
    rule("submission/sizes")(_sizes),
)
OF_SOURCE: tuple[Rule[Path], ...] = (
    rule("source/known-files")(partial(_known_files, all_names=SOURCE_FILES)),
    rule("source/sizes")(_sizes),
)
"""What can be said of a folder before its files are read."""


@rule("data/known-files")
def _strangers(checked: tuple[Path, Sequence[Path], Collection[Path]]) -> Iterator[Fault]:
    """Of the data folder, what is in it, and the folders of submissions and sources, whose files have their own rules.

    The paths are sorted, so that a folder comes before what is in it.
    """
    root, paths, parts = checked
    told: set[Path] = set()
    for path in paths:
        if path.parent in told:
            told.add(path)
        elif path.parent not in parts and (complaint := _strange(path, path.relative_to(root).parts)):
            told.add(path)
            # An editor's own is in nobody's way here, and `review` tells of each that is added.
            is_hidden = complaint == NO_FILE and path.name.startswith(".")
            shown = printable(path.relative_to(root).as_posix(), MAX_PATH_LENGTH)
            yield Fault(shown, None, *complaint, "warning" if is_hidden else "error")


NO_FILE = "is not a file of the data", BELONGS


def _strange(path: Path, names: tuple[str, ...]) -> tuple[str, str] | None:
    """What is wrong with a file or folder that is known by the names in its path, or not; and how to mend it."""
    mode = path.lstat().st_mode
    complaint: tuple[str, str] | None = None
    if stat.S_ISLNK(mode) and path.is_dir():
        complaint = "is a link to a folder", "put the folder itself here"
    elif any(name.startswith(GIT) for name in names):
        complaint = STEERS
    elif stat.S_ISDIR(mode):
        if not is_known_folder(names):
            complaint = "is not a folder of the data", BELONGS
        elif not os.access(path, os.R_OK | os.X_OK):
            complaint = "cannot be opened", "chmod +rx"
    elif not is_known_file(names):
        complaint = NO_FILE
    elif not stat.S_ISREG(mode):
        complaint = "is not a regular file", "put the file itself here, no link or folder"
    elif mode & 0o111:
        complaint = "is executable", "chmod -x, and git update-index --chmod=-x"
    return complaint


@rule("run-size")
def run_size(checked: CheckedSubmission) -> Iterator[Fault]:
    """Asked first, because the time of all other rules grows with the size of the run."""
    blocks = {sample.block for sample in checked.samples}
    if max(len(blocks), checked.document.run.blocks) > MAX_BLOCKS:
        yield Fault("samples.csv", None, f"holds more than {MAX_BLOCKS} blocks", "split the run into submissions")
    subjects = {(sample.case, sample.tracer, sample.level) for sample in checked.samples}
    if len(subjects) > MAX_SUBJECTS:
        message = f"holds more than {MAX_SUBJECTS} cases, tracers and levels"
        yield Fault("samples.csv", None, message, "split the run by tracer")
    baselines = Counter((sample.block, sample.level) for sample in checked.samples if sample.arm == "baseline")
    if baselines and max(baselines.values()) > MAX_BASELINES:
        message = f"holds more than {MAX_BASELINES} baselines in a block"
        yield Fault("samples.csv", None, message, "make two in each block")


@rule("submission/folder-name")
def submission_name(checked: CheckedSubmission) -> Iterator[Fault]:
    document, submission = checked.document, checked.submission
    if submission.machine != document.machine.id:
        message = f"machine.id `{document.machine.id}` in the folder of `{printable(submission.machine)}`"
        yield Fault("machine.json", None, message, f"move the submission to data/results/{document.machine.id}/")
    wanted = f"{document.run.started[:10]}-{document.run.suite}"
    if not re.fullmatch(rf"{re.escape(wanted)}(-[1-9][0-9]*)?", submission.folder.name):
        message = f"folder `{printable(submission.folder.name)}` holds a run of {wanted}"
        yield Fault("machine.json", None, message, f"name the folder {wanted}, or {wanted}-2 for a second run")


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """A suite whose `suite.toml` could be read."""

    folder: Path
    suite: Suite
    known: Mapping[str, Suite]


@rule("suite-scripts")
def _suite_scripts(checked: CheckedSuite) -> Iterator[Fault]:
    suite, folder = checked.suite, checked.folder
    if suite.id != folder.name:
        yield _fault(f"id `{suite.id}` in folder `{folder.name}`", "use the folder's name")
    if not workload_source(folder, suite).is_file():
        yield _fault(f"workload/{suite.workload.program} is missing", "add the program's source")
    for case in suite.cases:
        tools = [tool for tool in TOOLS if script_paths(folder, suite, case.id, tool)]
        if not tools:
            yield _fault(f"case `{case.id}` has no script", f"add {case.id}.bt or {case.id}.d")
        is_twin = case.counted_by == "twin"
        if is_twin and "bpftrace" in tools and not script_path(folder, case.id, "bpftrace", check=True):
            yield _fault(f"case `{case.id}` is counted by a twin that is missing", f"add {case.id}.check.bt")
        if is_twin and _lacks_linux_twin(folder, case.id):
            message = f"case `{case.id}` is counted by a twin that is missing on Linux"
            yield _fault(message, f"add {case.id}.check.d and {case.id}.check.linux.d")
    # Nobody asks for a form for Linux by its own name.
    plain_forms = ((path.name, plain_form(path)) for path in sorted(folder.iterdir()))
    for name, plain in ((name, plain) for name, plain in plain_forms if plain and not plain.is_file()):
        message = f"script `{name}` is the form for Linux of a script that is missing"
        yield _fault(message, f"add {plain.name}, or give it that name")
    case_ids = {case.id for each_suite in (suite, *checked.known.values()) for case in each_suite.cases}
    for id_, name in ((case.id, name) for case in suite.cases for name in case.references()):
        if name not in case_ids or name == id_:
            hint = "name another case of a known suite in `like`, `parts` and `composed`"
            yield _fault(f"case `{id_}` refers to `{name}`, which is no other case", hint)


def _lacks_linux_twin(folder: Path, case_id: str) -> bool:
    """A script with a form for Linux needs a twin with one, or on Linux the twin names a function that is not there."""
    script, twin = (script_path(folder, case_id, "dtrace", check=check) for check in (False, True))
    return bool(script and linux_form(script) and not (twin and linux_form(twin)))


@rule("unique-cases")
def _unique_cases(checked: CheckedSuite) -> Iterator[Fault]:
    """A case's id says which case it is, without its suite: pages, figures and commands name it so."""
    times = Counter(case.id for case in checked.suite.cases)
    yield from (_fault(f"there are two cases `{id_}`") for id_, number in times.items() if number > 1)
    for other in (suite for suite in checked.known.values() if suite.id != checked.suite.id):
        yield from (
            _fault(f"case `{case.id}` is in suite `{other.id}` too") for case in other.cases if case.id in times
        )


def _fault(message: str, hint: str | None = None) -> Fault:
    return Fault("suite.toml", None, message, hint)


DATA_RULES = (_strangers,)
RULES = (_suite_scripts, _unique_cases)
