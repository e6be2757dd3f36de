"""thread-loop: each thread performs all operations on a CPU of its own, and all their events are seen."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from helpers.needs import needs
from probe_effect.host.symbols import find_function
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.tracers.bpftrace import Bpftrace

SUITE = Path(__file__).parents[2] / "data" / "suites" / "threads"
NOP5 = {"x86_64": "0f 1f 44 00 00 c3", "aarch64": "1f 20 03 d5 c0 03 5f d6"}
"""The function nop5, from the manuals of the processors."""

OPERATIONS = 5000
LONG_S = 30.0
CPUS = sorted(os.sched_getaffinity(0))

pytestmark = [
    needs("cc"),
    pytest.mark.skipif(platform.machine() not in NOP5, reason="not written for this processor"),
]
needs_two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="two threads need a CPU each")


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SUITE / "workload" / "thread-loop.c", compiled_cache, ["pthread"]).path


def load(program: Path, threads: int, cpu: int = NOT_PINNED) -> WorkloadTask:
    return WorkloadTask(program=program, operations=OPERATIONS, cpu=cpu, level=str(threads), threads=threads)


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=needs_two_cpus)])
def test_the_operations_are_those_of_one_thread(program: Path, threads: int) -> None:
    workload = WorkloadProcess(load(program, threads))
    run = workload.go(LONG_S)
    workload.end()
    assert run.operations == OPERATIONS
    assert run.wall_ns > 0


@pytest.mark.parametrize(
    ("threads", "cpu", "available"),
    [pytest.param(len(CPUS) + 1, NOT_PINNED, len(CPUS), id="of the machine"), pytest.param(2, CPUS[0], 1, id="pinned")],
)
def test_more_threads_than_cpus_are_refused(program: Path, threads: int, cpu: int, available: int) -> None:
    workload = WorkloadProcess(load(program, threads, cpu))
    with pytest.raises(WorkloadFailed, match=f"thread-loop: {threads} threads: expected no more than {available}"):
        workload.go(LONG_S)
    workload.end()


def test_the_probed_function_is_a_nop_of_five_bytes_and_a_return(program: Path) -> None:
    function = find_function(program, "nop5")
    assert function is not None
    expected = bytes.fromhex(NOP5[platform.machine()])
    assert function.first_bytes[: len(expected)] == expected


@pytest.mark.tracer
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=needs_two_cpus)])
def test_the_events_of_every_thread_are_counted(program: Path, threads: int) -> None:
    bpftrace = Bpftrace()
    if reason := bpftrace.available() or bpftrace.missing("uprobe"):
        pytest.skip(f"cannot trace here: {reason}")
    limits = Limits(start_s=LONG_S, run_s=LONG_S, stop_s=LONG_S)
    watch = TracerTask(bpftrace, SUITE / "04-threads-uprobe-nop5.bt", "maps")
    subject = Key("04-threads-uprobe-nop5", "bpftrace", str(threads))
    found = run_once(PlannedRun(0, 0, subject, "traced"), load(program, threads), watch, limits)
    assert (found.status, found.note, found.level) == ("ok", None, str(threads))
    assert found.seen == found.events == OPERATIONS * threads
