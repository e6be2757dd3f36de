"""bystander-loop: a process that works beside the one that is watched, in no family with it, and not for longer."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.project import FAKES, PATIENT, rows, started_by, wait_until
from helpers.needs import needs
from probe_effect.host import ROOT
from probe_effect.host.processes import family, state, status
from probe_effect.host.workloads import WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.measure import testbed as own_testbed
from probe_effect.measure.bench import Settings
from probe_effect.measure.request import QUICK, choose_suites, resolve
from probe_effect.measure.run import measure
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import read_suite
from probe_effect.tracers.attaching import scope_refuses
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.protocol import TracerFailed, wait_for_workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Sample

SUITES = Path(__file__).parents[2] / "data" / "suites"
SUITE = SUITES / "bystander"
SOURCE = SUITE / "workload" / "bystander-loop.c"
CPU = min(os.sched_getaffinity(0))
LONG_S = 60.0
ENDLESS = 2**40
SET_CHILD_SUBREAPER = 36
"""Of prctl(2): whoever is left alone below us becomes our child."""

pytestmark = needs("cc")

suite, _ = read_suite(SUITE, "bystander")
assert suite is not None
LEVELS = suite.levels
OPERATIONS = {"calls": 5000, "reads": 5000, "starts": 20, "faults": 5000}


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


@pytest.fixture
def adopting() -> Iterator[None]:
    """Have processes whose parents are gone become ours, so that what they used can be asked for."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    libc.prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def waiting(program: Path, level: str, operations: int) -> WorkloadProcess:
    """The workload, which waits for its go."""
    workload = WorkloadProcess(WorkloadTask(program=program, operations=operations, cpu=CPU, level=level))
    wait_for_workload(workload.pid)
    return workload


def bystander_of(workload: WorkloadProcess) -> int:
    """The bystander's process id: of its group, and no child of it."""
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*") if is_bystander(int(path.name), workload.pid)]
    (one,) = found
    return one


def is_bystander(pid: int, group: int) -> bool:
    try:
        return status(pid).get("Name") == "bystander" and os.getpgid(pid) == group
    except ProcessLookupError:
        return False


@pytest.mark.parametrize("level", LEVELS)
def test_each_kind_of_work_is_done_and_its_cpu_time_is_the_bystanders(program: Path, level: str) -> None:
    workload = waiting(program, level, 20 * OPERATIONS[level])
    run = workload.go(LONG_S)
    workload.end()
    assert run.operations == 20 * OPERATIONS[level]
    assert run.wall_ns > 0
    assert run.user_ns + run.sys_ns > 0
    assert not [one for one in started_by(os.getpid()) if "bystander-loop" in one]


def test_the_levels_of_the_suite_are_what_the_workload_can_do() -> None:
    assert re.findall(r'^\t\{"([a-z]+)", \w+\},', SOURCE.read_text(encoding="utf-8"), re.MULTILINE) == list(LEVELS)


def test_the_bystander_is_of_no_family_with_the_watched_process_and_shares_its_cpu(program: Path) -> None:
    workload = waiting(program, "calls", 1)
    bystander = bystander_of(workload)
    assert family(workload.pid) == str(workload.pid)
    assert status(bystander)["PPid"] != str(workload.pid)
    assert status(workload.pid)["Name"] == "bystander-loop"
    assert os.sched_getaffinity(bystander) == os.sched_getaffinity(workload.pid) == {CPU}
    workload.go(LONG_S)
    workload.end()


@pytest.mark.parametrize("is_told", [pytest.param(False, id="waiting"), pytest.param(True, id="at work")])
@pytest.mark.parametrize("level", LEVELS)
def test_the_bystander_ends_with_the_watched_process_however_that_ends(
    program: Path, level: str, *, is_told: bool
) -> None:
    workload = waiting(program, level, ENDLESS)
    bystander = bystander_of(workload)
    if is_told:
        with pytest.raises(WorkloadFailed, match="had not ended"):
            workload.go(0.05)
    os.kill(workload.pid, signal.SIGKILL)
    wait_until(lambda: state(bystander) in {None, "Z"})
    workload.end()


def test_unknown_work_is_refused_with_what_there_is(program: Path) -> None:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=1, cpu=CPU, level="sleep"))
    with pytest.raises(WorkloadFailed, match="expected what the bystander does: calls reads starts faults"):
        workload.go(LONG_S)
    workload.end()


