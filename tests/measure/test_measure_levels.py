"""A suite with a factor: every case at every level, each level with baselines, lengths and counts of its own."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.project import FakeProject, as_root, document, on_the_path
from helpers.builders import baseline_row, traced_row
from probe_effect.checks.run import check
from probe_effect.host.compilers import CompiledProgram
from probe_effect.measure import testbed as own_testbed
from probe_effect.measure.bench import Tally
from probe_effect.measure.diagnosis import _suite
from probe_effect.measure.one_run import Interrupted
from probe_effect.model import Estimate

if TYPE_CHECKING:
    from probe_effect.host.workloads import WorkloadTask
    from probe_effect.measure.bench import Progress
    from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask
    from probe_effect.model import Sample

TWIN = 'print: {"type": "map", "data": {"@": 41}}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    as_root(monkeypatch)
    return FakeProject(tmp_path)


@pytest.fixture
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None)


def places(found: list[Sample]) -> list[tuple[int, int, str, str | None, str]]:
    return [(row.block, row.position, row.case, row.level, row.arm) for row in found]


def test_every_block_holds_each_case_at_each_level_between_two_baselines_of_that_level(project: FakeProject) -> None:
    project.factor(0, 2000)
    project.case("a")
    project.case("b")
    rows = project.measure(blocks=3)
    assert Counter((row.block, row.level, row.case) for row in rows) == Counter(
        {
            (block, level, case): number
            for block in range(3)
            for level in ("0", "2000")
            for case, number in (("a", 1), ("b", 1), ("baseline", 2))
        }
    )
    assert {(row.level, (row.wall_ns or 0) / (row.events or 1)) for row in rows} == {("0", 1000.0), ("2000", 3000.0)}


def test_what_is_measured_at_levels_is_a_sound_submission(project: FakeProject) -> None:
    project.factor(0, 2000)
    project.case("a", counted_by="twin", twin=TWIN)
    project.measure()
    (submission,) = project.data.submissions()
    assert [one for one in check([submission.folder], project.data) if one.severity == "error"] == []


def test_a_run_is_as_long_at_a_level_whose_operation_takes_long(project: FakeProject) -> None:
    project.factor(0, 9_999_000)
    project.case("a")
    rows = project.measure(blocks=1)
    operations = {(row.level, row.case): row.events for row in rows}
    assert operations["0", "baseline"] == 100_000
    assert (operations["9999000", "baseline"], operations["9999000", "a"]) == (10, 5)  # of 10 ms each


def test_a_twin_counts_once_at_each_level_in_a_run_of_the_usual_length(project: FakeProject) -> None:
    project.factor(0, 9_999_000)
    project.case("a", counted_by="twin", twin=TWIN)
    rows = project.measure(blocks=2)
    traced = {row.level: row.events for row in rows if row.arm == "traced"}
    assert {row.level: row.events for row in rows if row.arm == "check"} == traced
    assert [row.level for row in rows if row.arm == "check"] == ["0", "9999000"]


@pytest.mark.deep
def test_a_run_at_levels_goes_on_where_it_was_cut_short(project: FakeProject) -> None:
    project.factor(0, 2000, 4000)
    project.case("a")
    project.case("b", needs="kprobe")
    whole = project.measure()

    def stop(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == 7:
            msg = "stopped by the test"
            raise Interrupted(msg)

    with pytest.raises(Interrupted):
        project.measure(tell=stop)
    assert places(project.resume()) == places(whole)


@pytest.mark.usefixtures("two_cpus")
def test_more_threads_than_cpus_are_skipped_with_the_reason_and_have_no_baseline(project: FakeProject) -> None:
    project.factor(1, 2, 4, occupies_cpus=True)
    project.case("a")
    rows = project.measure()
    assert {row.level for row in rows if row.status == "ok"} == {"1", "2"}
    (skipped,) = (row for row in rows if row.level == "4")
    assert (skipped.case, skipped.status) == ("a", "skipped")
    assert skipped.note == "4 threads need a CPU each, and there are 2"


@pytest.mark.usefixtures("two_cpus")
def test_where_the_tracer_works_beside_the_workload_it_needs_a_cpu_of_its_own(project: FakeProject) -> None:
    suite = project.suite / "suite.toml"
    suite.write_text(suite.read_text(encoding="utf-8") + "tracer_has_a_cpu = true\n", encoding="utf-8")
    project.case("a")
    assert [len(project.work(cpus=cpus).measured) for cpus in (1, 2)] == [0, 1]
    assert list(project.work(cpus=1).skipped.values()) == [
        "the tracer works beside the workload, on a CPU of its own, and there is one CPU"
    ]


@pytest.mark.usefixtures("two_cpus")
def test_events_are_those_of_all_threads_and_operations_those_of_one(project: FakeProject) -> None:
    project.factor(1, 2, occupies_cpus=True)
    project.case("a", 'print: {"type": "map", "data": {"@": 41}}', counted_by="maps")
    for row in project.measure(blocks=1):
        operations = row.operations or row.events or 0
        assert row.wall_ns == operations * (1000 + int(row.level or 0))
        assert row.events == operations * int(row.level or 0)


@pytest.mark.usefixtures("two_cpus")
def test_where_events_are_counted_the_operations_are_those_of_one_thread_too(project: FakeProject) -> None:
    suite = project.suite / "suite.toml"
    suite.write_text(suite.read_text(encoding="utf-8") + 'events = "counted"\n', encoding="utf-8")
    project.factor(1, 2, occupies_cpus=True)
    project.case("a", 'print: {"type": "map", "data": {"@": 41}}', counted_by="maps")
    for row in project.measure(blocks=1):
        assert row.wall_ns == (row.operations or row.events or 0) * (1000 + int(row.level or 0))
        assert row.arm == "baseline" or row.events == 41


@pytest.mark.usefixtures("two_cpus")
def test_where_the_workload_occupies_the_cpus_the_tracer_has_none_of_its_own(project: FakeProject) -> None:
    project.factor(1, 2, occupies_cpus=True)
    project.case("a")
    project.measure(blocks=1)
    (submission,) = project.data.submissions()
    run = document(submission).run
    assert (run.workload_cpu, run.tracer_cpu) == (0, None)


def test_the_cost_so_far_is_against_the_baselines_of_the_level_and_for_the_thread_that_fires_the_event() -> None:
    tally = Tally()
    for level, threads, baseline_ns in (("1", 1, 100.0), ("2", 2, 300.0)):
        row = baseline_row(0, 0, baseline_ns, level=level)
        tally.add(replace(row, events=1000 * threads, operations=1000))
    costs = []
    for level, threads, traced_ns in (("1", 1, 150.0), ("2", 2, 420.0)):
        row = traced_row(0, 1, traced_ns, level=level)
        costs.append(tally.add(replace(row, events=1000 * threads, operations=1000)))
    assert costs == [Estimate(50.0), Estimate(120.0)]


def test_a_case_counts_once_among_those_that_can_be_measured_here(project: FakeProject) -> None:
    project.factor(0, 2000)
    project.case("a")
    state = _suite(project.work(), project.tracers, CompiledProgram(Path("loop"), "cc"))
    assert state.measurable == {"bpftrace": 1}


def test_where_the_workload_does_not_know_its_events_the_tracer_s_count_is_taken(project: FakeProject) -> None:
    suite = project.suite / "suite.toml"
    suite.write_text(suite.read_text(encoding="utf-8") + 'events = "counted"\n', encoding="utf-8")
    project.case("a", 'print: {"type": "map", "data": {"@": 37}}', counted_by="maps")
    traced = [row for row in project.measure() if row.arm == "traced"]
    assert {(row.events, row.seen) for row in traced} == {(37, 37)}
    assert all((row.operations or 0) >= 1000 for row in traced)
    (submission,) = project.data.submissions()
    assert [one for one in check([submission.folder], project.data) if one.severity == "error"] == []


def test_a_run_in_which_the_tracer_counted_no_event_has_failed_and_says_why(project: FakeProject) -> None:
    suite = project.suite / "suite.toml"
    suite.write_text(suite.read_text(encoding="utf-8") + 'events = "counted"\n', encoding="utf-8")
    project.case("a", 'print: {"type": "map", "data": {"@": 0}}', counted_by="maps")
    traced = [row for row in project.measure() if row.arm == "traced"]
    assert {(row.events, row.status) for row in traced} == {(None, "failed")}
    assert {row.note for row in traced} == {"the tracer counted no event: the run was too short for one"}
    (submission,) = project.data.submissions()
    assert [one for one in check([submission.folder], project.data) if one.severity == "error"] == []


def test_a_level_whose_program_is_not_installed_is_skipped_with_its_name(project: FakeProject) -> None:
    suite = project.suite / "suite.toml"
    text = suite.read_text(encoding="utf-8") + '[workload.commands]\n0 = ["sh"]\n2000 = ["sh", "no-such-program"]\n'
    suite.write_text(text, encoding="utf-8")
    project.factor(0, 2000)
    project.case("a")
    rows = project.measure()
    assert {(row.level, row.status) for row in rows if row.arm == "traced"} == {("0", "ok"), ("2000", "skipped")}
    (note,) = {row.note for row in rows if row.status == "skipped"}
    assert note is not None
    assert note.startswith("no-such-program is not in /usr/sbin")


def counted(number: int) -> str:
    """The line of a script that has the fake count so many events."""
    return f'// print: {{"type": "map", "data": {{"@": {number}}}}}\n'


def test_a_level_with_a_script_of_its_own_is_measured_with_it_and_others_with_the_cases(project: FakeProject) -> None:
    project.factor(1, 10, 100)
    project.case("a", counted_by="maps")
    (project.suite / "a.bt").write_text(counted(1), encoding="utf-8")
    (project.suite / "a.100.bt").write_text(counted(100), encoding="utf-8")
    rows = project.measure(blocks=1)
    assert {row.level: row.seen for row in rows if row.arm == "traced"} == {"1": 1, "10": 1, "100": 100}


def test_a_level_for_which_a_tool_has_no_script_is_not_measured_and_nobody_misses_it(project: FakeProject) -> None:
    project.factor(1, 10)
    project.case("a")
    (project.suite / "a.bt").rename(project.suite / "a.10.bt")
    rows = project.measure(blocks=1)
    assert {row.level for row in rows} == {"10"}
    (submission,) = project.data.submissions()
    assert [one for one in check([submission.folder], project.data) if one.severity == "error"] == []


def test_a_level_that_is_missing_though_a_tool_has_a_script_for_it_is_found(project: FakeProject) -> None:
    project.factor(1, 10)
    project.case("a")
    (project.suite / "a.bt").rename(project.suite / "a.10.bt")
    project.measure(blocks=1)
    (project.suite / "a.1.bt").touch()
    (submission,) = project.data.submissions()
    faults = [one.message for one in check([submission.folder], project.data) if one.severity == "error"]
    assert faults == ["case `a` with bpftrace at level `1` is neither measured nor skipped"]


def test_each_level_has_the_number_of_probes_that_the_tool_says_it_attached(project: FakeProject) -> None:
    project.factor(1, 10)
    project.case("a")
    rows = project.measure(blocks=1)
    assert {(row.level, row.arm, row.probes) for row in rows} == {
        (level, arm, 1 if arm == "traced" else None) for level in ("1", "10") for arm in ("baseline", "traced")
    }


@pytest.mark.parametrize(("patience", "limits_s"), [("", (30.0, 30.0, 30.0)), ("600", (600.0, 30.0, 600.0))])
def test_a_suite_may_have_its_tracers_take_longer_to_start_and_to_stop(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, patience: str, limits_s: tuple[float, float, float]
) -> None:
    text = (project.suite / "suite.toml").read_text(encoding="utf-8")
    key = f"patience_seconds = {patience}\n" if patience else ""
    (project.suite / "suite.toml").write_text(text.replace("[workload]", f"{key}\n[workload]"), encoding="utf-8")
    project.case("a")
    given = []
    run = own_testbed.Testbed.run

    def noted(
        testbed: own_testbed.Testbed, planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits
    ) -> Sample:
        given.append((limits.start_s, limits.run_s, limits.stop_s))
        return run(testbed, planned, load, watch, limits)

    monkeypatch.setattr(own_testbed.Testbed, "run", noted)
    project.measure(blocks=1)
    assert set(given) == {limits_s}
