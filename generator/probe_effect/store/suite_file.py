"""`data/suites/<suite>/suite.toml`: a suite and its cases, as data; the scripts lie beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from probe_effect.store.documents import Document, Slug, Text, read_document

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from probe_effect.model import Problem

SCRIPT_SUFFIXES = {
    "bpftrace": ".bt",
    "dtrace": ".d",
    "perf-stat": ".perf-stat",
    "perf-record": ".perf-record",
    "perf-trace": ".perf-trace",
    "ftrace": ".ftrace",
    "trace-cmd": ".trace-cmd",
    "strace": ".strace",
    "strace-seccomp": ".strace-seccomp",
    "lttng-ust": ".lttng",
    "uftrace": ".uftrace",
    "systemtap": ".stp",
    "libbpf": ".bpf.c",
    "dormant": ".dormant",
}
"""Tool to the ending of its scripts."""

Need = Literal[
    "kprobe",
    "uprobe",
    "tracepoint",
    "fentry",
    "raw-tracepoint",
    "kprobe-multi",
    "function-tracer",
    "function-graph",
]
"""What a kernel may offer to tracers, and some kernels do not."""


FUNCTION = r"^[a-z0-9-]+:\w+$"

OWN_HEADER = re.compile(r'^#include "((?:\.\./){0,2}[\w-]+\.h)"$', re.MULTILINE)
"""How a workload names a header of ours, which lies no higher than beside the suites' folders."""


class Workload(Document):
    """The program that performs the events."""

    program: Annotated[str, Field(pattern=r"^[a-z0-9-]+\.c$")] = Field(description="C source in `workload/`.")
    suite: Slug | None = Field(default=None, description="The suite whose `workload/` has it; this one by default.")
    libraries: tuple[Slug, ...] = Field(default=(), description="Libraries to link with, as `cc -l` takes them.")
    seconds: Annotated[float, Field(gt=0, le=10)] | None = Field(
        default=None, description="How long a run should take, where the suite wants shorter runs than usual."
    )
    operation: Text = Field(description="What one operation is, in words.")
    events: Literal["made", "counted"] = Field(
        default="made",
        description="How it is known how many events a run has: the workload makes so many for each operation, or the "
        "tracer's own count, with what it lost, is taken for it.",
    )
    commands: dict[Slug, tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")], ...]] = Field(
        default={}, description="Level to the commands that the workload runs there; it is skipped where one is absent."
    )


def _unlike(levels: tuple[int | str, ...]) -> tuple[int | str, ...]:
    if len({str(level) for level in levels}) < len(levels):
        msg = "has a level twice"
        raise ValueError(msg)
    return levels


Level = Annotated[int, Field(ge=0, le=2**53)] | Slug


class Factor(Document):
    """What a suite varies: every case runs at every level, in every block."""

    name: Slug = Field(description="The factor's id.")
    title: Text = Field(description="What varies, in words.")
    unit: Text = Field(description="What a level counts.")
    levels: Annotated[tuple[Level, ...], Field(min_length=1), AfterValidator(_unlike)] = Field(
        description="The levels in the order shown; the workload takes one as the argument after its CPU."
    )
    occupies_cpus: bool = Field(
        default=False,
        description="Whether a level is how many threads perform the operations at once, each on a CPU of its own: the "
        "workload is handed -1 for its CPU and takes the first that it may use, so that the tracer has none of its "
        "own; levels above the number of CPUs are skipped.",
    )

    @model_validator(mode="after")
    def _counts_threads(self) -> Self:
        if self.occupies_cpus and not all(isinstance(level, int) and level > 0 for level in self.levels):
            msg = "occupies_cpus: expected levels that are numbers of threads, 1 or more"
            raise ValueError(msg)
        return self


class Composition(Document):
    """Three measured cases from which the cost of a fourth can be predicted: probe + action - plain."""

    probe: Slug = Field(description="The case with the same probe and the plain action.")
    action: Slug = Field(description="The case with the same action on the plain probe.")
    plain: Slug = Field(description="The case with the plain action on the plain probe.")


class Instead(Document):
    """Another way to learn what a case tells, with about as many events."""

    case: Slug = Field(description="The other case.")
    tracer: Slug | None = Field(default=None, description="The tool whose action there answers it; any by default.")
    but: Text = Field(description="What it needs, or does not tell, in one sentence.")


