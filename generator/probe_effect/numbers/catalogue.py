"""Everything under `data/`, read and understood once: suites, submissions with their numbers, published sources.

The numbers of a submission are made from its rows once, and kept as JSON.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter

from probe_effect.model import BadData, Estimate, Key, Problem, Sample
from probe_effect.numbers import names
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.names import UNKNOWN_EDITION, Edition
from probe_effect.numbers.published import Recomputed, figure_values, fill, recompute
from probe_effect.numbers.reduce import reduce
from probe_effect.numbers.rows import BlockTable, Tail
from probe_effect.numbers.submission import InstructionsResult, Number, OwnUse, Submission, TimeResult
from probe_effect.records import TOOLS
from probe_effect.store import beside_files
from probe_effect.store import transcripts as recorded
from probe_effect.store.kept import NOWHERE, Kept, code_version, library_version
from probe_effect.store.machine_file import MachineFile, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.store.release_file import Release, data_version, folders_digest, read_releases
from probe_effect.store.result_tables import read_calibration, read_histogram, read_paths, read_samples, with_histograms
from probe_effect.store.suite_file import Case, Suite, read_suite, script_paths
from probe_effect.store.tables import MAX_FILE_BYTES, regular_size

BLOCKS = TypeAdapter(list[tuple[Key, BlockTable]], config=ConfigDict(ser_json_inf_nan="constants"))
TAILS = TypeAdapter(list[tuple[Key, Tail]])
RESULTS = {"time": TimeResult, "count": InstructionsResult, "own_use": OwnUse}

MADE_AGAIN = frozenset(
    {"files", "tails", "make_cases", "read_document", "read_blocks", "digest", "titles", "shares_end"}
)
SUBMISSION_FIELDS = tuple(field.name for field in fields(Submission) if field.name not in MADE_AGAIN)


class KeptCases(Mapping[str, tuple[Number, ...]]):
    """The numbers of a submission by case, made of the JSON of a case when that is first asked for."""

    def __init__(self, texts: Mapping[str, str], submission: Submission) -> None:
        self._texts, self._submission = texts, submission
        self._made: dict[str, tuple[Number, ...]] = {}

    def __getitem__(self, case: str) -> tuple[Number, ...]:
        if case not in self._made:
            self._made[case] = tuple(_number(self._submission, entry) for entry in json.loads(self._texts[case]))
        return self._made[case]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def packed(submission: Submission) -> dict[str, Any]:
    """A submission without its blocks, for JSON; the numbers of each case are JSON in a string of their own."""
    made = {name: getattr(submission, name) for name in SUBMISSION_FIELDS}
    return made | {
        "cases": {case: _json(list(map(_packed_number, own))) for case, own in submission.cases.items()},
        "tails": TAILS.dump_python([*submission.tails.items()], mode="json"),
    }


def _packed_number(number: Number) -> dict[str, Any]:
    result = {name: _known(number.result) for name, kind in RESULTS.items() if isinstance(number.result, kind)}
    return number.key._asdict() | _known(number, {"submission", "key", "result"}) | result


def _known(record: Any, but: Collection[str] = ()) -> dict[str, Any]:  # noqa: ANN401  a dataclass
    """The fields that do not have their defaults."""
    values = {field: getattr(record, field.name) for field in fields(record) if field.name not in but}
    return {field.name: value for field, value in values.items() if value != field.default}


def unpacked(files: SubmissionFolder, values: Mapping[str, Any], digest: str = "", kept: Kept = NOWHERE) -> Submission:
    """A submission from what `packed` made of it, read from JSON; its blocks are in `kept`, by its files' digest."""
    named = _lists_as(tuple, {name: values[name] for name in SUBMISSION_FIELDS})
    return Submission(
        **named | {"baseline": named["baseline"] and Estimate._make(named["baseline"])},
        files=files,
        digest=digest,
        tails=dict(TAILS.validate_python(values["tails"])),
        make_cases=partial(KeptCases, values["cases"]),
        read_document=_read_document,
        read_blocks=partial(_read_blocks, files, kept, digest),
    )


def _number(submission: Submission, values: dict[str, Any]) -> Number:
    key = Key(*(values.pop(name) for name in Key._fields))
    kinds = RESULTS.keys() & values.keys()
    result = next((RESULTS[kind](**_lists_as(Estimate._make, values.pop(kind))) for kind in kinds), None)
    return Number(submission=submission, key=key, result=result, **_lists_as(tuple, values))


