"""The harness, driven without root by a tracer, a compiler and a workload that are fakes."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from fakes.project import FakeProject, document, on_the_path
from probe_effect.host import usable_cpus
from probe_effect.host.processes import state
from probe_effect.host.this_machine import CoreKind, collect_machine
from probe_effect.measure.request import BASELINE_CASE
from probe_effect.measure.run import measure
from probe_effect.model import Estimate, HostNotReady, ProbeEffectError
from probe_effect.store.places import sha256
from probe_effect.tracers.bpftrace import BpftraceSession

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.measure.bench import Progress


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    return FakeProject(tmp_path)


def test_every_block_holds_each_case_between_two_baselines(project: FakeProject) -> None:
    project.case("a")
    project.case("b")
    rows = project.measure(blocks=3)
    counts = Counter((row.block, row.case) for row in rows)
    assert counts == Counter(
        {(block, case): n for block in range(3) for case, n in (("a", 1), ("b", 1), ("baseline", 2))}
    )
    assert [(row.block, row.position) for row in rows] == sorted((row.block, row.position) for row in rows)
    assert all(row.status == "ok" and row.wall_ns == (row.events or 0) * 1000 for row in rows)


def test_counts_of_a_script_stand_in_its_rows(project: FakeProject) -> None:
    project.case("map", 'print: {"type": "map", "data": {"@": 41}}', counted_by="maps")
    project.case("line", "print: 1 bytes", "print: Lost 2 events", counted_by="lines")
    rows = project.measure(blocks=1)
    assert {row.case: (row.seen, row.lost) for row in rows} == {
        "baseline": (None, None),
        "map": (41, 0),
        "line": (1, 2),
    }


def test_a_case_that_counts_nothing_is_counted_by_its_twin_once_and_untimed(project: FakeProject) -> None:
    project.case("plain", counted_by="twin", twin='print: {"type": "map", "data": {"@": 99}}')
    rows = project.measure(blocks=2)
    assert {row.seen for row in rows if row.arm == "traced"} == {None}
    (check,) = (row for row in rows if row.arm == "check")
    assert (check.case, check.seen, check.lost, check.wall_ns, check.block) == ("plain", 99, 0, None, 0)


def test_a_tracer_starts_when_the_workload_waits_so_that_its_loader_makes_no_events(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[str | None] = []
    attach = BpftraceSession.attach

    def look_and_attach(session: BpftraceSession, pid: int) -> None:
        states.append(state(pid))
        attach(session, pid)

    monkeypatch.setattr(BpftraceSession, "attach", look_and_attach)
    project.case("plain")
    project.measure(blocks=3)
    assert set(states) == {"S"}


def test_a_case_that_the_kernel_cannot_meet_is_skipped_once_with_the_reason(project: FakeProject) -> None:
    project.case("plain")
    project.case("kernel-function", needs="kprobe", counted_by="maps")
    (row,) = (row for row in project.measure(blocks=3) if row.case == "kernel-function")
    assert (row.status, row.block, row.events, row.wall_ns) == ("skipped", 0, None, None)
    assert "this kernel has no kprobes" in str(row.note)


def test_a_suite_of_which_nothing_can_be_measured_is_refused_with_the_reasons(project: FakeProject) -> None:
    project.case("kernel-function", needs="kprobe")
    with pytest.raises(HostNotReady, match="kernel-function with bpftrace: this kernel has no kprobes"):
        project.measure()
    assert project.data.submissions() == []


def test_a_workload_that_does_not_run_stops_the_measurement_before_a_folder_is_made(project: FakeProject) -> None:
    project.case("plain")
    program = project.root / "broken"
    program.write_text("#!/bin/sh\necho the loop broke >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    made = project.root / "cache" / "workloads"
    project.measure(blocks=1)
    for path in made.glob("*/loop"):
        program.replace(path)
        path.with_name("loop.sha256").write_text(sha256(path), encoding="ascii")
    before = project.data.submissions()
    with pytest.raises(ProbeEffectError, match="the loop broke"):
        project.measure()
    assert project.data.submissions() == before


def test_a_row_is_on_disk_before_the_next_run_begins(project: FakeProject) -> None:
    project.case("plain")
    lines: list[int] = []

    def look(progress: Progress) -> None:
        if progress.phase == "measuring":
            (submission,) = project.data.submissions()
            written = submission.samples.read_text(encoding="utf-8").splitlines()
            lines.append(len(written) - 1)
            assert progress.done == len(written) - 1

    rows = project.measure(blocks=2, tell=look)
    assert lines == list(range(len(rows)))


def test_the_machine_file_is_open_during_the_run_and_closed_after_it(project: FakeProject) -> None:
    project.case("plain")
    ended: set[str | None] = set()

    def look(progress: Progress) -> None:
        if progress.phase == "measuring":
            ended.add(document(project.data.submissions()[0]).run.ended)

    project.measure(blocks=2, tell=look)
    (submission,) = project.data.submissions()
    run = document(submission).run
    assert ended == {None}
    assert run.ended is not None
    assert (run.suite, run.suite_version, run.blocks, run.seed) == ("tiny", 3, 2, 7)
    assert run.compiler == "fake-cc 1.0 -O2 -std=c11 -Wall -Wextra"
    assert document(submission).tools == {"bpftrace": "bpftrace v0.0.0"}
    assert document(submission).system.clock_read_ns == 25.0
    assert submission.folder.name == f"{run.started[:10]}-tiny"


@pytest.mark.skipif(len(usable_cpus()) < 2, reason="needs a CPU for each")
def test_the_record_is_of_the_workloads_kind_of_core_where_the_tracer_is_on_another(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    little, big, *_ = sorted(usable_cpus())
    found = {little: CoreKind(400, 0, 0, "little"), big: CoreKind(1024, 0, 0, "big")}
    monkeypatch.setattr("probe_effect.host.this_machine.kinds", lambda _: found)
    monkeypatch.setattr("probe_effect.measure.testbed.kinds", lambda _: found)
    project.case("a")
    place = measure(project.work(), project.settings(), project.testbed, lambda _: None)
    run = document(place).run
    assert (run.workload_cpu, run.workload_core, run.tracer_core) == (big, "big", "little")
    assert document(place).machine == collect_machine()


def test_a_second_run_on_a_day_gets_a_folder_of_its_own(project: FakeProject) -> None:
    project.case("plain")
    project.measure(blocks=1)
    project.measure(blocks=1)
    names = [submission.folder.name for submission in project.data.submissions()]
    assert names[1] == f"{names[0]}-2"


def test_progress_counts_every_run(project: FakeProject) -> None:
    project.case("plain")
    seen: list[Progress] = []
    rows = project.measure(blocks=2, tell=seen.append)
    measuring = [progress for progress in seen if progress.phase == "measuring"]
    assert [progress.done for progress in measuring] == list(range(len(rows)))
    assert {progress.total for progress in measuring} == {len(rows)}
    assert (seen[-1].phase, seen[-1].done) == ("done", len(rows))


def test_progress_knows_the_cost_so_far_and_its_interval_once_the_blocks_carry_one(project: FakeProject) -> None:
    project.case("plain")
    seen: list[Progress] = []
    project.measure(blocks=6, tell=seen.append)
    costs = [progress.cost for progress in seen if progress.finished and progress.finished.case == "plain"]
    # The fake workload takes the same time with and without a tracer. A block without a baseline yet has no cost.
    assert {cost and cost.value for cost in costs} <= {0.0, None}
    assert costs[-1] == Estimate(0.0, 0.0, 0.0)
    assert all(cost is None or cost.low is None for cost in costs[:5])
    baselines = (one for one in seen if one.finished and one.finished.case == BASELINE_CASE)
    assert all(progress.cost is None for progress in baselines)


def test_two_measurements_do_not_run_at_the_same_time(project: FakeProject) -> None:
    project.case("plain")
    refusals: list[str] = []

    def start_another(progress: Progress) -> None:
        if progress.phase == "measuring":
            with pytest.raises(HostNotReady) as refusal:
                project.measure()
            refusals.append(str(refusal.value))

    project.measure(blocks=1, tell=start_another)
    assert all("another measurement is running" in refusal for refusal in refusals)
    assert refusals


def test_the_harness_gives_back_the_cpus_that_it_had(project: FakeProject) -> None:
    project.case("plain")
    before = os.sched_getaffinity(0)
    project.measure(blocks=1)
    assert os.sched_getaffinity(0) == before