class Case(Document):
    """One thing measured: a probe and an action."""

    id: Slug
    title: Text
    probe: Slug = Field(description="Kind of probe.")
    action: Slug = Field(description="What the probe does when it fires.")
    what: Text = Field(description="One sentence for readers: what is measured.")
    needs: tuple[Need, ...] = Field(default=(), description="Kernel facilities without which the case is skipped.")
    events_per_operation: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="Events that one operation of the workload makes for this probe."
    )
    variant: Slug | None = Field(default=None, description="The word that has the workload run another of its loops.")
    functions: tuple[Annotated[str, Field(pattern=FUNCTION)], ...] = Field(
        default=(), description="Probed user functions, `file:symbol`; their first instruction is recorded."
    )
    counted_by: Literal["maps", "lines", "twin", "tool", "nothing"] = Field(
        description="How events are counted: the script's own maps or printed lines, a counting twin "
        "(`<case>.check.<ending>`) run apart, the tool itself, or nothing (no event is expected). "
        "Tools that always count, such as perf, ftrace and strace, count in every case."
    )
    like: Slug | None = Field(
        default=None,
        description="The case of another suite whose event this one is, measured here at levels of a factor.",
    )
    parts: tuple[Slug, ...] = Field(default=(), description="For several probes at once: the cases that have one each.")
    composed: Composition | None = Field(
        default=None, description="The cases from which this one's cost can be predicted."
    )
    instead: tuple[Instead, ...] = Field(
        default=(),
        description="Other probes or actions that answer the same question, or enough of it; shown where they cost "
        "less. The same case with another tracer need not be named.",
    )

    def references(self) -> tuple[str, ...]:
        """The ids of all cases that it refers to."""
        composed = tuple(self.composed.model_dump().values()) if self.composed else ()
        instead = (other.case for other in self.instead)
        return (*([self.like] if self.like else []), *self.parts, *composed, *instead)


class Suite(Document):
    """The whole document."""

    schema_version: Literal[1]
    id: Slug
    version: Annotated[int, Field(ge=1)]
    title: Text
    question: Text
    description: Text
    measures: Literal["cost", "start"] = Field(
        default="cost", description="What its pages show: the cost of an event, or the tracer's own start and stop."
    )
    workload: Workload
    factor: Factor | None = Field(default=None, description="What the suite varies, where it does.")
    cases: tuple[Case, ...] = Field(min_length=1)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of its factor as rows name them; empty where it has none."""
        return tuple(map(str, self.factor.levels)) if self.factor else ()

    def case(self, case_id: str) -> Case | None:
        """The case with that id, or None."""
        return next((case for case in self.cases if case.id == case_id), None)


def known_tool(tracer: str) -> str | None:
    """The tool of a tracer's id, whatever version it has after that: `bpftrace` of `bpftrace-git`; None of others."""
    tools = (tool for tool in SCRIPT_SUFFIXES if tracer == tool or tracer.startswith(f"{tool}-"))
    return max(tools, key=len, default=None)


def script_path(folder: Path, case_id: str, tool: str, *, check: bool = False) -> Path | None:
    """The script of a case for a tool, or None when the suite has none. `check` asks for the counting twin."""
    ending = SCRIPT_SUFFIXES.get(tool)
    if ending is None:
        return None
    path = folder / f"{case_id}{'.check' if check else ''}{ending}"
    return path if path.is_file() else None


def workload_source(folder: Path, suite: Suite) -> Path:
    """The C source of the suite in `folder`, which may be another suite's."""
    owner = folder.parent / suite.workload.suite if suite.workload.suite else folder
    return owner / "workload" / suite.workload.program


def own_headers(source: Path) -> tuple[Path, ...]:
    """The headers of ours that a workload includes by a path from its own folder; those that are missing are left out.

    What such a header includes in turn is not looked at: ours include the system's only.
    """
    named = OWN_HEADER.findall(source.read_text(encoding="utf-8", errors="replace"))
    return tuple(path for name in named if (path := source.parent / name).is_file())


def suite_file(folder: Path) -> Path:
    """Where the suite in `folder` is described."""
    return folder / "suite.toml"


def read_suite(folder: Path, file: str) -> tuple[Suite | None, list[Problem]]:
    """The suite in `folder`, or None with every problem found."""
    return read_document(suite_file(folder), file, "suite", Suite)
