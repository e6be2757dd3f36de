"""Runs every rule over a folder and gathers all problems; nothing submitted makes it raise."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from probe_effect.checks import (
    alike,
    beside,
    copies,
    folders,
    machine_facts,
    plan_complete,
    plausible_costs,
    rows,
    sources,
)
from probe_effect.checks.copies import read_traces
from probe_effect.checks.registry import SIGNS, SUBMISSION_RULES
from probe_effect.checks.rule import CheckedSubmission, broken, names_in
from probe_effect.errors import UsageError
from probe_effect.model import Problem
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.published import figure_values
from probe_effect.reduce.reading import code, content_digest, keep
from probe_effect.reduce.reduce import reduce
from probe_effect.store.beside_files import changed_ids, read_changes
from probe_effect.store.event_paths import read_paths
from probe_effect.store.further_tables import read_calibration, read_histogram, with_histograms
from probe_effect.store.kept import Kept, code_version
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder, walk
from probe_effect.store.release_file import folders_digest
from probe_effect.store.samples import read_samples
from probe_effect.store.source_file import read_figures, read_source
from probe_effect.store.suite_file import Suite, known_suites, read_suite

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
    """What the parts of a data folder are checked against."""

    suites: Mapping[str, Suite]
    folders: Mapping[str, Path]
    """Suite to where its scripts lie."""
    copies: Mapping[Path, copies.CopiedRows]
    """Folder of a submission that is checked to those that have its rows."""
    machines: Mapping[Path, machine_facts.CheckedMachine]
    """Folder of a submission to its machine, with what others say of it."""
    alike: Mapping[Path, list[tuple[str, str]]]
    """Folder of a submission to what it has in common with others, by rule."""
    accepted: frozenset[str]
    """Submissions of which the change log says that they were measured, whatever it looks like."""
    digest: str
    """Of all files of the suites, by which what was checked against them is kept."""


def check(folders: Iterable[Path], data: DataFolder) -> list[Problem]:
    """Every problem in the submissions, sources and suites at or below `folders`, in the order of their paths.

    Raises: UsageError when a folder holds none of them.
    """
    paths: list[Path] = []
    for folder in folders:
        inside = folder.resolve().is_relative_to(data.root.resolve())
        found = walk(folder.resolve() if inside else folder)
        if not _marked(found):
            msg = f"{folder}: holds no submission, source or suite. Expected a folder with one of {', '.join(MARKS)}."
            raise UsageError(msg)
        paths += found
    return _check_paths(paths, data)


def check_all(data: DataFolder) -> list[Problem]:
    """Every problem of a whole data folder: its parts, its change log, releases, tools, transcripts, references .."""
    return [
        *_check_paths(walk(data.root.resolve()), data),
        *(problem for one in beside.CHECKS for problem in one(data)),
    ]


def _check_paths(paths: Sequence[Path], data: DataFolder) -> list[Problem]:
    """The problems of what is at some paths: of files that the format does not know, then of each part."""
    parts = _marked(paths)
    owned = {path for path, kind in parts if kind != "suite"}
    root = data.root.resolve()
    own = [path for path in paths if path.is_relative_to(root)]
    strangers = broken(folders.DATA_RULES, folders.CheckedPaths(root, own, owned), names_in(root, data))
    known = _known(data, [SubmissionFolder(path) for path, kind in parts if kind == "submission"])
    return [*strangers, *(problem for path, kind in parts for problem in _check_one(path, kind, data, known))]


def check_contents(submissions: Iterable[SubmissionFolder], data: DataFolder) -> None:
    """Keep the problems of the files of some submissions, and their numbers, for the next check."""
    known = _known(data)
    for files in submissions:
        submission = SubmissionFolder(files.folder.resolve())
        _kept_content(submission, names_in(files.folder, data), known, data.kept)


def parts_below(folders: Iterable[Path]) -> list[tuple[Path, str]]:
    """Each submission, source and suite at or below `folders`, and which of these it is."""
    return [part for folder in folders for part in _marked(walk(folder))]


def _known(data: DataFolder, checked: Sequence[SubmissionFolder] = ()) -> DataContext:
    """With the rows of every submission only where some are `checked` beside the others: there may be many."""
    every = [*data.submissions(), *checked] if checked else []
    suites_here, known, index = known_suites(data), alike.known_machines(every), copies.row_index(every)
    copied = {one.folder.resolve(): copies.copied_rows(one, index) for one in checked}
    # What a copy has in common with the other is told by its rows.
    alone = [one for one in known if one.files.folder not in copied or not copied[one.files.folder].shared]
    folders = {folder.name: folder for folder in data.suites()}
    log, _ = read_changes(data)
    return DataContext(
        suites_here,
        folders,
        copied,
        _machines(known),
        alike.in_common(alone, checked, suites_here, data.kept),
        changed_ids(log.changes if log else (), "accepted"),
        folders_digest(folders.values()),
    )


def _machines(known: Iterable[alike.KnownMachine]) -> dict[Path, machine_facts.CheckedMachine]:
    """Folder of each submission to its machine, with what all submissions of that id say of it."""
    found = {}
    for submissions in grouped_by(known, lambda one: one.document.machine.id).values():
        said = {one.files.id: one.document.machine for one in submissions}
        for one in submissions:
            found[one.files.folder] = machine_facts.CheckedMachine(one.files.machine_file, one.document.machine, said)
    return found


def _marked(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """Folders that hold a known file, and what each is; one without a plain name is told of as not known."""
    marked = (path for path in paths if path.name in MARKS and "".join(path.parts[-3:]).isprintable())
    return list(dict.fromkeys((path.parent, MARKS[path.name]) for path in marked))


def _check_one(folder: Path, kind: str, data: DataFolder, known: DataContext) -> list[Problem]:
    name = names_in(folder, data)
    if kind == "submission":
        return _check_submission(SubmissionFolder(folder.resolve()), name, known, data.kept)
    if kind == "source":
        return _check_source(folder, name)
    suite, problems = read_suite(folder, name("suite.toml"))
    if suite is None:
        return problems
    return broken(folders.RULES, folders.CheckedSuite(folder, suite, known.suites), name)


def _check_submission(
    submission: SubmissionFolder, name: Callable[[str], str], known: DataContext, kept: Kept
) -> list[Problem]:
    """What is wrong with a submission by its own files; then with its folder, and whether its rows are another's."""
    found = _kept_content(submission, name, known, kept)
    problems = _with_folder(found, broken(folders.OF_SUBMISSION, submission.folder, name))
    if _errors(found):
        return problems
    if same := broken(copies.DUPLICATE_RULES, known.copies[submission.folder], name):
        return [*problems, *same]
    if machine := known.machines.get(submission.folder):
        problems += broken(machine_facts.SAME_RULES, machine, name)
    # What a submission has in common with others, beside the signs that were found in its own files.
    common = known.alike.get(submission.folder, [])
    rules = [*(problem.rule for problem in found), *(rule for rule, _ in common)]
    named = [SIGNS[rule] for rule in rules if rule in SIGNS]
    return [
        *problems,
        *broken(copies.COPIED_RULES, copies.Suspected(common, named, submission.id in known.accepted), name),
    ]