TRACED = {
    "calls": r"getppid\(",
    "reads": r'read\(\d+, "\\0", 1\)',
    "starts": r'execve\("/bin/true"',
    "faults": rf"mmap\(NULL, {16 * os.sysconf('SC_PAGESIZE')}, PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS, -1,",
}


@needs("strace")
@pytest.mark.parametrize(("level", "expected"), [("calls", 50), ("reads", 50), ("starts", 50), ("faults", 4)])
def test_each_kind_of_work_makes_the_system_calls_that_it_says(
    program: Path, tmp_path: Path, level: str, expected: int
) -> None:
    if reason := scope_refuses(ROOT, attaching=False):
        pytest.skip(reason)
    out = tmp_path / "calls"
    command = ["strace", "-f", "-o", str(out), "-e", "trace=getppid,read,execve,mmap"]
    subprocess.run(
        [*command, str(program), "50", str(CPU), level],
        input="g",
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=True,
    )
    assert len(re.findall(TRACED[level], out.read_text(encoding="utf-8"))) == expected


@pytest.mark.usefixtures("adopting")
def test_each_page_is_a_fault(program: Path) -> None:
    faults = [_minor_faults(program, pages) for pages in (16, 1016)]
    assert faults[1] - faults[0] == pytest.approx(1000, abs=10)  # one more or less is of other pages of the process


def _minor_faults(program: Path, pages: int) -> int:
    workload = waiting(program, "faults", pages)
    bystander = bystander_of(workload)
    workload.go(LONG_S)
    workload.end()
    _, _, usage = os.wait4(bystander, 0)
    return usage.ru_minflt


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    """The rows of a run of two cases with the real workload and a fake bpftrace."""
    data = DataFolder(tmp_path / "data")
    shutil.copytree(SUITE, data.root / "suites" / "bystander")
    shutil.copyfile(SUITES / "loop.h", data.root / "suites" / "loop.h")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bpftrace").symlink_to(FAKES / "bin" / "bpftrace")
    (tmp_path / "kernel/sys/kernel/tracing/events/syscalls").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    ((folder, found),) = choose_suites(data, ["bystander"])
    tracers = {"bpftrace": Bpftrace(root=tmp_path / "kernel")}
    work = resolve(folder, found, tracers, ["02-bystander-silent", "04-bystander-pid", "09-bystander-uprobe"])
    command = ("probe-effect", "measure", "bystander")
    settings = Settings(results=tmp_path / "results", blocks=1, seed=7, command=command, lengths=QUICK, limits=PATIENT)
    return rows(measure(work, settings, own_testbed.Testbed(cache=tmp_path / "cache"), lambda _: None))


@pytest.mark.deep
def test_every_kind_of_work_is_measured_beside_a_tracer_whose_count_is_not_asked(measured: list[Sample]) -> None:
    traced = [row for row in measured if row.arm == "traced" and row.status == "ok"]
    assert {(row.case, row.level) for row in traced} == {
        (case, level) for case in ("02-bystander-silent", "04-bystander-pid") for level in LEVELS
    }
    assert all(row.seen is None and row.events and row.wall_ns for row in traced)
    skipped = {row.case for row in measured if row.status == "skipped"}
    assert skipped == {"09-bystander-uprobe"}


@pytest.mark.tracer
def test_no_filter_lets_the_bystander_pass(program: Path, tmp_path: Path) -> None:
    bpftrace = Bpftrace()
    if reason := bpftrace.available() or bpftrace.missing("tracepoint"):
        pytest.skip(f"cannot trace here: {reason}")
    for name in ("04-bystander-pid", "05-bystander-name", "06-bystander-cgroup", "07-bystander-every-call"):
        counting = tmp_path / f"{name}.bt"
        text = (SUITE / f"{name}.bt").read_text(encoding="utf-8")
        counting.write_text(re.sub(r"^    1$", "    @ = count()", text, flags=re.MULTILINE), encoding="utf-8")
        assert _seen(bpftrace, counting, program) < OPERATIONS["reads"] / 100


def _seen(bpftrace: Bpftrace, script: Path, program: Path) -> int:
    session = bpftrace.session(script, "maps", program)
    workload = waiting(program, "reads", OPERATIONS["reads"])
    try:
        session.attach(workload.pid)
        session.ready(LONG_S)
        workload.go(LONG_S)
        return session.stop(LONG_S).seen or 0
    except TracerFailed as failure:
        pytest.fail(str(failure))
    finally:
        workload.end()
        session.end()
