"""bpftrace is started, proved live, stopped and read; when it fails, its own words are kept."""

from __future__ import annotations

import gzip
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from fakes.project import as_root
from probe_effect.host import kernel
from probe_effect.tracers.bpftrace import Bpftrace, BpftraceSession, count_attached, count_json, count_lines
from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Need
    from probe_effect.tracers.protocol import Counting


class Starter(Protocol):
    """Starts the fake on a script of such comment lines."""

    def __call__(self, *lines: str, counting: Counting = "maps") -> BpftraceSession: ...


HERE = Path(__file__).parents[1]
RECORDED = HERE / "data" / "bpftrace"
LONG_S = 30.0
AT_ONCE_S = 0.2
"""For fakes that never answer: the shorter, the sooner the test ends."""


@pytest.mark.parametrize(
    ("name", "seen", "lost"),
    [
        pytest.param("count", 5002, 0, id="one count"),
        pytest.param("count-by-name", 5002, 0, id="counts by process name"),
        pytest.param("count-by-two-keys", 5002, 0, id="counts by two keys"),
        pytest.param("count-by-kernel-stack", 5002, 0, id="counts by kernel stack"),
        pytest.param("count-by-user-stack", 5002, 0, id="counts by user stack"),
        pytest.param("histogram", 5002, 0, id="histogram"),
        pytest.param("linear-histogram", 5002, 0, id="linear histogram with an open bucket"),
        pytest.param("histogram-by-two-stacks", 5002, 0, id="histograms by two stacks"),
        pytest.param("named-map", 5002, 0, id="a named map beside the count"),
        pytest.param("statistics", 5002, 0, id="statistics"),
        pytest.param("print-with-loss", 0, 172, id="lost events"),
    ],
)
def test_recorded_json_of_bpftrace_is_counted(name: str, seen: int, lost: int) -> None:
    with (RECORDED / f"{name}.json").open(encoding="utf-8") as lines:
        assert count_json(lines) == (seen, lost)


def test_recorded_printed_lines_are_counted_without_those_of_bpftrace_itself() -> None:
    with (RECORDED / "print-with-loss.txt").open(encoding="utf-8") as lines:
        assert count_lines(lines) == (44, 343)


def test_a_script_that_counted_nothing_has_seen_nothing() -> None:
    alike = '{"type": "map", "data": {"@": {"below+1\\nmain+7": 3, "read+5": 4, "below+1\\nmain+7": 5}}}\n'
    assert count_json([alike]) == (12, 0)
    assert count_json(['{"type": "attached_probes", "data": {"probes": 1}}\n', "\n"]) == (0, 0)


@pytest.mark.parametrize("name", ["count.json", "print-with-loss.txt"])
def test_recorded_output_says_how_many_probes_were_attached(name: str) -> None:
    with (RECORDED / name).open(encoding="utf-8") as lines:
        assert count_attached(lines) == 1


@pytest.mark.parametrize(
    ("line", "probes"),
    [
        pytest.param("Attaching 1090 probes...\n", 1090, id="before it attaches them"),
        pytest.param("Attached 102 probes\n", 102, id="after, as newer versions do"),
        pytest.param('{"type": "attached_probes", "data": {"probes": 1000}}\n', 1000, id="JSON"),
        pytest.param("Attaching to many probes\n", None, id="no number"),
        pytest.param("832 bytes\n", None, id="the line of a script"),
    ],
)
def test_the_number_of_attached_probes_is_in_the_words_of_bpftrace(line: str, probes: int | None) -> None:
    assert count_attached(["\n", line]) == probes


def test_output_that_is_not_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        count_json(['{"type": "map", "data": {"@":\n'])


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{HERE / 'fakes' / 'bin'}:{os.environ['PATH']}")


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Starter]:
    request.getfixturevalue("fakes")
    sessions: list[BpftraceSession] = []

    def starter(*lines: str, counting: Counting = "maps") -> BpftraceSession:
        script = tmp_path / "script.bt"
        script.write_text("\n".join(f"// {line}" for line in lines) + "\n", encoding="utf-8")
        session = Bpftrace().session(script, counting, tmp_path / "loop")
        assert isinstance(session, BpftraceSession)
        sessions.append(session)
        session.attach(os.getpid())
        return session

    yield starter
    for session in sessions:
        session.end()