def _kept_content(
    submission: SubmissionFolder, name: Callable[[str], str], known: DataContext, kept: Kept
) -> list[Problem]:
    """The same as `_check_content`, which does not look again at files in which it found no error.

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
    found = _check_content(submission, name, known, kept, digest)
    if digest and not _errors(found):
        kept.put(json.dumps([astuple(problem) for problem in found]).encode(), *made_from)
    return found


def _check_content(
    submission: SubmissionFolder, name: Callable[[str], str], known: DataContext, kept: Kept, digest: str | None
) -> list[Problem]:
    """What is wrong in the files of a submission, checked against its suite; what is made of its rows is kept."""
    document, problems = read_machine_file(submission.machine_file, name("machine.json"))
    samples, more = read_samples(submission.samples, name("samples.csv"))
    times, further = read_histogram(submission.histogram, name("histogram.csv"))
    costs, faults = read_calibration(submission.calibration, name("calibration.csv"))
    events, torn = read_paths(submission.paths, name("paths.csv"))
    further += faults + torn
    if document is None or more or further:
        return [*problems, *more, *further]
    suite, folder = known.suites.get(document.run.suite), known.folders.get(document.run.suite)
    checked = CheckedSubmission(submission, document, samples, suite, folder, times, costs, events)
    if too_large := broken([folders.run_size], checked, name):
        return [*problems, *too_large]
    found = broken(SUBMISSION_RULES, checked, name)
    if not any(problem.rule in rows.UNKNOWN_NAME for problem in found):
        found += broken(plan_complete.RULES, checked, name)
    if digest and kept.folder:
        read_traces(submission, document, digest, kept, samples)
    if not _errors(found):
        made = reduce(submission, document, with_histograms(samples, times))
        # What looks odd in the costs themselves; those of counted instructions have no envelope yet.
        if made.metric == "time":
            found += broken(plausible_costs.RULES, plausible_costs.JudgedSubmission(checked, made), name)
        keep(made, kept, digest)
    return [*problems, *found]


def _check_source(folder: Path, name: Callable[[str], str]) -> list[Problem]:
    document, problems = read_source(folder / "source.toml", name("source.toml"))
    figures, more = read_figures(folder / "figures.csv", name("figures.csv"))
    problems = _with_folder(problems + more, broken(folders.OF_SOURCE, folder, name))
    if document is None or more:
        return problems
    if too_large := broken([sources.source_size], figures, name):
        return [*problems, *too_large]
    checked = sources.CheckedSource(folder, document, figures, figure_values(figures))
    return [*problems, *broken(sources.RULES, checked, name)]


def _with_folder(read: list[Problem], of_folder: list[Problem]) -> list[Problem]:
    """What reading found, and what the folder adds: a file that could not be read is told once."""
    told = {problem.file for problem in read}
    return [*read, *(problem for problem in of_folder if problem.file not in told)]


def _errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)
