"""What else traces while we measure is seen, named, recorded, and kept out of the numbers."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.project import FakeProject, document, on_the_path, rows
from helpers.needs import needs
from probe_effect.host.processes import may_trace
from probe_effect.live import kernel_calls
from probe_effect.live.loaded import Loaded, Process
from probe_effect.live.places import Place
from probe_effect.measure import diagnosis
from probe_effect.measure.run import measure
from probe_effect.model import HostNotReady
from probe_effect.numbers.reduce import reduce
from probe_effect.records import faults_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.measure.bench import Progress

REALLY = {"tracing": diagnosis.tracing, "present": diagnosis.present}
AGENT = Loaded(
    key=("bpf", 7),
    sort="bpf",
    id=7,
    kind="tracepoint",
    name="agent",
    owners=(Process(4321, "agentd"),),
    places=(Place(kind="tracepoint", name="raw_syscalls:sys_enter"),),
)
SAMPLER = Loaded(key=("perf", 1), sort="perf", kind="2 perf events", name="perf", owners=(Process(99, "perf"),))
APP = Path("/home/alice/app")
IN_A_PROGRAM = replace(AGENT, key=("bpf", 8), kind="kprobe", places=(Place(kind="uprobe", name=str(APP), path=APP),))


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    made = FakeProject(tmp_path_factory.mktemp("beside"))
    made.case("a")
    made.case("b")
    return made


def tracing(monkeypatch: pytest.MonkeyPatch, *found: Loaded, on_measured: bool) -> None:
    """Have these trace, and fire in the workload or not."""
    monkeypatch.setattr(diagnosis, "tracing", lambda: list(found))
    monkeypatch.setattr(diagnosis, "firing", lambda found, _: found if on_measured else [])


def arriving(monkeypatch: pytest.MonkeyPatch, after_runs: int, *, on_measured: bool) -> None:
    """Have the agent begin to trace after so many runs."""

    def looks() -> Iterator[frozenset[diagnosis.TracingKey]]:
        for _ in range(after_runs + 1):
            yield frozenset()
        tracing(monkeypatch, AGENT, on_measured=on_measured)
        while True:
            yield frozenset([AGENT.key])

    found = looks()
    monkeypatch.setattr(diagnosis, "present", lambda: next(found))


def test_nothing_is_measured_while_something_traces_the_same(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracing(monkeypatch, AGENT, on_measured=True)
    with pytest.raises(HostNotReady, match=r"tracepoint on raw_syscalls:sys_enter of agentd \(4321\)(.|\n)*--anyway"):
        project.measure()
    assert project.rows_on_disk() == 0


def test_anyway_it_is_measured_recorded_without_processes_and_leads_nothing(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracing(monkeypatch, AGENT, on_measured=True)
    settings = replace(project.settings(8), anyway=True)
    place = measure(project.work(), settings, project.testbed, lambda _: None)
    run = document(place).run
    assert (run.traced_beside, "traced" in run.warnings) == (("bpf raw_syscalls:sys_enter",), True)
    assert not any(one.leads for one in reduce(place, document(place), rows(place)).numbers)


def test_what_traces_elsewhere_is_told_and_recorded_and_the_numbers_count(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracing(monkeypatch, SAMPLER, IN_A_PROGRAM, on_measured=False)
    told: list[Progress] = []
    run = document(measure(project.work(), project.settings(), project.testbed, told.append)).run
    assert "2 perf events of perf (99)" in "".join(text for one in told for text in one.told)
    assert run.traced_beside == ("perf 2 perf events", "bpf uprobe")
    assert "traced-elsewhere" in run.warnings
    assert faults_of(run.warnings) == ()


def test_a_tracer_that_comes_during_the_run_stops_it_without_the_rows_of_that_block(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    arriving(monkeypatch, 5, on_measured=True)
    with pytest.raises(HostNotReady, match=r"agentd(.|\n)*the rows so far are kept(.|\n)*--resume"):
        project.measure(blocks=3)
    assert project.rows_on_disk() == 4  # the first block: two baselines, two cases
    monkeypatch.setattr(diagnosis, "tracing", list)
    monkeypatch.setattr(diagnosis, "present", frozenset)
    assert len(project.resume()) == 12


@pytest.mark.parametrize("script", ["", "// fake: dies\n"], ids=["sound", "no tracer runs"])
def test_a_run_that_goes_on_finds_out_by_an_untraced_run_whether_what_traces_fires_in_it(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    for name in ("a", "b"):
        (project.suite / f"{name}.bt").write_text(script, encoding="utf-8")
    arriving(monkeypatch, 5, on_measured=True)
    with pytest.raises(HostNotReady):
        project.measure(blocks=3)
    monkeypatch.setattr(diagnosis, "firing", lambda found, run: [] if run()[0] else found)
    assert [row.arm for row in project.resume()].count("baseline") == 6


def test_one_that_comes_and_fires_elsewhere_costs_no_row(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    arriving(monkeypatch, 5, on_measured=False)
    place = measure(project.work(), project.settings(3), project.testbed, lambda _: None)
    assert len(rows(place)) == 12
    assert document(place).run.traced_beside == ("bpf raw_syscalls:sys_enter",)


def test_one_that_is_gone_at_the_next_look_was_no_company(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([frozenset[diagnosis.TracingKey]()] * 3 + [frozenset([AGENT.key])])
    monkeypatch.setattr(diagnosis, "present", lambda: next(looks, frozenset()))
    tracing(monkeypatch, AGENT, on_measured=True)
    monkeypatch.setattr(diagnosis, "firing", lambda *_: [])
    assert len(project.measure(blocks=3)) == 12


# On the real kernel


@pytest.fixture
def _really(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, function in REALLY.items():
        monkeypatch.setattr(diagnosis, name, function)


@contextlib.contextmanager
def bpftrace(script: str) -> Iterator[int]:
    """The process id of a bpftrace whose probes are live."""
    words = ["bpftrace", "-e", f'{script} BEGIN {{ printf("live\\n"); }}']
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        while "live" not in process.stdout.readline():
            assert process.poll() is None
        try:
            yield process.pid
        finally:
            process.terminate()


def make_calls() -> diagnosis.UntracedRun:
    """Ten thousand system calls, which are the operations of an untraced run."""
    start_s = time.monotonic()
    for _ in range(10_000):
        os.getppid()
    return 10_000, time.monotonic() - start_s


@pytest.mark.tracer
@needs("bpftrace")
@pytest.mark.skipif(not may_trace(Path("/")), reason="needs root")
@pytest.mark.usefixtures("_really")
def test_a_running_bpftrace_is_found_and_whether_it_fires_in_the_workload() -> None:
    with bpftrace("tracepoint:syscalls:sys_enter_getppid { @ = count(); }") as pid:
        its = [one for one in diagnosis.tracing() if any(owner.pid == pid for owner in one.owners)]
        assert [one.places[0].name for one in its] == ["sys_enter_getppid"]
        assert {one.key for one in its} <= diagnosis.present()
        assert diagnosis.firing(its, make_calls) == its
        assert diagnosis.firing(its, lambda: (10_000, 0.01)) == []
    assert not {one.key for one in its} & diagnosis.present()


@pytest.mark.tracer
@pytest.mark.skipif(not may_trace(Path("/")), reason="needs root")
@pytest.mark.usefixtures("_really")
def test_a_perf_event_on_what_is_measured_is_told_from_one_that_samples_by_time() -> None:
    known = diagnosis.present()
    number = (kernel_calls.tracefs() / "events/syscalls/sys_enter_getppid/id").read_text(encoding="utf-8")
    event = kernel_calls.open_event(kernel_calls.PERF_TRACEPOINT, int(number), pid=0, period=0)
    try:
        assert ("perf", os.getpid()) in diagnosis.present() - known
        its = [one for one in diagnosis.tracing() if any(owner.pid == os.getpid() for owner in one.owners)]
        assert [one.kind for one in its] == ["1 perf event"]
        assert diagnosis.firing(its, make_calls) == its
        assert diagnosis.firing(its, lambda: (10_000, 0.01)) == []
        assert diagnosis.firing(its, lambda: (make_calls()[0], 1e-9)) == []
    finally:
        os.close(event)
    assert ("perf", os.getpid()) not in diagnosis.present()
