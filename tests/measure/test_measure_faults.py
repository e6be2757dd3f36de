"""Whatever goes wrong while it measures: rows already made survive, nothing is left behind, and the words are clear."""

from __future__ import annotations

import errno
import io
import os
import resource
import signal
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from fakes.project import (
    FAKES,
    IMPATIENT,
    FakeProject,
    as_root,
    document,
    on_the_path,
    rows,
    started_by,
    wait_until,
    work_folders_of,
)
from helpers.builders import baseline_row, machine_document, many_blocks
from probe_effect.cli.measure_display import display
from probe_effect.host.processes import WORK_PREFIX
from probe_effect.host.workloads import WorkloadFailed, parse
from probe_effect.measure.bench import Progress, written_rows
from probe_effect.measure.one_run import Interrupted, Limits, PlannedRun, interruptible, undisturbed
from probe_effect.measure.request import baseline
from probe_effect.model import GIVE_UP_AFTER, HostNotReady, Key
from probe_effect.store.documents import write_document
from probe_effect.store.result_tables import RunWriter, as_note, read_samples
from probe_effect.tracers import tool
from probe_effect.tracers.bpftrace import Bpftrace, BpftraceSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Sample
    from probe_effect.store.places import SubmissionFolder
    from probe_effect.tracers.protocol import Counting


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    """A sound case; each test adds one with a fault, or spoils something else."""
    on_the_path(monkeypatch)
    as_root(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = FakeProject(tmp_path)
    made.case("sound")
    return made


def only_submission(project: FakeProject) -> SubmissionFolder:
    (found,) = project.data.submissions()
    return found


def assert_others_are_complete(found: list[Sample], blocks: int) -> None:
    assert sum(row.case == "sound" and row.status == "ok" for row in found) == blocks
    assert sum(row.case == "baseline" and row.status == "ok" for row in found) == 2 * blocks


# A tracer that dies


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param("dies", "ended before its probes were live: faulty.bt:1:1-2: ERROR: the fake refuses", id="start"),
        pytest.param("dies-in-the-run", "ERROR: the fake was killed", id="run"),
        pytest.param("dies-at-stop", "exit status 1: ERROR: the fake fell over", id="stop"),
    ],
)
def test_a_tracer_that_dies_is_quoted_in_one_row_and_the_other_cases_go_on(
    project: FakeProject, fault: str, words: str
) -> None:
    project.case("faulty", f"fake: {fault}")
    found = project.measure(blocks=2)
    (row,) = (row for row in found if row.case == "faulty")
    assert (row.status, row.block, row.events, row.wall_ns) == ("failed", 0, None, None)
    assert str(row.note).startswith("bpftrace ")
    assert str(row.note).endswith(words)
    assert_others_are_complete(found, 2)


def test_a_case_that_begins_to_fail_is_given_up_and_no_other_is(project: FakeProject) -> None:
    project.case("fickle")

    def spoil(progress: Progress) -> None:
        if progress.phase == "measuring":
            (project.suite / "fickle.bt").write_text("// fake: dies-in-the-run\n", encoding="utf-8")

    found = project.measure(blocks=4, tell=spoil)
    assert [row.status for row in found if row.case == "fickle"] == ["failed"] * GIVE_UP_AFTER
    assert_others_are_complete(found, 4)


