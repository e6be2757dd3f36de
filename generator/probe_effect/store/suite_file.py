"""`data/suites/<suite>/suite.toml`: a suite and its cases, as data; the scripts are beside it."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator

from probe_effect.model import Need, Problem
from probe_effect.records import TOOLS
from probe_effect.store.documents import Document, Slug, Text, read_document
from probe_effect.store.machine_file import canonical_architecture
from probe_effect.store.places import DataFolder

Architecture = Literal["x86_64", "aarch64"]
"""An instruction set that workloads are written for, as Linux calls it."""

FUNCTION = r"^[a-z0-9-]+:\w+$"


class Project(Document):
    """A project whose source Debian has, as its authors released it; the workload builds it."""

    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
    version: Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9.+~]*$")]
    release: Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+)*$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    configure: Text | None = None


class Workload(Document):
    """The program that performs the events."""

    program: Annotated[str, Field(pattern=r"^[a-z0-9-]+\.c$")]
    suite: Slug | None = None
    libraries: tuple[Slug, ...] = ()
    seconds: Annotated[float, Field(gt=0, le=10)] | None = None
    operations: Annotated[int, Field(ge=1, le=1000)] | None = None
    operation: Text
    events: Literal["made", "counted"] = "made"
    tracer_has_a_cpu: bool = False
    system_calls: Annotated[int, Field(ge=0, le=1000)] | Slug | None = None
    commands: dict[Slug, tuple[Annotated[str, Field(pattern=r"^[a-z0-9.-]+$")], ...]] = Field(default={})
    project: Project | None = None


def _unlike(levels: tuple[int | str, ...]) -> tuple[int | str, ...]:
    if len({str(level) for level in levels}) < len(levels):
        raise ValueError("has a level twice")
    return levels


Level = Annotated[int, Field(ge=0, le=2**53)] | Slug


class Factor(Document):
    """What a suite varies: every case runs at every level, in every block."""

    name: Slug
    title: Text
    unit: Text
    levels: Annotated[tuple[Level, ...], Field(min_length=1), AfterValidator(_unlike)]
    occupies_cpus: bool = False

    @model_validator(mode="after")
    def _counts_threads(self) -> Self:
        if self.occupies_cpus and not all(isinstance(level, int) and level > 0 for level in self.levels):
            raise ValueError("occupies_cpus: expected levels that are numbers of threads, 1 or more")
        return self

    @property
    def meaning(self) -> str:
        """What a level says: `a level counts threads`; where levels are words, `a level names the library`."""
        verb = "counts" if all(isinstance(level, int) for level in self.levels) else "names"
        return f"a level {verb} {self.unit}"


class Composition(Document):
    """Three measured cases from which the cost of a fourth can be predicted: probe + action - plain."""

    probe: Slug
    action: Slug
    plain: Slug


class Instead(Document):
    """Another way to learn what a case tells, with about as many events."""

    case: Slug
    tracer: Slug | None = None
    but: Text


class Case(Document):
    """One thing measured: a probe and an action."""

    id: Slug
    title: Text
    probe: Slug
    action: Slug
    what: Text
    needs: tuple[Need, ...] = ()
    architectures: tuple[Architecture, ...] = ()
    events_per_operation: Annotated[int, Field(ge=1, le=1000)] = 1
    variant: Slug | None = None
    functions: tuple[Annotated[str, Field(pattern=FUNCTION)], ...] = ()
    counted_by: Literal["maps", "lines", "twin", "tool", "calls", "nothing"]
    like: Slug | None = None
    silent: Slug | None = None
    sampled_on_cpu_0: tuple[Slug, ...] = ()
    parts: tuple[Slug, ...] = ()
    composed: Composition | None = None
    instead: tuple[Instead, ...] = ()

    def is_of(self, architecture: str) -> bool:
        """Whether machines of an architecture have it; `architecture` is as `uname -m` gives it."""
        return not self.architectures or canonical_architecture(architecture) in self.architectures

    def references(self) -> tuple[str, ...]:
        composed = tuple(self.composed.model_dump().values()) if self.composed else ()
        instead = (other.case for other in self.instead)
        single = (other for other in (self.like, self.silent) if other is not None)
        return (*single, *self.parts, *composed, *instead)


class Published(Document):
    """Figures that others printed, which pages set beside the whole suite."""

    source: Slug
    heading: Text


class ResultType(NamedTuple):
    """What the numbers of a suite are; `no_cost`: why guidance cannot use them, None where it can.

    `of_starts`: start and stop of the tracer are measured; `of_tracer`: the tracer itself, while the workload waits.
    """

    no_cost: str | None = None
    of_starts: bool = False
    of_tracer: bool = False

    @property
    def guides(self) -> bool:
        """Whether they are costs of an event, which predict."""
        return self.no_cost is None


ResultName = Literal["cost", "start", "tracer", "slowdown"]

RESULT_TYPES: dict[ResultName, ResultType] = {
    "cost": ResultType(),
    "start": ResultType("its suite measures starting and stopping, not costs", of_starts=True),
    "tracer": ResultType("its suite measures the tracer itself, not costs", of_tracer=True),
    "slowdown": ResultType("its suite measures the slowdown of the whole work, not the cost of an event"),
}
"""What a suite may measure; what pages show of each is a module of its name in `pages/results/`."""


class Suite(Document):
    """The whole document."""

    schema_version: Literal[1]
    id: Slug
    version: Annotated[int, Field(ge=1)]
    title: Text
    question: Text
    description: Text
    measures: ResultName = "cost"
    patience_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    workload: Workload
    factor: Factor | None = None
    published: Published | None = None
    cases: tuple[Case, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _measures_one_thing(self) -> Self:
        calls = {case.counted_by == "calls" for case in self.cases}
        is_fixed = self.workload.operations is not None and self.workload.events == "counted"
        of_tracer = self.result_type.of_tracer
        if calls != {of_tracer} or (of_tracer and not is_fixed):
            raise ValueError(
                'measures: expected `tracer` with counted_by = "calls" in every case, workload.operations and '
                'workload.events = "counted"; or another value and no such case'
            )
        return self

    @property
    def result_type(self) -> ResultType:
        return RESULT_TYPES[self.measures]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of its factor as rows name them; empty where it has none."""
        return tuple(map(str, self.factor.levels)) if self.factor else ()

    @property
    def has_programs(self) -> bool:
        return self.factor is not None and self.factor.name == "program"

    def on(self, architecture: str) -> Self:
        """The suite with the cases that machines of an architecture have, as `uname -m` gives it."""
        return self.model_copy(update={"cases": tuple(case for case in self.cases if case.is_of(architecture))})

    def case(self, case_id: str) -> Case | None:
        return next((case for case in self.cases if case.id == case_id), None)


