"""Runs every rule over a folder and gathers all problems; nothing submitted makes it raise."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from probe_effect.checks import (
    append_only,
    baseline_range,
    changes,
    dates,
    derived_figures,
    duplicates,
    findable_source,
    folder_name,
    kernel_facts,
    known_cases,
    known_files,
    known_tracers,
    machine_facts,
    metric,
    negative_cost,
    plan_complete,
    probe_order,
    reconciled,
    releases,
    row_order,
    sizes,
    standing_findings,
    steady_baselines,
    suite_scripts,
    unique_cases,
    virtual_facts,
)
from probe_effect.checks.rule import CheckedSource, CheckedSubmission, CheckedSuite, CopiedRows, JudgedSubmission, Rule
from probe_effect.errors import UsageError
from probe_effect.model import Problem
from probe_effect.numbers.published import figure_values
from probe_effect.reduce.reading import code, content_digest, keep
from probe_effect.reduce.reduce import reduce
from probe_effect.store.changes_file import read_changes
from probe_effect.store.kept import code_version
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder, walk
from probe_effect.store.release_file import read_releases
from probe_effect.store.samples import read_samples
from probe_effect.store.source_file import read_figures, read_source
from probe_effect.store.suite_file import read_suite
from probe_effect.store.version import folders_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from probe_effect.checks.rule import RowIndex
    from probe_effect.reduce.submission import Submission
    from probe_effect.store.kept import Kept
    from probe_effect.store.suite_file import Suite

T = TypeVar("T")

FOLDER_RULES: tuple[Rule[SubmissionFolder], ...] = (known_files.IN_SUBMISSION, sizes.IN_SUBMISSION)
"""What can be said of a submission before its files are read."""

SUBMISSION_RULES: tuple[Rule[CheckedSubmission], ...] = (
    folder_name.RULE,
    known_cases.RULE,
    known_tracers.RULE,
    metric.RULE,
    row_order.RULE,
    reconciled.RULE,
    dates.RULE,
    machine_facts.RULE,
    kernel_facts.RULE,
    virtual_facts.RULE,
)
COPY_RULES: tuple[Rule[CopiedRows], ...] = (duplicates.RULE,)
"""What a submission is asked beside all others."""

COMPLETE_RULES: tuple[Rule[CheckedSubmission], ...] = (plan_complete.RULE,)
"""What a submission of known cases and tracers is asked: under a wrong name, a run is also missing under the right."""

PLAUSIBLE_RULES: tuple[Rule[JudgedSubmission], ...] = (
    baseline_range.RULE,
    steady_baselines.RULE,
    negative_cost.RULE,
    probe_order.RULE,
)
"""What a submission of times without errors is asked; each answer is a warning."""

UNKNOWN_NAME = frozenset({known_cases.RULE.id, known_tracers.RULE.id})

SOURCE_FOLDER_RULES: tuple[Rule[Path], ...] = (known_files.IN_SOURCE, sizes.IN_SOURCE)
SOURCE_RULES: tuple[Rule[CheckedSource], ...] = (
    folder_name.IN_SOURCE,
    findable_source.RULE,
    derived_figures.RULE,
    standing_findings.RULE,
)
SUITE_RULES: tuple[Rule[CheckedSuite], ...] = (suite_scripts.RULE, unique_cases.RULE)

CHANGES_RULES: tuple[Rule[changes.CheckedChanges], ...] = (changes.RULE,)
RELEASE_RULES: tuple[Rule[releases.CheckedRelease], ...] = (releases.RULE,)

ALL_RULES: dict[str, tuple[Rule[Any], ...]] = {
    "a submission": (*FOLDER_RULES, sizes.OF_RUN, *SUBMISSION_RULES, *COPY_RULES, *COMPLETE_RULES, *PLAUSIBLE_RULES),
    "a published source": (*SOURCE_FOLDER_RULES, sizes.OF_FIGURES, *SOURCE_RULES),
    "a suite": SUITE_RULES,
    "the change log": CHANGES_RULES,
    "a release": RELEASE_RULES,
    "a change of the data": append_only.DIFFERENCE_RULES,
}
"""What each rule is of, as the dictionary has them."""

MARKS = {
    "samples.csv": "submission",
    "machine.json": "submission",
    "source.toml": "source",
    "figures.csv": "source",
    "suite.toml": "suite",
}
"""A file by which a folder is known, to what the folder then is."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the parts of a data folder are held against."""

    suites: Mapping[str, Suite]
    folders: Mapping[str, Path]
    """Suite to where its scripts lie."""
    copies: RowIndex
    digest: str
    """Of all files of the suites, by which what was checked against them is kept."""