def test_a_tracer_that_does_its_work_reports_counts_and_its_own_use(start: Starter) -> None:
    session = start('print: {"type": "map", "data": {"@": {"a": 3, "b": 4}}}')
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (7, 0)
    assert report.probes == 1
    assert all((report.attach_ns, report.detach_ns, report.tracer_rss_bytes, report.output_bytes))


def test_printed_lines_are_what_a_printing_script_has_seen(start: Starter) -> None:
    session = start("print: 1 bytes", "print: 1 bytes", "print: Lost 5 events", counting="lines")
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (2, 5)
    assert report.probes == 1


def test_a_script_that_counts_nothing_reports_no_counts(start: Starter) -> None:
    session = start(counting="nothing")
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (None, None)


@pytest.mark.parametrize(("action", "told"), [("/pid == $1/ { @ = count() }", ["4711"]), ("{ @ = count() }", [])])
def test_a_script_that_asks_for_the_workload_is_told_its_process_id(
    tmp_path: Path, action: str, told: list[str]
) -> None:
    script = tmp_path / "script.bt"
    script.write_text(f"t:syscalls:sys_enter_read {action}\n", encoding="utf-8")
    session = Bpftrace().session(script, "maps", tmp_path / "loop")
    assert session.command(4711) == ("bpftrace", "-f", "json", str(script), *told)
    session.end()


def test_a_tracer_that_dies_is_quoted_without_its_harmless_complaints(start: Starter) -> None:
    session = start("fake: dies")
    with pytest.raises(TracerFailed, match="the fake refuses") as failure:
        session.ready(LONG_S)
    assert failure.value.status == "failed"
    assert "RLIMIT_MEMLOCK" not in str(failure.value)


def test_a_tracer_that_never_gets_its_probes_live_is_ended(start: Starter) -> None:
    session = start("fake: hangs")
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_a_tracer_that_falls_over_at_the_end_has_failed(start: Starter) -> None:
    session = start("fake: dies-at-stop")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="exit status 1: ERROR: the fake fell over"):
        session.stop(LONG_S)


def test_a_tracer_that_ended_before_it_was_asked_to_has_failed_however_well_it_ended(start: Starter) -> None:
    session = start()
    session.ready(LONG_S)
    assert session.child is not None
    session.child.send(signal.SIGTERM)
    assert session.child.wait(LONG_S) is not None
    with pytest.raises(TracerFailed, match="ended before it was asked to stop; have a probe in its script"):
        session.stop(LONG_S)


def test_a_tracer_that_does_not_stop_is_ended(start: Starter) -> None:
    session = start("fake: hangs-at-stop")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="had not exited") as failure:
        session.stop(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_output_that_is_not_understood_is_a_failure(start: Starter) -> None:
    session = start("print: {not json")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="not understood"):
        session.stop(LONG_S)


def test_nothing_is_left_in_memory_after_a_session(start: Starter) -> None:
    session = start()
    folder = session.work.path
    session.ready(LONG_S)
    session.stop(LONG_S)
    session.end()
    assert not folder.exists()


@pytest.mark.usefixtures("fakes")
def test_the_version_is_what_the_tool_prints() -> None:
    assert Bpftrace().version() == "bpftrace v0.0.0"


@pytest.mark.usefixtures("fakes")
def test_a_bpftrace_too_old_for_raw_tracepoints_says_so_and_may_have_the_rest(tmp_path: Path) -> None:
    (tmp_path / "sys/kernel/tracing/events/raw_syscalls/sys_enter").mkdir(parents=True)
    (tmp_path / "sys/kernel/tracing/events/syscalls").mkdir()
    tracer = Bpftrace(root=tmp_path)
    assert "came with 0.18" in str(tracer.missing("raw-tracepoint"))
    assert tracer.missing("tracepoint") is None


def test_without_bpftrace_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt install bpftrace" in str(Bpftrace().available())


@pytest.mark.usefixtures("fakes")
def test_without_root_the_reason_says_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in str(Bpftrace().available())


@pytest.mark.usefixtures("fakes")
def test_without_tracefs_the_reason_says_how_to_mount_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_root(monkeypatch)
    assert "mount -t tracefs" in str(Bpftrace(root=tmp_path).available())
    (tmp_path / "sys/kernel/tracing/events").mkdir(parents=True)
    assert Bpftrace(root=tmp_path).available() is None


