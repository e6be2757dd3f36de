"""How often probes fire is counted exactly, for whom it is asked, and within the budget."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from helpers.live_programs import FUNCTIONS, compiled, lacks_cookies, needs_bpf, needs_counting
from probe_effect.advising.loop import CalibrationLoop
from probe_effect.host.kernel import LOCKDOWN
from probe_effect.host.symbols import matching_functions
from probe_effect.live import attachment, bpf_objects, kernel_calls, own_cost
from probe_effect.live import count as counting
from probe_effect.live import target as targets
from probe_effect.live.attachment import Attachments
from probe_effect.live.count import Countable, Target, count
from probe_effect.live.loaded import PROGRAM_ID
from probe_effect.live.own_cost import UNKNOWN_NS, Rates, event_costs
from probe_effect.live.target import TargetProcesses, ThreadUse
from probe_effect.live.window import Observation
from probe_effect.model import HostNotReady, UsageError, series_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.live.count import CountableProbe, CountResult, ProbeRate

READ = Countable(probe="read", kind="tracepoint", name="syscalls:sys_enter_read")
PLENTY_RATIO = 10.0


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("counted"))


def counted(
    probes: list[Countable], target: Target, *, seconds: float = 20.0, budget: float = PLENTY_RATIO
) -> CountResult:
    return count(probes, target, seconds=seconds, budget_ratio=budget)


def rates(found: CountResult) -> dict[str, ProbeRate]:
    return {one.probe: one for one in found.rates}


def command(program: Path, *words: object) -> Target:
    return Target(command=(str(program), *map(str, words)))


def functions(program: Path, pattern: str, kind: CountableProbe = "uprobe") -> list[Countable]:
    found = matching_functions(program, pattern)
    return [Countable(probe=name, kind=kind, path=program, offsets=(one.offset,)) for name, one in found.items()]


@pytest.fixture
def endless(program: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that reads without end."""
    with subprocess.Popen([program, "1000", "0", "0", "endless"]) as process:
        yield process
        process.kill()


# For real


@needs_counting
def test_each_read_of_a_command_is_counted_once_and_told_by_thread_and_cpu(program: Path) -> None:
    none, many = (rates(counted([READ], command(program, reads, 0, 0)))["read"] for reads in (0, 1234))
    assert many.events - none.events == 1234  # the rest are the loader's
    assert sum(many.by_thread.values()) == sum(many.by_cpu.values()) == many.events
    assert len(many.by_thread) == 1


@needs_counting
def test_the_children_of_a_command_count_too_each_as_a_thread_of_its_own(program: Path) -> None:
    alone = rates(counted([READ], command(program, 0, 0, 0)))["read"].events
    found = rates(counted([READ], command(program, 100, 0, 3)))["read"]
    assert found.events - alone == 100 * 4
    assert len(found.by_thread) == 4


@needs_counting
def test_five_hundred_functions_are_counted_at_once(program: Path) -> None:
    found = counted(functions(program, "one_*"), command(program, 0, 7, 0))
    assert [one.events for one in found.rates] == [7] * FUNCTIONS


@needs_counting
def test_returns_are_counted_as_entries_are_and_both_beside_tracepoints(program: Path) -> None:
    entry, back = functions(program, "often"), functions(program, "often", "uretprobe")
    back = [Countable(probe="back", kind="uretprobe", path=program, offsets=one.offsets) for one in back]
    found = rates(counted([*entry, *back, READ], command(program, 10, 42, 0)))
    assert (found["often"].events, found["back"].events) == (42, 42)
    assert found["read"].events >= 10


