"""strace attaches to the workload or starts it with a filter; its lines are counted, without those of the harness."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.site_build import absent
from probe_effect.host import processes
from probe_effect.host.workloads import NOT_PINNED, WorkloadProcess, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.tracers import attaching
from probe_effect.tracers.attaching import Strace, count_calls, count_table
from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from probe_effect.model import Sample

HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
FAKE_WORKLOAD = HERE / "fakes" / "workload"

SECCOMP = Strace(id="strace-seccomp", tool="strace-seccomp", attaches=False)

OPERATIONS = 300
LONG_S = 30.0
AT_ONCE_S = 0.2

READ = b'read(3, "\\0", 1)                       = 1\n'
FORKED = b'1234  read(3, "\\0", 1)                 = 1\n'
BROKEN_OFF = b"1234  read(3,  <unfinished ...>\n"
RESUMED = b'1234  <... read resumed>"\\0", 1)       = 1\n'
WAIT = b'read(0, "g", 1)                        = 1\n'
OTHERS = [
    b"+++ exited with 0 +++\n",
    b"1234  +++ exited with 0 +++\n",
    b"--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0} ---\n",
    b"strace: Process 3 attached\n",
    WAIT,
    b"1234  " + WAIT,
    RESUMED,
    b"syscall_0x14f(0x3, 0x7ffc3bc55590, 0x1, 0x7f42b83774f0, 0, 0) = 0x1\n",
    b"1234  syscall_0x14f(0x3, 0x7ffc3bc55590, 0x1, 0, 0, 0) = 0x1\n",
    b'"g", 1) = 1\n',
    b"\n",
]


@given(
    calls=st.lists(st.sampled_from([READ, FORKED, BROKEN_OFF]), max_size=30),
    others=st.lists(st.sampled_from(OTHERS), max_size=10),
    data=st.data(),
)
def test_every_call_is_counted_once_whatever_is_around_it(
    calls: list[bytes], others: list[bytes], data: st.DataObject, tmp_path: Path
) -> None:
    lines = data.draw(st.permutations(calls + others))
    path = tmp_path / "lines"
    path.write_bytes(b"".join(lines))
    assert count_calls(path) == len(calls)


def test_a_last_line_that_is_not_finished_counts_too(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(READ + READ.rstrip(b"\n"))
    assert count_calls(path) == 2


TABLE = (HERE / "data/strace/table.txt").read_bytes()
"""What strace 6.1 wrote with -f -c of a program with 145 calls."""

OLD_TOTAL = b"100.00    0.000817                   145        19 total\n"
"""The last line as strace 5.10 has it, without the time of one call."""


def test_the_calls_of_a_table_are_added_up() -> None:
    assert count_table(TABLE) == 145
    assert count_table(TABLE.rpartition(b"100.00")[0] + OLD_TOTAL) == 145


def test_a_table_for_each_size_of_words_counts() -> None:
    assert count_table(b"System call usage summary for 64 bit mode:\n" + TABLE + TABLE) == 290


def test_a_call_that_stands_for_the_return_of_a_probed_function_is_not_in_the_count() -> None:
    of_probes = b"  0.00    0.000000           0        77           syscall_0x14f\n"
    assert count_table(TABLE + of_probes) == 145


@pytest.mark.parametrize("text", [b"", READ, b"strace: Process 3 detached\n"])
def test_what_is_no_table_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="expected a table of calls"):
        count_table(text)


@pytest.mark.parametrize(
    ("scope", "capabilities", "attaches", "starts"),
    [
        pytest.param(None, "0", True, True, id="a kernel without Yama"),
        pytest.param("0", "0", True, True, id="0, a user"),
        pytest.param("1", "0", False, True, id="1, a user"),
        pytest.param("1", "000001ffffffffff", True, True, id="1, root"),
        pytest.param("1", "00000000a80425fb", False, True, id="1, root in a container"),
        pytest.param("2", "0", False, False, id="2, a user"),
        pytest.param("2", "0000000000080000", True, True, id="2, the capability alone"),
        pytest.param("3", "000001ffffffffff", False, False, id="3, root"),
    ],
)
def test_whether_a_process_may_be_traced_is_read_from_the_kernel(
    tmp_path: Path, scope: str | None, capabilities: str, *, attaches: bool, starts: bool
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text(f"Name:\tx\nCapEff:\t{capabilities}\n", encoding="utf-8")
    (tmp_path / "proc/sys/kernel/yama").mkdir(parents=True)
    if scope is not None:
        (tmp_path / attaching.SCOPE).write_text(f"{scope}\n", encoding="utf-8")
    tracers = [replace(one, program="sh", root=tmp_path) for one in (Strace(), SECCOMP)]
    refusals = [tracer.available() for tracer in tracers]
    assert [refusal is None for refusal in refusals] == [attaches, starts]
    assert all(f"ptrace_scope is {scope}" in refusal for refusal in refusals if refusal)


def test_without_strace_the_reason_says_what_to_install() -> None:
    assert "apt install strace" in str(Strace(program="no-strace").available())
    assert "apt install strace" in str(replace(SECCOMP, program="no-strace").available())


def test_strace_sees_no_probe_of_the_kernel() -> None:
    assert Strace().missing("kprobe") == "strace has no kprobe: it sees system calls and signals"


def test_both_ways_are_tracers_with_scripts_of_their_own() -> None:
    assert [(tracer.id, tracer.tool) for tracer in (Strace(), SECCOMP)] == [
        ("strace", "strace"),
        ("strace-seccomp", "strace-seccomp"),
    ]
    for tracer in (Strace(), SECCOMP):
        assert list(SUITES.glob(f"*/*.{tracer.tool}"))


def usable(tracer: Strace) -> Strace:
    """The tracer, where it is installed and allowed."""
    if shutil.which("strace") is None:
        absent("strace is not installed: apt install strace")
    if refused := tracer.available():
        pytest.skip(f"cannot trace here: {refused}")
    return tracer


@pytest.fixture(params=[Strace(), SECCOMP], ids=lambda tracer: tracer.id)
def tracer(request: pytest.FixtureRequest) -> Strace:
    found: Strace = request.param
    return usable(found)


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    if shutil.which("cc") is None:
        absent("no C compiler: apt install gcc libc6-dev")
    return build(SUITES / "per-event/workload/dd-loop.c", compiled_cache).path


def row(tracer: Strace, script: Path, program: Path) -> Sample:
    """The row of one run."""
    watch = TracerTask(tracer, script, "nothing")
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED)
    limits = Limits(start_s=LONG_S, run_s=LONG_S, stop_s=LONG_S)
    return run_once(PlannedRun(0, 0, Key("case", tracer.id), "traced"), load, watch, limits)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_every_read_of_a_real_run_is_seen_and_none_of_the_harness(tracer: Strace, program: Path) -> None:
    found = row(tracer, SUITES / "per-event" / f"22-system-call.{tracer.tool}", program)
    assert (found.status, found.note) == ("ok", None)
    assert (found.events, found.seen, found.lost) == (OPERATIONS, OPERATIONS, 0)
    assert found.tracer_cpu_ns is not None
    assert found.attach_ns
    assert found.detach_ns is None
    assert found.output_bytes is not None
    assert found.output_bytes > OPERATIONS * len('read(3, "\\0", 1) = 1')


def test_a_script_that_asks_for_no_call_has_no_counts(tracer: Strace, program: Path, tmp_path: Path) -> None:
    found = row(tracer, written(tmp_path / "none", "-e trace=none # nothing\n"), program)
    assert (found.status, found.seen, found.lost) == ("ok", None, None)


def test_a_table_counts_every_read_and_that_of_the_go(program: Path, tmp_path: Path) -> None:
    found = row(usable(Strace()), written(tmp_path / "table", "-c -e trace=read\n"), program)
    assert (found.status, found.note, found.lost) == ("ok", None, 0)
    assert found.seen in {OPERATIONS, OPERATIONS + 1}


def test_a_table_of_a_strace_that_starts_the_workload_has_what_the_loader_reads_too(
    program: Path, tmp_path: Path
) -> None:
    found = row(usable(SECCOMP), written(tmp_path / "table", "-c -e trace=read\n"), program)
    assert (found.status, found.note, found.lost) == ("ok", None, 0)
    assert OPERATIONS < (found.seen or 0) < OPERATIONS + 100


def test_a_workload_that_starts_programs_of_its_own_is_traced_too(tracer: Strace, tmp_path: Path) -> None:
    found = row(tracer, written(tmp_path / "none", "-e trace=none\n"), FAKE_WORKLOAD)
    assert (found.status, found.events) == ("ok", OPERATIONS)


def test_a_script_that_strace_refuses_fails_and_leaves_nothing(tracer: Strace, program: Path, tmp_path: Path) -> None:
    found = row(tracer, written(tmp_path / "odd", "-e trace=no_such_call\n"), program)
    assert found.status == "failed"
    assert "strace ended before its probes were live" in str(found.note)


def test_a_strace_that_attaches_is_quoted_when_it_refuses(program: Path, tmp_path: Path) -> None:
    found = row(usable(Strace()), written(tmp_path / "odd", "-e trace=no_such_call\n"), program)
    assert "invalid system call 'no_such_call'" in str(found.note)


def test_words_that_no_shell_could_split_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TracerFailed, match="No closing quotation"):
        Strace().session(written(tmp_path / "odd.strace", "-e 'trace"), "lines", tmp_path / "program")


def test_a_filter_that_never_comes_is_a_timeout(program: Path, tmp_path: Path) -> None:
    usable(SECCOMP)
    session = SECCOMP.session(written(tmp_path / "read", "-e trace=read"), "lines", program)
    workload = WorkloadProcess(
        WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED)
    )  # not started by strace
    try:
        session.attach(workload.pid)
        with pytest.raises(TracerFailed, match="no probe was live") as failure:
            session.ready(AT_ONCE_S)
    finally:
        workload.end()
        session.end()
    assert failure.value.status == "timeout"
    assert not session.work.path.exists()


def test_a_workload_is_live_only_under_a_filter_that_strace_itself_does_not_have() -> None:
    child = {"TracerPid": "7", "Seccomp": "2", "Seccomp_filters": "2", "State": "S (sleeping)"}
    container = {"Seccomp_filters": "1"}
    assert attaching._is_filtered(child, 7, container)
    assert attaching._is_filtered({**child, "Seccomp_filters": "1"}, 7, {"Seccomp_filters": "0"})
    for fault in (
        {"TracerPid": "8"},
        {"Seccomp": "0"},
        {"Seccomp_filters": "1"},
        {"State": "t (tracing stop)"},
    ):
        assert not attaching._is_filtered({**child, **fault}, 7, container)
    assert not attaching._is_filtered({}, 7, container)


def test_where_the_kernel_lists_no_children_every_process_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("1", "20", "self", "sys"):
        (tmp_path / "proc" / name).mkdir(parents=True)
    monkeypatch.setattr(processes, "ROOT", tmp_path)
    assert sorted(processes.children(1)) == [1, 20]
    (tmp_path / "proc/1/task/1").mkdir(parents=True)
    (tmp_path / "proc/1/task/1/children").write_text("20 ", encoding="utf-8")
    assert processes.children(1) == [20]