def test_a_kernel_without_kprobes_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"# CONFIG_KPROBES is not set\nCONFIG_UPROBE_EVENTS=y\n"))
    assert kernel.missing("kprobe", tmp_path) == "this kernel has no kprobes: CONFIG_KPROBES is not set"
    assert "CONFIG_UPROBE_EVENTS=y, but" in str(kernel.missing("uprobe", tmp_path))
    assert "CONFIG_FTRACE_SYSCALLS is not set" in str(kernel.missing("tracepoint", tmp_path))


def test_a_kernel_that_offers_a_facility_misses_nothing(tmp_path: Path) -> None:
    debug = "sys/kernel/debug/tracing"
    for place in (
        "sys/bus/event_source/devices/kprobe",
        "sys/bus/event_source/devices/breakpoint",
        f"{debug}/events/syscalls",
        f"{debug}/events/raw_syscalls/sys_enter",
        "proc/sys/kernel/seccomp/actions_avail",
        "proc/sys/kernel/task_delayacct",
        "proc/sys/kernel/sched_schedstats",
    ):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / debug / "available_filter_functions").write_text("vfs_read", encoding="utf-8")
    (tmp_path / debug / "available_tracers").write_text("blk function_graph function nop\n", encoding="utf-8")
    (tmp_path / kernel.BTF).parent.mkdir(parents=True)
    (tmp_path / kernel.BTF).write_bytes(
        b"\0bpf_kprobe_multi_link_attach\0bpf_kprobe_multi_link\0bpf_uprobe_multi_link\0BPF_TRACE_KPROBE_SESSION\0"
    )
    (tmp_path / kernel.LSM).parent.mkdir(parents=True)
    (tmp_path / kernel.LSM).write_text("capability,landlock,bpf\n", encoding="utf-8")
    (tmp_path / "sys/kernel/tracing").mkdir()
    (tmp_path / "sys/kernel/tracing/uprobe_events").touch()
    assert [kernel.missing(need, tmp_path) for need in kernel.FACILITIES] == [None] * len(kernel.FACILITIES)


@pytest.mark.parametrize(("release", "refuses"), [("7.1.13-amd64", True), ("7.2.6-amd64", False), ("10.1", False)])
def test_a_uprobe_on_a_nop_of_ten_bytes_is_offered_from_linux_7_2_on(
    release: str, refuses: bool, tmp_path: Path
) -> None:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text(f"{release}\n", encoding="utf-8")
    reason = kernel.missing("uprobe-nop10", tmp_path)
    assert (f"Linux {release} refuses" in str(reason)) == refuses
    assert (reason is None) != refuses


