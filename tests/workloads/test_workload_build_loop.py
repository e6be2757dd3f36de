"""build-loop: one build by make on all CPUs, timed as a whole, with nothing left of it when it is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from fakes.project import started_by, wait_until
from helpers.build_trees import small_tree
from helpers.needs import needs
from probe_effect.host.processes import STARTED_BY
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.store.suite_file import read_suite, script_path

SUITE = Path(__file__).parents[2] / "data" / "suites" / "build"
LONG_S = 60.0

pytestmark = [
    needs("cc", "make"),
    pytest.mark.xdist_group("build-loop"),
]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SUITE / "workload" / "build-loop.c", compiled_cache).path


def load(program: Path, tree: Path, operations: int = 1) -> WorkloadTask:
    return WorkloadTask(program=program, operations=operations, cpu=NOT_PINNED, tree=tree)


def test_the_suite_has_nine_sets_of_probes_each_with_a_script_and_what_it_matches() -> None:
    suite, problems = read_suite(SUITE, "build")
    assert problems == []
    assert suite is not None
    assert len(suite.cases) == 9
    for case in suite.cases:
        assert any(script_path(SUITE, case.id, tool) for tool in ("bpftrace", "strace"))
    # DTrace has no probe of page faults on all systems, and its pid provider knows no processes that are yet to start.
    ours = [case.id[:2] for case in suite.cases if script_path(SUITE, case.id, "dtrace")]
    assert ours == ["01", "02", "03", "04", "06", "08"]


def test_a_tree_is_built_once_and_its_time_is_that_of_all_its_processes(program: Path, tmp_path: Path) -> None:
    tree = small_tree(tmp_path / "tree", recipe='nproc > jobs; echo "$$MAKEFLAGS" >> jobs')
    workload = WorkloadProcess(load(program, tree))
    try:
        run = workload.go(LONG_S)
    finally:
        workload.end()
    assert (tree / "greeting").read_text(encoding="utf-8") == "hello\nworld\n"
    assert (run.operations, run.wall_ns > 0) == (1, True)
    cpus, flags = (tree / "jobs").read_text(encoding="utf-8").splitlines()
    assert cpus == str(len(os.sched_getaffinity(0)))
    assert "-j" in flags or cpus == "1"


def test_what_a_user_has_set_for_make_reaches_no_build(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MAKEFLAGS", "CFLAGS"):
        monkeypatch.setenv(name, "-n")
    tree = small_tree(tmp_path / "tree", recipe='echo "$$CFLAGS$$TMPDIR" > flags')
    workload = WorkloadProcess(load(program, tree))
    workload.go(LONG_S)
    workload.end()
    assert (tree / "flags").read_text(encoding="utf-8") == f"{tree}/..\n"


def test_a_build_that_fails_is_told_with_what_make_said_last(program: Path, tmp_path: Path) -> None:
    workload = WorkloadProcess(load(program, small_tree(tmp_path / "tree", recipe="echo no such header >&2; false")))
    with pytest.raises(WorkloadFailed, match=r"`make -j\d+` ended with status .*: (.|\n)*no such header"):
        workload.go(LONG_S)
    workload.end()


@pytest.mark.parametrize(
    ("operations", "folder", "words"),
    [(2, "tree", "expected one operation, a build"), (1, "nowhere", "No such file or directory")],
)
def test_two_builds_or_a_tree_that_is_not_there_are_refused(
    program: Path, tmp_path: Path, operations: int, folder: str, words: str
) -> None:
    small_tree(tmp_path / "tree")
    workload = WorkloadProcess(load(program, tmp_path / folder, operations))
    with pytest.raises(WorkloadFailed, match=words):
        workload.go(LONG_S)
    workload.end()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_build_whose_workload_is_killed(
    program: Path, tmp_path: Path, end: signal.Signals
) -> None:
    begun = tmp_path / "begun"
    tree = small_tree(tmp_path / "tree", recipe=f"touch {begun}; exec tail -f /dev/null")
    workload = WorkloadProcess(load(program, tree))
    workload._child.tell("g")
    wait_until(begun.exists)
    os.kill(workload.pid, end)
    wait_until(lambda: not [one for one in started_by(os.getpid()) if "make" in one or "tail -f" in one])
    workload.end()


def test_a_process_of_a_build_is_known_as_the_harness_own(program: Path, tmp_path: Path) -> None:
    tree = small_tree(tmp_path / "tree", recipe=f"echo $${STARTED_BY} > mark")
    workload = WorkloadProcess(load(program, tree))
    workload.go(LONG_S)
    workload.end()
    assert (tree / "mark").read_text(encoding="utf-8") == f"{os.getpid()}\n"
