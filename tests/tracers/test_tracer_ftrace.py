"""ftrace and trace-cmd record in an instance of their own, count what it kept and lost, and leave nothing behind."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.project import as_root
from helpers.site_build import absent
from probe_effect.host.workloads import NOT_PINNED, WorkloadProcess, WorkloadTask, build
from probe_effect.tracers import dynamic_events, ftrace
from probe_effect.tracers.dynamic_events import DynamicEvents, Event, parse_script, tracefs
from probe_effect.tracers.ftrace import Ftrace, TraceCmd
from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.tracers.protocol import Report, Tracer

HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
NAME = f"probe-effect-{os.getpid()}"
GROUP = f"probe_effect_{os.getpid()}"
GONE = 2**22 + 1
"""No process has this id: it is above the largest that Linux gives (PID_MAX_LIMIT)."""

pytestmark = pytest.mark.xdist_group("tracer")
"""trace-cmd falls over events that another tracer defines or removes while it starts."""

OPERATIONS = 20_000
ATTEMPTS = 5
LONG_S = 30.0
AT_ONCE_S = 0.2

STATS = """\
entries: {entries}
overrun: 30
commit overrun: 2
bytes: 4096
oldest event ts:   123.456789
now ts:   130.000001
dropped events: 1
read events: {read}
"""

# --- scripts


def test_a_script_says_which_events_with_which_filter_in_which_buffer() -> None:
    text = """\
# 06: a comment
probe p:read libc:read
buffer_size_kb 4096   # each CPU

