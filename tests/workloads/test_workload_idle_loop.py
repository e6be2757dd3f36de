"""idle-loop: so many processes that do nothing, there before its go, and none of them left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from fakes.project import wait_until
from helpers.needs import needs
from probe_effect.host.processes import children, state, waits_for_go
from probe_effect.host.workloads import WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.tracers.protocol import wait_for_workload

SOURCE = Path(__file__).parents[2] / "data" / "suites" / "monitors" / "workload" / "idle-loop.c"
LONG_S = 60.0
CPU = min(os.sched_getaffinity(0))

pytestmark = [
    needs("cc"),
    pytest.mark.xdist_group("idle-loop"),
]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


def load(program: Path, processes: int | str) -> WorkloadTask:
    return WorkloadTask(program=program, operations=10, cpu=CPU, level=str(processes))


def test_the_processes_are_there_and_idle_before_its_go_and_gone_after_its_run(program: Path) -> None:
    workload = WorkloadProcess(load(program, 5))
    try:
        wait_for_workload(workload.pid)
        idle = children(workload.pid)
        states = [state(pid) for pid in idle]
        run = workload.go(LONG_S)
    finally:
        workload.end()
    assert states == ["S"] * 5
    assert [state(pid) for pid in idle] == [None] * 5
    assert run.operations == 10
    assert run.wall_ns >= 10 * 1_000_000


def test_without_a_level_it_starts_none(program: Path) -> None:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=1, cpu=CPU))
    wait_for_workload(workload.pid)
    found = children(workload.pid)
    workload.end()
    assert found == []


def test_a_workload_that_is_killed_leaves_no_process(program: Path) -> None:
    one = subprocess.Popen([program, "10", str(CPU), "5"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_until(lambda: waits_for_go(one.pid))
    idle = children(one.pid)
    one.send_signal(signal.SIGKILL)
    one.communicate()
    assert len(idle) == 5
    wait_until(lambda: all(state(pid) in {None, "Z"} for pid in idle))


def test_more_than_it_may_ever_start_is_refused(program: Path) -> None:
    workload = WorkloadProcess(load(program, 100_000))
    with pytest.raises(WorkloadFailed, match="100000 processes: expected no more than 30000"):
        workload.go(LONG_S)
    workload.end()


@pytest.mark.skipif(os.geteuid() == 0, reason="root has no such limit")
def test_more_than_the_user_may_have_is_refused_with_what_to_do(program: Path) -> None:
    few = (3, resource.getrlimit(resource.RLIMIT_NPROC)[1])
    found = subprocess.run(
        [program, "10", str(CPU), "5"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, few),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "5 processes: this user may have 3; raise it with ulimit -u" in found.stderr
