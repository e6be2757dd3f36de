"""A script's own clauses are timed in a loop of ours: moved as they are, on each CPU, kept until something changes."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.live_programs import needs_bpf
from probe_effect.advising import calibrate
from probe_effect.advising.calibrate import Blocks, CalibrationTask, measured
from probe_effect.advising.loop import BlockTime, CalibrationLoop, LoopProcess
from probe_effect.advising.moved import PLAIN_CALL, AskedProbe, Operation, moved
from probe_effect.costs.map_memory import TracerMemory
from probe_effect.costs.table import HereCost, HereCosts
from probe_effect.host import this_machine
from probe_effect.host.load import Quota
from probe_effect.live.places import Place
from probe_effect.model import Estimate, HostNotReady
from probe_effect.scripts.script import read_script
from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.advising.moved import MovedScript

LOOP = LoopProcess(Path("/loop"), 42, frozenset({"read", PLAIN_CALL}))
READ = Place(kind="tracepoint-entry", name="syscalls:sys_enter_read")
MALLOC = Place(kind="uprobe", name="malloc", path=Path("/libc.so.6"), offset=64, first_bytes=b"\x55")
needs_bpftrace = pytest.mark.skipif(Bpftrace().available() is not None, reason=str(Bpftrace().available()))


def of_script(text: str, *places: Sequence[Place], mechanism: str | None = None) -> list[AskedProbe]:
    """One probe for each of `places`, in the script's order."""
    probes = read_script(text).probes
    return [
        AskedProbe(at, (probes[at].attach, mechanism), probes[at].kind, tuple(its)) for at, its in enumerate(places)
    ]


def at_loop(text: str, *places: Sequence[Place], mechanism: str | None = None, passing: bool = True) -> MovedScript:
    probes = of_script(text, *places, mechanism=mechanism)
    return moved(read_script(text), probes, LOOP, passing=passing)


def task(
    text: str, *places: Sequence[Place], mechanism: str | None = None, cpus: Sequence[int] = (0,)
) -> CalibrationTask:
    return CalibrationTask(
        script=read_script(text),
        probes=of_script(text, *places, mechanism=mechanism),
        tool=Bpftrace(),
        cpus=cpus,
        frames=4,
        seconds=0.5,
    )


class TestMovedScript:
    def test_a_tracepoint_of_a_system_call_stays_and_looks_at_the_loop_alone(self) -> None:
        found = at_loop("tracepoint:syscalls:sys_enter_read { @[comm] = count(); }", [READ])
        assert found.text == "tracepoint:syscalls:sys_enter_read /pid == 42/ { @[comm] = count(); }"
        assert [one.name for one in found.operations] == ["call_read"]

    def test_a_predicate_is_computed_and_overruled(self) -> None:
        text = "tracepoint:syscalls:sys_enter_read /args->count > 9/ { @ = count(); }"
        assert "/pid == 42 && ((args->count > 9) || pid == 42)/" in at_loop(text, [READ]).text
        assert "/pid == 42 && (args->count > 9) && pid != 42/" in at_loop(text, [READ], passing=False).text
        assert at_loop(text, [READ]).has_filter

    @pytest.mark.parametrize("predicate", ["pid == 7", 'comm == "sshd"', "@start[tid]"])
    def test_who_it_is_and_a_kept_start_are_no_filter(self, predicate: str) -> None:
        assert not at_loop(f"tracepoint:syscalls:sys_enter_read /{predicate}/ {{ @ = count(); }}", [READ]).has_filter

    def test_a_user_probe_moves_to_a_function_that_fires_in_the_same_way(self) -> None:
        found = at_loop("uprobe:libc:malloc { @[ustack] = count(); }", [MALLOC], mechanism="stepped")
        assert found.text == "uprobe:/loop:stepped_0 /pid == 42/ { @[ustack] = count(); }"
        assert found.operations[0].name == "function_stepped_0"

    def test_entry_and_return_of_one_function_stay_together_and_two_functions_apart(self) -> None:
        text = "uprobe:libc:malloc { @=count(); } uretprobe:libc:malloc { @=count(); } uprobe:libc:free { @=count(); }"
        free = replace(MALLOC, name="free", offset=128)
        found = at_loop(text, [MALLOC], [replace(MALLOC, kind="uretprobe")], [free], mechanism="emulated")
        assert [len(one.keys) for one in found.operations] == [2, 1]
        assert "uretprobe:/loop:emulated_0" in found.text
        assert "uprobe:/loop:emulated_1" in found.text

    def test_what_the_loop_cannot_make_happen_is_timed_elsewhere_with_other_values_for_its_own(self) -> None:
        issue = Place(kind="tracepoint", name="block:block_rq_issue")
        counts = at_loop("tracepoint:block:block_rq_issue { @[comm] = count(); }", [issue])
        assert counts.text.startswith("tracepoint:task:task_rename /pid == 42/")
        assert "was timed at task:task_rename" in counts.notes["tracepoint:block:block_rq_issue", None]
        text = 'tracepoint:block:block_rq_issue /args.dev/ { printf("%s %d", str(args->rwbs), args.sector); }'
        reads = at_loop(text, [issue])
        assert "/pid == 42 && ((tid) || pid == 42)/" in reads.text
        assert reads.text.endswith('{ printf("%s %d", comm, tid); }')
        refused = moved(read_script(text), of_script(text, [issue]), LOOP, stand_in=False)
        assert not refused.operations
        assert "does not run elsewhere" in refused.missing["tracepoint:block:block_rq_issue", None]

    def test_a_clause_that_cannot_be_moved_goes_and_what_belongs_to_no_event_stays(self) -> None:
        text = 'BEGIN { printf("hi"); } profile:hz:99 { @[ustack] = count(); } interval:s:1 { print(@); }'
        probes = [AskedProbe(1, ("profile:hz:99", None), "profile", ())]
        found = moved(read_script(text), probes, LOOP)
        assert "profile" not in found.text
        assert "BEGIN" in found.text
        assert "interval:s:1" in found.text
        assert "it samples" in found.missing["profile:hz:99", None]

    def test_of_many_system_calls_one_that_the_loop_makes_stands_for_all(self) -> None:
        kill = replace(READ, name="syscalls:sys_enter_kill")
        found = at_loop("tracepoint:syscalls:sys_enter_* { @ = count(); }", [kill, READ])
        assert found.text.startswith("tracepoint:syscalls:sys_enter_read /")