@needs_counting
def test_where_the_kernel_has_no_links_to_many_each_function_gets_a_perf_event(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(kernel_calls, "link_uprobes", refuse)
    found = rates(counted(functions(program, "one_1?"), command(program, 0, 5, 0)))
    assert {name: one.events for name, one in found.items()} == {f"one_{i}": 5 for i in range(10, 20)}


@needs_counting
def test_a_probe_that_cannot_be_attached_is_named_and_spoils_no_other(program: Path) -> None:
    good = functions(program, "one_*")
    bad = Countable(probe="bad", kind="uprobe", path=program, offsets=(1 << 40,))
    none = Countable(probe="none", kind="tracepoint", name="syscalls:none")
    found = counted([*good, bad, none], command(program, 0, 2, 0))
    assert [one.events for one in found.rates] == [2] * FUNCTIONS
    assert set(found.not_counted) == {"bad", "none"}
    assert found.not_counted["none"] == "no tracepoint syscalls:none"


@needs_counting
@pytest.mark.deep
def test_a_hot_probe_is_counted_in_many_windows_over_the_whole_time_within_the_budget(
    endless: subprocess.Popen[bytes],
) -> None:
    found = counted([READ], Target(pid=endless.pid), seconds=1.0, budget=0.01)
    read = rates(found)["read"]
    assert not read.complete
    assert read.seconds < found.elapsed_s
    assert read.low_hz is not None
    assert read.busiest_hz is not None
    assert read.low_hz < read.hz
    assert "because more would exceed the budget" in str(read.note)
    assert found.threads[0].pid == endless.pid
    assert found.counting_cpu_s > 0


@needs_counting
def test_a_call_is_counted_once_at_its_entry_its_return_and_among_all_calls(program: Path) -> None:
    names = ("syscalls:sys_exit_read", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit")
    probes = [READ, *(Countable(probe=name, kind="tracepoint", name=name) for name in names)]
    few, many = (rates(counted(probes, command(program, reads, 0, 0))) for reads in (0, 1000))
    found = [many[one.probe].events - few[one.probe].events for one in probes]
    assert found == [1000] * 4, [one.by_thread for each in (few, many) for one in each.values()]


@needs_counting
def test_where_the_kernel_refuses_raw_tracepoints_a_perf_event_counts(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(kernel_calls, "link_raw_tracepoint", refuse)
    none, many = (rates(counted([READ], command(program, reads, 0, 0)))["read"] for reads in (0, 1234))
    assert many.events - none.events == 1234


@needs_counting
def test_events_of_others_are_told_apart_from_those_of_the_target(endless: subprocess.Popen[bytes]) -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as idle, contextlib.ExitStack() as undo:
        undo.callback(idle.kill)
        read = rates(counted([READ], Target(pid=idle.pid), seconds=0.2))["read"]
    assert read.events == 0
    assert read.elsewhere_events > 0
    assert endless.poll() is None


@needs_counting
def test_the_whole_machine_and_a_cgroup_count_everybody_in_them(endless: subprocess.Popen[bytes]) -> None:
    everywhere = rates(counted([READ], Target(), seconds=0.2))["read"]
    assert everywhere.by_thread[endless.pid] > 0
    assert everywhere.elsewhere_events == 0


@needs_counting
def test_a_process_that_ends_while_it_is_counted_ends_the_counting_and_it_says_so(program: Path) -> None:
    found = counted([READ], command(program, 10, 0, 0))
    assert "the process ended" in str(found.rates[0].note)


def held(pid: int) -> set[int]:
    """The ids of the programs that a process holds; others may load and hold some meanwhile."""
    texts = [path.read_text() for path in Path(f"/proc/{pid}/fdinfo").iterdir() if path.exists()]
    return {int(found[1]) for text in texts for found in PROGRAM_ID.finditer(text)}


@needs_counting
@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=pytest.mark.deep), signal.SIGKILL])
def test_nothing_remains_in_the_kernel_however_the_counting_ends(
    endless: subprocess.Popen[bytes], how: signal.Signals
) -> None:
    counted([READ], Target(pid=endless.pid), seconds=0.1)
    assert held(os.getpid()) == set()
    script = (
        "from probe_effect.live.count import *\n"
        f"probe = Countable(probe='r', kind='tracepoint', name='{READ.name}')\n"
        f"count([probe], Target(pid={endless.pid}), seconds=60, budget_ratio=10,"
        " on_progress=lambda *_: print('counting', flush=True))"
    )
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"counting\n"
        programs = held(process.pid)
        assert programs
        process.send_signal(how)
        process.wait()
    with contextlib.suppress(StopIteration):  # the kernel frees programs after a grace period
        next(_ for _ in range(100_000) if not programs & {one.id for one in bpf_objects.programs()})
    assert not programs & {one.id for one in bpf_objects.programs()}
    assert not programs & {one.program for one in bpf_objects.links()}


