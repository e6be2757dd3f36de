"""All rules by what they look at, the run of all of them over a folder, and what is done about the problems found.

Nothing submitted makes a run raise. Old problems do not hold up a change of the data, and some are fixed.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from probe_effect.checks import beside, copies, folders, machine_facts, rows
from probe_effect.checks.rule import CheckedSubmission, Rule, broken, names_in
from probe_effect.model import Problem, UsageError
from probe_effect.numbers.catalogue import code, content_digest, keep
from probe_effect.numbers.published import figure_values
from probe_effect.numbers.reduce import reduce
from probe_effect.store.beside_files import TABLES, changed_ids, read_changes, read_figures, read_source
from probe_effect.store.kept import code_version
from probe_effect.store.machine_file import Machine, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder, walk
from probe_effect.store.release_file import TreeDifference, folders_digest
from probe_effect.store.result_tables import read_calibration, read_histogram, read_paths, read_samples, with_histograms
from probe_effect.store.suite_file import Suite, known_suites, read_suite
from probe_effect.store.tables import MAX_FILE_BYTES, regular_size, with_commas

FACTS = ("machine-facts", "kernel-facts", "virtual-facts")
SIGNS = {rule.id: rule.id for rule in copies.SIGNS} | dict.fromkeys(FACTS, "facts that do not fit each other")
"""Rule to the sign that it is of; no sign follows from another, but of one fact often follow others."""

SUBMISSION_RULES: tuple[Rule[CheckedSubmission], ...] = (folders.submission_name, *rows.RULES, *machine_facts.RULES)

ALL_RULES: dict[str, tuple[Rule[Any], ...]] = {
    "a submission": (
        *folders.OF_SUBMISSION,
        folders.run_size,
        *SUBMISSION_RULES,
        *copies.DUPLICATE_RULES,
        *rows.PLAN_RULES,
        *rows.COST_RULES,
        *machine_facts.SAME_RULES,
    ),
    "signs that a submission was not measured": copies.COPIED_RULES,
    "a published source": (*folders.OF_SOURCE, beside.source_size, *beside.SOURCE_RULES),
    "a suite": folders.RULES,
    "the files of a data folder": folders.DATA_RULES,
    "the change log": beside.CHANGE_RULES,
    "a release": beside.RELEASE_RULES,
    "a package of standard tools": beside.TOOL_RULES,
    "the transcripts": beside.TRANSCRIPT_RULES,
    "the explanations": beside.EXPLANATION_RULES,
    "a change of the data": beside.DIFFERENCE_RULES,
}

MARKS = {
    "samples.csv": "submission",
    "machine.json": "submission",
    "source.toml": "source",
    "figures.csv": "source",
    "suite.toml": "suite",
}
"""A file by which a folder is known, to what the folder then is."""


@dataclass(frozen=True, slots=True)
class DataContext:
    """What the parts of a data folder are checked against; of submissions, by their folders.

    Attributes:
        folders: suite to where its scripts lie.
        copies: those that have the rows of one that is checked, in words.
        machines: its machine, and what every submission says of that machine.
        alike: what it has in common with others, as (rule, words).
        accepted: submissions of which the change log says that they were measured, whatever it looks like.
        digest: of all files of the suites, by which what was checked against them is kept.
    """

    data: DataFolder
    suites: Mapping[str, Suite]
    folders: Mapping[str, Path]
    copies: Mapping[Path, list[str]]
    machines: Mapping[Path, tuple[Machine, Mapping[str, Machine]]]
    alike: Mapping[Path, list[tuple[str, str]]]
    accepted: frozenset[str]
    digest: str


def check(folders: Iterable[Path], data: DataFolder) -> list[Problem]:
    """Every problem in the submissions, sources and suites at or below `folders`, in the order of their paths.

    Raises: UsageError when a folder holds none of them.
    """
    paths: list[Path] = []
    for folder in folders:
        inside = folder.resolve().is_relative_to(data.root.resolve())
        folder_paths = walk(folder.resolve() if inside else folder)
        if not _marked(folder_paths):
            msg = f"{folder}: holds no submission, source or suite. Expected a folder with one of {', '.join(MARKS)}."
            raise UsageError(msg)
        paths += folder_paths
    return _check_paths(paths, data)


def check_all(data: DataFolder) -> list[Problem]:
    """Every problem of a whole data folder: its parts, its change log, releases, tools, transcripts, references .."""
    return [*_check_paths(walk(data.root.resolve()), data), *beside.check_beside(data)]


def _check_paths(paths: Sequence[Path], data: DataFolder) -> list[Problem]:
    parts, root = _marked(paths), data.root.resolve()
    owned = {path for path, kind in parts if kind != "suite"}
    own = [path for path in paths if path.is_relative_to(root)]
    problems = broken(folders.DATA_RULES, (root, own, owned), names_in(root, data))
    context = _known(data, [SubmissionFolder(path) for path, kind in parts if kind == "submission"])
    for path, kind in parts:
        name = names_in(path, data)
        if kind == "submission":
            problems += _check_submission(SubmissionFolder(path.resolve()), name, context)
        elif kind == "source":
            problems += _check_source(path, name)
        else:
            suite, faults = read_suite(path, name("suite.toml"))
            checked = folders.CheckedSuite(path, suite, context.suites) if suite else None
            problems += broken(folders.RULES, checked, name) if checked else faults
    return problems


def check_contents(submissions: Iterable[SubmissionFolder], data: DataFolder) -> None:
    """Keep the problems of the files of some submissions, and their numbers, for the next check."""
    context = _known(data)
    for files in submissions:
        _kept_content(SubmissionFolder(files.folder.resolve()), names_in(files.folder, data), context)


def _known(data: DataFolder, checked: Sequence[SubmissionFolder] = ()) -> DataContext:
    """The rows of every submission are read only if some are `checked`."""
    every = [*data.submissions(), *checked] if checked else []
    suites_here = known_suites(data)
    submissions = copies.known_machines(every)
    copied = copies.copied_rows(checked, every)
    # What a copy has in common with the other is told by its rows.
    alone = [submission for submission in submissions if not copied.get(submission.files.folder)]
    by_machine: dict[str, dict[str, Machine]] = defaultdict(dict)
    for submission in submissions:
        by_machine[submission.document.machine.id][submission.files.id] = submission.document.machine
    folders = {folder.name: folder for folder in data.suites()}
    log, _ = read_changes(data)
    return DataContext(
        data,
        suites_here,
        folders,
        copied,
        {
            submission.files.folder: (submission.document.machine, by_machine[submission.document.machine.id])
            for submission in submissions
        },
        copies.in_common(alone, checked, suites_here, data.kept),
        changed_ids(log.changes if log else (), "accepted"),
        folders_digest(folders.values()),
    )


def _marked(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """Folders that hold a known file, and what each is; one without a plain name is told of as not known."""
    marked = (path for path in paths if path.name in MARKS and "".join(path.parts[-3:]).isprintable())
    return list(dict.fromkeys((path.parent, MARKS[path.name]) for path in marked))


def _check_submission(submission: SubmissionFolder, name: Callable[[str], str], context: DataContext) -> list[Problem]:
    own_problems = _kept_content(submission, name, context)
    problems = _with_folder(own_problems, broken(folders.OF_SUBMISSION, submission.folder, name))
    if _errors(own_problems):
        return problems
    if same := broken(copies.DUPLICATE_RULES, context.copies[submission.folder], name):
        return [*problems, *same]
    if machine := context.machines.get(submission.folder):
        problems += broken(machine_facts.SAME_RULES, (submission.machine_file, *machine), name)
    # What a submission has in common with others, beside the signs that were found in its own files.
    common = context.alike.get(submission.folder, [])
    rules = [*(problem.rule for problem in own_problems), *(rule for rule, _ in common)]
    signs = [SIGNS[rule] for rule in rules if rule in SIGNS]
    suspected = copies.Suspected(common, signs, submission.id in context.accepted)
    return [*problems, *broken(copies.COPIED_RULES, suspected, name)]


def _kept_content(submission: SubmissionFolder, name: Callable[[str], str], context: DataContext) -> list[Problem]:
    """What `_check_content` finds, which is kept unless there is an error: a date that is still to come will pass."""
    kept, digest = context.data.kept, content_digest(submission)
    versions = code(), code_version("checks", "numbers"), context.digest
    made_from = ("checked", *versions, name("samples.csv"), submission.id, str(digest))
    if digest and (text := kept.get(*made_from)):
        return [Problem(*values) for values in json.loads(text)]
    problems = _check_content(submission, name, context, digest)
    if digest and not _errors(problems):
        kept.put(json.dumps([astuple(problem) for problem in problems]).encode(), *made_from)
    return problems


def _check_content(
    submission: SubmissionFolder, name: Callable[[str], str], context: DataContext, digest: str | None
) -> list[Problem]:
    """What is wrong in the files of a submission, checked against its suite; its numbers and traces are kept."""
    document, problems = read_machine_file(submission.machine_file, name("machine.json"))
    samples, of_samples = read_samples(submission.samples, name("samples.csv"))
    times, of_times = read_histogram(submission.histogram, name("histogram.csv"))
    costs, of_costs = read_calibration(submission.calibration, name("calibration.csv"))
    events, of_events = read_paths(submission.paths, name("paths.csv"))
    problems += of_samples + of_times + of_costs + of_events
    if document is None or problems:
        return problems
    suite, folder = context.suites.get(document.run.suite), context.folders.get(document.run.suite)
    checked = CheckedSubmission(submission, document, samples, suite, folder, times, costs, events)
    if too_large := broken([folders.run_size], checked, name):
        return too_large
    problems = broken(SUBMISSION_RULES, checked, name)
    if not any(problem.rule in rows.UNKNOWN_NAME for problem in problems):
        problems += broken(rows.PLAN_RULES, checked, name)
    kept = context.data.kept
    if digest and kept.folder:
        copies.read_traces(submission, document, digest, kept, samples)
    if not _errors(problems):
        made = reduce(submission, document, with_histograms(samples, times))
        # What looks odd in the costs themselves; those of counted instructions have no envelope yet.
        if made.metric == "time":
            problems += broken(rows.COST_RULES, rows.JudgedSubmission(checked, made), name)
        keep(made, kept, digest)
    return problems


def _check_source(folder: Path, name: Callable[[str], str]) -> list[Problem]:
    document, problems = read_source(folder / "source.toml", name("source.toml"))
    figures, more = read_figures(folder / "figures.csv", name("figures.csv"))
    problems = _with_folder(problems + more, broken(folders.OF_SOURCE, folder, name))
    if document is None or more:
        return problems
    if too_large := broken([beside.source_size], figures, name):
        return [*problems, *too_large]
    checked = beside.CheckedSource(folder, document, figures, figure_values(figures))
    return [*problems, *broken(beside.SOURCE_RULES, checked, name)]


def _with_folder(read: list[Problem], of_folder: list[Problem]) -> list[Problem]:
    """What reading found, and what the folder adds: a file that could not be read is told once."""
    told = {problem.file for problem in read}
    return [*read, *(problem for problem in of_folder if problem.file not in told)]


def _errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def new_problems(files: TreeDifference) -> tuple[tuple[Problem, ...], list[Problem]]:
    """The problems of the new state that the old one has not, and those of the step from one to the other.

    Of a rule that a changed folder breaks, only the problems of changed folders are told.
    """

    def same(problem: Problem) -> tuple[str, str, str]:
        """What makes a problem the same in both: not its line, and not where the data folder lies."""
        return problem.file.partition("/")[2], problem.rule, problem.message

    old = {same(problem) for problem in check_all(files.base)}
    new = [problem for problem in check_all(files.head) if same(problem) not in old]
    changed = {PurePosixPath(path).parent for path in files.all}
    own = [problem for problem in new if PurePosixPath(problem.file.partition("/")[2]).parent in changed]
    rules = {problem.rule for problem in own}
    others = (problem for problem in new if problem.rule not in rules)
    return (*own, *others), broken(beside.DIFFERENCE_RULES, files, names_in(files.head.root, files.head))


TEXT_FILES = frozenset({*TABLES, "machine.json", "source.toml", "suite.toml"})


def _with_commas(text: bytes) -> bytes:
    try:
        return with_commas(text.decode()).encode()
    except (UnicodeDecodeError, csv.Error):  # `check` tells of both
        return text


FORMS: tuple[tuple[str, Callable[[bytes, str], bytes]], ...] = (
    ("has no byte order mark any more", lambda text, _: text.removeprefix(b"\xef\xbb\xbf")),
    ("ends its lines with LF", lambda text, _: text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")),
    ("has no NUL behind its end any more", lambda text, _: text.rstrip(b"\0")),
    ("has commas between its cells", lambda text, suffix: _with_commas(text) if suffix == ".csv" else text),
    (
        "has no blank lines any more",
        lambda text, suffix: re.sub(rb"^,*\n", b"", text, flags=re.MULTILINE) if suffix == ".csv" else text,
    ),
    # In JSON only, where no string goes over a line's end; elsewhere a blank may be a value's.
    (
        "has no blanks at the ends of lines",
        lambda text, suffix: re.sub(rb"[ \t]+(?=\n|\Z)", b"", text) if suffix == ".json" else text,
    ),
    # A table's last line may be torn, and only a person can see that.
    (
        "ends with a line feed",
        lambda text, suffix: text if suffix == ".csv" or not text or text.endswith(b"\n") else text + b"\n",
    ),
)
"""What was done, and how; in an order in which each leaves nothing for one before it."""


def autofix(folders: Iterable[Path], data: DataFolder) -> list[tuple[str, str]]:
    """Fix the files of everything at or below `folders`: (file, what was done). A second time nothing is left to do."""
    parts = (part for folder in folders for part, _ in _marked(walk(folder)))
    paths = (path for part in parts for path in sorted(part.iterdir()) if path.name in TEXT_FILES)
    return [(data.relative(path), what) for path in paths for what in _fix_file(path)]


def _fix_file(path: Path) -> Iterator[str]:
    """Links, devices and files that are too large are left alone: `check` tells of them."""
    try:
        if regular_size(path) > MAX_FILE_BYTES:
            return
        mode = path.stat().st_mode
        if mode & 0o111:
            path.chmod(mode & ~0o111)
            yield "is no longer executable"
        content = before = path.read_bytes()
        for what, form in FORMS:
            if (after := form(content, path.suffix)) != content:
                content = after
                yield what
        if content != before:
            path.write_bytes(content)
    except OSError:
        return
