"""program-loop: real programs at real work, with all that they start, and nothing left of them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from fakes.project import started_by
from helpers.needs import lacking, needs
from probe_effect.host.workloads import SYSTEM_PATH, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import known_suites
from probe_effect.tracers.bpftrace import Bpftrace

SUITES = Path(__file__).parents[2] / "data" / "suites"
SOURCE = SUITES / "programs" / "workload" / "program-loop.c"
LONG_S = 60.0
CPU = min(os.sched_getaffinity(0))

pytestmark = [
    needs("cc"),
    pytest.mark.xdist_group("programs"),
]

SUITE, SAMPLED = (known_suites(DataFolder(SUITES.parent))[name] for name in ("programs", "sampling-programs"))
COMMANDS = SAMPLED.workload.commands
LEVELS = SAMPLED.levels


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


def load(program: Path, level: str, operations: int = 1) -> WorkloadTask:
    return WorkloadTask(program=program, operations=operations, cpu=CPU, level=level)


def test_suites_name_the_commands_of_each_program_and_the_workload_knows_each_program() -> None:
    assert {*SUITE.workload.commands} == {*SUITE.levels} <= {*LEVELS}
    assert {*COMMANDS} == {*LEVELS}
    assert re.findall(r'^\t\{"([a-z-]+)",', SOURCE.read_text(encoding="utf-8"), re.MULTILINE) == list(LEVELS)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.deep
def test_each_program_does_its_work_and_leaves_no_process(program: Path, level: str) -> None:
    if reason := lacking(COMMANDS[level], SYSTEM_PATH):
        pytest.skip(reason)
    workload = WorkloadProcess(load(program, level))
    try:
        run = workload.go(LONG_S)
    finally:
        workload.end()
    assert run.operations == 1
    assert run.user_ns + run.sys_ns > 0
    assert not [one for one in started_by(os.getpid()) if "program-loop" in one or "files-" in one]


def test_the_time_of_what_a_program_starts_is_its_own(program: Path) -> None:
    workload = WorkloadProcess(load(program, "grep", operations=2))
    run = workload.go(LONG_S)
    workload.end()
    assert run.user_ns + run.sys_ns > run.wall_ns / 4  # on one CPU, and mostly at work: it waits for nobody


def test_an_unknown_program_is_refused_with_those_that_there_are(program: Path) -> None:
    workload = WorkloadProcess(load(program, "emacs"))
    with pytest.raises(WorkloadFailed, match=r"program-loop: emacs: expected the name of a program: cc tar grep"):
        workload.go(LONG_S)
    workload.end()


def test_a_program_that_fails_is_told_with_its_command(program: Path) -> None:
    folder = program.parent / "files-xz"
    folder.mkdir(exist_ok=True)
    (folder / "numbers.txt").unlink(missing_ok=True)
    workload = WorkloadProcess(load(program, "xz"))
    with pytest.raises(WorkloadFailed, match=r"`exec xz .*` ended with status"):
        workload.go(LONG_S)
    workload.end()
    shutil.rmtree(folder)


@pytest.mark.tracer
def test_the_events_of_a_real_program_are_counted(program: Path) -> None:
    bpftrace = Bpftrace()
    if reason := bpftrace.available() or bpftrace.missing("tracepoint"):
        pytest.skip(f"cannot trace here: {reason}")
    subject = Key("01-program-reads", "bpftrace", "grep")
    watch = TracerTask(bpftrace, SUITES / "programs" / "01-program-reads.bt", "maps")
    row = run_once(PlannedRun(0, 0, subject, "traced"), load(program, "grep"), watch, Limits())
    assert (row.status, row.note) == ("ok", None)
    assert (row.seen or 0) > 5 * 1500  # five times each file of the tree