def _lists_as(kind: Callable[[list[Any]], Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kind(value) if isinstance(value, list) else value for name, value in values.items()}


def read_submissions(
    folders: Sequence[SubmissionFolder], data: DataFolder, problems: list[Problem]
) -> list[Submission]:
    """Those of `folders` that are sound, in that order; what is wrong with the others is added to `problems`."""
    read = (read_submission(files, data, problems) for files in folders)
    return [submission for submission in read if submission is not None]


def read_submission(files: SubmissionFolder, data: DataFolder, problems: list[Problem]) -> Submission | None:
    """One submission; None, with its problems added to `problems`, when its files are unsound."""
    digest = content_digest(files)
    if digest and (text := data.kept.get("submission", code(), files.id, digest)):
        return unpacked(files, json.loads(text), digest, data.kept)
    read = _read(files, data.relative, problems)
    return None if read is None else keep(reduce(files, *read), data.kept, digest)


def is_kept(files: SubmissionFolder, kept: Kept) -> bool:
    """Whether the numbers of a submission are kept."""
    digest = content_digest(files)
    return digest is not None and kept.get("submission", code(), files.id, digest) is not None


def keep(submission: Submission, kept: Kept, digest: str | None) -> Submission:
    """Keep a submission that was made from the files with that digest, unless they have changed since they had it.

    Returns: the submission with that digest, and without its blocks where these are kept too.
    """
    if digest is None or content_digest(submission.files) != digest:
        return submission
    if kept.folder is None:
        return replace(submission, digest=digest)
    kept.put(_json(packed(submission)).encode(), "submission", code(), submission.id, digest)
    kept.put(BLOCKS.dump_json([*submission.blocks.items()]), "blocks", code(), submission.id, digest)
    return replace(submission, digest=digest, read_blocks=partial(_read_blocks, submission.files, kept, digest))


def content_digest(files: SubmissionFolder) -> str | None:
    """A digest of what a submission's numbers are made from; None where its files cannot be read."""
    digest = hashlib.sha256()
    try:
        for path in files.content:
            if regular_size(path) > MAX_FILE_BYTES:
                return None
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return None
    return digest.hexdigest()


def code() -> str:
    """What decides, beside the files, what the numbers are."""
    ours = code_version("model", "units", "records", "tools", "conditions", "store", "numbers")
    return f"{ours} numpy {library_version('numpy')}"


def _read(
    files: SubmissionFolder, shown: Callable[[Path], str], problems: list[Problem]
) -> tuple[MachineFile, list[Sample]] | None:
    document, faults = read_machine_file(files.machine_file, shown(files.machine_file))
    samples, more = read_samples(files.samples, shown(files.samples))
    times, further = read_histogram(files.histogram, shown(files.histogram))
    further += read_calibration(files.calibration, shown(files.calibration))[1]
    further += read_paths(files.paths, shown(files.paths))[1]
    problems += [*faults, *more, *further]
    return None if document is None or more or further else (document, with_histograms(samples, times))


def _read_document(files: SubmissionFolder) -> MachineFile:
    document, problems = read_machine_file(files.machine_file, files.id)
    if document is None:
        raise BadData(problems)
    return document


def _read_blocks(files: SubmissionFolder, kept: Kept, digest: str) -> Mapping[Key, BlockTable]:
    """The blocks of a submission whose files were sound when they had that digest. Raises: BadData where they are not.

    Blocks of files that have changed since are not kept.
    """
    if text := kept.get("blocks", code(), files.id, digest):
        return dict(BLOCKS.validate_json(text))
    problems: list[Problem] = []
    read = _read(files, lambda _: files.id, problems)
    if read is None:
        raise BadData(problems)
    made = reduce(files, *read)
    keep(made, kept, digest)
    return made.blocks


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
        return {figure.figure: made for figure in self.figures if (made := recompute(figure, values))}

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
        return tuple(submission for submission in self.active if submission.metric == "time")

    @cached_property
    def counted(self) -> tuple[Submission, ...]:
        return tuple(submission for submission in self.active if submission.metric == "instructions")

    @property
    def version(self) -> str:
        """The version of the data, `2026-11-21.3f2a9c1e`."""
        return self.edition.version

    @cached_property
    def everything(self) -> tuple[Submission, ...]:
        """Every submission by id, also those withdrawn: what has a page."""
        return tuple(sorted((*self.active, *self.withdrawn), key=lambda submission: submission.id))

    def cases(self) -> list[Case]:
        return [case for folder in self.suites for case in folder.suite.cases]

    @cached_property
    def titles(self) -> dict[str, str]:
        """Case id to its name, which no other case has."""
        return names.titles([folder.suite for folder in self.suites])

    @cached_property
    def by_suite(self) -> dict[str, SuiteFolder]:
        return {folder.suite.id: folder for folder in self.suites}

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
    with _refusing(problems) as all_problems:
        return tuple(filter(None, [read_published(folder, data, all_problems) for folder in data.sources()]))


def read_packages(data: DataFolder, problems: list[Problem] | None = None) -> tuple[recorded.ToolPackage, ...]:
    """The packages of standard tools. Raises: BadData, unless `problems` are collected."""
    with _refusing(problems) as all_problems:
        read = [
            _sound(recorded.read_tools(path, data.relative(path)), all_problems) for path in recorded.tool_files(data)
        ]
        return tuple(filter(None, read))


def read_numbers(
    data: DataFolder, folders: Sequence[SubmissionFolder] | None = None, problems: list[Problem] | None = None
) -> Catalogue:
    """Suites and submissions alone, of these only those of `folders` where any are given.

    Raises: BadData, unless `problems` are collected.
    """
    with _refusing(problems) as all_problems:
        suites = {
            path: _sound(read_suite(path, data.relative(path / "suite.toml")), all_problems) for path in data.suites()
        }
        read = read_submissions(data.submissions() if folders is None else folders, data, all_problems)
        titles = names.titles([suite for suite in suites.values() if suite])
        ends = Counter(map(names.short_id, {files.machine for files in data.submissions()}))
        cores = {
            submission.machine: submission.microarchitecture
            for submission in reversed(read)
            if submission.microarchitecture
        }
        submissions = [
            replace(
                submission,
                titles=titles,
                shares_end=ends[names.short_id(submission.machine)] > 1,
                microarchitecture=submission.microarchitecture or cores.get(submission.machine),
            )
            for submission in read
        ]
        document = _sound(beside_files.read_changes(data), all_problems)
        changes = document.changes if document else ()
        gone = beside_files.changed_ids(changes, "withdrawn")
        return Catalogue(
            suites=tuple(SuiteFolder(folder, suite) for folder, suite in suites.items() if suite),
            active=tuple(submission for submission in submissions if submission.id not in gone),
            withdrawn=tuple(submission for submission in submissions if submission.id in gone),
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