@needs_counting
@pytest.mark.parametrize("mechanism", own_cost.FUNCTIONS.get(platform.machine(), ()))
@pytest.mark.parametrize("kind", ["uprobe", "uretprobe"])
def test_what_a_probe_of_a_program_costs_is_measured_on_a_function_of_our_own(
    kind: CountableProbe, mechanism: str
) -> None:
    event_ns, others_s = event_costs([Countable(probe="any", kind=kind, mechanism=mechanism)])
    assert list(event_ns) == [kind]
    assert 0 <= event_ns[kind] != UNKNOWN_NS
    assert others_s == 0


@needs_bpf
def test_a_kind_that_the_kernel_refuses_is_taken_to_cost_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_cost, "FUNCTIONS", {})  # as on an architecture whose instructions nobody wrote down
    assert event_costs([Countable(probe="any", kind="uprobe")])[0] == {"uprobe": UNKNOWN_NS}


@needs_counting
@pytest.mark.parametrize("frames", [8, 30])
def test_the_depth_of_stacks_is_that_of_the_program(frames: int) -> None:
    with CalibrationLoop() as loop:
        (probe,) = functions(loop.process.path, "emulated_0")
        with contextlib.closing(
            Attachments([probe], [loop.process.pid], follow=False, pid=loop.process.pid, stacks=True)
        ) as seen:
            assert seen.frames() is None
            seen.switch(on=True)
            loop.run("function_emulated_0", 0, frames, 100)
            assert seen.frames() == frames
            assert sum(map(sum, seen.read().values())) == 100


@needs_counting
def test_stacks_of_others_do_not_count() -> None:
    with CalibrationLoop() as own, CalibrationLoop() as other:
        getppid = Countable(probe="getppid", kind="tracepoint", name="syscalls:sys_enter_getppid")
        with contextlib.closing(Attachments([getppid], [own.process.pid], follow=False, stacks=True)) as seen:
            seen.switch(on=True)
            other.run("call_getppid", 0, 40, 1_000)
            assert seen.frames() is None
            own.run("call_getppid", 0, 8, 1_000)
            assert 0 < (seen.frames() or 0) < 20


@needs_counting
def test_between_windows_nothing_is_attached(program: Path) -> None:
    attachments = Attachments([READ, *functions(program, "one_1?")], None, follow=False)
    try:
        ours = held(os.getpid())
        assert ours & {one.program for one in bpf_objects.links()}
        attachments.detach()
        assert not ours & {one.program for one in bpf_objects.links()}
    finally:
        attachments.close()


@needs_counting
def test_a_burst_at_the_end_of_a_run_is_seen() -> None:
    script = "sleep 0.4; i=0; while [ $i -lt 3000 ]; do [ -e / ]; i=$((i + 1)); done"
    probe = Countable(probe="all", kind="tracepoint", name="raw_syscalls:sys_enter")
    found = counted([probe], Target(command=("/bin/sh", "-c", script)))
    (burst,) = found.rates
    assert burst.events > 3000
    assert burst.busiest_hz is not None
    assert burst.busiest_hz > burst.hz


def burst(program: Path, before: int, calls: int, after: int) -> Target:
    """A shell that works, has `often` called so many times, and works on."""
    work = "i=0; while [ $i -lt {} ]; do i=$((i + 1)); done; "
    script = work.format(before) + '"$0" 0 "$1" 0; ' + work.format(after)
    return Target(command=("/bin/sh", "-c", script, str(program), str(calls)))


