"""A CPU quota hides what a probe costs: it is seen before, recorded with its stops, and its times lead nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fakes.project import FakeProject, document, on_the_path
from helpers.builders import machine_document, write_data
from probe_effect.cli import commands
from probe_effect.host import load, this_machine
from probe_effect.host.load import Quota, Throttling, throttled_since, throttlings, tightest_quota
from probe_effect.host.this_machine import warnings
from probe_effect.measure.run import measure
from probe_effect.model import HostNotReady, Sample
from probe_effect.numbers.reduce import reduce
from probe_effect.records import CONDITIONS
from probe_effect.store.places import SubmissionFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.measure.bench import Progress

V2 = "35 24 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n", encoding="utf-8")


def in_cgroup(root: Path, path: str, mounts: str = V2, **files: str) -> None:
    """Be in a cgroup; `files` are below the first mount, `_` for `/` and `__` for `.`."""
    number = "0:" if mounts == V2 or " - cgroup2 " in mounts else "4:cpu,cpuacct"
    put(root, "proc/self/cgroup", f"{number}:{path}")
    put(root, "proc/self/mountinfo", mounts.strip())
    folder = mounts.split()[4].lstrip("/")
    for name, text in files.items():
        put(root, f"{folder}/{name.replace('__', '.').replace('_in_', '/')}", text)


def test_the_quota_of_our_own_cgroup_is_found(tmp_path: Path) -> None:
    in_cgroup(tmp_path, "/a", a_in_cpu__max="12000 100000")
    assert tightest_quota(tmp_path) == Quota("/sys/fs/cgroup/a", 0.12, 100)


def test_a_quota_two_levels_above_counts_if_it_is_tighter(tmp_path: Path) -> None:
    in_cgroup(tmp_path, "/a/b/c", a_in_cpu__max="40000 100000", a_in_b_in_c_in_cpu__max="300000 100000")
    put(tmp_path, "sys/fs/cgroup/a/b/cpu.max", "max 100000")
    assert tightest_quota(tmp_path) == Quota("/sys/fs/cgroup/a", 0.4, 100)


def test_the_quota_of_the_first_version_of_cgroups_is_found(tmp_path: Path) -> None:
    in_cgroup(tmp_path, "/a/b", V1)
    put(tmp_path, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "25000")
    put(tmp_path, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000")
    put(tmp_path, "sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1")
    put(tmp_path, "sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000")
    assert tightest_quota(tmp_path) == Quota("/sys/fs/cgroup/cpu/a", 0.5, 50)


@pytest.mark.parametrize("path", ["/docker/1234", "/", "/../../other"])
def test_in_a_container_the_mount_begins_at_its_own_cgroup(tmp_path: Path, path: str) -> None:
    in_cgroup(tmp_path, path, V2.replace(" / /sys", " /docker/1234 /sys"), cpu__max="50000 100000")
    assert tightest_quota(tmp_path) == Quota("/sys/fs/cgroup", 0.5, 100)


def test_where_nothing_limits_there_is_no_quota_and_no_warning(tmp_path: Path) -> None:
    assert tightest_quota(tmp_path) is None
    in_cgroup(tmp_path, "/a", a_in_cpu__max="max 100000")
    assert (tightest_quota(tmp_path), throttlings(tmp_path), warnings(tmp_path)) == (None, {}, ())


@pytest.mark.parametrize(
    ("limit", "busy_cpus", "ids"),
    [
        pytest.param("40000", 1, ["quota"], id="less than the workload needs"),
        pytest.param("150000", 1, ["quota-near"], id="less than workload and tracer need"),
        pytest.param("200000", 1, [], id="enough for both"),
        pytest.param("300000", 4, ["quota"], id="less than four threads need"),
    ],
)
def test_a_quota_is_judged_by_what_the_measurement_needs(
    tmp_path: Path, limit: str, busy_cpus: int, ids: list[str]
) -> None:
    in_cgroup(tmp_path, "/a", a_in_cpu__max=f"{limit} 100000")
    found = warnings(tmp_path, busy_cpus=busy_cpus)
    assert [one.id for one in found] == ids
    assert all("/sys/fs/cgroup/a" in one.found for one in found)


def test_stops_are_counted_since_a_reading_in_the_cgroup_that_was_stopped_most(tmp_path: Path) -> None:
    in_cgroup(tmp_path, "/a/b", a_in_cpu__max="1 2", a_in_b_in_cpu__max="1 2")
    put(tmp_path, "sys/fs/cgroup/a/cpu.stat", "nr_periods 100\nnr_throttled 10\nthrottled_usec 5000")
    put(tmp_path, "sys/fs/cgroup/a/b/cpu.stat", "nr_periods 7\nnr_throttled 1\nthrottled_usec 1")
    before = throttlings(tmp_path)
    put(tmp_path, "sys/fs/cgroup/a/cpu.stat", "nr_periods 150\nnr_throttled 40\nthrottled_usec 9000")
    assert throttled_since(before, None, tmp_path) == Throttling(50, 30, 4_000_000)
    assert throttled_since(before, Throttling(10, 1, 1), tmp_path) == Throttling(60, 31, 4_000_001)


@pytest.mark.parametrize(("stopped", "ids"), [(2, ["quota-stopped"]), (1, [])])
def test_stops_in_more_than_a_hundredth_of_the_periods_are_told(tmp_path: Path, stopped: int, ids: list[str]) -> None:
    found = warnings(tmp_path, stopped=Throttling(100, stopped, 90_000_000))
    assert [one.id for one in found] == ids


# Measuring under a quota


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    made = FakeProject(tmp_path)
    made.case("a")
    return made


PROBE = "tracepoint:syscalls:sys_enter_openat"
SCRIPT = f"{PROBE} {{ @ = count(); }}"


@pytest.mark.parametrize(
    "words",
    [
        ("try", "-e", SCRIPT, "--pairs", "2", "--", "true"),
        ("advise", "-e", SCRIPT, "--no-calibrate", "--seconds", "0.01"),
        ("watch", "--once", "--seconds", "0.1", "--no-calibrate"),
    ],
    ids=lambda words: words[0],
)
def test_what_runs_something_here_says_that_a_quota_disturbs_its_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    limited(monkeypatch, 0.12)
    name, *rest = words
    said = CliRunner().invoke(commands, [name, "--data", str(write_data(tmp_path)), *rest]).stderr
    assert "a quota lets the cgroup /sys/fs/cgroup/a use 0.12 CPUs" in " ".join(said.split())


def test_advice_from_given_rates_and_costs_says_nothing_of_a_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, 0.12)
    data = str(write_data(tmp_path))
    words = ("advise", "-e", SCRIPT, "--no-calibrate", "--rate", f"{PROBE}=100", "--data", data)
    assert "quota" not in CliRunner().invoke(commands, words).output


def limited(monkeypatch: pytest.MonkeyPatch, cpus: float) -> None:
    for module in (this_machine, load):
        monkeypatch.setattr(module, "tightest_quota", lambda *_: Quota("/sys/fs/cgroup/a", cpus, 100))


def test_nothing_is_measured_under_a_quota_that_stops_the_workload(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, 0.12)
    with pytest.raises(HostNotReady, match=r"/sys/fs/cgroup/a use 0\.12 CPUs(.|\n)*To do: lift it"):
        project.measure()
    assert not project.results.exists()


def test_a_quota_that_may_stop_it_is_told_before_the_first_trial_and_recorded(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, 1.5)
    told: list[Progress] = []
    found = document(measure(project.work(), project.settings(), project.testbed, told.append))
    assert told[0].phase == "told"
    assert "1.50 CPUs" in told[0].told[0]
    assert (found.run.quota_cpus, "quota-near" in found.run.warnings) == (1.5, True)


def test_the_stops_of_a_run_are_recorded_and_told_at_its_end(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "throttled_since", lambda *_: Throttling(60, 19, 628_000_000))
    told: list[Progress] = []
    run = document(measure(project.work(), project.settings(), project.testbed, told.append)).run
    assert (run.quota_periods, run.throttled_periods, run.throttled_ns) == (60, 19, 628_000_000)
    assert "quota-stopped" in run.warnings
    assert any("stopped the run in 19 of 60 periods" in text for one in told for text in one.told)


# What its numbers are worth


def rows() -> list[Sample]:
    """Eight blocks, in which the case costs 100 ns."""
    made = []
    for block in range(8):
        for position, (case, tracer, arm) in enumerate(
            [("baseline", "none", "baseline"), ("a", "bpftrace", "traced"), ("baseline", "none", "baseline")]
        ):
            wall_ns = 100_000 + block + (100_000 if arm == "traced" else 0)
            own = Sample(block=block, position=position, arm=arm, case=case, tracer=tracer, level=None)  # type: ignore[arg-type]
            made.append(replace(own, wall_ns=wall_ns, events=1000))
    return made


@pytest.mark.parametrize(("recorded", "leads", "grade"), [((), True, "B"), (("quota-stopped",), False, "D")])
def test_times_of_a_run_that_a_quota_stopped_lead_nothing_and_say_why(
    tmp_path: Path, recorded: tuple[str, ...], leads: bool, grade: str
) -> None:
    made = reduce(SubmissionFolder(tmp_path), machine_document(run__warnings=recorded), rows())
    (one,) = made.numbers
    assert one.cost is not None
    assert one.cost.value == pytest.approx(100)
    assert (one.leads, one.grade) == (leads, grade)
    assert ("a CPU quota stopped its runs" in str(one.note)) is not leads


def test_what_check_says_to_do_of_a_condition_needs_nothing_that_was_found() -> None:
    judged = [one for one in CONDITIONS.values() if one.fault]
    assert judged
    assert all("{" not in one.advice for one in judged)
