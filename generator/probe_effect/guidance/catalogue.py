"""Everything under `data/`, read and understood once: suites, submissions with their summaries, published sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.errors import BadData
from probe_effect.guidance.changes import withdrawn_ids
from probe_effect.guidance.citation import UNKNOWN_EDITION, Edition
from probe_effect.guidance.instructions import summarise_instructions
from probe_effect.guidance.published import figure_values, fill, recompute
from probe_effect.guidance.summary import summarise
from probe_effect.store.changes_file import read_changes
from probe_effect.store.machine_file import read_machine_file
from probe_effect.store.release_file import read_releases
from probe_effect.store.samples import read_samples
from probe_effect.store.source_file import read_figures, read_source
from probe_effect.store.suite_file import SCRIPT_SUFFIXES, read_suite
from probe_effect.store.version import data_version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from probe_effect.guidance.published import Recomputed
    from probe_effect.model import CaseSummary, InstructionSummary, Problem, SubmissionSummary
    from probe_effect.store.changes_file import Change
    from probe_effect.store.machine_file import MachineFile
    from probe_effect.store.places import DataFolder, Submission
    from probe_effect.store.release_file import Release
    from probe_effect.store.source_file import Figure, SourceFile
    from probe_effect.store.suite_file import Case, Suite


@dataclass(frozen=True, slots=True)
class MeasuredSubmission:
    """A submission of times, what its machine was, and what its rows say."""

    files: Submission
    document: MachineFile
    summary: SubmissionSummary


@dataclass(frozen=True, slots=True)
class CountedSubmission:
    """A submission of instructions counted in an emulated machine. A type of its own: the two are never mixed."""

    files: Submission
    document: MachineFile
    summary: InstructionSummary


@dataclass(frozen=True, slots=True)
class PublishedSource:
    """A source, its figures in the order given, and each recomputation by figure id."""

    folder: Path
    document: SourceFile
    figures: tuple[Figure, ...]
    recomputed: dict[str, Recomputed]

    @property
    def id(self) -> str:
        """Its folder's name, which is also its page's."""
        return self.folder.name

    @property
    def from_excerpt(self) -> bool:
        """Whether only an excerpt was seen, which has to be said wherever its figures are shown."""
        return self.document.read == "excerpt"

    def sentence(self, template: str) -> str:
        """`template` with its `{figure}` placeholders filled."""
        return fill(template, {figure.figure: figure for figure in self.figures})


@dataclass(frozen=True, slots=True)
class SuiteFolder:
    """A suite and where its scripts lie."""

    folder: Path
    suite: Suite

    def scripts(self) -> list[Path]:
        """The scripts of all its cases, counting twins too."""
        endings = tuple(SCRIPT_SUFFIXES.values())
        return sorted(path for path in self.folder.iterdir() if path.name.endswith(endings) and path.is_file())


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All data, each list in a stable order: `submissions` are of times, `counted` of instructions."""

    suites: tuple[SuiteFolder, ...]
    submissions: tuple[MeasuredSubmission, ...]
    sources: tuple[PublishedSource, ...]
    counted: tuple[CountedSubmission, ...] = ()
    edition: Edition = UNKNOWN_EDITION
    changes: tuple[Change, ...] = ()
    """The change log as it was written, oldest first."""
    withdrawn: tuple[MeasuredSubmission | CountedSubmission, ...] = ()
    """Submissions that have pages and raw rows still, and are in no table, chart or guidance."""
    releases: tuple[Release, ...] = ()
    """Oldest first."""

    @property
    def version(self) -> str:
        """The version of the data, `2026-11-21.3f2a9c1e`."""
        return self.edition.version

    def all_submissions(self) -> list[MeasuredSubmission | CountedSubmission]:
        """Every submission by id, also those withdrawn: what has a page."""
        return sorted((*self.submissions, *self.counted, *self.withdrawn), key=lambda one: one.files.id)

    def cases(self) -> list[Case]:
        """Every case, in the order of its suite."""
        return [case for folder in self.suites for case in folder.suite.cases]

    def titles(self) -> dict[str, str]:
        """Case id to its title."""
        return {case.id: case.title for case in self.cases()}

    def machines(self) -> dict[str, list[MeasuredSubmission]]:
        """Machine id to its submissions, newest first."""
        machines: dict[str, list[MeasuredSubmission]] = {}
        for submission in sorted(self.submissions, key=lambda one: one.document.run.started, reverse=True):
            machines.setdefault(submission.summary.machine, []).append(submission)
        return machines

    def current(self) -> list[MeasuredSubmission]:
        """The newest submission of each machine and suite: what tables show; older ones stay on their pages."""
        newest: dict[tuple[str, str], MeasuredSubmission] = {}
        for submissions in self.machines().values():
            for submission in submissions:
                newest.setdefault((submission.summary.machine, submission.summary.suite), submission)
        return list(newest.values())

    def measured(self, case_id: str) -> Iterator[tuple[MeasuredSubmission, CaseSummary]]:
        """What the newest submission of each machine that has it says about a case with a tracer, whatever its status.

        One submission may have other tracers than the next, so the newest is sought for each of them.
        """
        for submissions in self.machines().values():
            seen: set[tuple[str, str | None]] = set()
            for submission in submissions:
                found = [case for case in submission.summary.cases if case.case == case_id]
                yield from ((submission, case) for case in found if (case.tracer, case.level) not in seen)
                seen.update((case.tracer, case.level) for case in found)

    def published(self, case_id: str) -> Iterator[tuple[PublishedSource, Figure]]:
        """Published costs that are mapped to a case."""
        for source in self.sources:
            for figure in source.figures:
                if figure.case == case_id and figure.cost_ns is not None:
                    yield source, figure