def kernel_with(root: Path, tracers: str, options: bytes = b"") -> Path:
    """A kernel that lists these tracers and one function, with these build options, its types not told."""
    folder = root / "sys/kernel/tracing"
    folder.mkdir(parents=True)
    (folder / "available_tracers").write_text(tracers, encoding="utf-8")
    (folder / "available_filter_functions").write_text("vfs_read", encoding="utf-8")
    (root / "proc").mkdir()
    (root / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y\n" + options))
    return root


def test_a_tracer_of_functions_is_offered_when_tracefs_lists_it_by_its_whole_name(tmp_path: Path) -> None:
    root = kernel_with(tmp_path, "function_graph nop", b"# CONFIG_FUNCTION_TRACER is not set\n")
    assert kernel.missing("function-graph", root) is None
    assert "no function tracer: CONFIG_FUNCTION_TRACER is not set" in str(kernel.missing("function-tracer", root))


def test_what_stands_on_ftrace_is_missing_where_the_kernel_lists_no_function(tmp_path: Path) -> None:
    root = kernel_with(tmp_path, "function nop")
    (root / "sys/kernel/tracing/available_filter_functions").write_text("", encoding="utf-8")
    assert "lists no function that can be traced" in str(kernel.missing("function-tracer", root))
    assert "lists no function that can be traced" in str(kernel.missing("fentry", root))


def test_a_kernel_whose_functions_can_be_traced_may_have_no_trampolines(tmp_path: Path) -> None:
    root = kernel_with(tmp_path, "function nop")
    (root / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_DYNAMIC_FTRACE=y\n"))
    assert kernel.missing("function-tracer", root) is None
    assert "no function entry by BPF trampoline (fentry)" in str(kernel.missing("fentry", root))


def test_a_kernel_without_types_of_its_own_has_no_fentry(tmp_path: Path) -> None:
    root = kernel_with(tmp_path, "function nop", b"# CONFIG_DEBUG_INFO_BTF is not set\n")
    assert kernel.missing("function-tracer", root) is None
    assert "no types of its own (BTF)" in str(kernel.missing("fentry", root))


@pytest.mark.parametrize("need", ["kprobe", "tracepoint", "fentry", "function-tracer"])
def test_what_a_kernel_that_is_locked_down_takes_from_root_is_missing(tmp_path: Path, need: Need) -> None:
    root = kernel_with(tmp_path, "function nop")
    lockdown = root / kernel.LOCKDOWN
    lockdown.parent.mkdir(parents=True)
    lockdown.write_text("none integrity [confidentiality]\n", encoding="utf-8")
    assert "the kernel is locked down" in str(kernel.missing(need, root))
    lockdown.write_text("[none] integrity confidentiality\n", encoding="utf-8")
    assert "locked down" not in str(kernel.missing(need, root))


def test_a_kernel_that_only_refuses_multi_links_by_name_has_none(tmp_path: Path) -> None:
    """bpf_kprobe_multi_link_attach is there without CONFIG_FPROBE too, and refuses."""
    root = kernel_with(tmp_path, "function nop", b"# CONFIG_FPROBE is not set\n")
    (root / kernel.BTF).parent.mkdir(parents=True)
    (root / kernel.BTF).write_bytes(b"\0bpf_kprobe_multi_link_attach\0")
    assert "CONFIG_FPROBE is not set" in str(kernel.missing("kprobe-multi", root))


def test_a_kernel_before_sessions_has_links_to_many_functions_and_no_session(tmp_path: Path) -> None:
    root = kernel_with(tmp_path, "function nop", b"CONFIG_FPROBE=y\n")
    (root / kernel.BTF).parent.mkdir(parents=True)
    (root / kernel.BTF).write_bytes(b"\0bpf_kprobe_multi_link\0")
    assert kernel.missing("kprobe-multi", root) is None
    assert "since Linux 6.10" in str(kernel.missing("kprobe-session", root))


def test_bpf_is_a_security_module_only_where_the_kernel_was_started_with_it(tmp_path: Path) -> None:
    root = kernel_with(tmp_path, "function nop", b"CONFIG_BPF_LSM=y\n")
    assert "hooks of security modules" in str(kernel.missing("lsm", root))
    (root / kernel.LSM).parent.mkdir(parents=True)
    (root / kernel.LSM).write_text("capability,apparmor", encoding="utf-8")
    assert "hooks of security modules" in str(kernel.missing("lsm", root))
    (root / kernel.LSM).write_text("capability,bpf", encoding="utf-8")
    assert kernel.missing("lsm", root) is None


def test_a_kernel_that_does_not_tell_its_types_is_taken_by_its_options(tmp_path: Path) -> None:
    assert kernel.missing("kprobe-multi", kernel_with(tmp_path, "function nop", b"CONFIG_FPROBE=y\n")) is None


@pytest.mark.parametrize(
    ("info", "need", "words"),
    [
        pytest.param("  kfunc: yes\n  kprobe_multi: yes", "kprobe-multi", None, id="0.17"),
        pytest.param("kprobe_multi: yes                  uprobe_multi: no", "kprobe-multi", None, id="0.23"),
        pytest.param("  kprobe_multi: no", "kprobe-multi", "--info` says kprobe_multi: no", id="built without"),
        pytest.param("  kprobe: yes", "kprobe-multi", "--info` says nothing of it", id="before 0.16"),
        pytest.param("  kfunc: no", "fentry", "--info` says kfunc: no", id="0.17 on Linux 5.10"),
        pytest.param("perf_event: yes                  fentry: yes", "fentry", None, id="fentry in 0.23"),
        pytest.param("  kprobe_multi: no    uprobe_multi: yes", "fentry", None, id="fentry in 0.27"),
    ],
)
def test_a_bpftrace_is_asked_itself_for_what_depends_on_its_version(
    info: str, need: Need, words: str | None, tmp_path: Path
) -> None:
    program = tmp_path / "bpftrace"
    program.write_text(f"#!/bin/sh\necho '{info}'\n", encoding="utf-8")
    program.chmod(0o755)
    root = kernel_with(tmp_path, "function nop", b"CONFIG_FPROBE=y\n")
    reason = Bpftrace(program=str(program), root=root).missing(need)
    assert (words is None) == (reason is None)
    assert (words or "") in str(reason)


def test_a_kernel_that_hides_its_options_is_said_to(tmp_path: Path) -> None:
    assert "no file has the build options" in str(kernel.missing("kprobe", tmp_path))