def tools_of(folder: Path) -> list[str]:
    names = [path.name for path in folder.iterdir()]
    return [tool.name for tool in TOOLS.values() if any(name.endswith(tool.ending) for name in names)]


def script_path(
    folder: Path,
    case_id: str,
    tool: str,
    *,
    level: str | None = None,
    check: bool = False,
    files: Collection[str] | None = None,
) -> Path | None:
    """The script of a case for a tool, or None when the suite has none. `check` asks for the counting twin.

    `files`: the names of the folder's files, where the caller asks for many scripts and has listed them once.

    Where one script cannot serve all levels of the factor, a level has a script of its own, with the level after the
    case: `01-attach-tracepoints.100.bt`. A level without one has the script without a level, where there is one.
    """
    if tool not in TOOLS:
        return None
    own = [f"{case_id}.{level}"] if level is not None else []
    names = [f"{stem}{'.check' if check else ''}{TOOLS[tool].ending}" for stem in (*own, case_id)]
    present_names = (name for name in names if ((folder / name).is_file() if files is None else name in files))
    return next((folder / name for name in present_names), None)


def script_paths(
    folder: Path, suite: Suite, case_id: str, tool: str, files: Collection[str] | None = None
) -> dict[Path, tuple[str, ...]]:
    """Every script of a case for a tool, to the levels that it is for; no level where the suite has no factor."""
    by_path: dict[Path, tuple[str, ...]] = {}
    for level in suite.levels or (None,):
        if path := script_path(folder, case_id, tool, level=level, files=files):
            by_path[path] = (*by_path.get(path, ()), *([] if level is None else [level]))
    return by_path


def workload_source(folder: Path, suite: Suite) -> Path:
    """The C source of the suite in `folder`, which may be another suite's."""
    owner = folder.parent / suite.workload.suite if suite.workload.suite else folder
    return owner / "workload" / suite.workload.program


def suite_file(folder: Path) -> Path:
    return folder / "suite.toml"


def read_suite(folder: Path, file: str) -> tuple[Suite | None, list[Problem]]:
    return read_document(suite_file(folder), file, "suite", Suite)


def known_suites(data: DataFolder) -> dict[str, Suite]:
    read = (read_suite(folder, str(folder))[0] for folder in data.suites())
    return {suite.id: suite for suite in read if suite is not None}
