"""Probes that nothing enables: the workload runs alone, and nothing about a tool is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from probe_effect.host.workloads import NOT_PINNED, WorkloadTask
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.tracers.dormant import Dormant
from probe_effect.tracers.protocol import Report

HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
FAKE_WORKLOAD = HERE / "fakes" / "workload"


def test_a_run_with_dormant_probes_is_timed_and_nothing_is_counted(tmp_path: Path) -> None:
    script = tmp_path / "case.dormant"
    script.write_text("# case: a comment only\n", encoding="utf-8")
    load = WorkloadTask(program=FAKE_WORKLOAD, operations=500, cpu=NOT_PINNED)
    row = run_once(
        PlannedRun(0, 0, Key("case", "dormant"), "traced"), load, TracerTask(Dormant(), script, "nothing"), Limits()
    )
    assert (row.status, row.events, row.wall_ns) == ("ok", 500, 500_000)
    assert [row.seen, row.lost, row.tracer_cpu_ns, row.tracer_rss_bytes, row.output_bytes] == [None] * 5
    assert [row.attach_ns, row.detach_ns] == [None, None]


def test_a_profiler_that_is_installed_apart_is_named_where_it_lacks_and_says_its_version(tmp_path: Path) -> None:
    lacking = Dormant(program="no-such-profiler", advice="pip install it")
    assert lacking.available() == "no-such-profiler is not installed; pip install it"
    program = tmp_path / "profiler"
    program.write_text("#!/bin/sh\necho profiler 1.2\n", encoding="utf-8")
    program.chmod(0o755)
    there = Dormant(program=str(program))
    assert (there.available(), there.version()) == (None, "profiler 1.2")
    assert (Dormant().available(), Dormant().version()) == (None, "no tool")


def test_a_report_of_dormant_probes_knows_nothing(tmp_path: Path) -> None:
    session = Dormant().session(tmp_path, "nothing", tmp_path)
    session.attach(1)
    session.ready(0.0)
    assert session.stop(0.0) == Report()
    session.end()
    session.end()


def test_dormant_probes_can_be_measured_everywhere() -> None:
    dormant = Dormant()
    assert dormant.available() is None
    assert dormant.version() == "no tool"


def test_a_workload_that_filters_its_own_calls_needs_a_kernel_that_offers_it(tmp_path: Path) -> None:
    assert str(Dormant(root=tmp_path).missing("seccomp")).startswith(
        "this kernel has no filters of system calls (seccomp)"
    )
    actions = tmp_path / "proc" / "sys" / "kernel" / "seccomp" / "actions_avail"
    actions.parent.mkdir(parents=True)
    actions.write_text("allow\n", encoding="utf-8")
    assert Dormant(root=tmp_path).missing("seccomp") is None


@pytest.mark.parametrize("ending", ["dormant", "seccomp"])
def test_scripts_that_start_no_tool_are_comments_only(ending: str) -> None:
    scripts = list(SUITES.glob(f"*/*.{ending}"))
    assert scripts
    for script in scripts:
        assert all(line.startswith("#") for line in script.read_text(encoding="utf-8").splitlines()), script
