"""The loops under filters of system calls and agents' probes: what they install on themselves, and their calls."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from helpers.needs import needs
from probe_effect.costs.machine import STANDS_FOR
from probe_effect.host import ROOT
from probe_effect.host.kernel import missing
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.tracers.libbpf import INSTALL, LIBRARY, Libbpf
from probe_effect.tracers.protocol import wait_for_workload

SUITES = Path(__file__).parents[2] / "data" / "suites"
VARIANTS = ("allow", "list", "argument", "list-argument", "notify")
LOOPS = ("agent-loop", "open-loop")
OPERATIONS = 2000
LONG_S = 30.0

pytestmark = needs("cc")
has_headers = Path("/", LIBRARY).is_file() and shutil.which("clang") is not None
needs_headers = pytest.mark.skipif(not has_headers, reason=f"clang or libbpf's headers are absent; {INSTALL}")
needs_seccomp = pytest.mark.skipif(missing("seccomp", ROOT) is not None, reason=str(missing("seccomp", ROOT)))


@pytest.fixture(scope="module")
def seccomp_loop(compiled_cache: Path) -> Path:
    return build(SUITES / "seccomp" / "workload" / "seccomp-loop.c", compiled_cache).path


@pytest.fixture(scope="module")
def agent_loops(compiled_cache: Path) -> dict[str, Path]:
    return {name: build(SUITES / "agents" / "workload" / f"{name}.c", compiled_cache).path for name in LOOPS}


@pytest.fixture(scope="module")
def agent_loop(agent_loops: dict[str, Path]) -> Path:
    return agent_loops["agent-loop"]


def filters(pid: int) -> tuple[str, str]:
    """The mode and the number of the filters of a process; the number is there since Linux 5.9."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = (re.search(rf"^{name}:\t(\d+)$", status, re.MULTILINE) for name in ("Seccomp", "Seccomp_filters"))
    mode, number = (match[1] if match else "" for match in found)
    return mode, number


def waiting(program: Path, level: str | None = None, variant: str | None = None) -> WorkloadProcess:
    task = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED, level=level, variant=variant)
    workload = WorkloadProcess(task)
    wait_for_workload(workload.pid)
    return workload


@needs_seccomp
@pytest.mark.parametrize("level", ["1", "3"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_installs_as_many_filters_as_the_level_says_and_performs_its_calls(
    seccomp_loop: Path, variant: str, level: str
) -> None:
    ours = filters(os.getpid())[1]
    workload = waiting(seccomp_loop, level, variant)
    try:
        mode, number = filters(workload.pid)
        assert mode == "2"
        assert number in {"", str(int(ours or 0) + int(level))}
        assert workload.go(LONG_S).operations == OPERATIONS
    finally:
        workload.end()


@needs_seccomp
def test_without_a_variant_there_is_no_filter_whatever_the_level(seccomp_loop: Path) -> None:
    workload = waiting(seccomp_loop, "4")
    try:
        assert filters(workload.pid) == filters(os.getpid())
        assert workload.go(LONG_S).operations == OPERATIONS
    finally:
        workload.end()


def test_an_unknown_variant_is_refused_with_those_that_are_known(seccomp_loop: Path) -> None:
    workload = WorkloadProcess(
        WorkloadTask(program=seccomp_loop, operations=1, cpu=NOT_PINNED, level="1", variant="other")
    )
    try:
        with pytest.raises(WorkloadFailed, match="expected allow, list, argument, list-argument or notify"):
            workload.go(LONG_S)
    finally:
        workload.end()


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_agents_watch_performs_its_operations(agent_loops: dict[str, Path], name: str) -> None:
    workload = waiting(agent_loops[name])
    try:
        assert workload.go(LONG_S).operations == OPERATIONS
    finally:
        workload.end()


SETS = [path for path in sorted(SUITES.glob("agents*/*.bpf.c")) if "a set like" in path.read_text("utf-8")]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in SETS])
def test_a_set_like_that_of_an_agent_names_the_project_and_the_commit_that_it_follows(path: Path) -> None:
    words = " ".join(path.read_text(encoding="utf-8").replace("\n *", " ").split())
    assert re.search(r"a set like th[^:]*: [\w.-]+/[\w.-]+ at [0-9a-f]{40}", words)


def test_no_probe_of_a_set_is_the_basis_of_another_probes_cost() -> None:
    probes: dict[bool, set[str]] = {True: set(), False: set()}
    for file in SUITES.glob("*/suite.toml"):
        cases = tomllib.loads(file.read_text(encoding="utf-8"))["cases"]
        probes[file.parent.name.startswith("agents")] |= {case["probe"] for case in cases}
    assert (
        probes[True] & {*probes[False], *STANDS_FOR, *(kind for kinds in STANDS_FOR.values() for kind in kinds)}
        == set()
    )


@pytest.mark.tracer
@needs_headers
@pytest.mark.parametrize(
    ("case", "events", "is_lost"),
    [("10-calls-both", 2, False), ("11-calls-both-unread", 2, True), ("15-request", 1, False)],
)
def test_the_real_loader_counts_what_is_recorded_and_what_is_lost(
    agent_loop: Path, tmp_path: Path, case: str, events: int, *, is_lost: bool
) -> None:
    tracer = Libbpf(cache=tmp_path)
    if reason := tracer.available() or tracer.missing("raw-tracepoint"):
        pytest.skip(reason)
    operations = 20_000
    session = tracer.session(SUITES / "agents" / f"{case}.bpf.c", "maps", agent_loop)
    workload = WorkloadProcess(WorkloadTask(program=agent_loop, operations=operations, cpu=NOT_PINNED))
    try:
        wait_for_workload(workload.pid)
        session.attach(workload.pid)
        session.ready(LONG_S)
        workload.go(LONG_S)
        report = session.stop(LONG_S)
    finally:
        workload.end()
        session.end()
    assert report.seen is not None
    assert report.lost is not None
    # The two ends of the process make a few calls more: it reads its byte, and prints its line.
    assert events * operations <= report.seen + report.lost <= events * operations + 20
    if is_lost:
        assert report.lost > 0
