"""profiled-loop: a program of each language at its rounds, warm and waiting before the go, and nothing left of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fakes.project import started_by
from helpers.needs import lacking, needs
from helpers.tiers import deep_but
from probe_effect.host.processes import children, waits_for_go
from probe_effect.host.workloads import SYSTEM_PATH, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.records import TOOLS
from probe_effect.store.suite_file import read_suite
from probe_effect.tracers.protocol import wait_for_workload
from probe_effect.tracers.tool import known_tracers

SUITE = Path(__file__).parents[2] / "data" / "suites" / "language-profilers"
SOURCE = SUITE / "workload" / "profiled-loop.c"
LONG_S = 300.0
CPU = min(os.sched_getaffinity(0))

pytestmark = [
    needs("cc"),
    pytest.mark.xdist_group("programs"),
]

suite, _ = read_suite(SUITE, "language-profilers")
assert suite is not None
COMMANDS = suite.workload.commands
VARIANTS = {case.id: case.variant for case in suite.cases}
SCRIPTS = sorted(path for path in SUITE.iterdir() if path.name[:2].isdigit())
IN_PROCESS = [path.name for path in SCRIPTS if VARIANTS[path.name.partition(".")[0]]]
FIRST = {name.split(".")[1]: name for name in reversed(IN_PROCESS) if ".in-process" in name and "-10." in name}.values()
"""One for each language, whichever of its profilers."""
OUTSIDE = [path.name for path in SCRIPTS if path.name not in IN_PROCESS]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


def load(program: Path, level: str, variant: str | None = None, operations: int = 3) -> WorkloadTask:
    if reason := lacking(COMMANDS.get(level, ()), SYSTEM_PATH):
        pytest.skip(reason)
    return WorkloadTask(program=program, operations=operations, cpu=CPU, level=level, variant=variant)


def done(task: WorkloadTask) -> int:
    """The time of the rounds of a run, ns."""
    workload = WorkloadProcess(task)
    try:
        run = workload.go(LONG_S)
    finally:
        workload.end()
    assert run.operations == task.operations
    assert not [one for one in started_by(os.getpid()) if "profiled-loop" in one or "rounds" in one]
    return run.wall_ns


@pytest.mark.parametrize(
    "level", deep_but(suite.levels, [one for one in suite.levels if not one.endswith("-200") and one != "go-10"])
)
def test_a_program_of_each_language_does_its_rounds_and_leaves_no_process(program: Path, level: str) -> None:
    assert done(load(program, level)) > 0


@pytest.mark.parametrize("name", deep_but(IN_PROCESS, FIRST))
@pytest.mark.deep
def test_a_program_does_its_rounds_with_the_profiler_that_is_in_it(program: Path, name: str) -> None:
    case, level, ending = name.split(".")
    if reason := known_tracers()[ending].available():
        pytest.skip(f"cannot profile here: {reason}")
    text = (SUITE / name).read_text(encoding="utf-8")
    assert f"profiled-loop OPERATIONS CPU {level} {VARIANTS[case]}\n" in text
    assert done(load(program, level, VARIANTS[case])) > 0


def test_the_program_runs_and_is_warm_before_the_workload_waits_for_its_go(program: Path) -> None:
    workload = WorkloadProcess(load(program, "python-10"))
    try:
        wait_for_workload(workload.pid)
        (child,) = children(workload.pid)
        assert waits_for_go(workload.pid)
        assert b"rounds.py" in Path(f"/proc/{child}/cmdline").read_bytes()
    finally:
        workload.end()


@pytest.mark.parametrize(
    ("level", "variant", "message"),
    [
        ("cobol-10", None, "cobol-10: expected a language and a depth, such as python-200"),
        ("python-0", None, "0: expected a whole number of 1 or more"),
        ("python-10", "pprof", "pprof: python has no such variant here"),
    ],
)
def test_what_the_workload_does_not_know_is_refused_by_name(
    program: Path, level: str, variant: str | None, message: str
) -> None:
    workload = WorkloadProcess(load(program, level, variant))
    with pytest.raises(WorkloadFailed, match=re.escape(message)):
        workload.go(LONG_S)
    workload.end()


@pytest.mark.tracer
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_real_profiler_takes_samples_of_the_program_and_ends_with_it(program: Path, name: str) -> None:
    _, level, _ = name.split(".")
    tool = next(tool for tool in TOOLS.values() if name.endswith(tool.ending))
    tracer = known_tracers()[tool.name]
    if reason := tracer.available():
        pytest.skip(f"cannot profile here: {reason}")
    planned = PlannedRun(0, 0, Key("case", tool.name, level), "traced")
    watch = TracerTask(tracer, SUITE / name, "nothing")
    row = run_once(planned, load(program, level, operations=60), watch, Limits())
    assert (row.status, row.note) == ("ok", None)
    assert row.seen
    assert row.lost is not None
    assert row.tracer_cpu_ns