event probes/read
filter count == 1
event syscalls/sys_enter_read
set_event_pid workload
"""
    script = parse_script(text, "06.ftrace")
    assert [probe.name for probe in script.probes] == ["read"]
    assert script.events == [Event("probes/read", "count == 1"), Event("syscalls/sys_enter_read")]
    assert (script.buffer_size_kb, script.only_workload) == (4096, True)


def test_a_script_without_an_event_is_one_that_watches_nothing() -> None:
    script = parse_script("# nothing\n\n", "01.ftrace")
    assert (script.events, script.probes, script.buffer_size_kb, script.only_workload) == ([], (), None, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("evnt a/b", "2: `evnt a/b`: expected event, filter, buffer_size_kb, set_event_pid, current_tracer, "),
        ("event", "2: `event `: expected `event GROUP/NAME`"),
        ("event a:b", "2: `event a:b`: expected `event GROUP/NAME`"),
        ("event ../../a", "2: `event ../../a`: expected `event GROUP/NAME`"),
        ("filter x == 1", "2: `filter x == 1`: expected `filter EXPRESSION` below an event"),
        ("event a/b\nfilter", "3: `filter `: expected `filter EXPRESSION` below an event"),
        ("buffer_size_kb 4M", "2: `buffer_size_kb 4M`: expected `buffer_size_kb KIB`, a whole number above 0"),
        ("buffer_size_kb 0", "a whole number above 0"),
        ("set_event_pid 1", "2: `set_event_pid 1`: expected `set_event_pid workload`"),
        ("current_tracer blk", "2: `current_tracer blk`: expected `current_tracer function` or `current_tracer func"),
        ("set_ftrace_filter vfs_*", "2: `set_ftrace_filter vfs_*`: expected `set_ftrace_filter FUNCTION`"),
        ("current_tracer function", "expected current_tracer and set_ftrace_filter together"),
        ("set_ftrace_filter vfs_read", "expected current_tracer and set_ftrace_filter together"),
        ("probe q:a b", "2: `probe q:a b`: expected `probe KIND:NAME"),
    ],
)
def test_a_faulty_line_is_refused_with_script_line_and_what_was_expected(text: str, words: str) -> None:
    with pytest.raises(TracerFailed, match=rf"^a\.ftrace:.*{re.escape(words)}"):
        parse_script(f"# first\n{text}\n", "a.ftrace")


TRACED = "set_ftrace_filter vfs_read\ncurrent_tracer {tracer}\n"


@pytest.mark.parametrize(("tracer", "records"), [("function", 1), ("function_graph", 2)])
def test_a_script_may_name_a_tracer_and_its_function_in_place_of_events(tracer: str, records: int) -> None:
    script = parse_script(TRACED.format(tracer=tracer), "24.ftrace")
    assert (script.tracer, script.function, script.records_per_event) == (tracer, "vfs_read", records)


@pytest.mark.parametrize("line", ["event a/b", "set_event_pid workload"])
def test_a_tracer_of_functions_stands_alone(line: str) -> None:
    with pytest.raises(TracerFailed, match="expected no event and no set_event_pid beside current_tracer"):
        parse_script(TRACED.format(tracer="function") + line, "a.ftrace")


def refusal(text: str) -> str | None:
    """Why a script is refused; None when it is not."""
    try:
        parse_script(text, "a.ftrace")
    except TracerFailed as failure:
        return str(failure)
    return None


WORDS = st.sampled_from(["event", "filter", "buffer_size_kb", "set_event_pid", "current_tracer", "probe", "#"])


@given(lines=st.lists(st.tuples(WORDS, st.text(max_size=12)).map(" ".join)))
def test_any_text_is_read_or_refused_with_its_line(lines: list[str]) -> None:
    assert re.match(r"a\.ftrace:(\d+:)? ", refusal("\n".join(lines)) or "a.ftrace: ")


EVENTS = st.from_regex(r"[a-z_]{1,9}/[a-z_]{1,9}", fullmatch=True)
FILTERS = st.one_of(st.none(), st.from_regex(r"[a-z]{1,9} == [0-9]{1,9}", fullmatch=True))


@given(events=st.lists(st.builds(Event, EVENTS, FILTERS)), size=st.one_of(st.none(), st.integers(1, 10**8)))
def test_whatever_is_written_in_the_form_is_read_back(events: list[Event], size: int | None) -> None:
    lines = [f"event {one.name}\n" + (f"filter {one.filter}\n" if one.filter else "") for one in events]
    script = parse_script("".join(lines) + (f"buffer_size_kb {size}\n" if size else ""), "a.ftrace")
    assert (script.events, script.buffer_size_kb) == (events, size)


def test_every_script_of_the_suites_can_be_read() -> None:
    scripts = list(SUITES.glob("*/*.ftrace"))
    assert scripts
    for path in scripts:
        script = parse_script(path.read_text(encoding="utf-8"), path.name)
        assert (script.records_per_event is None) == (path.stem in {"01-control", "01-nothing"})


# --- a kernel that is a folder


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a file system with a tracefs in which new instances have files, and can be removed with them."""
    folder = tmp_path / "sys/kernel/tracing"
    for name in ("events", "instances"):
        (folder / name).mkdir(parents=True)
    for name in ("uprobe_events", "kprobe_events"):
        (folder / name).touch()
    (folder / "available_tracers").write_text("blk function_graph function nop\n", encoding="utf-8")
    (folder / "available_filter_functions").write_text("vfs_read\n", encoding="utf-8")
    (tmp_path / "proc" / str(os.getpid())).mkdir(parents=True)
    make = Path.mkdir

    def make_with_files(path: Path, mode: int = 0o777, **options: bool) -> None:
        make(path, mode, **options)
        if path.parent == folder / "instances":
            fill(path)

    def fill(instance: Path) -> None:
        for event in ("syscalls/sys_enter_read", f"{GROUP}/read"):
            make(instance / "events" / event, parents=True)
            for name in ("enable", "filter"):
                (instance / "events" / event / name).write_text("0\n", encoding="utf-8")
        for name, text in (("tracing_on", "1\n"), ("set_event_pid", ""), ("set_event", ""), *FUNCTIONS):
            (instance / name).write_text(text, encoding="utf-8")
        for cpu in range(os.cpu_count() or 1):
            make(instance / f"per_cpu/cpu{cpu}", parents=True)
            (instance / f"per_cpu/cpu{cpu}/buffer_size_kb").write_text("1408\n", encoding="utf-8")
            text = STATS.format(entries=70 if cpu in ONE_CPU else 1000, read=5)
            (instance / f"per_cpu/cpu{cpu}/stats").write_text(text, encoding="utf-8")

    monkeypatch.setattr(Path, "mkdir", make_with_files)
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    as_root(monkeypatch)
    return tmp_path


FUNCTIONS = (("available_tracers", "function nop\n"), ("current_tracer", "nop\n"), ("set_ftrace_filter", ""))
"""What an instance of Linux 6.1 has to trace functions with."""

ONE_CPU = {min(os.sched_getaffinity(0))}