@needs_counting
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(0, 200_000, marks=pytest.mark.deep),
        pytest.param(200_000, 0, marks=pytest.mark.deep),
        (100_000, 100_000),
    ],
)
def test_within_the_usual_budget_a_burst_is_counted_whole_wherever_it_is(
    program: Path, before: int, after: int
) -> None:
    found = rates(counted(functions(program, "often"), burst(program, before, 3_000, after), seconds=60, budget=0.01))
    assert found["often"].events == 3_000
    assert not found["often"].at_least


@needs_counting
@pytest.mark.deep
def test_a_burst_too_large_for_the_budget_has_no_rate_below_what_was_seen(program: Path) -> None:
    target = burst(program, 0, 200_000, 100_000)
    found = counted(functions(program, "often"), target, seconds=60, budget=0.0001)
    (often,) = found.rates
    assert often.events < 200_000
    assert often.low_hz is not None
    assert often.low_hz <= 200_000 / found.alone_s
    assert often.high_hz is None
    assert "at least this rate" in str(often.note)


@needs_counting
@pytest.mark.skipif(bpf_objects.cpu_time_offset() is None, reason="the kernel does not describe its structures")
def test_a_child_that_has_ended_is_told_with_its_name_and_the_cpu_time_of_all_its_life(program: Path) -> None:
    found = counted(functions(program, "often"), burst(program, 0, 300_000, 0), seconds=60, budget=0.0001)
    first, second = found.threads[:2]
    assert (first.comm, second.comm) == ("counted", "sh")
    assert first.pid != second.pid
    assert first.cpu_s > 10 * second.cpu_s > 0
    assert first.cpu_s <= found.threads_s * (os.cpu_count() or 1)


@needs_counting
def test_a_kernel_that_does_not_describe_its_structures_counts_children_all_the_same(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpf_objects, "cpu_time_offset", lambda: None)
    found = counted(functions(program, "often"), burst(program, 0, 100, 0))
    assert found.rates[0].events == 100


@needs_counting
def test_two_probes_at_one_place_are_counted_once_for_both(program: Path) -> None:
    (one,) = functions(program, "often")
    both = [one, replace(one, probe="again")]
    found = counted(both, command(program, 0, 42, 0))
    assert {rate.probe: rate.events for rate in found.rates} == {"often": 42, "again": 42}
    alone = counted([one], command(program, 0, 42, 0))
    assert len(found.rates[0].by_thread) == len(alone.rates[0].by_thread) == 1


@needs_counting
def test_a_command_that_ends_before_the_first_window_is_over_is_counted_from_its_start() -> None:
    execute = Countable(probe="exec", kind="tracepoint", name="sched:sched_process_exec")
    found = counted([execute], Target(command=("/bin/true",)))
    assert found.rates[0].events == 1
    assert "ended" in str(found.rates[0].note)


@needs_counting
def test_a_process_that_executes_another_program_is_counted_on(program: Path) -> None:
    script = 'exec "$0" 1234 0 0'
    one = rates(counted([READ], Target(command=("/bin/sh", "-c", script, str(program)))))["read"]
    assert one.events >= 1234


@lacks_cookies
def test_a_kernel_without_cookies_is_told_what_counting_expects(program: Path) -> None:
    with pytest.raises(HostNotReady, match=r"the kernel refuses .* expected 5\.15 or newer"):
        counted([READ], command(program, 1, 0, 0))


# Whom to count


def test_a_process_that_is_not_there_is_named_with_what_was_expected() -> None:
    with pytest.raises(UsageError, match="process 4194304: found none, expected the id of a process that runs here"):
        TargetProcesses(Target(pid=1 << 22))


def test_an_id_that_a_container_gave_is_told_by_the_id_that_it_has_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_inner_pids", lambda: iter([(5123, 1 << 22), (77, 3)]))
    with pytest.raises(UsageError, match="inside a container process 5123 is called so: give that one"):
        TargetProcesses(Target(pid=1 << 22))


