"""perf is started on the waiting workload, proved live, stopped and read, in each of its three ways to watch."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.project import as_root
from helpers.site_build import absent
from probe_effect.host.processes import status
from probe_effect.host.workloads import WorkloadProcess, WorkloadTask, build
from probe_effect.tracers import perf
from probe_effect.tracers.dynamic_events import GROUP_PREFIX
from probe_effect.tracers.perf import SESSIONS, Perf, sleeps_over_events
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import count_counters, counters, known_tracers, read_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probe_effect.tracers.perf import PerfSession
    from probe_effect.tracers.protocol import Report

    Start = Callable[[str, str], PerfSession]

HERE = Path(__file__).parents[1]
RECORDED = HERE / "data" / "perf"
SUITES = HERE.parent / "data" / "suites"
LONG_S = 30.0
AT_ONCE_S = 0.2
"""For fakes that never answer: the shorter, the sooner the test ends."""
OPERATIONS = 5000


def recorded(name: str) -> str:
    return (RECORDED / name).read_text(encoding="utf-8")


def test_recorded_counters_of_two_events_are_added() -> None:
    assert count_counters(recorded("stat-two-events.csv")) == 10_001


def test_each_recorded_counter_is_a_probe_that_perf_opened() -> None:
    assert len(counters(recorded("stat-two-events.csv"))) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stat-not-counted.csv", "<not counted> for syscalls:sys_enter_read"),
        ("stat-not-supported.csv", "<not supported> for cycles"),
    ],
)
def test_a_counter_that_did_not_count_is_a_failure_in_the_words_of_perf(name: str, words: str) -> None:
    with pytest.raises(TracerFailed, match=words):
        count_counters(recorded(name))


def test_a_counter_that_shared_its_time_is_an_estimate_and_a_failure() -> None:
    with pytest.raises(TracerFailed, match=r"53\.20 % of the time"):
        count_counters("900,,cycles,600,53.20,,\n")


@pytest.mark.parametrize("text", ["", "# started on some day\n\n", "5000 syscalls:sys_enter_read\n", "a,,b,c,100.00\n"])
def test_counters_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no counter|expected a value|invalid literal"):
        count_counters(text)


def test_a_record_that_perf_wrote_twice_is_one_event() -> None:
    lines = recorded("script-with-loss.txt").splitlines(keepends=True)
    assert perf.count_records(lines) == (20, 11 + 117)
    assert len(lines) == 20 + 2 + 1


def test_a_record_of_loss_and_an_event_that_were_written_twice_together_are_one_each() -> None:
    twice = [" 7  1.000000001: PERF_RECORD_LOST lost 5\n", " 7  1.000000001: syscalls:sys_enter_read: \n"] * 2
    assert perf.count_records(twice) == (1, 5)


def test_a_sample_of_an_idle_cpu_is_no_event() -> None:
    lines = [
        "    0 29494.537446126: cpu-clock: \n",
        " 1076 29494.537640424: cpu-clock: \n",
        "   10 29494.537840100: cpu-clock: \n",
    ]
    assert perf.count_records(lines) == (2, 0)


def test_nothing_recorded_is_nothing_seen() -> None:
    assert perf.count_records([]) == (0, 0)


def test_the_kernels_own_count_of_losses_leaves_out_the_event_of_perf_itself() -> None:
    assert perf.kernels_loss(recorded("report-with-loss.txt")) == 75_416 + 75_422


def test_statistics_without_losses_do_not_say_whether_the_kernel_counts_them() -> None:
    assert perf.kernels_loss(recorded("report-without-loss.txt")) is None


def test_statistics_of_another_form_are_refused() -> None:
    with pytest.raises(ValueError, match="no statistics"):
        perf.kernels_loss("nothing\n")


def test_recorded_system_calls_are_lines_and_two_lost_records_are_one_of_them() -> None:
    lines = recorded("trace-with-loss.txt").splitlines()
    assert perf.count_calls(lines) == (12, (14_612 + 3_462) // 2)


def test_a_complaint_leaves_out_the_manual() -> None:
    words = perf.complaint("Events disabled\n" + recorded("unknown-event.err"))
    assert words.startswith("event syntax error: 'syscalls:sys_enter_nope'")
    assert "not found" in words
    assert "Usage" not in words
    assert "Events disabled" not in words


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{HERE / 'fakes' / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_ROOT", str(tmp_path))


@pytest.fixture
def workload() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([shutil.which("cat") or "cat"], stdin=subprocess.PIPE) as waiting:
        yield waiting
        end(waiting)


def end(workload: subprocess.Popen[bytes]) -> None:
    if workload.stdin is not None:
        workload.stdin.close()
    workload.wait()


@pytest.fixture
def start(tmp_path: Path, workload: subprocess.Popen[bytes], request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts the fake as one of the tools, on a script of such a text."""
    request.getfixturevalue("fakes")
    sessions: list[PerfSession] = []

    def starter(tool: str, text: str) -> PerfSession:
        script = tmp_path / f"script.{tool}"
        script.write_text(text, encoding="utf-8")
        session = Perf(tool=tool, id=tool, root=tmp_path).session(script, "nothing", tmp_path / "program")
        sessions.append(session)
        session.attach(workload.pid)
        return session

    yield starter
    for session in sessions:
        session.end()


