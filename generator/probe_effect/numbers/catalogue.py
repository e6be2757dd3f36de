"""Everything under `data/`, read and understood once: suites, submissions with their numbers, published sources."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from probe_effect.model import BadData, Problem
from probe_effect.numbers import names
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.names import UNKNOWN_EDITION, Edition
from probe_effect.numbers.published import Recomputed, figure_values, fill, recompute
from probe_effect.numbers.reading import read_submissions
from probe_effect.numbers.submission import Submission
from probe_effect.records import TOOLS
from probe_effect.store import beside_files
from probe_effect.store import transcripts as recorded
from probe_effect.store.kept import NOWHERE, Kept
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.release_file import Release, data_version, folders_digest, read_releases
from probe_effect.store.suite_file import Case, Suite, read_suite, script_paths

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PublishedSource:
    """A source, and its figures in the order given. Two are the same only if they are one object."""

    folder: Path
    document: beside_files.SourceFile
    figures: tuple[beside_files.Figure, ...]

    @cached_property
    def recomputed(self) -> dict[str, Recomputed]:
        """beside_files.Figure id to what its formula gives, where it has one."""
        values = figure_values(self.figures)
        return {one.figure: made for one in self.figures if (made := recompute(one, values))}

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def from_excerpt(self) -> bool:
        """Whether only an excerpt was seen, which has to be said wherever its figures are shown."""
        return self.document.read == "excerpt"

    def sentence(self, template: str) -> str:
        """`template` with its `{figure}` placeholders filled."""
        return fill(template, {figure.figure: figure for figure in self.figures})


@dataclass(frozen=True)
class SuiteFolder:
    """A suite and where its scripts are."""

    folder: Path
    suite: Suite

    @cached_property
    def by_case(self) -> dict[str, dict[str, dict[Path, tuple[str, ...]]]]:
        """Case to tool, in our order, to its scripts with the levels that each is for; looked up once."""
        files = {path.name for path in self.folder.glob("*") if path.is_file()}
        cases = {}
        for case in self.suite.cases:
            paths = {tool: script_paths(self.folder, self.suite, case.id, tool, files) for tool in TOOLS}
            cases[case.id] = {tool: scripts for tool, scripts in paths.items() if scripts}
        return cases

    def scripts(self) -> list[Path]:
        """The scripts of all its cases, counting twins too."""
        endings = tuple(tool.ending for tool in TOOLS.values())
        return sorted(path for path in self.folder.iterdir() if path.name.endswith(endings) and path.is_file())


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalogue:
    """All data, each list in a stable order. Two are the same only if they are one object.

    `active`: the submissions in force, of times and of instructions. `withdrawn`: those that have pages and raw rows
    still, and are in no table, chart or guidance. `changes` and `releases`: oldest first. `transcripts`: the commands
    of the guide with what they printed, by chapter. `worked_out`: what `numbers.index.once` keeps.
    """

    suites: tuple[SuiteFolder, ...] = ()
    active: tuple[Submission, ...] = ()
    withdrawn: tuple[Submission, ...] = ()
    sources: tuple[PublishedSource, ...] = ()
    edition: Edition = UNKNOWN_EDITION
    changes: tuple[beside_files.Change, ...] = ()
    releases: tuple[Release, ...] = ()
    tools: tuple[recorded.ToolPackage, ...] = ()
    transcripts: tuple[recorded.Shown, ...] = ()
    references: tuple[beside_files.Reference, ...] = ()
    explanations: tuple[beside_files.Explanation, ...] = ()
    claims: tuple[beside_files.Claim, ...] = ()
    mechanisms: tuple[recorded.KernelMechanisms, ...] = ()
    kept: Kept = NOWHERE
    worked_out: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def later(self) -> "Catalogue":
        """The same for pages that are kept from build to build: a layout fills in the version of the data."""
        return replace(self, edition=names.LATER_EDITION)

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers(self.active)

    @cached_property
    def runs(self) -> Numbers:
        """The same with the intervals of their own runs, for what is computed of several costs of one run."""
        return Numbers(self.active, is_for_next_run=False)

    @cached_property
    def suites_digest(self) -> str:
        return folders_digest(folder.folder for folder in self.suites)

    @cached_property
    def timed(self) -> tuple[Submission, ...]:
        return tuple(one for one in self.active if one.metric == "time")

    @cached_property
    def counted(self) -> tuple[Submission, ...]:
        return tuple(one for one in self.active if one.metric == "instructions")

    @property
    def version(self) -> str:
        """The version of the data, `2026-11-21.3f2a9c1e`."""
        return self.edition.version

    @cached_property
    def everything(self) -> tuple[Submission, ...]:
        """Every submission by id, also those withdrawn: what has a page."""
        return tuple(sorted((*self.active, *self.withdrawn), key=lambda one: one.id))

    def cases(self) -> list[Case]:
        return [case for folder in self.suites for case in folder.suite.cases]

    @cached_property
    def titles(self) -> dict[str, str]:
        """Case id to its name, which no other case has."""
        return names.titles([folder.suite for folder in self.suites])

    @cached_property
    def by_suite(self) -> dict[str, SuiteFolder]:
        return {one.suite.id: one for one in self.suites}

    def published(
        self, case_id: str, *, are_costs: bool = True
    ) -> Iterator[tuple[PublishedSource, beside_files.Figure]]:
        """Published costs that are mapped to a case; or the figures that are no cost, such as a time to start."""
        for source in self.sources:
            for figure in source.figures:
                if figure.case == case_id and (figure.cost_ns is not None) is are_costs:
                    yield source, figure


@contextmanager
def _refusing(problems: list[Problem] | None = None) -> Iterator[list[Problem]]:
    """The list for problems; BadData is raised at the end where there are any, and nobody else collects them."""
    own = [] if problems is None else problems
    yield own
    if problems is None and own:
        raise BadData(own)


def read_catalogue(data: DataFolder, site: str = "/") -> Catalogue:
    """All that is under `data`, cited as published at `site`. Raises: BadData, with every problem of its files."""
    with _refusing() as problems:
        sources, tools = read_sources(data, problems), read_packages(data, problems)
        return replace(
            read_numbers(data, problems=problems),
            sources=sources,
            tools=tools,
            transcripts=tuple(_sound(recorded.read_transcripts(data), problems)),
            references=_sound(beside_files.read_references(data), problems),
            explanations=_sound(beside_files.read_explanations(data), problems),
            claims=_sound(beside_files.read_claims(data), problems),
            mechanisms=_sound(recorded.read_mechanisms(data), problems),
            edition=Edition(data_version(data), site),
            releases=tuple(_sound(read_releases(data), problems)),
        )


def read_sources(data: DataFolder, problems: list[Problem] | None = None) -> tuple[PublishedSource, ...]:
    """The published sources alone. Raises: BadData, unless `problems` are collected."""
    with _refusing(problems) as found:
        return tuple(filter(None, [read_published(folder, data, found) for folder in data.sources()]))


def read_packages(data: DataFolder, problems: list[Problem] | None = None) -> tuple[recorded.ToolPackage, ...]:
    """The packages of standard tools. Raises: BadData, unless `problems` are collected."""
    with _refusing(problems) as found:
        read = [_sound(recorded.read_tools(path, data.relative(path)), found) for path in recorded.tool_files(data)]
        return tuple(filter(None, read))


def read_numbers(
    data: DataFolder, folders: Sequence[SubmissionFolder] | None = None, problems: list[Problem] | None = None
) -> Catalogue:
    """Suites and submissions alone, of these only those of `folders` where any are given.

    Raises: BadData, unless `problems` are collected.
    """
    with _refusing(problems) as found:
        suites = {one: _sound(read_suite(one, data.relative(one / "suite.toml")), found) for one in data.suites()}
        read = read_submissions(data.submissions() if folders is None else folders, data, found)
        titles = names.titles([suite for suite in suites.values() if suite])
        ends = Counter(map(names.short_id, {files.machine for files in data.submissions()}))
        cores = {one.machine: one.microarchitecture for one in reversed(read) if one.microarchitecture}
        submissions = [
            replace(
                one,
                titles=titles,
                shares_end=ends[names.short_id(one.machine)] > 1,
                microarchitecture=one.microarchitecture or cores.get(one.machine),
            )
            for one in read
        ]
        document = _sound(beside_files.read_changes(data), found)
        changes = document.changes if document else ()
        gone = beside_files.changed_ids(changes, "withdrawn")
        return Catalogue(
            suites=tuple(SuiteFolder(folder, suite) for folder, suite in suites.items() if suite),
            active=tuple(one for one in submissions if one.id not in gone),
            withdrawn=tuple(one for one in submissions if one.id in gone),
            changes=changes,
            kept=data.kept,
        )


def _sound(read: tuple[T, list[Problem]], problems: list[Problem]) -> T:
    """What was read; what is wrong with it is added to `problems`."""
    problems += read[1]
    return read[0]


def read_published(folder: Path, data: DataFolder, problems: list[Problem]) -> PublishedSource | None:
    """One published source; None, with its problems added to `problems`, when its files are unsound."""
    document, faults = beside_files.read_source(folder / "source.toml", data.relative(folder / "source.toml"))
    figures, more = beside_files.read_figures(folder / "figures.csv", data.relative(folder / "figures.csv"))
    problems += [*faults, *more]
    if document is None or more:
        return None
    return PublishedSource(folder, document, tuple(figures))
