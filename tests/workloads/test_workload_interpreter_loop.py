"""interpreter-loop: builds of Python at small benchmarks, of which one alone has static probes."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from fakes.project import started_by
from helpers.needs import needs
from probe_effect.host.workloads import SYSTEM_PATH, WorkloadFailed, WorkloadProcess, WorkloadRun, WorkloadTask, build
from probe_effect.measure import request
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.store.suite_file import read_suite
from probe_effect.tracers.dormant import Dormant

SUITES = Path(__file__).parents[2] / "data" / "suites"
SUITE = SUITES / "compiled-in"
SOURCE = SUITE / "workload" / "interpreter-loop.c"
BUILT = SYSTEM_PATH.rpartition(":")[2]
LONG_S = 60.0
CPU = min(os.sched_getaffinity(0))
OURS = Path(sys.executable).resolve()
HAS_PROBES = b"stapsdt" in OURS.read_bytes()
LIKE_OURS, UNLIKE_OURS = ("dtrace", "plain") if HAS_PROBES else ("plain", "dtrace")

pytestmark = [needs("cc"), pytest.mark.skipif(sys.platform != "linux", reason="the workload needs Linux")]

suite, _ = read_suite(SUITE, "compiled-in")
assert suite is not None
LEVELS, COMMANDS = suite.levels, suite.workload.commands
BUILDS = ["plain", *(case.variant for case in suite.cases if case.variant)]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workload, with the Python that runs this test in the place of two builds, and no others."""
    folder = tmp_path_factory.mktemp("suites")
    shutil.copy(SUITES / "loop.h", folder)
    source = folder / "compiled-in" / "workload" / SOURCE.name
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE.read_text(encoding="utf-8").replace(BUILT, str(folder)), encoding="utf-8")
    for name in (LIKE_OURS, UNLIKE_OURS):
        (folder / f"python-{name}").symlink_to(OURS)
    return build(source, folder / "cache").path


def load(program: Path, level: str = "calls", variant: str | None = LIKE_OURS, operations: int = 2) -> WorkloadTask:
    return WorkloadTask(program=program, operations=operations, cpu=CPU, level=level, variant=variant)


def run_of(task: WorkloadTask) -> WorkloadRun:
    workload = WorkloadProcess(task)
    try:
        return workload.go(LONG_S)
    finally:
        workload.end()


def test_the_suite_the_workload_and_the_script_name_the_same_benchmarks_builds_and_place() -> None:
    text, script = (path.read_text(encoding="utf-8") for path in (SOURCE, SUITE / "build-interpreters.sh"))
    assert re.findall(r'^\t\{"([a-z]+)",$', text, re.MULTILINE) == list(LEVELS)
    assert {"plain", "dtrace", "reversed", "sorted"} == set(BUILDS)
    assert dict.fromkeys(LEVELS, tuple(f"python-{name}" for name in BUILDS)) == COMMANDS
    assert f'FOLDER "{BUILT}"' in text
    assert f"folder=${{1:-{BUILT.removesuffix('/bin')}}}" in script


@pytest.mark.parametrize("level", LEVELS)
def test_each_benchmark_does_its_rounds_and_leaves_no_process(program: Path, level: str) -> None:
    run = run_of(load(program, level))
    assert run.operations == 2
    assert run.wall_ns > 0
    assert not [one for one in started_by(os.getpid()) if "interpreter-loop" in one or "python-" in one]


def test_a_build_with_probes_is_refused_where_there_must_be_none_and_the_other_way_round(program: Path) -> None:
    words = "has static probes" if HAS_PROBES else "has no static probes"
    with pytest.raises(WorkloadFailed, match=rf"python-{UNLIKE_OURS} {words}"):
        run_of(load(program, variant=UNLIKE_OURS))


def test_without_a_variant_it_is_the_plain_build(program: Path) -> None:
    if LIKE_OURS == "plain":
        assert run_of(load(program, variant=None)).operations == 2
    else:
        with pytest.raises(WorkloadFailed, match="python-plain has static probes"):
            run_of(load(program, variant=None))


@pytest.mark.parametrize(
    ("level", "variant", "words"),
    [
        ("emacs", "plain", "emacs: expected the name of a benchmark: calls generators"),
        ("calls", "fast", "fast: expected plain, dtrace, reversed or sorted"),
        ("calls", "reversed", "python-reversed: No such file or directory"),
    ],
)
def test_what_there_is_not_is_refused_by_name(program: Path, level: str, variant: str, words: str) -> None:
    with pytest.raises(WorkloadFailed, match=re.escape(words)):
        run_of(load(program, level, variant))


def test_where_no_interpreter_was_built_nothing_is_measured_and_the_line_that_builds_them_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(request, "SYSTEM_PATH", str(tmp_path))
    assert suite is not None
    work = request.resolve(SUITE, suite, {"dormant": Dormant()}, ())
    assert work.measured == ()
    assert len(work.skipped) == len(LEVELS) * len(suite.cases)
    for reason in work.skipped.values():
        assert "python-plain is not in" in reason
        assert f"sh {SUITE / 'build-interpreters.sh'} builds it" in reason


@pytest.mark.tracer
def test_the_build_with_probes_is_timed_while_nobody_watches(tmp_path: Path) -> None:
    missing = [name for name in COMMANDS["calls"] if shutil.which(name, path=SYSTEM_PATH) is None]
    if missing:
        pytest.skip(f"not there: {', '.join(missing)}; sh data/suites/compiled-in/build-interpreters.sh")
    task = load(build(SOURCE, tmp_path).path, variant="dtrace")
    watch = TracerTask(Dormant(), SUITE / "01-python-probes.dormant", "nothing")
    row = run_once(PlannedRun(0, 0, Key("01-python-probes", "dormant", "calls"), "traced"), task, watch, Limits())
    assert (row.status, row.events, row.note) == ("ok", 2, None)