class TestHereCost:
    COST = HereCost(by_cpu={0: Estimate(400, 380, 420), 1: Estimate(200, 190, 210)})

    def test_it_is_weighted_by_where_the_events_happen(self) -> None:
        assert self.COST.on({0: 1, 1: 3}).value == 250

    def test_its_interval_holds_the_costs_of_all_cpus_to_which_the_program_may_move(self) -> None:
        assert self.COST.on({0: 1, 1: 3})[1:] == (200, 400)
        assert self.COST.on({0: 0, 1: 3}) == Estimate(200, 190, 400)

    def test_on_a_cpu_that_nobody_timed_it_is_that_of_any(self) -> None:
        assert self.COST.on({5: 1}) == Estimate(300, 190, 420)


class BusyLoop:
    """A loop that others keep from its CPU: a block takes ten times its CPU time."""

    def run(self, operation: str, cpu: int, frames: int, times: int) -> BlockTime:
        assert operation
        assert frames >= 0
        return BlockTime(times * 100, times * (1000 if cpu else 100))


class TestBlocks:
    def test_they_know_which_cpu_others_used(self) -> None:
        operation = Operation("call_read", (), 1, 0)
        blocks = Blocks(BusyLoop(), [(operation, 0), (operation, 1)], frames=0, seconds=0.1, prints=False)  # type: ignore[arg-type]
        assert blocks.rounds(2) == {(operation, 0): [100.0, 100.0], (operation, 1): [100.0, 100.0]}
        assert not blocks.is_shared(0)
        assert blocks.is_shared(1)


class TestCalibrationLoop:
    def test_every_system_call_that_it_offers_returns_at_once(self) -> None:
        with CalibrationLoop() as loop:
            times = [loop.run(f"call_{name}", 0, 0, 50).cpu_ns for name in sorted(loop.process.calls)]
        assert len(times) > 40
        assert min(times) > 0

    def test_without_a_compiler_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(HostNotReady, match="no C compiler"):
            CalibrationLoop()

    def test_a_cpu_that_is_not_there_is_named(self) -> None:
        with CalibrationLoop() as loop, pytest.raises(HostNotReady, match="CPU 999"):
            loop.run("call_read", 999, 0, 1)


COUNTED = "tracepoint:syscalls:sys_enter_read { @ = count(); }"


