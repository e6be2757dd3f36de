"""Workloads that do to themselves what a suite measures: spans, profilers of a runtime, accounts, hooks on packets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fakes.project import started_by
from helpers.needs import lacking, needs
from helpers.tiers import deep_but
from probe_effect.host.workloads import SYSTEM_PATH, WorkloadFailed, WorkloadProcess, WorkloadTask, build
from probe_effect.model import release_numbers
from probe_effect.store.suite_file import Suite, read_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITES = Path(__file__).parents[2] / "data" / "suites"
NAMES = (
    "spans",
    "runtime-profilers",
    "accounting",
    "network-hooks",
    "perf-maps",
    "line-events",
    "visited-threads",
    "query-timing",
    "signalled-calls",
)
NEED_ROOT = {"accounting", "network-hooks", "query-timing"}
NEEDED = {
    "switch": "/proc/sys/kernel/task_delayacct",
    "delays": "/proc/sys/kernel/task_delayacct",
    "schedstats": "/proc/sys/kernel/sched_schedstats",
    "marker": "/sys/kernel/tracing/instances",
    "marker-off": "/sys/kernel/tracing/instances",
}
"""What the kernel must have, by variant or level."""

LIBRARIES = {"tcmalloc": "libtcmalloc.so.4", "jemalloc": "libjemalloc.so.2"}
FAST = {"spans/python-logging/disabled", "accounting/switch/delays", "network-hooks/udp/socket-filter-count"}
LONG_S = 300.0
OPERATIONS = 200
CPU = min(os.sched_getaffinity(0))

pytestmark = [needs("cc"), pytest.mark.xdist_group("programs")]


class Run(NamedTuple):
    """A program that a suite starts: its level, and the word that has it do what is measured."""

    suite: Suite
    level: str | None
    variant: str | None

    def __str__(self) -> str:
        return f"{self.suite.id}/{self.level}/{self.variant}"


def runs(name: str) -> Iterator[Run]:
    """Of each level of a suite the plain program, and each variant that has a script."""
    suite, problems = read_suite(SUITES / name, name)
    assert problems == []
    assert suite is not None
    levels: list[str | None] = [str(level) for level in suite.levels] or [None]
    for level in levels:
        yield Run(suite, level, None)
    variants = {case.id: case.variant for case in suite.cases}
    for path in sorted((SUITES / name).glob("*.in-process")):
        case, *own, _ = path.name.split(".")
        for level in own or levels:
            yield Run(suite, level, variants[case])


RUNS = {str(run): run for name in NAMES for run in runs(name)}


def refused(run: Run) -> str | None:
    """Why it cannot be run here."""
    if run.suite.id in NEED_ROOT and os.geteuid() != 0:
        return "needs root"
    if run.level in LIBRARIES and not [*Path("/usr/lib").glob(f"*/{LIBRARIES[run.level]}")]:
        return f"needs {LIBRARIES[run.level]}"
    if run.suite.id == "network-hooks" and " cgroup2 " not in Path("/proc/self/mounts").read_text(encoding="utf-8"):
        return "no cgroup2 file system is mounted"
    if str(run.variant).startswith("tc-") and release_numbers(os.uname().release)[:2] < (6, 6):
        return "needs Linux 6.6 (tcx)"
    if (file := NEEDED.get(run.variant or run.level or "")) and not Path(file).exists():
        return f"this kernel has no {file}, or it is not mounted"
    return lacking(run.suite.workload.commands.get(run.level or "", ()), SYSTEM_PATH)


def done(run: Run, cache: Path) -> int:
    """The time of the operations of a run, ns, after which nothing of it is left."""
    if reason := refused(run):
        pytest.skip(reason)
    folder = SUITES / (run.suite.workload.suite or run.suite.id) / "workload"
    program = build(folder / run.suite.workload.program, cache).path
    workload = WorkloadProcess(
        WorkloadTask(program=program, operations=OPERATIONS, cpu=CPU, level=run.level, variant=run.variant)
    )
    try:
        result = workload.go(LONG_S)
    finally:
        workload.end()
    assert result.operations == OPERATIONS
    assert not [one for one in started_by(os.getpid()) if program.name in one]
    return result.wall_ns


def written_for_perf() -> set[str]:
    return {path.name for pattern in ("perf-*.map", "jit-*.dump") for path in Path("/tmp").glob(pattern)}


@pytest.mark.parametrize("name", NAMES)
def test_it_times_the_clock_where_it_is_asked_to(name: str, compiled_cache: Path) -> None:
    suite, _ = read_suite(SUITES / name, name)
    assert suite is not None
    program = build(SUITES / (suite.workload.suite or name) / "workload" / suite.workload.program, compiled_cache).path
    ran = subprocess.run([program, "--clock", "1000", str(CPU)], check=True, capture_output=True, text=True)
    assert json.loads(ran.stdout)["operations"] == 1000


@pytest.mark.parametrize("name", deep_but(list(RUNS), FAST))
def test_a_program_does_its_operations_with_what_is_measured_and_leaves_no_process(
    name: str, compiled_cache: Path
) -> None:
    assert done(RUNS[name], compiled_cache) > 0


@pytest.mark.parametrize(
    ("level", "variant", "event"),
    [
        ("java-allocating", "sampled", "jdk.ObjectAllocationSample"),
        ("java-allocating", "each", "jdk.ObjectAllocationInNewTLAB"),
        ("java-handing", "waits", "jdk.JavaMonitorWait"),
    ],
)
@pytest.mark.deep
@needs("java", "javac", "jfr")
def test_the_flight_recorder_has_recorded_what_it_was_asked_for(
    level: str, variant: str, event: str, compiled_cache: Path, tmp_path: Path
) -> None:
    program = build(SUITES / "runtime-profilers/workload/runtime-loop.c", compiled_cache).path
    words = [str(program), "100000", str(CPU), level, variant]
    subprocess.run(words, cwd=tmp_path, input="!", check=True, capture_output=True, text=True)
    recording = tmp_path / f"runtime-loop-{level}" / "rounds.jfr"
    command = [str(shutil.which("jfr")), "summary", str(recording)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.search(rf"^ {event} +[1-9]", listed, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in RUNS if name.startswith("accounting/")])
def test_an_account_is_as_it_was_when_the_run_has_ended(name: str, compiled_cache: Path) -> None:
    switch = Path("/proc/sys/kernel/task_delayacct")
    before = switch.read_text(encoding="ascii") if switch.exists() else ""
    done(RUNS[name], compiled_cache)
    assert not switch.exists() or switch.read_text(encoding="ascii") == before
    assert not [*Path("/sys/kernel/tracing/instances").glob("probe-effect-*")]


@pytest.mark.parametrize("name", [name for name in RUNS if "perf-map" in name or "jitdump" in name])
@pytest.mark.deep
def test_what_is_written_for_perf_is_not_left_in_the_temporary_folder(name: str, compiled_cache: Path) -> None:
    before = written_for_perf()
    done(RUNS[name], compiled_cache)
    assert written_for_perf() <= before


@pytest.mark.parametrize(
    ("source", "level", "variant", "message"),
    [
        ("spans/workload/spans-loop.c", "cobol-log", None, "cobol-log: expected one of: python-logging"),
        ("spans/workload/spans-loop.c", "go-slog", "hooks", "hooks: go-slog has no such variant here"),
        ("accounting/workload/accounting-loop.c", "switch", "marker", "switch marker: expected switch with delays"),
        ("network-hooks/workload/packet-loop.c", "udp", "sock-ops", "sock-ops: udp has no such hook"),
        ("network-hooks/workload/packet-loop.c", "icmp", None, "icmp: expected udp or connection"),
    ],
)
def test_what_a_workload_does_not_know_is_refused_by_name(
    source: str, level: str, variant: str | None, message: str, compiled_cache: Path
) -> None:
    workload = WorkloadProcess(
        WorkloadTask(
            program=build(SUITES / source, compiled_cache).path,
            operations=OPERATIONS,
            cpu=CPU,
            level=level,
            variant=variant,
        )
    )
    with pytest.raises(WorkloadFailed, match=re.escape(message)):
        workload.go(LONG_S)
    workload.end()
