"""attach-loop and the scripts of its suite: as many functions match as a level says, and none is called."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.needs import needs
from probe_effect.host.symbols import find_function, matching_functions
from probe_effect.host.workloads import NOT_PINNED, WorkloadProcess, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.store.suite_file import read_suite, script_path
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.ftrace import Ftrace
from probe_effect.tracers.perf import Perf

if TYPE_CHECKING:
    from probe_effect.tracers.protocol import Tracer

SUITE = Path(__file__).parents[2] / "data" / "suites" / "attach"
STEMS = {"1": "one", "10": "ten", "100": "hundred", "1000": "thousand"}
NOP = {b"\x90\xc3", b"\x1f\x20\x03\xd5\xc0\x03\x5f\xd6"}
"""A nop and a return, from the manuals of x86-64 and AArch64."""

OPERATIONS = 5000
LONG_S = 30.0
UPROBES, KPROBES, TRACEPOINTS = "02-attach-uprobes", "03-attach-kprobes", "01-attach-tracepoints"

pytestmark = [
    needs("cc"),
    pytest.mark.xdist_group("tracer"),
]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SUITE / "workload" / "attach-loop.c", compiled_cache).path


def load(program: Path, level: str) -> WorkloadTask:
    return WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED, level=level)


@pytest.mark.parametrize(("level", "stem"), STEMS.items())
def test_a_wildcard_matches_as_many_functions_as_the_level_says(program: Path, level: str, stem: str) -> None:
    found = matching_functions(program, f"{stem}_*")
    assert len({one.offset for one in found.values()}) == len(found) == int(level)


@pytest.mark.parametrize("name", ["one_0", "ten_9", "hundred_00", "thousand_999"])
def test_each_function_begins_with_a_nop(program: Path, name: str) -> None:
    function = find_function(program, name)
    assert function is not None
    assert function.first_bytes in NOP
    assert function == matching_functions(program, name)[name]


def test_a_file_that_has_no_such_function_or_is_no_program_has_none(program: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program", encoding="utf-8")
    assert matching_functions(program, "million_*") == {}
    assert matching_functions(tmp_path / "text", "*") == matching_functions(tmp_path / "absent", "*") == {}


@pytest.mark.parametrize("level", STEMS)
def test_the_workload_does_the_same_at_every_level(program: Path, level: str) -> None:
    workload = WorkloadProcess(load(program, level))
    run = workload.go(LONG_S)
    workload.end()
    assert run.operations == OPERATIONS
    assert run.wall_ns > 0


@pytest.mark.parametrize("tool", ["bpftrace", "dtrace", "perf-stat", "ftrace", "libbpf"])
@pytest.mark.parametrize(("level", "stem"), STEMS.items())
def test_each_tool_has_a_script_of_each_level_for_user_functions(tool: str, level: str, stem: str) -> None:
    path = script_path(SUITE, UPROBES, tool, level=level)
    assert path is not None
    assert path.name.startswith(f"{UPROBES}.{level}.")
    assert re.search(rf"\b{stem}_", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [TRACEPOINTS, KPROBES])
@pytest.mark.parametrize("level", ["1", "10"])
def test_the_scripts_that_name_their_probes_name_as_many_as_the_level_says(case: str, level: str) -> None:
    names = {
        "bpftrace": r"^(?:t:syscalls:sys_enter_|k:)(\w+)",
        "perf-stat": r"^(?:-e syscalls:sys_enter_|probe p:\w+ )(\w+)$",
        "ftrace": r"^(?:event syscalls/sys_enter_|probe p:\w+ )(\w+)$",
        "libbpf": r"^PROBE\((\w+)\)$",
    }
    found = {}
    for tool, pattern in names.items():
        path = script_path(SUITE, case, tool, level=level)
        assert path is not None
        found[tool] = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    assert {len(one) for one in found.values()} == {int(level)}
    assert len({tuple(one) for one in found.values()}) == 1


def test_no_script_is_of_a_level_that_the_suite_has_not() -> None:
    suite, problems = read_suite(SUITE, "suite.toml")
    assert problems == []
    assert suite is not None
    cases = "|".join(case.id for case in suite.cases)
    files = [path.name for path in SUITE.iterdir() if path.is_file() and path.name != "suite.toml"]
    assert all(re.match(rf"({cases})\.({'|'.join(suite.levels)})\.", name) for name in files)


REAL: list[Tracer] = [Bpftrace(), Ftrace(), Perf(id="perf-stat", tool="perf-stat")]


@pytest.mark.tracer
@pytest.mark.parametrize("case", [TRACEPOINTS, UPROBES])
@pytest.mark.parametrize("tracer", [pytest.param(one, id=one.id) for one in REAL])
def test_a_real_tracer_attaches_ten_probes_says_so_and_lets_go_of_them(
    program: Path, tracer: Tracer, case: str
) -> None:
    if reason := tracer.available() or tracer.missing("uprobe" if case == UPROBES else "tracepoint"):
        pytest.skip(reason)
    script = script_path(SUITE, case, tracer.tool, level="10")
    assert script is not None
    planned = PlannedRun(0, 0, Key(case, tracer.id, "10"), "traced")
    row = run_once(planned, load(program, "10"), TracerTask(tracer, script, "nothing"), Limits())
    assert (row.status, row.note) == ("ok", None)
    assert row.probes == 10
    assert row.attach_ns
    assert row.detach_ns