def finish(session: PerfSession, workload: subprocess.Popen[bytes], patience_s: float = LONG_S) -> Report:
    session.ready(LONG_S)
    end(workload)
    return session.stop(patience_s)


@pytest.mark.parametrize(
    ("tool", "name", "counts"),
    [
        ("perf-stat", "stat-two-events.csv", (10_001, 0)),
        ("perf-trace", "trace-with-loss.txt", (12, 9_037)),
    ],
)
def test_perf_reports_what_it_counted_and_its_own_use(
    start: Start, workload: subprocess.Popen[bytes], tool: str, name: str, counts: tuple[int, int]
) -> None:
    report = finish(start(tool, f"--writes {RECORDED / name} # what the fake shall write"), workload)
    assert (report.seen, report.lost) == counts
    assert report.output_bytes == (RECORDED / name).stat().st_size
    assert report.probes == (2 if tool == "perf-stat" else None)
    assert all((report.tracer_cpu_ns is not None, report.tracer_rss_bytes, report.attach_ns, report.detach_ns))


@pytest.mark.parametrize(
    ("report_name", "lost"),
    [
        pytest.param("report-with-loss.txt", 75_416 + 75_422, id="the kernel counts its losses"),
        pytest.param("report-without-loss.txt", 11 + 117, id="an older kernel has records of loss alone"),
    ],
)
def test_a_loss_is_counted_once(
    start: Start, workload: subprocess.Popen[bytes], tmp_path: Path, report_name: str, lost: int
) -> None:
    written = tmp_path / "written"
    written.write_text(recorded(report_name) + recorded("script-with-loss.txt"), encoding="utf-8")
    report = finish(start("perf-record", f"--writes {written}"), workload)
    assert (report.seen, report.lost, report.output_bytes) == (20, lost, written.stat().st_size)


@pytest.mark.parametrize("tool", SESSIONS)
def test_perf_that_dies_is_quoted_without_its_manual(start: Start, tool: str) -> None:
    session = start(tool, "--fake dies")
    with pytest.raises(TracerFailed, match=r"the fake refuses$") as failure:
        session.ready(LONG_S)
    assert failure.value.status == "failed"


@pytest.mark.parametrize("tool", SESSIONS)
def test_perf_that_never_gets_its_events_live_is_ended(start: Start, tool: str) -> None:
    session = start(tool, "--fake hangs")
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"


@pytest.mark.parametrize("tool", ["perf-stat", "perf-record"])
@pytest.mark.parametrize(("fault", "words"), [("dies-in-the-run", "was killed"), ("dies-at-stop", "fell over")])
def test_perf_that_falls_over_after_its_start_has_failed(
    start: Start, workload: subprocess.Popen[bytes], tool: str, fault: str, words: str
) -> None:
    with pytest.raises(TracerFailed, match=f"Error: the fake {words}"):
        finish(start(tool, f"--fake {fault}"), workload)


@pytest.mark.parametrize("tool", SESSIONS)
def test_perf_that_does_not_stop_is_ended(start: Start, workload: subprocess.Popen[bytes], tool: str) -> None:
    with pytest.raises(TracerFailed, match="had not exited") as failure:
        finish(start(tool, "--fake hangs-at-stop"), workload, AT_ONCE_S)
    assert failure.value.status == "timeout"


@pytest.mark.parametrize(("tool", "words"), [("perf-stat", "no counter"), ("perf-record", "status 2: grep")])
def test_perf_that_wrote_nothing_is_not_understood(
    start: Start, workload: subprocess.Popen[bytes], tool: str, words: str
) -> None:
    with pytest.raises(TracerFailed, match=f"is not understood: .*{words}"):
        finish(start(tool, ""), workload)