def check(folders: Iterable[Path], data: DataFolder) -> list[Problem]:
    """Every problem in the submissions, sources and suites at or below `folders`, in the order of their paths.

    Raises: UsageError when a folder holds none of them.
    """
    problems: list[Problem] = []
    parts: list[tuple[Path, str]] = []
    for folder in folders:
        paths = walk(folder)
        found = list(_marked(paths))
        if not found:
            msg = f"{folder}: holds no submission, source or suite. Expected a folder with one of {', '.join(MARKS)}."
            raise UsageError(msg)
        problems += _linked_folders(paths, data)
        parts += found
    known = _known(data, parts)
    return [*problems, *(problem for path, kind in parts for problem in _check_one(path, kind, data, known))]


def _known(data: DataFolder, parts: Iterable[tuple[Path, str]]) -> Known:
    checked = [SubmissionFolder(path) for path, kind in parts if kind == "submission"]
    copies = duplicates.row_index([*data.submissions(), *checked]) if checked else {}
    folders = {folder.name: folder for folder in data.suites()}
    return Known(known_suites(data), folders, copies, folders_digest(folders.values()))


def check_all(data: DataFolder) -> list[Problem]:
    """Every problem of a whole data folder: its parts, its change log and its releases."""
    parts = [folder for folder in data.parts() if not folder.is_symlink()]
    linked = _linked_folders(data.parts(), data)
    return [*linked, *check(parts, data), *_check_changes(data), *_check_releases(data)]


def check_contents(folders: Iterable[SubmissionFolder], data: DataFolder) -> None:
    """Keep what is to be said of the files of some submissions, and their numbers, for whoever checks them next."""
    suites = {folder.name: folder for folder in data.suites()}
    known = Known(known_suites(data), suites, {}, folders_digest(suites.values()))
    for files in folders:
        submission = SubmissionFolder(files.folder.resolve())
        _kept_content(submission, _names_in(files.folder, data), known, data.kept)


def parts_below(folders: Iterable[Path]) -> list[tuple[Path, str]]:
    """Each submission, source and suite at or below `folders`, and which of these it is."""
    return [part for folder in folders for part in _marked(walk(folder))]


def _check_changes(data: DataFolder) -> list[Problem]:
    document, problems = read_changes(data)
    if document is None:
        return problems
    checked = changes.CheckedChanges(document, data)
    name = _names_in(data.root, data)
    return [problem for rule in CHANGES_RULES for problem in rule.problems(checked, name)]


def _check_releases(data: DataFolder) -> list[Problem]:
    found, problems = read_releases(data)
    for release in found:
        checked = releases.CheckedRelease(release, data)
        for rule in RELEASE_RULES:
            problems += rule.problems(checked, _names_in(release.folder, data))
    return problems


def _names_in(folder: Path, data: DataFolder) -> Callable[[str], str]:
    """How problems name a file of `folder`."""
    return lambda file: data.relative(folder / file)


def _linked_folders(paths: Iterable[Path], data: DataFolder) -> Iterable[Problem]:
    """A folder that is a link: what it leads to would be published without having been checked."""
    for path in paths:
        if path.is_symlink() and path.is_dir():
            hint = "put the folder itself here"
            yield Problem("error", data.relative(path), None, None, "known-files", "is a link to a folder", hint)


def known_suites(data: DataFolder) -> dict[str, Suite]:
    """The sound suites by id."""
    read = (read_suite(folder, str(folder))[0] for folder in data.suites())
    return {suite.id: suite for suite in read if suite is not None}


def _marked(paths: Iterable[Path]) -> Iterable[tuple[Path, str]]:
    """Folders that hold a known file, and what each is."""
    return dict.fromkeys((path.parent, MARKS[path.name]) for path in paths if path.name in MARKS).keys()