# A tracer that hangs


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param("hangs", "no probe was live after", id="start"),
        pytest.param("hangs-in-the-run", "had not exited", id="run"),
        pytest.param("hangs-at-stop", "had not exited", id="stop"),
    ],
)
def test_a_tracer_that_hangs_is_a_timeout_and_is_ended(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    project.limits = IMPATIENT
    monkeypatch.setattr("probe_effect.host.processes.GRACE_S", 0.1)
    project.case("stuck", f"fake: {fault}")
    found = project.measure(blocks=1)
    (row,) = (row for row in found if row.case == "stuck")
    assert row.status == "timeout"
    assert words in str(row.note)
    assert started_by(os.getpid()) == []


class Freezing(Bpftrace):
    """A tracer that stops what it watches, and never lets it go on."""

    def session(self, script: Path, counting: Counting, program: Path) -> BpftraceSession:
        class Session(BpftraceSession):
            def attach(self, pid: int) -> None:
                os.kill(pid, signal.SIGSTOP)
                super().attach(pid)

        return Session(self.program, script, counting, program)


def test_a_workload_that_its_tracer_keeps_from_running_is_a_timeout_and_is_ended(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.limits = Limits(start_s=30.0, run_s=0.3, stop_s=30.0)
    monkeypatch.setattr("probe_effect.host.processes.GRACE_S", 0.1)
    project.tracers["freezing"] = Freezing(id="freezing", root=project.root / "kernel")
    found = project.measure(blocks=1)
    (row,) = (row for row in found if row.tracer == "freezing")
    assert row.status == "timeout"
    assert "the workload had not ended" in str(row.note)
    assert started_by(os.getpid()) == []


# Streams


def test_a_measurement_goes_on_where_standard_error_is_on_a_full_disk(project: FakeProject) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        running = project.start("--quick", "--blocks", "2", stderr=full)
    with running:
        out, _ = running.communicate(timeout=600)
    place = only_submission(project)
    assert (running.returncode, out) == (0, f"{place.folder}\n")
    assert document(place).run.ended is not None


# Being stopped


@pytest.mark.parametrize("demand", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_its_rows_leaves_nothing_behind_and_says_how_to_go_on(
    project: FakeProject, demand: signal.Signals
) -> None:
    with project.start("--quick", "--blocks", "1000") as running:
        project.wait_for_rows(5)
        running.send_signal(demand)
        out, err = running.communicate(timeout=60)
    place = only_submission(project)
    assert (running.returncode, out) == (130, "")
    assert f"error: stopped by {demand.name}; the rows so far are kept in {place.folder}\n" in err
    command = f"probe-effect measure tiny --resume --data {project.data.root} --out {project.data.results}"
    assert err.endswith(f"to go on: {command}\n")
    assert len(rows(place)) >= 5
    assert document(place).run.ended is None
    wait_until(lambda: started_by(running.pid) == [])  # what is killed is gone a moment after its group's first process
    assert work_folders_of(running.pid) == []


def test_a_demand_to_stop_waits_until_the_tidying_up_is_done() -> None:
    steps = []

    def tidy_up() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGTERM)
            steps.append("tidied up")
        steps.append("went on")

    with interruptible(), pytest.raises(Interrupted, match="stopped by SIGTERM"):
        tidy_up()
    assert steps == ["tidied up"]


def test_a_demand_to_stop_while_a_run_makes_its_folder_leaves_no_folder(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, []

    def demanded(suffix: str | None, prefix: str | None, folder: Path | None) -> str:
        made.append(make(suffix, prefix, folder))
        if WORK_PREFIX in made[-1]:
            signal.raise_signal(signal.SIGTERM)
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", demanded)
    with interruptible(), pytest.raises(Interrupted, match="stopped by SIGTERM"):
        project.measure(blocks=1)
    assert any(WORK_PREFIX in folder for folder in made)
    assert work_folders_of(os.getpid()) == []


# A disk that is full


@contextmanager
def largest_file(size_bytes: int) -> Iterator[None]:
    """Have the kernel refuse to write further into any file: Python ignores the signal, and gets EFBIG."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


ROOM_BYTES = 300
"""Room for two rows and a part of the third; the outputs of the fakes are shorter than a whole file of rows."""


def test_a_full_disk_stops_the_run_with_whole_rows_and_there_it_goes_on_once_there_is_room(
    project: FakeProject,
) -> None:
    project.case("other")
    whole = project.measure(blocks=4)
    project.results = project.root / "elsewhere"
    filled: list[int] = []
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == 8:
            (samples,) = project.results.glob("*/*/samples.csv")
            filled.append(samples.stat().st_size + ROOM_BYTES)
            resource.setrlimit(resource.RLIMIT_FSIZE, (filled[0], limit[1]))

    try:
        with pytest.raises(HostNotReady, match=r"samples\.csv: a row cannot be written: ") as refusal:
            project.measure(blocks=4, tell=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    (samples,) = project.results.glob("*/*/samples.csv")
    assert "the rows so far are kept" in str(refusal.value)
    assert "--resume" in str(refusal.value)
    kept, problems = read_samples(samples, "samples.csv")
    assert problems == []
    assert 8 < len(kept) < len(whole)
    assert samples.read_bytes().endswith(b"\n")
    assert places(project.resume()) == places(whole)


def places(found: list[Sample]) -> list[tuple[int, int, str, str, str]]:
    return [(row.block, row.position, row.case, row.tracer, row.arm) for row in found]


def test_a_document_that_has_no_room_leaves_the_one_before_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    write_document(path, machine_document())
    before = path.read_bytes()
    with pytest.raises(HostNotReady, match="cannot be written: File too large"), largest_file(100):
        write_document(path, machine_document(run__blocks=9))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_is_full_from_the_beginning_leaves_no_half_made_folder(project: FakeProject) -> None:
    with largest_file(1000), pytest.raises(HostNotReady, match=r"machine\.json: cannot be written"):
        project.measure()
    assert project.data.submissions() == []


def test_a_run_that_cannot_be_closed_stays_open(project: FakeProject) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == progress.total - 1:
            size = only_submission(project).samples.stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + ROOM_BYTES, limit[1]))

    try:
        with pytest.raises(HostNotReady, match=r"machine\.json: cannot be written"):
            project.measure(blocks=1, tell=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert document(only_submission(project)).run.ended is None
    project.resume()
    assert document(only_submission(project)).run.ended is not None


def test_a_full_memory_folder_stops_the_run_and_is_named(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: tool.WorkFolder) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/dev/shm/probe-effect")

    def fill(progress: Progress) -> None:
        if progress.phase == "measuring" and progress.done == 2:
            monkeypatch.setattr(tool.WorkFolder, "__init__", full)

    with pytest.raises(HostNotReady, match="/dev/shm/probe-effect: No space left on device; the rows so far are kept"):
        project.measure(blocks=2, tell=fill)
    assert len(rows(only_submission(project))) >= 2


# Rows that are torn or not ours


def test_whatever_part_of_the_last_row_is_on_disk_is_cut_off_and_the_run_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    written = many_blocks(2)
    runs = [PlannedRun(row.block, row.position, Key(row.case, row.tracer), row.arm) for row in written]
    with RunWriter(path) as writer:
        for row in written:
            writer.write(row)
    text = path.read_bytes()
    last = text.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last, len(text)):
        path.write_bytes(text[:end])
        with RunWriter(path) as writer:
            assert written_rows(path, runs) == written[:-1]
            writer.write(written[-1])
        assert path.read_bytes() == text


def test_each_row_is_on_disk_before_the_next_run_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a power cut would find it, which no test can make."""
    path = tmp_path / "samples.csv"
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    with RunWriter(path) as writer:
        for row in many_blocks(1):
            writer.write(row)
            assert synced[-1] == path.stat().st_size


def test_a_header_that_is_torn_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("block,posi", encoding="utf-8")
    with RunWriter(path) as writer:
        writer.write(baseline_row(0, 0))
    assert read_samples(path, "samples.csv") == ([baseline_row(0, 0)], [])


# Places and clocks


@pytest.mark.parametrize("place", ["closed", "a-file"])
def test_an_output_folder_that_cannot_be_written_is_refused_before_anything_is_measured(
    project: FakeProject, place: str
) -> None:
    (project.root / "a-file").touch()
    # To root every folder of a disk is open; that of the kernel's own files takes no folder from anybody.
    project.results = {"closed": Path("/sys/results"), "a-file": project.root / "a-file"}[place]
    seen: list[Progress] = []
    with pytest.raises(HostNotReady, match=r"results cannot be written there: .*; name another folder with --out"):
        project.measure(tell=seen.append)
    assert seen == []


def test_on_one_cpu_the_tracer_shares_that_of_the_workload(project: FakeProject) -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        project.measure(blocks=1)
    finally:
        os.sched_setaffinity(0, before)
    run = document(only_submission(project)).run
    assert (run.workload_cpu, run.tracer_cpu) == (min(before), None)


class SetClock(datetime):
    """The time of day, which somebody has set back by a day."""

    is_set_back = False

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        del tz
        return datetime.now(UTC) - timedelta(days=1) * cls.is_set_back


def test_a_clock_that_is_set_back_changes_no_time_that_is_recorded_and_is_told_at_the_end(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe_effect.measure.submission.datetime", SetClock)
    monkeypatch.setattr(SetClock, "is_set_back", False)
    seen: list[Progress] = []

    def set_back(progress: Progress) -> None:
        seen.append(progress)
        if progress.phase == "measuring":
            monkeypatch.setattr(SetClock, "is_set_back", True)

    project.measure(blocks=1, tell=set_back)
    run = document(only_submission(project)).run
    assert run.ended is not None
    assert run.started <= run.ended
    assert seen[-1].clock_jumped_s == pytest.approx(-86400, abs=60)
    assert {progress.clock_jumped_s for progress in seen[:-1]} == {0.0}


@pytest.mark.parametrize(
    ("jumped_s", "words"),
    [
        pytest.param(-7200.2, "this machine's clock was set back by 7200 s during the run, or it slept", id="back"),
        pytest.param(90.0, "this machine's clock was set forward by 90 s during the run, or it slept", id="forward"),
        pytest.param(-0.4, "", id="turned a little, as daemons do all the time"),
    ],
)
def test_a_clock_that_was_set_is_told_in_one_line(jumped_s: float, words: str) -> None:
    console = Console(file=io.StringIO(), width=1000)
    last = PlannedRun(0, 0, baseline(), "baseline")
    with display(console) as tell:
        tell(Progress(phase="done", planned=last, blocks=1, done=1, total=1, clock_jumped_s=jumped_s))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.startswith(words)
    assert text.count("\n") == (1 if words else 0)


@pytest.mark.parametrize("wall_ns", [0, -5])
def test_a_monotonic_clock_that_does_not_go_on_times_nothing(wall_ns: int) -> None:
    line = f'{{"operations": 5, "wall_ns": {wall_ns}, "user_ns": 0, "sys_ns": 0}}'
    with pytest.raises(WorkloadFailed, match="such a clock cannot time anything"):
        parse(line)


@pytest.mark.deep
def test_without_a_compiler_the_command_says_what_to_install(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bpftrace").symlink_to(FAKES / "bin" / "bpftrace")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with project.start("--quick") as running:
        _, err = running.communicate(timeout=60)
    assert running.returncode == 3
    assert "error: no C compiler: `cc` is not on the PATH. On Debian and Ubuntu: apt install gcc libc6-dev" in err


# Words of tools in the data


@pytest.mark.parametrize(
    ("words", "note"),
    [
        pytest.param("/home/al/pe/a.bt:3:1-9: ERROR", "a.bt:3:1-9: ERROR", id="script"),
        pytest.param("exec: /home/al/bin/bpftrace: not found", "exec: bpftrace: not found", id="program"),
        pytest.param("`uprobe:/root/.cache/x/loop:f`", "`uprobe:loop:f`", id="workload"),
        pytest.param("/sys/kernel/tracing/uprobe_events: busy", "/sys/kernel/tracing/uprobe_events: busy", id="kernel"),
        pytest.param(
            "uprobe:/lib/x86_64-linux-gnu/libc.so.6:read", "uprobe:/lib/x86_64-linux-gnu/libc.so.6:read", id="library"
        ),
        pytest.param(
            "see https://github.com/iovisor/bpftrace", "see https://github.com/iovisor/bpftrace", id="address"
        ),
        pytest.param("./user-loop a/b 5 / 3", "./user-loop a/b 5 / 3", id="no absolute path"),
    ],
)
def test_a_note_names_files_without_the_folders_of_users(words: str, note: str) -> None:
    assert as_note(words) == note