def read_catalogue(data: DataFolder, site: str = "/") -> Catalogue:
    """All that lies under `data`. Raises: BadData with every problem when a file cannot be read.

    Args:
        site: where this data is published, for citations; `/` where that is not known.
    """
    problems: list[Problem] = []
    suites = [_suite(folder, data, problems) for folder in data.suites()]
    submissions = [read_submission(files, data, problems) for files in data.submissions()]
    sources = [read_published(folder, data, problems) for folder in data.sources()]
    document, faults = read_changes(data)
    releases, more = read_releases(data)
    problems += [*faults, *more]
    if problems or document is None:
        raise BadData(problems)
    gone = withdrawn_ids(document.changes)
    kept = [one for one in submissions if one is not None and one.files.id not in gone]
    return Catalogue(
        tuple(filter(None, suites)),
        tuple(one for one in kept if isinstance(one, MeasuredSubmission)),
        tuple(filter(None, sources)),
        tuple(one for one in kept if isinstance(one, CountedSubmission)),
        Edition(data_version(data).text, site),
        document.changes,
        tuple(one for one in submissions if one is not None and one.files.id in gone),
        tuple(releases),
    )


def read_submission(
    files: Submission, data: DataFolder, problems: list[Problem]
) -> MeasuredSubmission | CountedSubmission | None:
    """One submission; None, with its problems added to `problems`, when its files are unsound."""
    document, faults = read_machine_file(files.machine_file, data.relative(files.machine_file))
    samples, more = read_samples(files.samples, data.relative(files.samples))
    problems += [*faults, *more]
    if document is None or more:
        return None
    if document.run.metric == "instructions":
        return CountedSubmission(files, document, summarise_instructions(files.id, document, samples))
    return MeasuredSubmission(files, document, summarise(files.id, document, samples))


def _suite(folder: Path, data: DataFolder, problems: list[Problem]) -> SuiteFolder | None:
    suite, faults = read_suite(folder, data.relative(folder / "suite.toml"))
    problems += faults
    return SuiteFolder(folder, suite) if suite else None


def read_published(folder: Path, data: DataFolder, problems: list[Problem]) -> PublishedSource | None:
    """One published source; None, with its problems added to `problems`, when its files are unsound."""
    document, faults = read_source(folder / "source.toml", data.relative(folder / "source.toml"))
    figures, more = read_figures(folder / "figures.csv", data.relative(folder / "figures.csv"))
    problems += [*faults, *more]
    if document is None or more:
        return None
    values = figure_values(figures)
    recomputed = {figure.figure: found for figure in figures if (found := recompute(figure, values))}
    return PublishedSource(folder, document, tuple(figures), recomputed)