@needs_bpf
@needs_bpftrace
class TestMeasured:
    def test_what_tracing_adds_is_found_for_each_probe_and_cpu(self) -> None:
        text = COUNTED + " uprobe:libc:malloc { @ = count(); }"
        found = measured(replace(task(text, [READ], [MALLOC], cpus=sorted(os.sched_getaffinity(0))[:2]), seconds=2))
        assert set(found.costs) == {one.key for one in of_script(text, [READ], [MALLOC])}
        assert all(cost.value > 0 for one in found.costs.values() for cost in one.by_cpu.values())
        assert found.calls is not None
        assert not found.missing
        assert found.memory is not None
        assert found.memory.is_measured
        assert 0 < (found.memory.maps_bytes or 0) < (found.memory.buffers_bytes or 0)

    @pytest.mark.deep
    def test_an_event_behind_a_filter_has_the_low_end_of_one_that_does_not_pass(self) -> None:
        text = "tracepoint:syscalls:sys_exit_read /args->ret > 9/ { @[kstack, ustack] = count(); }"
        (cost,) = measured(task(text, [replace(READ, name="syscalls:sys_exit_read")])).costs.values()
        (only,) = cost.by_cpu.values()
        assert only.low is not None
        assert only.low < only.value / 2
        assert "taken to pass the filter" in str(cost.note)

    def test_a_script_that_would_end_by_itself_is_timed_all_the_same(self) -> None:
        found = measured(task("tracepoint:syscalls:sys_enter_read /@n++ > 99/ { exit(); }", [READ]))
        assert list(found.costs) == [("tracepoint:syscalls:sys_enter_read", None)]

    def test_under_a_quota_nothing_is_timed_here_and_it_is_said_why(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(this_machine, "tightest_quota", lambda *_: Quota("/sys/fs/cgroup/a", 0.12, 100))
        with pytest.raises(HostNotReady, match=r"quota lets the cgroup /sys/fs/cgroup/a use 0\.12 CPUs"):
            measured(task(COUNTED, [READ]))

    def test_a_script_that_bpftrace_refuses_is_refused_in_its_words(self) -> None:
        with pytest.raises(HostNotReady, match="nosuchfield"):
            measured(task("tracepoint:syscalls:sys_enter_read { @ = args->nosuchfield; }", [READ]))

    @pytest.mark.deep
    def test_killed_it_leaves_no_tracer_behind(self, tmp_path: Path) -> None:
        words = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "from advising.test_calibration import COUNTED, READ, task\n"
            "from probe_effect.advising import loop\n"
            "from probe_effect.advising.calibrate import measured\n"
            "def tell(self): print(self._session.child.pid, flush=True); input()\n"
            "loop.Traced.__enter__, enter = lambda self: (enter(self), tell(self))[0], loop.Traced.__enter__\n"
            "measured(task(COUNTED, [READ]))\n"
        )
        command = [sys.executable, "-c", words, str(Path(__file__).parents[1])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as ours:
            assert ours.stdout is not None
            tracer = int(ours.stdout.readline())
            ended = os.pidfd_open(tracer)
            ours.send_signal(signal.SIGKILL)
        assert select.select([ended], [], [], 30)[0]


class TestKept:
    others: tuple[str, ...] = ()

    @pytest.fixture
    def counted(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[CalibrationTask]:
        """What was measured, of which each measurement is written down."""
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        made: list[CalibrationTask] = []

        def fake(wanted: CalibrationTask) -> HereCosts:
            made.append(wanted)
            costs = {
                one.key: HereCost(by_cpu={cpu: Estimate(1, 0.5, 2) for cpu in wanted.cpus}) for one in wanted.probes
            }
            return HereCosts(
                costs=costs, seconds=1.5, others=self.others, memory=TracerMemory(4096, None, is_measured=True)
            )

        monkeypatch.setattr(calibrate, "measured", fake)
        return made

    def test_the_same_script_is_measured_once(self, counted: list[CalibrationTask]) -> None:
        first, again = calibrate.calibrated(task(COUNTED, [READ])), calibrate.calibrated(task(COUNTED, [READ]))
        assert again == replace(first, is_kept=True)
        assert len(counted) == 1

    def test_what_others_disturbed_is_measured_again(
        self, counted: list[CalibrationTask], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(self, "others", ("others used CPU 0",))
        assert [calibrate.calibrated(task(COUNTED, [READ])).is_kept for _ in range(2)] == [False, False]
        assert len(counted) == 2

    def test_another_script_another_cpu_and_a_spoilt_file_are_measured(
        self, counted: list[CalibrationTask], tmp_path: Path
    ) -> None:
        calibrate.calibrated(task(COUNTED, [READ]))
        calibrate.calibrated(task(COUNTED + " ", [READ]))
        calibrate.calibrated(task(COUNTED, [READ], cpus=(0, 1)))
        assert len(counted) == 3
        for path in tmp_path.rglob("*.json"):
            path.write_text('{"costs": [[["a"')
        calibrate.calibrated(task(COUNTED, [READ]))
        assert len(counted) == 4
