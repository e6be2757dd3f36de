"""beside-loop and the scripts of its suite: probes come and go while a thread works that meets none of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fakes.project import started_by, wait_until
from helpers.needs import needs
from probe_effect.host.symbols import matching_functions
from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.store.suite_file import script_path
from probe_effect.tracers.libbpf import Libbpf

SUITE = Path(__file__).parents[2] / "data" / "suites" / "attach-beside"
STEMS = {"1": "one", "10": "ten", "100": "hundred", "1000": "thousand"}
PROGRAMS = {"03-beside-own-uprobes": "beside-loop", "04-beside-other-uprobes": "quiet-loop"}
OPERATIONS = 200_000
"""Microseconds: a repetition waits for a grace period or two, and they take tens of milliseconds."""

pytestmark = [
    needs("cc"),
    pytest.mark.xdist_group("tracer"),
]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SUITE / "workload" / "beside-loop.c", compiled_cache).path


@pytest.mark.parametrize(("level", "stem"), STEMS.items())
def test_a_script_probes_as_many_functions_of_the_program_as_the_level_says(
    program: Path, level: str, stem: str
) -> None:
    assert len(matching_functions(program, f"{stem}_*")) == int(level)
    for case, probed in PROGRAMS.items():
        script = script_path(SUITE, case, "libbpf", level=level)
        assert script is not None
        assert f'SEC("uprobe.multi/./{probed}:{stem}_")' in script.read_text(encoding="utf-8")


@pytest.mark.tracer
@pytest.mark.parametrize("case", PROGRAMS)
@pytest.mark.parametrize("level", ["1", "1000"])
@pytest.mark.deep
def test_probes_come_and_go_while_the_thread_works_and_are_counted_each_time(
    program: Path, case: str, level: str
) -> None:
    tracer = Libbpf()
    if reason := tracer.available() or tracer.missing("uprobe-multi"):
        pytest.skip(reason)
    script = script_path(SUITE, case, "libbpf", level=level)
    assert script is not None
    planned = PlannedRun(0, 0, Key(case, "libbpf", level), "traced")
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED, level=level)
    row = run_once(planned, load, TracerTask(tracer, script, "maps"), Limits())
    assert (row.status, row.note) == ("ok", None)
    assert row.probes == int(level)
    assert row.seen is not None
    assert row.seen > 0
    assert row.wall_ns is not None
    assert row.wall_ns >= OPERATIONS * 1000
    wait_until(lambda: not [one for one in started_by(os.getpid()) if "quiet-loop" in one])