def test_a_counter_that_did_not_count_fails_the_run(start: Start, workload: subprocess.Popen[bytes]) -> None:
    with pytest.raises(TracerFailed, match="perf stat says <not supported> for cycles"):
        finish(start("perf-stat", f"--writes {RECORDED / 'stat-not-supported.csv'}"), workload)


@pytest.mark.parametrize("tool", SESSIONS)
def test_nothing_is_left_in_memory_after_a_session(start: Start, workload: subprocess.Popen[bytes], tool: str) -> None:
    session = start(tool, f"--writes {RECORDED / 'trace-with-loss.txt'}")
    session.ready(LONG_S)
    end(workload)
    session.end()
    session.end()
    assert not session.work.path.exists()


def test_a_script_can_define_its_probes_which_are_removed_in_the_end(
    start: Start, workload: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    (tmp_path / "sys/kernel/tracing/events").mkdir(parents=True)
    defined = tmp_path / "sys/kernel/tracing/uprobe_events"
    defined.touch()
    session = start("perf-stat", f"probe p:libc_read libc:read\n-e probes:libc_read --writes {RECORDED / 'x'}")
    group = f"{GROUP_PREFIX}{os.getpid()}"
    assert f"{group}:libc_read" in session.words
    assert defined.read_text(encoding="utf-8").startswith(f"p:{group}/libc_read /")
    session.ready(LONG_S)
    end(workload)
    session.end()
    assert defined.read_text(encoding="utf-8").endswith(f"-:{group}/libc_read\n")


@pytest.mark.parametrize(("text", "words"), [("-e 'open", "No closing quotation"), ("probe x", "expected `probe")])
def test_a_script_that_cannot_be_read_fails_with_its_name(tmp_path: Path, text: str, words: str) -> None:
    script = tmp_path / "faulty.perf-stat"
    script.write_text(text, encoding="utf-8")
    with pytest.raises(TracerFailed, match=rf"faulty\.perf-stat.*{words}"):
        Perf(tool="perf-stat", id="perf-stat").session(script, "nothing", tmp_path / "program")


@pytest.mark.parametrize(
    ("words", "is_watched"),
    [("-e cpu-clock -F 99", True), ("-a -e cpu-clock -F 99", False), ("-e cpu-clock -F 99 -C", False)],
)
def test_perf_watches_the_workload_alone_unless_its_script_asks_for_all_cpus_or_those_of_the_workload(
    tmp_path: Path, words: str, *, is_watched: bool
) -> None:
    script = tmp_path / "01-sample.perf-record"
    script.write_text(f"{words}\n", encoding="utf-8")
    session = Perf(tool="perf-record", id="perf-record").session(script, "nothing", tmp_path / "program")
    command = list(session.command(os.getpid()))
    session.end()
    assert ("-p" in command) == is_watched
    assert " ".join(command).endswith(words + (f" {status(os.getpid())['Cpus_allowed_list']}" if "-C" in words else ""))


@pytest.mark.parametrize(
    ("descriptor", "sleeps_in", "is_live"),
    [
        ("anon_inode:[perf_event]", "poll_schedule_timeout.constprop.0", True),
        ("anon_inode:[perf_event]", "0", False),
        ("anon_inode:[eventpoll]", "poll_schedule_timeout.constprop.0", False),
    ],
)
def test_perf_trace_is_live_when_it_has_events_and_sleeps_over_them(
    tmp_path: Path, descriptor: str, sleeps_in: str, *, is_live: bool
) -> None:
    (tmp_path / "proc/7/fd").mkdir(parents=True)
    (tmp_path / "proc/7/fd/3").symlink_to(descriptor)
    (tmp_path / "proc/7/wchan").write_text(sleeps_in, encoding="utf-8")
    assert sleeps_over_events(7, tmp_path) is is_live
    assert not sleeps_over_events(8, tmp_path)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The root of a host where root may use perf."""
    request.getfixturevalue("fakes")
    as_root(monkeypatch)
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/perf_event_paranoid").write_text("2\n", encoding="utf-8")
    (tmp_path / "sys/kernel/tracing/events").mkdir(parents=True)
    return tmp_path


def reason(host: Path) -> str | None:
    return Perf(tool="perf-stat", id="perf-stat", root=host).available()


def test_root_with_tracefs_may_use_perf(host: Path) -> None:
    assert reason(host) is None


def test_without_perf_the_reason_says_what_to_install(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(host))
    assert "apt install linux-perf" in str(reason(host))


def reason_of_wrapper(host: Path, monkeypatch: pytest.MonkeyPatch, said: str, release: str) -> str:
    """Why perf cannot be used where it is a script that finds none for the kernel."""
    (host / "perf").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n", encoding="utf-8")
    (host / "perf").chmod(0o755)
    (host / "proc/sys/kernel/osrelease").write_text(f"{release}\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{host}:{os.environ['PATH']}")
    return str(reason(host))


def test_a_perf_that_does_not_fit_the_kernel_is_quoted(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = reason_of_wrapper(host, monkeypatch, "E: linux-perf-5.10 is not installed.", "5.10.0-30-amd64")
    assert "does not run with kernel 5.10.0-30-amd64, it says: E: linux-perf-5.10 is not installed." in said
    assert Perf(tool="perf-stat", id="perf-stat").version() is None


def test_under_wsl_no_package_of_its_kernel_is_advised(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, release = "WARNING: perf not found for kernel", "5.15.153.1-microsoft-standard-WSL2"
    said = reason_of_wrapper(host, monkeypatch, words, release)
    assert "linux-tools-generic" in said
    assert "uname -r" not in said


def test_without_root_the_reason_has_the_setting_and_the_one_that_is_needed(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "kernel.perf_event_paranoid at -1 where it is 2" in str(reason(host))
    (host / "proc/sys/kernel/perf_event_paranoid").write_text("-1\n", encoding="utf-8")
    assert reason(host) is None


def test_a_kernel_without_perf_events_is_said_to_have_none(host: Path) -> None:
    (host / "proc/sys/kernel/perf_event_paranoid").unlink()
    assert "CONFIG_PERF_EVENTS" in str(reason(host))


def test_without_tracefs_the_reason_says_how_to_mount_it(host: Path) -> None:
    (host / "sys/kernel/tracing/events").rmdir()
    assert "mount -t tracefs" in str(reason(host))


def test_a_closed_tracefs_is_said_to_be_closed(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (host / "sys/kernel/tracing/events").rename(host / "sys/kernel/tracing/others")
    monkeypatch.setattr("os.path.ismount", lambda path: path == host / "sys/kernel/tracing")
    assert "remount,mode=755" in str(reason(host))


@pytest.mark.usefixtures("fakes")
def test_each_way_to_watch_is_a_tracer_of_its_own_with_the_version_of_perf() -> None:
    tracers = [tracer for tracer in known_tracers().values() if isinstance(tracer, Perf)]
    assert [tracer.id for tracer in tracers] == list(SESSIONS)
    assert {tracer.version() for tracer in tracers} == {"perf version 0.0.0"}


def test_perf_says_that_it_has_no_fentry() -> None:
    assert "fentry" in str(Perf(tool="perf-stat", id="perf-stat").missing("fentry"))


def test_every_script_of_the_suites_can_be_read() -> None:
    scripts = [path for tool in SESSIONS for path in SUITES.glob(f"*/*.{tool}")]
    assert scripts
    assert all("-e" in read_arguments(script) for script in scripts)


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    if shutil.which("cc") is None:
        absent("no C compiler: apt install gcc libc6-dev")
    return build(SUITES / "per-event/workload/dd-loop.c", compiled_cache).path


@pytest.mark.tracer
@pytest.mark.parametrize(
    ("tool", "case", "events_per_operation"),
    [
        ("perf-stat", "per-event/04-tracepoint-entry", 1),
        ("perf-stat", "per-event/06-uprobe", 1),
        ("perf-record", "per-event/04-tracepoint-entry", 1),
        ("perf-record", "per-event/07-uretprobe", 1),
        ("perf-record", "perf-record/06-two-calls-record", 2),
        ("perf-trace", "per-event/22-system-call", 1),
    ],
)
def test_events_of_a_real_perf_add_up(program: Path, tool: str, case: str, events_per_operation: int) -> None:
    tracer = Perf(tool=tool, id=tool)
    if refusal := tracer.available() or tracer.missing("uprobe" if "probe" in case else "tracepoint"):
        pytest.skip(f"cannot trace here: {refusal}")
    session = tracer.session(SUITES / f"{case}.{tool}", "nothing", program)
    try:
        workload = WorkloadProcess(WorkloadTask(program=program, operations=OPERATIONS, cpu=-1))
        try:
            session.attach(workload.pid)
            session.ready(LONG_S)
            workload.go(LONG_S)
            report = session.stop(LONG_S)
        finally:
            workload.end()
    finally:
        session.end()
    assert report.seen is not None
    assert report.lost is not None
    assert report.seen + report.lost == pytest.approx(OPERATIONS * events_per_operation, abs=5)
