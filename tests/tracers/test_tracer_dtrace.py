"""DTrace is started, proved live, stopped and read; it holds the workload only where a script asks for that."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from fakes.project import as_root
from helpers.builders import PROJECT
from probe_effect.host.workloads import NOT_PINNED, WorkloadProcess, WorkloadTask, build
from probe_effect.tracers.dtrace import LIVE, Dtrace, DtraceSession, count_aggregations, count_drops, count_lines
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import at_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Need
    from probe_effect.tracers.protocol import Counting, Report


class Starter(Protocol):
    """Starts the fake on a script of such comments, to watch the process `pid`."""

    def __call__(self, *lines: str, counting: Counting = "maps", pid: int = 0) -> DtraceSession: ...


HERE = Path(__file__).parents[1]
RECORDED = HERE / "data" / "dtrace"
FAKE = str(HERE / "fakes" / "dtrace")
PER_EVENT = PROJECT / "data" / "suites" / "per-event"
LONG_S = 30.0
AT_ONCE_S = 0.2
"""For fakes that never answer: the shorter, the sooner the test ends."""


@pytest.mark.parametrize(
    ("name", "seen", "lost"),
    [
        pytest.param("count", 5000, 0, id="one count"),
        pytest.param("count-by-pid", 5000, 0, id="counts by process"),
        pytest.param("count-by-name", 5000, 0, id="counts by process name"),
        pytest.param("count-by-two-keys", 5000, 0, id="counts by two keys"),
        pytest.param("count-by-kernel-stack", 5000, 0, id="counts by kernel stack"),
        pytest.param("count-by-user-stack", 5000, 0, id="counts by user stack"),
        pytest.param("histogram", 5000, 0, id="histogram"),
        pytest.param("linear-histogram", 5000, 0, id="linear histogram with an open bucket"),
        pytest.param("log-linear-histogram", 5000, 0, id="log-linear histogram"),
        pytest.param("histogram-by-two-keys", 5000, 0, id="histogram under a name and a number"),
        pytest.param("histogram-by-two-stacks", 5000, 0, id="histograms by two stacks"),
        pytest.param("timing", 5000, 0, id="histogram of times"),
        # The first three of https://kvaser.dotsrc.org/pub/mirrors/openindiana/docs/osol/20090715/DYNMCTRCGGD/html/chp-sysinfo-args.html
        pytest.param("illumos-histogram", 1 + 3 + 13 + 21 + 5, 0, id="histograms by name, of illumos"),
        pytest.param("aggregation-drops", 102, 98, id="drops of an aggregation"),
        pytest.param("dynamic-drops", 585, 4415, id="drops of variables"),
    ],
)
def test_recorded_aggregations_of_dtrace_are_counted(name: str, seen: int, lost: int) -> None:
    with (RECORDED / f"{name}.out").open(encoding="utf-8") as lines:
        assert (count_aggregations(lines), count_drops(errors(name))) == (seen, lost)


@pytest.mark.parametrize(
    ("name", "seen", "lost"),
    [
        pytest.param("print", 100, 0, id="every line kept"),
        pytest.param("principal-drops", 129, 1871, id="drops of the buffer"),
    ],
)
def test_recorded_printed_lines_are_counted_without_ours(name: str, seen: int, lost: int) -> None:
    with (RECORDED / f"{name}.out").open(encoding="utf-8") as lines:
        assert (count_lines(lines), count_drops(errors(name))) == (seen, lost)


def errors(name: str) -> str:
    """What DTrace wrote to standard error; recorded where it wrote anything."""
    file = RECORDED / f"{name}.err"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def test_every_kind_of_drop_is_added_and_other_messages_are_not() -> None:
    messages = (
        "dtrace: 1 drop on CPU 0",
        "dtrace: 20 aggregation drops on CPU 1",
        "dtrace: 300 dynamic variable drops with non-empty dirty list",
        "dtrace: 4000 speculative drops",
        "dtrace: error on enabled probe ID 2 (ID 3: syscall::read:entry): invalid address (0x0) in action #1",
        "bufsize increased to 4096",
    )
    assert count_drops("\n".join(messages)) == 4321


def test_a_script_that_aggregated_nothing_has_seen_nothing() -> None:
    assert count_aggregations([f"{LIVE}\n", "\n"]) == 0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    sessions: list[DtraceSession] = []

    def starter(*lines: str, counting: Counting = "maps", pid: int = 0) -> DtraceSession:
        script = tmp_path / "script.d"
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
        session = Dtrace(program=FAKE, root=tmp_path).session(script, counting, tmp_path / "loop")
        sessions.append(session)
        session.attach(pid or os.getpid())
        return session

    yield starter
    for session in sessions:
        session.end()


def run(session: DtraceSession) -> Report:
    """What it reports of a run in which the workload does nothing."""
    session.ready(LONG_S)
    return session.stop(LONG_S)


def test_a_tracer_that_does_its_work_reports_counts_and_its_own_use(start: Starter) -> None:
    session = start("/* print:   dd-loop   7 */", "/* complain: dtrace: 2 drops on CPU 0 */")
    report = run(session)
    assert (report.seen, report.lost) == (7, 2)
    assert all((report.attach_ns, report.detach_ns, report.tracer_rss_bytes, report.output_bytes))


def test_printed_lines_are_what_a_printing_script_has_seen(start: Starter) -> None:
    session = start("/* print: 1 bytes */", "/* print: 1 bytes */", counting="lines")
    report = run(session)
    assert (report.seen, report.lost) == (2, 0)


def test_a_script_that_counts_nothing_reports_no_counts(start: Starter) -> None:
    session = start("/* print:   7 */", counting="nothing")
    report = run(session)
    assert (report.seen, report.lost) == (None, None)


def test_a_script_that_names_its_target_holds_the_workload_once_that_waits(start: Starter) -> None:
    with subprocess.Popen([shutil.which("cat") or "cat"], stdin=subprocess.PIPE) as waiting:
        session = start("pid$target:libc*:read:entry { 1 }", pid=waiting.pid)
        run(session)
    assert f"target {waiting.pid}\n" in session.work.out.read_text(encoding="utf-8")


def test_a_script_that_speaks_of_a_target_only_in_a_comment_holds_nothing(start: Starter) -> None:
    session = start("/* not for $target,", " * and no pid$target probe */", "syscall::read:entry { 1 }")
    run(session)
    assert "target" not in session.work.out.read_text(encoding="utf-8")


def test_a_tracer_that_dies_is_quoted(start: Starter) -> None:
    session = start("/* fake: dies */")
    with pytest.raises(TracerFailed, match=r"ended before its probes were live: .*the fake refuses") as failure:
        session.ready(LONG_S)
    assert failure.value.status == "failed"


def test_a_tracer_that_never_gets_its_probes_live_is_ended(start: Starter) -> None:
    session = start("/* fake: hangs */")
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_a_tracer_that_falls_over_at_the_end_has_failed(start: Starter) -> None:
    session = start("/* fake: dies-at-stop */")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="exit status 1: dtrace: the fake fell over"):
        session.stop(LONG_S)


def test_a_tracer_that_dies_in_the_run_has_failed(start: Starter) -> None:
    session = start("/* fake: dies-in-the-run */")
    assert session.child is not None
    session.child.wait(LONG_S)
    with pytest.raises(TracerFailed, match="exit status 1: dtrace: the fake was killed"):
        run(session)


def test_a_tracer_that_does_not_stop_is_ended(start: Starter) -> None:
    session = start("/* fake: hangs-at-stop */")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="had not exited") as failure:
        session.stop(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TracerFailed, match=r"absent\.d: expected a D script"):
        Dtrace(program=FAKE).session(tmp_path / "absent.d", "maps", tmp_path / "loop")


def test_what_a_killed_dtrace_leaves_in_tracefs_is_removed_and_nothing_else(start: Starter, tmp_path: Path) -> None:
    session = start()
    assert session.child is not None
    own, other = f"dt_{session.child.pid}_dtrace", f"dt_{session.child.pid}9_dtrace"
    tracefs = tmp_path / "sys/kernel/debug/tracing"
    (tracefs / "events").mkdir(parents=True)
    events = tracefs / "uprobe_events"
    events.write_text(f"p:{own}/BEGIN /lib/libdtrace.so:0x10\np:{other}/BEGIN /lib/libdtrace.so:0x10\n", "utf-8")
    session.end()
    assert events.read_text(encoding="utf-8").splitlines()[2:] == [f"-:{own}/BEGIN"]
    assert not session.work.path.exists()


def test_the_version_is_what_the_tool_prints_and_names_a_second_one() -> None:
    assert Dtrace(program=FAKE).version() == "dtrace: D 0.0.0"
    assert at_path(Dtrace(), FAKE).id == "dtrace-0-0-0"


def test_without_dtrace_the_reason_says_where_it_comes_from(tmp_path: Path) -> None:
    assert "Debian sid" in str(Dtrace(program=str(tmp_path / "dtrace")).available())


def test_a_program_that_is_dtrace_by_name_only_is_told_apart(tmp_path: Path) -> None:
    namesake = tmp_path / "dtrace"
    namesake.write_text("#!/bin/sh\necho invalid option $1\nexit 1\n", encoding="utf-8")
    namesake.chmod(0o755)
    assert "systemtap-sdt-dev" in str(Dtrace(program=str(namesake)).available())


def test_without_root_the_reason_says_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in str(Dtrace(program=FAKE).available())


def test_on_linux_tracefs_must_be_where_dtrace_looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_root(monkeypatch)
    dtrace = Dtrace(program=FAKE, root=tmp_path, system="Linux")
    assert "mount -t debugfs" in str(dtrace.available())
    (tmp_path / "sys/kernel/debug/tracing/events").mkdir(parents=True)
    assert dtrace.available() is None
    assert Dtrace(program=FAKE, root=tmp_path / "empty", system="FreeBSD").available() is None


def test_on_linux_the_kernel_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"# CONFIG_UPROBE_EVENTS is not set\n"))
    dtrace = Dtrace(program=FAKE, root=tmp_path, system="Linux")
    assert dtrace.missing("uprobe") == "this kernel has no uprobes: CONFIG_UPROBE_EVENTS is not set"


def test_on_linux_probes_of_kernel_functions_need_the_list_of_functions_and_no_kprobes(tmp_path: Path) -> None:
    tracefs = tmp_path / "sys/kernel/debug/tracing"
    (tracefs / "events").mkdir(parents=True)
    dtrace = Dtrace(program=FAKE, root=tmp_path, system="Linux")
    (tracefs / "kprobe_events").touch()
    assert "this kernel has no function entry by BPF trampoline" in str(dtrace.missing("kprobe"))
    (tracefs / "kprobe_events").unlink()
    (tracefs / "available_filter_functions").write_text("vfs_read\n", encoding="utf-8")
    assert dtrace.missing("kprobe") is None


@pytest.mark.parametrize(
    ("system", "seen"), [pytest.param("Linux", 2, id="Linux"), pytest.param("FreeBSD", 1, id="elsewhere")]
)
@pytest.mark.parametrize("name", ["script", "script.check"])
def test_a_form_for_linux_is_taken_on_linux_and_nowhere_else(tmp_path: Path, name: str, system: str, seen: int) -> None:
    script = tmp_path / f"{name}.d"
    script.write_text("/* print:   1 */\n", encoding="utf-8")
    script.with_name(f"{name}.linux.d").write_text("/* print:   2 */\n", encoding="utf-8")
    session = Dtrace(program=FAKE, root=tmp_path, system=system).session(script, "maps", tmp_path / "loop")
    with ExitStack() as leftovers:
        leftovers.callback(session.end)
        session.attach(os.getpid())
        assert run(session).seen == seen


def test_elsewhere_dtrace_itself_says_what_is_lacking() -> None:
    dtrace = Dtrace(program=FAKE, system="FreeBSD")
    assert dtrace.missing("tracepoint") is None
    assert dtrace.missing("uprobe") is None
    assert dtrace.missing("uprobe-nop10") is None
    assert "failed to match fbt:::: No probe matches description" in str(dtrace.missing("kprobe"))
    assert dtrace.missing("raw-tracepoint") == "DTrace on FreeBSD has no raw tracepoints"


def test_a_dtrace_that_cannot_be_asked_lacks_the_probes(tmp_path: Path) -> None:
    assert "does not answer" in str(Dtrace(program=str(tmp_path), system="FreeBSD").missing("kprobe"))


# From here on, with the real one.

REAL_S = 120.0
"""DTrace 2.0.7 takes 2 s of CPU time to exit, so more on a machine that is busy with other tests."""


@pytest.fixture(scope="module")
def real() -> Dtrace:
    dtrace = Dtrace(program=os.environ.get("PROBE_EFFECT_DTRACE", "dtrace"))
    # No continuous integration has DTrace on Linux: its absence is no fault there either.
    if reason := dtrace.available() or (None if shutil.which("cc") else "no C compiler"):
        pytest.skip(reason)
    return dtrace


def watched(dtrace: Dtrace, script: Path, counting: Counting, cache: Path, operations: int = 2000) -> Report:
    """What DTrace reports of one run of the real loop."""
    program = build(PER_EVENT / "workload" / "dd-loop.c", cache).path
    with ExitStack() as leftovers:
        session = dtrace.session(script, counting, program)
        leftovers.callback(session.end)
        workload = WorkloadProcess(WorkloadTask(program=program, operations=operations, cpu=NOT_PINNED))
        leftovers.callback(workload.end)
        session.attach(workload.pid)
        session.ready(REAL_S)
        workload.go(REAL_S)
        return session.stop(REAL_S)


@pytest.mark.tracer
@pytest.mark.parametrize(
    ("case", "need"),
    [
        ("02-kprobe", "kprobe"),
        ("03-kretprobe", "kprobe"),
        ("04-tracepoint-entry", "tracepoint"),
        ("05-tracepoint-return", "tracepoint"),
        ("06-uprobe", "uprobe"),
        ("07-uretprobe", "uprobe"),
        ("08-filter", "kprobe"),
    ],
)
def test_dtrace_counts_every_event_of_the_loop(real: Dtrace, tmp_path: Path, case: str, need: Need) -> None:
    if reason := real.missing(need):
        pytest.skip(reason)
    report = watched(real, PER_EVENT / f"{case}.check.d", "maps", tmp_path)
    assert report.lost == 0
    assert report.seen is not None
    assert report.seen >= 2000  # and the read that waits for its go, where the return is probed, and other loops'


@pytest.mark.tracer
def test_dtrace_prints_every_system_call_of_the_loop(real: Dtrace, tmp_path: Path) -> None:
    report = watched(real, PER_EVENT / "22-system-call.d", "lines", tmp_path)
    assert report.lost == 0
    assert report.seen is not None
    assert report.seen >= 2000  # and those of any other loop of that name


@pytest.mark.tracer
def test_dtrace_is_quoted_when_it_refuses_a_script(real: Dtrace, tmp_path: Path) -> None:
    script = tmp_path / "script.d"
    script.write_text("no_such_provider:::entry { 1 }\n", encoding="utf-8")
    with pytest.raises(TracerFailed, match="does not match any probes"):
        watched(real, script, "nothing", tmp_path)
