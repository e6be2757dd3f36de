"""The loops that are sampled: their work, the stack that a sample finds in them, and the switches that are paid."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from helpers.needs import needs
from helpers.tiers import deep_but
from probe_effect.host.workloads import WorkloadProcess, WorkloadRun, WorkloadTask, build
from probe_effect.tracers.libbpf import Libbpf
from probe_effect.tracers.perf import Perf

SUITES = Path(__file__).parents[2] / "data" / "suites"
LOOPS = {
    "stack-loop": "sampling",
    "rate-loop": "sampling-rates",
    "switch-loop": "sampling-switches",
    "busy-loop": "sampling-threads",
    "system-call-loop": "sampling-system-calls",
}
OPERATIONS, FRAMES = 5000, 60
LONG_S = 30.0
CPU = max(os.sched_getaffinity(0))

pytestmark = needs("cc")


@pytest.fixture(scope="module")
def programs(compiled_cache: Path) -> dict[str, Path]:
    libraries = {"busy-loop": ("pthread",)}
    return {
        name: build(SUITES / suite / "workload" / f"{name}.c", compiled_cache, libraries.get(name, ())).path
        for name, suite in LOOPS.items()
    }


def run_of(program: Path, level: int | str) -> WorkloadRun:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=OPERATIONS, cpu=CPU, level=str(level)))
    try:
        return workload.go(LONG_S)
    finally:
        workload.end()


def switches() -> int:
    """Context switches of all that we started and waited for, whether a process slept or was put off its CPU."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_nvcsw + used.ru_nivcsw


@pytest.mark.parametrize("name", deep_but(LOOPS, LOOPS.keys() - {"stack-loop"}))
def test_a_loop_performs_its_operations(programs: dict[str, Path], name: str) -> None:
    run = run_of(programs[name], {"busy-loop": "1", "system-call-loop": "own-code"}.get(name, "99"))
    assert run.operations == OPERATIONS
    assert run.wall_ns > 0


@pytest.mark.parametrize("name", ["stack-loop", "rate-loop"])
def test_an_operation_is_a_microsecond_of_work_and_what_interrupts_it(programs: dict[str, Path], name: str) -> None:
    assert run_of(programs[name], 99).wall_ns >= OPERATIONS * 1000


def test_an_operation_of_the_switching_loop_takes_the_cpu_from_a_process_and_gives_it_back(
    programs: dict[str, Path],
) -> None:
    before = switches()
    run_of(programs["switch-loop"], 99)
    # The other process is not ours to wait for, so that its switches, as many again, are not in the sum.
    assert switches() - before >= OPERATIONS


def stacks(program: Path, level: int | str, folder: Path) -> list[str]:
    """The stacks of perf's samples of a run: a line for each frame, the program's own functions by their names."""
    perf = Perf(tool="perf-record", id="perf-record")
    if reason := perf.available():
        pytest.skip(f"cannot trace here: {reason}")
    data, load = (
        folder / "perf.data",
        WorkloadTask(program=program, operations=200_000, cpu=CPU, level=str(level)),
    )
    record = ["perf", "record", "-N", "-q", "-g", "-e", "cpu-clock", "-F", "999", "-o", str(data), "--", *load.words()]
    subprocess.run(record, input=b"g", capture_output=True, timeout=LONG_S, check=True)
    script = ["perf", "script", "-i", str(data), "-F", "ip,sym"]
    said = subprocess.run(script, capture_output=True, text=True, timeout=LONG_S, check=True).stdout
    return [stack for stack in said.split("\n\n") if "below" in stack]


@pytest.mark.tracer
@pytest.mark.parametrize(("place", "is_inside"), [("own-code", False), ("system-call", True)])
@pytest.mark.deep
def test_most_samples_have_a_kernel_stack_where_the_loop_is_in_a_system_call(
    programs: dict[str, Path], tmp_path: Path, place: str, is_inside: bool
) -> None:
    found = ["vfs_read" in stack for stack in stacks(programs["system-call-loop"], place, tmp_path)]
    assert found
    assert (sum(found) * 2 > len(found)) == is_inside


@pytest.mark.tracer
def test_a_sample_finds_as_many_frames_as_the_level_says(programs: dict[str, Path], tmp_path: Path) -> None:
    found = [stack.split().count("below") for stack in stacks(programs["stack-loop"], FRAMES, tmp_path)]
    assert found
    assert sorted(found)[len(found) // 2] == FRAMES


@pytest.mark.parametrize("words", [("1",), ("1", "idle")])
def test_threads_that_sleep_take_nothing_from_the_one_that_works(
    programs: dict[str, Path], words: tuple[str, ...]
) -> None:
    command = [str(programs["busy-loop"]), str(OPERATIONS), str(CPU), *words]
    said = subprocess.run(command, input="g", capture_output=True, text=True, timeout=LONG_S, check=True).stdout
    run = json.loads(said)
    assert run["operations"] == OPERATIONS
    assert run["wall_ns"] >= OPERATIONS * 1000


@pytest.mark.tracer
@pytest.mark.parametrize("case", ["01-sample", "02-sample-user-stack"])
def test_a_bpf_program_of_ours_samples_every_cpu_and_counts_the_loop(
    programs: dict[str, Path], tmp_path: Path, case: str
) -> None:
    tracer = Libbpf(cache=tmp_path)
    if reason := tracer.available():
        pytest.skip(f"cannot trace here: {reason}")
    program = programs["stack-loop"]
    session = tracer.session(SUITES / "sampling" / f"{case}.bpf.c", "maps", program)
    workload = WorkloadProcess(WorkloadTask(program=program, operations=200_000, cpu=CPU, level=str(FRAMES)))
    try:
        session.attach(workload.pid)
        session.ready(LONG_S)
        workload.go(LONG_S)
        report = session.stop(LONG_S)
    finally:
        workload.end()
        session.end()
    assert report.seen is not None
    assert report.seen > 0
    assert report.probes == os.sysconf("SC_NPROCESSORS_ONLN")
