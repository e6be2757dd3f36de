"""Runs every rule over a folder and gathers all problems; nothing submitted makes it raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks import (
    derived_figures,
    folder_name,
    known_cases,
    known_files,
    metric,
    reconciled,
    row_order,
    standing_findings,
    suite_scripts,
    unique_cases,
)
from probe_effect.checks.rule import CheckedSource, CheckedSubmission, CheckedSuite, Rule
from probe_effect.errors import UsageError
from probe_effect.guidance.published import figure_values
from probe_effect.model import Problem
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, Submission
from probe_effect.store.samples import read_samples
from probe_effect.store.source_file import read_figures, read_source
from probe_effect.store.suite_file import read_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from probe_effect.store.suite_file import Suite

SUBMISSION_RULES: tuple[Rule[CheckedSubmission], ...] = (
    known_files.IN_SUBMISSION,
    folder_name.RULE,
    known_cases.RULE,
    metric.RULE,
    row_order.RULE,
    reconciled.RULE,
)
SOURCE_RULES: tuple[Rule[CheckedSource], ...] = (
    known_files.IN_SOURCE,
    folder_name.IN_SOURCE,
    derived_figures.RULE,
    standing_findings.RULE,
)
SUITE_RULES: tuple[Rule[CheckedSuite], ...] = (suite_scripts.RULE, unique_cases.RULE)

MARKS = {
    "samples.csv": "submission",
    "machine.json": "submission",
    "source.toml": "source",
    "figures.csv": "source",
    "suite.toml": "suite",
}
"""A file by which a folder is known, to what the folder then is."""


def check(folders: Iterable[Path], data: DataFolder) -> list[Problem]:
    """Every problem in the submissions, sources and suites at or below `folders`, in the order of their paths.

    Raises: UsageError when a folder holds none of them.
    """
    suites = known_suites(data)
    problems: list[Problem] = []
    for folder in folders:
        found = list(_marked(folder))
        if not found:
            msg = f"{folder}: holds no submission, source or suite. Expected a folder with one of {', '.join(MARKS)}."
            raise UsageError(msg)
        problems += _linked_folders(folder, data)
        for path, kind in found:
            problems += _check_one(path, kind, data, suites)
    return problems


def _linked_folders(folder: Path, data: DataFolder) -> Iterable[Problem]:
    """A folder that is a link: what it leads to would be published without having been checked."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and path.is_dir():
            hint = "put the folder itself here"
            yield Problem("error", data.relative(path), None, None, "known-files", "is a link to a folder", hint)


def known_suites(data: DataFolder) -> dict[str, Suite]:
    """The sound suites by id."""
    read = (read_suite(folder, str(folder))[0] for folder in data.suites())
    return {suite.id: suite for suite in read if suite is not None}


def _marked(folder: Path) -> Iterable[tuple[Path, str]]:
    """Folders at or below `folder` that hold a known file, and what each is."""
    marks = sorted(path for name in MARKS for path in folder.rglob(name))
    return dict.fromkeys((path.parent, MARKS[path.name]) for path in marks)


def _check_one(folder: Path, kind: str, data: DataFolder, suites: dict[str, Suite]) -> list[Problem]:
    def name(file: str) -> str:
        return data.relative(folder / file)

    if kind == "submission":
        return _check_submission(Submission(folder.resolve()), name, suites)
    if kind == "source":
        return _check_source(folder, name)
    suite, problems = read_suite(folder, name("suite.toml"))
    if suite is None:
        return problems
    return [problem for rule in SUITE_RULES for problem in rule.problems(CheckedSuite(folder, suite, suites), name)]


def _check_submission(submission: Submission, name: Callable[[str], str], suites: dict[str, Suite]) -> list[Problem]:
    document, problems = read_machine_file(submission.machine_file, name("machine.json"))
    samples, more = read_samples(submission.samples, name("samples.csv"))
    if document is None or more:
        return problems + more
    checked = CheckedSubmission(submission, document, samples, suites.get(document.run.suite))
    return [problem for rule in SUBMISSION_RULES for problem in rule.problems(checked, name)]


def _check_source(folder: Path, name: Callable[[str], str]) -> list[Problem]:
    document, problems = read_source(folder / "source.toml", name("source.toml"))
    figures, more = read_figures(folder / "figures.csv", name("figures.csv"))
    if document is None or more:
        return problems + more
    checked = CheckedSource(folder, document, figures, figure_values(figures))
    return [problem for rule in SOURCE_RULES for problem in rule.problems(checked, name)]