def test_a_folder_that_is_no_cgroup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a folder with the file cgroup\.procs"):
        TargetProcesses(Target(cgroup=tmp_path))


def test_processes_of_a_cgroup_are_those_in_it_and_below_it(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "cgroup.procs").write_text("7\n8\n")
    (tmp_path / "below" / "cgroup.procs").write_text("9\n")
    assert TargetProcesses(Target(cgroup=tmp_path)).pids() == [7, 8, 9]


def test_in_a_container_with_its_own_process_ids_it_says_where_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").symlink_to("pid:[4026532198]")
    monkeypatch.setattr(targets, "ROOT", tmp_path)
    with pytest.raises(HostNotReady, match="docker run --pid=host"):
        TargetProcesses(Target(pid=1))


def test_a_command_that_a_shell_cannot_run_ends_at_once_and_nothing_is_left() -> None:
    followed = TargetProcesses(Target(command=("/nowhere/at/all",)))
    followed.go_on()
    assert followed.wait(10)
    followed.close()


# What the kernel refuses


def linux(release: str) -> os.uname_result:
    return os.uname_result(("Linux", "here", release, "", "x86_64"))


@pytest.mark.parametrize(
    ("number", "at", "words"),
    [
        pytest.param(
            errno.EPERM, (1000, ""), "user 1000 is not root, and kernel.perf_event_paranoid is 3", id="not root"
        ),
        pytest.param(errno.EPERM, (0, "none integrity [confidentiality]"), "the kernel is locked down", id="lockdown"),
        pytest.param(errno.EPERM, (0, "[none] integrity"), "root lacks CAP_SYS_ADMIN", id="container"),
        pytest.param(errno.ENOSYS, (0, ""), "built without BPF", id="no BPF"),
        pytest.param(errno.EINVAL, (0, ""), "expected 5.15 or newer", id="old kernel"),
        pytest.param(errno.EMFILE, (0, ""), "raise `ulimit -n`", id="many files"),
    ],
)
def test_each_refusal_of_the_kernel_is_explained(
    number: int, at: tuple[int, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, lockdown = at
    for path, text in ((LOCKDOWN, lockdown), (kernel_calls.PARANOID, "3")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(kernel_calls, "ROOT", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(os, "uname", lambda: linux("6.12.0"))
    with (
        pytest.raises(HostNotReady, match=f"counting: the kernel refuses .*{words}"),
        kernel_calls.explained("counting"),
    ):
        raise OSError(number, os.strerror(number))


def test_root_on_a_kernel_that_is_too_old_is_told_so_and_not_that_it_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Linux 5.11 a map of ours is more memory than root may lock by default."""
    monkeypatch.setattr(os, "uname", lambda: linux("5.10.0-32-amd64"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    words = r"this is Linux 5\.10\.0-32-amd64; expected 5\.15 or newer"
    with pytest.raises(HostNotReady, match=words), kernel_calls.explained("counting"):
        raise PermissionError(errno.EPERM, "Operation not permitted")


def test_kprobes_go_by_one_link_with_their_names_and_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel here has kprobes, so the system call is a fake that reads what it is given."""
    seen = []

    def fake(number: int, attributes: bytearray) -> int:
        program, _, kind, _, flags, many, names, _, cookies = struct.unpack("=4I2I3Q", attributes)
        pointers = struct.unpack(f"={many}Q", _memory(names, 8 * many))
        texts = [_memory(one, 16).split(b"\0")[0] for one in pointers]
        seen.append((number, program, kind, flags, texts, struct.unpack(f"={many}Q", _memory(cookies, 8 * many))))
        return 42

    monkeypatch.setattr(kernel_calls, "command", fake)
    assert kernel_calls.link_kprobes(5, [("vfs_read", 0), ("vfs_write", 1)], is_return=True) == 42
    assert seen == [
        (
            kernel_calls.LINK_CREATE,
            5,
            kernel_calls.KPROBE_MULTI,
            kernel_calls.MULTI_RETURN,
            [b"vfs_read", b"vfs_write"],
            (0, 1),
        )
    ]


def test_where_that_is_refused_each_kprobe_gets_a_perf_event_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = tmp_path / "sys/bus/event_source/devices/kprobe"
    (device / "format").mkdir(parents=True)
    (device / "type").write_text("6\n")
    (device / "format/retprobe").write_text("config:0\n")
    seen = []

    def fake(_: int, attributes: Any, *where: Any) -> int:  # noqa: ANN401 (ctypes')
        kind, size, config, period = struct.unpack_from("=2I2Q", attributes._obj)
        name, offset = struct.unpack_from("=2Q", attributes._obj, 56)
        text = _memory(name, 16).split(b"\0")[0]
        seen.append((kind, size, config, period, text, offset, [one.value for one in where]))
        return 43

    monkeypatch.setattr(kernel_calls, "ROOT", tmp_path)
    monkeypatch.setattr(kernel_calls, "system_call", fake)
    assert kernel_calls.open_dynamic("kprobe", b"vfs_read", 0, is_return=True) == 43
    assert seen == [(6, 72, 1, 1, b"vfs_read", 0, [-1, 0, -1, kernel_calls.CLOSE_ON_EXEC])]


def test_before_links_took_a_process_whole_its_threads_are_told_apart_by_our_program_alone() -> None:
    for release, known in (("6.6.30-amd64", False), ("6.10.3", True), ("6.18.44", True)):
        assert (series_of(release) >= attachment.OWN_PROCESS_SINCE) is known


def _memory(address: int, size: int) -> bytes:
    return ctypes.string_at(address, size)


@pytest.mark.parametrize(
    ("machine", "newfstatat", "exit_offset"),
    [("x86_64", 262, 120), ("aarch64", 79, 280), ("riscv64", 79, 136)],
)
def test_each_architecture_has_its_own_numbers_of_system_calls(
    machine: str, newfstatat: int, exit_offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    attachment.number.cache_clear()
    assert attachment.number("syscalls:sys_enter_newfstatat") == newfstatat
    assert attachment.number("syscalls:sys_exit_newuname") == attachment.number("syscalls:sys_enter_newuname")
    assert attachment.NUMBER_OFFSETS[machine] == exit_offset
    attachment.number.cache_clear()


@pytest.mark.parametrize(
    "name", ["syscalls:sys_enter_uname", "syscalls:sys_enter_nothing_like_it", "sched:sched_switch"]
)
def test_a_call_whose_number_is_not_known_is_not_counted_by_it(name: str) -> None:
    assert attachment.Countable(probe=name, kind="tracepoint", name=name).calls_end is None


# What follows from the counts


def thread(tid: int, *, cpu_s: float, waited_s: float = 0.0) -> ThreadUse:
    return ThreadUse(tid=tid, pid=tid, comm="x", cpu_s=cpu_s, waited_s=waited_s)


def one_window(threads: list[ThreadUse], *, event_ns: float) -> Rates:
    seen = Observation(length_s=1.0, counted_s=0.010, counts={(0, 7): 10_000})
    return Rates([seen] * 8, ["tracepoint"], {"tracepoint": event_ns}, threads, 1.0)


@pytest.mark.parametrize(
    ("threads", "hz"),
    [
        pytest.param([thread(7, cpu_s=1.0)], 1_250_000, id="it has a CPU of its own"),
        pytest.param([thread(7, cpu_s=0.5, waited_s=0.5)], 1_250_000, id="it shares a CPU"),
        pytest.param([thread(7, cpu_s=0.4)], 1_000_000, id="it waits for other things, and waits less instead"),
        pytest.param([], 1_250_000, id="it ended before anybody looked"),
    ],
)
def test_a_thread_that_wants_a_cpu_all_the_time_would_be_faster_uncounted(threads: list[ThreadUse], hz: float) -> None:
    found = one_window(threads, event_ns=200.0).rate([0])
    assert found.thread_hz == {7: pytest.approx(hz)}
    assert found.sampled.hz == pytest.approx(hz)
    assert not found.at_least


def test_what_one_window_saw_of_a_long_time_is_a_lower_bound() -> None:
    seen = Observation(length_s=1.0, counted_s=0.01, counts={(0, 7): 10}, cpu_s=0.01)
    many = [replace(seen, length_s=0.1)] * 10
    assert clocked(seen).rate([0]).at_least
    assert not clocked(*many).rate([0]).at_least


def test_a_rate_of_which_counting_took_nearly_all_time_is_a_lower_bound() -> None:
    found = one_window([thread(7, cpu_s=1.0)], event_ns=800.0).rate([0])
    assert found.at_least
    assert found.sampled.hz == pytest.approx(1_000_000 / 0.3)


def clocked(*windows: Observation) -> Rates:
    return Rates(windows, ["uprobe"], {"uprobe": 1_000.0}, [thread(7, cpu_s=1.0)], 1.0, busy_ratio=1.0)


def test_a_burst_that_counting_made_ten_times_as_long_has_the_rate_of_the_time_without_it() -> None:
    burst = Observation(length_s=0.1, counted_s=0.1, counts={(0, 7): 90_000}, cpu_s=0.1)
    quiet = Observation(length_s=0.9, counted_s=0.9, counts={}, cpu_s=0.9)
    found = clocked(burst, quiet).rate([0])
    assert not found.at_least
    assert found.sampled.hz == pytest.approx(90_000 / 0.91)
    assert found.thread_hz == {7: pytest.approx(90_000 / 0.91)}


def test_where_counting_took_nearly_all_of_the_time_a_complete_count_is_a_lower_bound_too() -> None:
    found = clocked(Observation(length_s=1.0, counted_s=1.0, counts={(0, 7): 900_000}, cpu_s=1.0)).rate([0])
    assert found.at_least
    assert found.sampled.low_hz <= 900_000 / 0.1


def test_a_saturated_window_that_stands_for_a_long_time_makes_a_lower_bound_of_the_rate() -> None:
    seen = Observation(length_s=0.01, counted_s=0.01, counts={(0, 7): 1_000}, cpu_s=0.01)
    hot = Observation(length_s=0.99, counted_s=0.01, counts={(0, 7): 9_000}, cpu_s=0.01)
    assert clocked(seen, hot).rate([0]).at_least


def test_of_too_many_probes_a_random_sample_is_counted_and_the_others_are_named() -> None:
    many = [Countable(probe=str(i), kind="uprobe", offsets=(i,)) for i in range(counting.MOST_PROBES + 5)]
    chosen, left_out = counting._sampled(many)
    assert len(chosen) == counting.MOST_PROBES
    assert len(left_out) == 5
    assert {one.probe for one in chosen} | set(left_out) == {one.probe for one in many}
    assert "random sample of 10000 of 10005 probes" in next(iter(left_out.values()))


@needs_counting
def test_a_profile_is_computed_from_its_frequency(endless: subprocess.Popen[bytes]) -> None:
    profile = Countable(probe="profile", kind="profile", hz=99)
    found = counted([profile], Target(pid=endless.pid), seconds=0.3).rates[0]
    assert 0 < found.hz <= 99 * 1.2
    assert "not counted" in str(found.note)


def test_what_a_thread_does_in_its_own_cpu_time_is_its_rate_however_little_it_had_in_the_windows() -> None:
    """It had a fifth of a CPU while it was counted, and the whole of one otherwise."""
    windows = [Observation(length_s=0.1, counted_s=0.001, counts={(0, 7): 200}, cpu_s=0.000_2) for _ in range(20)]
    found = Rates(windows, ["tracepoint"], {"tracepoint": 0.0}, [], 2.0, busy_ratio=1.0).rate([0])
    assert found.thread_hz == {7: pytest.approx(1e6)}
    assert found.sampled.low_hz <= found.thread_hz[7] <= found.sampled.high_hz