def _check_one(folder: Path, kind: str, data: DataFolder, known: Known) -> list[Problem]:
    name = _names_in(folder, data)
    if kind == "submission":
        return _check_submission(SubmissionFolder(folder.resolve()), name, known, data.kept)
    if kind == "source":
        return _check_source(folder, name)
    suite, problems = read_suite(folder, name("suite.toml"))
    if suite is None:
        return problems
    return _broken(SUITE_RULES, CheckedSuite(folder, suite, known.suites), name)


def _check_submission(
    submission: SubmissionFolder, name: Callable[[str], str], known: Known, kept: Kept
) -> list[Problem]:
    """What is wrong with a submission by its own files; then with its folder, and whether its rows are another's."""
    found = _kept_content(submission, name, known, kept)
    problems = _with_folder(found, _broken(FOLDER_RULES, submission, name))
    if _errors(found):
        return problems
    return [*problems, *_broken(COPY_RULES, CopiedRows(submission, known.copies), name)]


def _kept_content(submission: SubmissionFolder, name: Callable[[str], str], known: Known, kept: Kept) -> list[Problem]:
    """The same as `_check_content`, which need not look again at files in which it found no error.

    An error is looked for again each time: a run that is still to come will have been one day.
    """
    digest = content_digest(submission)
    made_from = (
        "checked",
        code(),
        code_version("checks", "numbers"),
        known.digest,
        name("samples.csv"),
        submission.id,
        str(digest),
    )
    if digest and (text := kept.get(*made_from)):
        return [Problem(*values) for values in json.loads(text)]
    found = _check_content(submission, name, known, partial(keep, kept=kept, digest=digest))
    if digest and not _errors(found):
        kept.put(json.dumps([astuple(problem) for problem in found]).encode(), *made_from)
    return found


def _check_content(
    submission: SubmissionFolder, name: Callable[[str], str], known: Known, keep: Callable[[Submission], None]
) -> list[Problem]:
    """What is wrong in the files of a submission, held against its suite; its numbers are kept where they are made."""
    document, problems = read_machine_file(submission.machine_file, name("machine.json"))
    samples, more = read_samples(submission.samples, name("samples.csv"))
    if document is None or more:
        return [*problems, *more]
    suite, folder = known.suites.get(document.run.suite), known.folders.get(document.run.suite)
    checked = CheckedSubmission(submission, document, samples, suite, folder)
    if too_large := _broken([sizes.OF_RUN], checked, name):
        return [*problems, *too_large]
    found = _broken(SUBMISSION_RULES, checked, name)
    if not any(problem.rule in UNKNOWN_NAME for problem in found):
        found += _broken(COMPLETE_RULES, checked, name)
    if not _errors(found):
        made = reduce(submission, document, samples)
        # What looks odd in the costs themselves; those of counted instructions have no envelope yet.
        if made.metric == "time":
            found += _broken(PLAUSIBLE_RULES, JudgedSubmission(checked, made), name)
        keep(made)
    return [*problems, *found]


def _check_source(folder: Path, name: Callable[[str], str]) -> list[Problem]:
    document, problems = read_source(folder / "source.toml", name("source.toml"))
    figures, more = read_figures(folder / "figures.csv", name("figures.csv"))
    problems = _with_folder(problems + more, _broken(SOURCE_FOLDER_RULES, folder, name))
    if document is None or more:
        return problems
    if too_large := _broken([sizes.OF_FIGURES], figures, name):
        return [*problems, *too_large]
    checked = CheckedSource(folder, document, figures, figure_values(figures))
    return [*problems, *_broken(SOURCE_RULES, checked, name)]


def _with_folder(read: list[Problem], of_folder: list[Problem]) -> list[Problem]:
    """What reading found, and what the folder adds: a file that could not be read is told once."""
    told = {problem.file for problem in read}
    return [*read, *(problem for problem in of_folder if problem.file not in told)]


def _broken(rules: Iterable[Rule[T]], subject: T, name: Callable[[str], str]) -> list[Problem]:
    return [problem for rule in rules for problem in rule.problems(subject, name)]


def _errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)