@pytest.fixture
def workload() -> Iterator[WorkloadProcess]:
    """A workload that may run on one CPU."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, ONE_CPU)
    fake = WorkloadProcess(WorkloadTask(program=HERE / "fakes" / "workload", operations=1000, cpu=NOT_PINNED))
    os.sched_setaffinity(0, before)
    yield fake
    fake.end()


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


FULL = """\
probe p:read libc:read
buffer_size_kb 4096
set_event_pid workload
event syscalls/sys_enter_read
filter count == 1
event probes/read
"""


def test_a_session_writes_what_the_script_says_and_counts_where_the_workload_ran(
    kernel: Path, workload: WorkloadProcess, tmp_path: Path
) -> None:
    session = Ftrace(root=kernel).session(written(tmp_path / "a.ftrace", FULL), "nothing", tmp_path / "program")
    assert session.prefix == ()
    session.attach(workload.pid)
    session.ready(LONG_S)
    instance = kernel / "sys/kernel/tracing/instances" / NAME

    def said(file: str) -> str:
        return (instance / file).read_text(encoding="utf-8")

    assert said("events/syscalls/sys_enter_read/enable") == said(f"events/{GROUP}/read/enable") == "1"
    assert said("events/syscalls/sys_enter_read/filter") == "count == 1"
    assert said("set_event_pid") == str(workload.pid)
    assert said(f"per_cpu/cpu{min(ONE_CPU)}/buffer_size_kb") == "4096"
    workload.go(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost, report.output_bytes) == (75, 33, 4096)
    assert report.probes == 2
    assert (report.tracer_cpu_ns, report.tracer_rss_bytes) == (None, None)
    assert report.attach_ns
    assert report.detach_ns
    assert not instance.exists()
    assert (kernel / "sys/kernel/tracing/uprobe_events").read_text(encoding="utf-8").endswith(f"-:{GROUP}/read\n")
    session.end()


@pytest.mark.parametrize(("tracer", "counts"), [("function", (75, 33)), ("function_graph", (37, 16))])
def test_a_call_that_has_two_records_is_one_event(
    tracer: str, counts: tuple[int, int], kernel: Path, workload: WorkloadProcess, tmp_path: Path
) -> None:
    script = written(tmp_path / "a.ftrace", TRACED.format(tracer=tracer))
    session = Ftrace(root=kernel).session(script, "nothing", tmp_path / "p")
    session.attach(workload.pid)
    session.ready(LONG_S)
    instance = kernel / "sys/kernel/tracing/instances" / NAME
    assert (instance / "set_ftrace_filter").read_text(encoding="utf-8") == "vfs_read"
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == counts
    assert report.probes is None


def test_a_tracer_that_is_not_the_current_one_is_a_failure(
    kernel: Path, workload: WorkloadProcess, tmp_path: Path
) -> None:
    script = written(tmp_path / "a.ftrace", TRACED.format(tracer="function"))
    session = Ftrace(root=kernel).session(script, "nothing", tmp_path / "p")
    session.attach(workload.pid)
    (kernel / "sys/kernel/tracing/instances" / NAME / "current_tracer").write_text("nop\n", encoding="utf-8")
    with pytest.raises(TracerFailed, match="current_tracer reads 'nop' after it was switched on, expected 'function'"):
        session.ready(LONG_S)
    session.end()


def test_a_tracer_that_instances_do_not_have_is_missing_and_the_question_leaves_no_instance(kernel: Path) -> None:
    tracer = Ftrace(root=kernel)
    assert tracer.missing("function-tracer") is None
    assert "function_graph only for the whole system" in str(tracer.missing("function-graph"))
    assert list((kernel / "sys/kernel/tracing/instances").iterdir()) == []


def test_where_no_instance_can_be_made_the_question_has_the_kernels_answer(kernel: Path) -> None:
    shutil.rmtree(kernel / "sys/kernel/tracing/instances")
    assert "cannot be made: No such file or directory" in str(Ftrace(root=kernel).missing("function-tracer"))


def test_an_instance_without_an_event_counts_nothing(kernel: Path, workload: WorkloadProcess, tmp_path: Path) -> None:
    session = Ftrace(root=kernel).session(written(tmp_path / "a.ftrace", "# nothing\n"), "nothing", tmp_path / "p")
    session.attach(workload.pid)
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost, report.output_bytes) == (None, None, 4096)


def test_an_event_that_does_not_read_as_enabled_is_a_failure(
    kernel: Path, workload: WorkloadProcess, tmp_path: Path
) -> None:
    text = "event syscalls/sys_enter_read\n"
    session = Ftrace(root=kernel).session(written(tmp_path / "a.ftrace", text), "nothing", tmp_path / "p")
    session.attach(workload.pid)
    enable = kernel / "sys/kernel/tracing/instances" / NAME / "events/syscalls/sys_enter_read/enable"
    enable.write_text("0\n", encoding="utf-8")
    with pytest.raises(TracerFailed, match="sys_enter_read/enable reads '0' after it was switched on, expected '1'"):
        session.ready(LONG_S)
    session.end()
    session.end()
    assert not enable.exists()


def test_a_pattern_enables_every_event_that_matches_and_says_how_many(
    kernel: Path, workload: WorkloadProcess, tmp_path: Path
) -> None:
    text = "probe p:read libc:read\nevent syscalls/sys_*\nfilter count == 1\nevent probes/*\n"
    session = Ftrace(root=kernel).session(written(tmp_path / "a.ftrace", text), "nothing", tmp_path / "p")
    session.attach(workload.pid)
    session.ready(LONG_S)
    events = kernel / "sys/kernel/tracing/instances" / NAME / "events"
    for name in ("syscalls/sys_enter_read", f"{GROUP}/read"):
        assert (events / name / "enable").read_text(encoding="utf-8") == "1"
    assert (events / "syscalls/sys_enter_read/filter").read_text(encoding="utf-8") == "count == 1"
    assert session.stop(LONG_S).probes == 2


def test_a_pattern_that_nothing_matches_is_named(kernel: Path, workload: WorkloadProcess, tmp_path: Path) -> None:
    script = written(tmp_path / "a.ftrace", "event syscalls/no_*\n")
    session = Ftrace(root=kernel).session(script, "nothing", tmp_path)
    with pytest.raises(TracerFailed, match=r"has no event that matches syscalls/no_\*"):
        session.attach(workload.pid)
    session.end()


def test_an_event_that_the_kernel_does_not_have_is_named(
    kernel: Path, workload: WorkloadProcess, tmp_path: Path
) -> None:
    session = Ftrace(root=kernel).session(written(tmp_path / "a.ftrace", "event syscalls/no\n"), "nothing", tmp_path)
    with pytest.raises(TracerFailed, match=r"`1` in \S+/events/syscalls/no/enable: No such file or directory"):
        session.attach(workload.pid)
    session.end()
    assert list((kernel / "sys/kernel/tracing/instances").iterdir()) == []


def test_stats_that_are_not_understood_are_a_failure(kernel: Path, workload: WorkloadProcess, tmp_path: Path) -> None:
    session = Ftrace(root=kernel).session(written(tmp_path / "a.ftrace", "# nothing\n"), "nothing", tmp_path)
    session.attach(workload.pid)
    for stats in (kernel / "sys/kernel/tracing/instances").glob("*/per_cpu/*/stats"):
        stats.write_text("entries: 5\n", encoding="utf-8")
    with pytest.raises(TracerFailed, match="expected a line 'read events'"):
        session.stop(LONG_S)
    session.end()


def test_only_instances_of_processes_that_are_gone_are_leftovers(kernel: Path) -> None:
    for name in (NAME, f"probe-effect-{GONE}", "probe-effect-of-somebody", "another"):
        (kernel / "sys/kernel/tracing/instances" / name).mkdir()
    assert ftrace.leftovers(kernel) == [f"probe-effect-{GONE}"]
    ftrace.remove_instance(f"probe-effect-{GONE}", kernel)
    assert ftrace.leftovers(kernel) == []


def test_without_tracefs_nothing_is_left_over(tmp_path: Path) -> None:
    assert ftrace.leftovers(tmp_path) == []


def test_what_keeps_ftrace_from_running_is_said_with_what_to_do(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Ftrace(root=kernel).available() is None
    shutil.rmtree(kernel / "sys/kernel/tracing/instances")
    assert "older than Linux 3.10" in str(Ftrace(root=kernel).available())
    shutil.rmtree(kernel / "sys/kernel/tracing/events")
    assert "mount -t tracefs" in str(Ftrace(root=kernel).available())
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in str(Ftrace(root=kernel).available())


def test_the_version_of_ftrace_is_that_of_the_kernel(kernel: Path) -> None:
    assert Ftrace(root=kernel).version() is None
    (kernel / "proc/sys/kernel").mkdir(parents=True)
    (kernel / "proc/sys/kernel/osrelease").write_text("6.18.44\n", encoding="utf-8")
    assert Ftrace(root=kernel).version() == "Linux 6.18.44"


# --- a trace-cmd that is a shell script

FAKE = r"""#!/bin/sh
# Imitates `trace-cmd record ...` in the tracefs of the test: FAKE_INSTANCES.
[ "$1" = --version ] && { echo; echo "trace-cmd version 0.0.0"; exit 0; }
[ "$*" = "${*#*-e dies}" ] || { echo "trace-cmd: No events enabled with dies" >&2; exit 1; }
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2 ;;
	-B) instance=$FAKE_INSTANCES/$2 ;;
	-e) event=$2 ;;
	esac
	shift
done
mkdir -p "$instance/per_cpu"
for cpu in $(seq 0 "$FAKE_LAST_CPU"); do
	mkdir "$instance/per_cpu/cpu$cpu"
	echo "$FAKE_STATS" >"$instance/per_cpu/cpu$cpu/stats"
done
mkfifo "$out.fifo"
exec 3<>"$out.fifo"
trap 'echo recorded >"$out"; exit 0' INT
echo "$event" >"$instance/set_event"
[ "$event" = hangs ] || echo 1 >"$instance/tracing_on"
while :; do read -r _ <&3; done
"""


@pytest.fixture
def fake(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> TraceCmd:
    program = written(kernel / "trace-cmd", FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("FAKE_INSTANCES", str(kernel / "sys/kernel/tracing/instances"))
    monkeypatch.setenv("FAKE_LAST_CPU", str(max(ONE_CPU)))
    monkeypatch.setenv("FAKE_STATS", STATS.format(entries=0, read=70))
    return TraceCmd(program=str(program), root=kernel)


def test_trace_cmd_is_live_once_its_instance_records_and_is_counted_by_it(
    fake: TraceCmd, workload: WorkloadProcess, tmp_path: Path
) -> None:
    script = written(tmp_path / "a.trace-cmd", "# a script\nprobe p:read libc:read\n-e probes:read\n")
    session = fake.session(script, "nothing", tmp_path / "program")
    session.attach(workload.pid)
    session.ready(LONG_S)
    instance = tmp_path / "sys/kernel/tracing/instances" / NAME
    assert (instance / "set_event").read_text(encoding="utf-8") == f"{GROUP}:read\n"
    workload.go(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost, report.output_bytes) == (70, 33, len("recorded\n"))
    assert report.tracer_cpu_ns is not None
    assert not instance.exists()
    session.end()
    assert not session.work.path.exists()


def test_a_trace_cmd_that_dies_is_quoted_and_leaves_nothing(
    fake: TraceCmd, workload: WorkloadProcess, tmp_path: Path
) -> None:
    session = fake.session(written(tmp_path / "a.trace-cmd", "-e dies"), "nothing", tmp_path / "program")
    session.attach(workload.pid)
    with pytest.raises(TracerFailed, match="ended before its probes were live: trace-cmd: No events enabled with dies"):
        session.ready(LONG_S)
    session.end()
    assert ftrace.leftovers(tmp_path) == []


def test_a_trace_cmd_that_never_opens_its_buffer_is_ended(
    fake: TraceCmd, workload: WorkloadProcess, tmp_path: Path
) -> None:
    session = fake.session(written(tmp_path / "a.trace-cmd", "-e hangs"), "nothing", tmp_path / "program")
    session.attach(workload.pid)
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"
    session.end()
    assert not (tmp_path / "sys/kernel/tracing/instances" / NAME).exists()


def test_trace_cmd_says_its_version_and_what_is_missing(fake: TraceCmd, kernel: Path) -> None:
    assert fake.version() == "trace-cmd version 0.0.0"
    assert fake.available() is None
    assert "apt install trace-cmd" in str(TraceCmd(program="no-trace-cmd", root=kernel).available())
    assert fake.missing("kprobe") is None
    assert "this kernel has no system call tracepoints" in str(fake.missing("tracepoint"))


# --- the real kernel


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    if shutil.which("cc") is None:
        absent("no C compiler: apt install gcc libc6-dev")
    return build(SUITES / "per-event/workload/dd-loop.c", compiled_cache).path


def run(tracer: Tracer, script: Path, program: Path) -> Report:
    """What the tracer reports of a run; nothing is left of it in tracefs."""
    session = tracer.session(script, "nothing", program)
    try:
        workload = WorkloadProcess(WorkloadTask(program=program, operations=OPERATIONS, cpu=min(ONE_CPU)))
        try:
            session.attach(workload.pid)
            session.ready(LONG_S)
            workload.go(LONG_S)
            return session.stop(LONG_S)
        finally:
            workload.end()
    finally:
        session.end()
        assert not (tracefs() / "instances" / NAME).exists()
        assert not (tracefs() / "events" / GROUP).exists()


def run_undisturbed(tracer: Tracer, script: Path, program: Path) -> Report:
    """The same, tried again where trace-cmd fell over what others on this machine loaded or removed meanwhile.

    It reads the kernel's symbols twice and wants the same size, and opens a file of every event that it has listed.
    """
    for _ in range(ATTEMPTS):
        try:
            return run(tracer, script, program)
        except TracerFailed as failure:
            if not re.search(r"size of file '/proc/kallsyms'|No such file or directory opening to", str(failure)):
                raise
    pytest.skip("others load and remove probes all the time")


FIRST = ("04-tracepoint-entry", "06-uprobe")
"""Cases of the first tier."""


@pytest.mark.tracer
@pytest.mark.parametrize(
    ("tracer", "case"),
    [
        pytest.param(tracer, case, id=f"{tracer.id} {case}", marks=[] if case in FIRST else pytest.mark.deep)
        for tracer in (Ftrace(), TraceCmd())
        for case in (*FIRST, "05-tracepoint-return", "07-uretprobe")
    ],
)
def test_events_of_a_real_run_add_up(tracer: Tracer, case: str, program: Path) -> None:
    if refused := tracer.available() or tracer.missing("uprobe" if "probe" in case else "tracepoint"):
        pytest.skip(f"cannot trace here: {refused}")
    report = run_undisturbed(tracer, SUITES / "per-event" / f"{case}.{tracer.tool}", program)
    assert report.seen is not None
    # Other programs on that CPU read too; what may not happen is that events go missing.
    assert report.seen >= OPERATIONS
    assert report.lost == 0
    assert report.output_bytes


@pytest.mark.tracer
def test_events_that_a_small_buffer_overwrites_are_lost_and_known(program: Path, tmp_path: Path) -> None:
    if refused := Ftrace().available() or Ftrace().missing("tracepoint"):
        pytest.skip(f"cannot trace here: {refused}")
    text = "buffer_size_kb 64\nset_event_pid workload\nevent syscalls/sys_enter_read\n"
    report = run(Ftrace(), written(tmp_path / "a.ftrace", text), program)
    assert report.seen
    assert report.lost
    assert report.seen + report.lost == pytest.approx(OPERATIONS, abs=5)


@pytest.mark.tracer
def test_a_real_filter_that_is_faulty_is_refused_in_the_words_of_the_kernel(program: Path, tmp_path: Path) -> None:
    if refused := Ftrace().available() or Ftrace().missing("tracepoint"):
        pytest.skip(f"cannot trace here: {refused}")
    script = written(tmp_path / "a.ftrace", "event syscalls/sys_enter_read\nfilter no_such_field == 1\n")
    with pytest.raises(TracerFailed, match="sys_enter_read/filter: Field not found"):
        run(Ftrace(), script, program)


@pytest.mark.tracer
def test_an_instance_that_somebody_uses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    if refused := Ftrace().available():
        pytest.skip(f"cannot trace here: {refused}")
    instance = ftrace.Instance()
    instance.make()
    monkeypatch.setattr(dynamic_events, "PATIENCE_S", 0.0)
    with (
        (instance.folder / "trace_pipe").open("rb"),
        pytest.raises(TracerFailed, match="end what uses it, then: rmdir"),
    ):
        instance.remove()
    instance.remove()
    DynamicEvents().remove()
    assert not instance.folder.exists()
