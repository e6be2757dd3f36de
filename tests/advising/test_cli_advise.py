"""`probe-effect advise`: from a script and rates, given or counted, to an answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click import unstyle
from click.testing import CliRunner
from rich.cells import cell_len

from evidence.held_out import held_out
from helpers.builders import REAL_DATA
from helpers.json_keys import OF_ADVISE, undescribed
from helpers.live_programs import needs_bpf
from probe_effect import units
from probe_effect.advising import script_answer
from probe_effect.advising.here import CALLS, added, mapped_by_all, start_cost
from probe_effect.advising.script_answer import RunningSystem, ScriptAnswer, ScriptQuestion, answer_script
from probe_effect.advising.script_report import advice_json, headline, limits, width
from probe_effect.cli import commands
from probe_effect.cli.answer_output import show_advice
from probe_effect.costs.map_memory import TracerMemory
from probe_effect.costs.table import STARTS, HereCost, HereCosts
from probe_effect.live.count import CountResult, ProbeRate, Target, ThreadUse
from probe_effect.live.places import NotHere, Place
from probe_effect.model import Estimate, HostNotReady, UsageError
from probe_effect.numbers.catalogue import Catalogue, read_numbers
from probe_effect.numbers.index import for_next_run
from probe_effect.numbers.shown import Facts
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from click.testing import Result

    from probe_effect.advising.calibrate import CalibrationTask
    from probe_effect.live.count import Countable

MACHINE = "amd-epyc-2t-kvm-4247"
READS = "t:syscalls:sys_enter_read { @[comm] = count() }"
MALLOC = "uprobe:libc:malloc { @ = count() }"
LONG_NAMES = (
    "uprobe:/usr/lib/x86_64-linux-gnu/libc.so.6:malloc",
    "usdt:/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so:hotspot:class__loaded",
    "tracepoint:syscalls:sys_enter_newfstatat",
)
TID = 4711
PAGE, CPUS = os.sysconf("SC_PAGE_SIZE"), os.cpu_count() or 1
FACTS = Facts(machine="here", tier="virtual machine", architecture="x86_64", cpu_model=None, kernel_release="6.12.9")


@dataclass
class Here:
    """A system that has each probe once, and counts a thousand events of each in a second; what it counted."""

    data: DataFolder
    asked: list[Sequence[Countable]] = field(default_factory=list)
    refusal: str | None = None
    note: str | None = None
    low_hz: float | None = None
    hz: float = 1000.0
    complaint: str | None = None
    costs: HereCosts | None = None
    cannot_calibrate: str = "nobody said what it costs here"
    calibrated: list[CalibrationTask] = field(default_factory=list)
    facts: Facts = FACTS
    first_bytes: bytes = b"\x55\x48"
    bpftrace_version: str | None = "bpftrace v0.23.2"
    targets: list[Target] = field(default_factory=list)
    elsewhere_events: int = 0
    path: Path | None = None
    start: Estimate | None = None

    def calibrate(self, task: CalibrationTask) -> HereCosts:
        self.calibrated.append(task)
        if self.costs is None:
            raise HostNotReady(self.cannot_calibrate)
        return self.costs

    def places(self, attach: str, kind: str, *_: object) -> list[Place]:
        if "nowhere" in attach:
            msg = f"{attach}: nothing here matches it"
            raise NotHere(msg)
        return [
            Place(
                kind=kind,
                name=attach.partition(":")[2],
                path=self.path,
                first_bytes=self.first_bytes if "libc" in attach else None,
            )
        ]

    def count(self, countables: Sequence[Countable], target: Target, **_: object) -> CountResult:
        self.targets.append(target)
        if self.refusal is not None:
            raise HostNotReady(self.refusal)
        self.asked.append(countables)
        rate = ProbeRate(
            probe="",
            events=1000,
            seconds=1,
            by_thread={},
            by_cpu={0: 1, 1: 999},
            thread_hz={TID: self.hz},
            note=self.note,
            low_hz=self.low_hz,
            elsewhere_events=self.elsewhere_events,
        )
        return CountResult(
            rates=tuple(replace(rate, probe=one.probe) for one in countables),
            threads=(ThreadUse(tid=TID, pid=TID, comm="reader", cpu_s=0.5, waited_s=0.0),),
            threads_s=1.0,
            elapsed_s=1.0,
            counting_cpu_s=0.001,
        )

    def answer(
        self,
        script: str,
        rates_hz: Mapping[str, float] | None = None,
        budget_ratio: float = 0.01,
        *,
        is_calibrated: bool = True,
        **others: Any,  # noqa: ANN401
    ) -> ScriptAnswer:
        question = ScriptQuestion(
            text=script,
            target=others.pop("target", Target()),
            seconds=2.0,
            budget_ratio=budget_ratio,
            rates_hz=rates_hz or {},
            **{"machine": MACHINE, **others},
        )
        system = RunningSystem(
            facts=self.facts,
            places=self.places,
            count=self.count,
            complaint=lambda _: self.complaint,
            calibrate=self.calibrate if is_calibrated else None,
            bpftrace_version=lambda: self.bpftrace_version,
            start_cost=lambda _: self.start,
        )
        return answer_script(question, self.data, system)

    def json(self, script: str, rates_hz: Mapping[str, float] | None = None, **others: Any) -> dict[str, Any]:  # noqa: ANN401
        return advice_json(self.answer(script, rates_hz, **others))


@pytest.fixture(scope="module")
def numbers(real_data: DataFolder) -> Catalogue:
    return read_numbers(real_data)


@pytest.fixture
def here(real_data: DataFolder, numbers: Catalogue, monkeypatch: pytest.MonkeyPatch) -> Here:
    """With real data, which are read once for all tests."""
    read_once = {real_data: numbers}
    monkeypatch.setattr(script_answer, "read_numbers", lambda data: read_once.get(data) or read_numbers(data))
    return Here(real_data)


def run(*words: str) -> Result:
    arguments = ["advise", "--machine", MACHINE, "--data", str(REAL_DATA), *words]
    return CliRunner().invoke(commands, arguments, catch_exceptions=False, standalone_mode=False)


PROBE_KEYS = (
    "probe kind matched first_bytes mechanism action case basis rate_hz cost_ns cost_low_ns cost_high_ns"
).split()


def test_the_json_has_the_keys_that_programs_rely_on(here: Here) -> None:
    said = here.json(READS)
    assert set(OF_ADVISE) <= said.keys()
    assert undescribed("advise", said) == set()
    assert {"slowdown_ratio", "slowdown_low_ratio", "slowdown_high_ratio"} <= said["busiest_thread"].keys()
    (probe,) = said["probes"]
    assert set(PROBE_KEYS) <= probe.keys()
    assert probe["basis"] in {"measured", "composed"}
    assert len(here.asked) == 1


def test_what_was_counted_becomes_the_slowdown_of_the_thread(here: Here) -> None:
    said = here.json(READS)
    (probe,) = said["probes"]
    assert said["busiest_thread"]["slowdown_ratio"] == pytest.approx(1000 * probe["cost_ns"] * 1e-9 / 0.5, rel=0.3)
    assert (said["busiest_thread"]["tid"], said["busiest_thread"]["name"]) == (TID, "reader")
    assert said["counting_cost_ratio"] == pytest.approx(0.001 / said["counted_s"])
    assert [one.probe for one in here.asked[0]][-1] == CALLS, "a probe on system calls makes all of them slower"


def test_a_user_probe_counts_no_system_calls_and_says_how_its_first_instruction_fires(here: Here) -> None:
    (probe,) = here.json(MALLOC)["probes"]
    assert len(here.asked[0]) == 1
    assert (probe["first_bytes"], probe["mechanism"]) == ("55 48", "emulated")


@pytest.mark.parametrize(("budget_ratio", "is_within"), [(0.5, True), (0.000001, False)])
def test_the_answer_says_whether_it_stays_within_the_budget(here: Here, budget_ratio: float, is_within: bool) -> None:
    assert here.answer(READS, budget_ratio=budget_ratio).advice.within_budget is is_within


@pytest.mark.parametrize(
    ("words", "status"),
    [(["--budget", "50%"], 0), (["--budget", "0.0001%"], 1), (["-e", f"{READS} t:sched:nowhere {{ @ = count() }}"], 3)],
)
@pytest.mark.deep
def test_the_exit_status_says_it_too(words: list[str], status: int) -> None:
    rates = ["--rate", "tracepoint:syscalls:sys_enter_read=1k"]
    assert run("-e", READS, *rates, *words).return_value == status


@pytest.mark.parametrize(
    ("script", "target"),
    [
        ("strace -c -p 42", Target(pid=42)),
        ("strace -f -c --attach=42", Target(pid=42, follows=True)),
        ("perf trace -p 42", Target(pid=42, follows=True)),
        ("perf record -e raw_syscalls:sys_enter -a -p 42", Target(pid=42, follows=True)),
        (f"bpftrace -p 42 -e '{READS}'", Target(pid=42)),
        ("perf record -e raw_syscalls:sys_enter -a sleep 5", Target()),
        ("trace-cmd record -e sched:sched_switch sleep 5", Target()),
    ],
)
def test_whom_the_options_of_a_tool_name_is_who_is_counted(here: Here, script: str, target: Target) -> None:
    here.answer(script)
    assert here.targets == [target]


def test_whom_the_asker_names_goes_before_the_options_of_the_tool(here: Here) -> None:
    here.answer("strace -c -p 42", target=Target(pid=7))
    assert [one.pid for one in here.targets] == [7]


@pytest.mark.parametrize(
    ("script", "command"),
    [("strace -e trace=openat ls -l", "ls"), ("perf record -e raw_syscalls:sys_enter -- ./app", "./app")],
)
def test_a_command_behind_the_tool_is_not_started_and_the_answer_says_where_to_put_it(
    here: Here, script: str, command: str
) -> None:
    with pytest.raises(
        UsageError, match=rf"watches only the command behind it, `{command}`.*give the command behind --"
    ):
        here.answer(script)
    assert here.targets == []
    here.answer(script, target=Target(command=(command,)))
    assert len(here.targets) == 1


def test_a_process_that_only_a_shell_can_name_is_asked_for(here: Here) -> None:
    with pytest.raises(UsageError, match="watch process “\\$\\(pidof”: expected one id, in digits, or --pid"):
        here.answer("strace -c -p $(pidof app)")


@pytest.mark.parametrize(("version", "is_everywhere"), [("bpftrace v0.17.0", True), ("bpftrace v0.20.0", False)])
def test_an_older_bpftrace_sets_the_probes_of_one_process_in_all_and_others_are_told(
    here: Here, version: str, is_everywhere: bool
) -> None:
    here.bpftrace_version, here.elsewhere_events = version, 5000
    assumed = " ".join(here.json(MALLOC, target=Target(pid=42))["assumptions"])
    assert ("others fired it" in assumed) is is_everywhere
    assert (units.stated(5000.0, units.RATE) in assumed) is is_everywhere
    assert here.targets == [Target(pid=42, everywhere=is_everywhere)]


def test_probes_take_no_more_cpus_than_there_are(here: Here) -> None:
    here.hz = 1e9
    said = here.json(READS)
    assert said["cpu_s_per_s"] == said["probes"][0]["cpu_s_per_s"] == os.cpu_count()


@pytest.mark.parametrize(("hz", "within"), [(1_000.0, None), (300_000.0, False)])
def test_of_what_could_not_be_counted_there_is_a_lower_bound_and_no_upper_one(
    here: Here, capsys: pytest.CaptureFixture[str], hz: float, within: bool | None
) -> None:
    here.hz, here.low_hz = hz, 0.9 * hz
    answer = here.answer(READS)
    said = advice_json(answer)
    assert answer.advice.within_budget is within
    assert said["busiest_thread"]["slowdown_low_ratio"] > 0
    assert said["busiest_thread"]["slowdown_high_ratio"] is said["cpu_high_s_per_s"] is None
    assert said["probes"][0]["rate_high_hz"] is None
    show_advice(answer)
    shown = " ".join(capsys.readouterr().out.split())
    assert "is slowed by at least" in shown
    assert "it could not be counted without slowing it; `probe-effect try` measures it" in shown
    assert [words for words in ("go ahead", "trace for minutes", "up to") if words in shown] == []


def test_a_lower_bound_in_the_worst_band_is_advice_enough(here: Here) -> None:
    here.hz, here.low_hz = 1e7, 9e6
    assert str(here.json(READS)["recommendation"]).startswith("Above 30")


def test_a_probe_that_is_not_here_is_named_and_the_rest_is_answered(here: Here) -> None:
    answer = here.answer(f"{READS} t:sched:nowhere {{ @ = count() }}")
    assert answer.advice.within_budget is None
    said = headline(answer)
    assert "It is not known whether" in said
    assert "how often tracepoint:sched:nowhere fires is not known" in said
    assert "reader (thread 4711" in said


def test_a_script_that_does_not_compile_is_refused_with_the_words_of_bpftrace(here: Here) -> None:
    here.complaint = "ERROR: Unknown function: kount"
    with pytest.raises(UsageError, match="does not compile; bpftrace says:\nERROR: Unknown function: kount"):
        here.answer(READS)


def test_rates_that_are_given_need_no_counting(here: Here) -> None:
    answer = here.answer(READS, {"tracepoint:syscalls:sys_enter_read": 1e6})
    assert here.asked == []
    assert answer.advice.within_budget is False
    assert "a busy thread is slowed by" in headline(answer)


def test_where_counting_is_refused_the_rates_that_matter_are_told_with_the_reason(
    here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    here.refusal = "counting needs root"
    answer = here.answer(READS)
    show_advice(answer)
    shown = capsys.readouterr().out
    assert answer.advice.within_budget is None
    assert "counting needs root" in shown
    assert "k/s" in shown.partition("begins to matter")[2]


def test_what_bpftrace_took_while_it_was_timed_is_the_memory(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    here.costs = replace(MEASURED_HERE, memory=TracerMemory(3 << 20, 130 << 12, is_measured=True))
    answer = here.answer(READS, machine=None)
    assert advice_json(answer)["memory"] == {"maps_bytes": 3 << 20, "buffers_bytes": 130 << 12, "is_measured": True}
    show_advice(answer)
    shown = " ".join(capsys.readouterr().out.split())
    assert "maps 3.00 MiB, buffers 520 KiB, beside its process; read while it was measured here" in shown


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (
            "bpftrace v0.17.0",
            " ".join(
                f"maps not known, buffers {units.size(65 * PAGE * CPUS)}, beside its process; by its defaults".split()
            ),
        ),
        (None, "memory not known"),
    ],
)
def test_memory_that_was_not_read_is_by_the_defaults_or_not_known(
    here: Here, capsys: pytest.CaptureFixture[str], version: str | None, told: str
) -> None:
    here.bpftrace_version = version
    answer = here.answer(READS)
    show_advice(answer)
    assert told in " ".join(capsys.readouterr().out.split())
    assert advice_json(answer)["memory"]["maps_bytes"] is None


READ = "tracepoint:syscalls:sys_enter_read"
MEASURED_HERE = HereCosts(
    costs={(READ, None): HereCost(by_cpu={1: Estimate(480.0, 450.0, 560.0)}, note="The loop has a shallow stack.")},
    seconds=3.1,
    missing={("uprobe:libc:malloc", "emulated"): "no room"},
    others=("bpftrace (PID 9)",),
)


def test_what_was_measured_here_is_the_cost_and_the_answer_says_how(
    here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    here.costs = MEASURED_HERE
    answer = here.answer(f"{READS} {MALLOC}", machine=None)
    (asked,) = here.calibrated
    assert (asked.tool.id, list(asked.cpus)) == ("bpftrace", [1, 0])
    assert [probe.key[0] for probe in asked.probes] == [READ, "uprobe:libc:malloc"]
    said = advice_json(answer)
    probes = {one["probe"]: one for one in said["probes"]}
    assert (probes[READ]["basis"], probes[READ]["machine"]) == ("calibrated", None)
    next_run = for_next_run(Estimate(480.0, 450.0, 560.0), read_numbers(here.data).numbers.spread)
    assert (probes[READ]["cost_low_ns"], probes[READ]["cost_high_ns"]) == pytest.approx(next_run[1:])
    assert (next_run.low or 0.0) < 450, "another run differs by more"
    assert probes["uprobe:libc:malloc"]["basis"] == "measured"
    assert said["machine"] == probes["uprobe:libc:malloc"]["machine"], "that of the most expensive probe"
    missing = [{"probe": "uprobe:libc:malloc", "mechanism": "emulated", "why": "no room"}]
    others = ["bpftrace (PID 9)"]
    assert said["calibration"] == {"seconds": 3.1, "others": others, "is_kept": False, "missing": missing}
    show_advice(answer)
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"measured here in 3\.1 s: 480 ns \(\d+ to \d+\) an event", shown)
    assert "The loop has a shallow stack." in shown
    assert "uprobe:libc:malloc was not measured here: no room" in shown
    assert "bpftrace (PID 9)" in shown


@pytest.mark.parametrize("others", [{"machine": MACHINE}, {"machine": None, "is_calibrated": False}], ids=str)
def test_nothing_is_measured_here_for_a_named_machine_or_against_ones_will(here: Here, others: dict[str, Any]) -> None:
    here.costs = MEASURED_HERE
    said = here.json(READS, **others)
    assert here.calibrated == []
    assert (said["calibration"], said["probes"][0]["basis"]) == (None, "measured")


def test_given_rates_are_answered_with_costs_measured_here_on_any_cpu(here: Here) -> None:
    here.costs = MEASURED_HERE
    said = here.json(READS, {READ: 1e5}, machine=None)
    assert [set(one.cpus) for one in here.calibrated] == [os.sched_getaffinity(0)]
    assert said["busiest_thread"]["slowdown_ratio"] == pytest.approx(1e5 * 480e-9, rel=0.5), "corrected for programs"


def test_where_nothing_can_be_measured_here_the_data_answer_with_the_reason(here: Here) -> None:
    here.cannot_calibrate = "bpftrace is not installed"
    said = here.json(READS, machine=None)
    assert (said["calibration"], said["probes"][0]["basis"]) == (None, "measured")
    assert "Nothing was measured here: bpftrace is not installed" in said["assumptions"]


def test_a_machine_without_data_is_answered_by_what_is_measured_on_it(here: Here, tmp_path: Path) -> None:
    here.data, here.costs = DataFolder(tmp_path), MEASURED_HERE
    said = here.json(READS, machine=None)
    assert (said["machine"], said["probes"][0]["cost_ns"]) == (None, 480)
    assert said["within_budget"] is True


WIDE = 80


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.deep), 8])
def test_no_line_is_wider_than_the_terminal(
    here: Here, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", str(WIDE))
    for one in held_out()[::step]:
        show_advice(here.answer(one.script))
    show_advice(here.answer(" ".join(f"{name} {{ @[ustack] = count(); }}" for name in LONG_NAMES)))
    lines = unstyle(capsys.readouterr().out).splitlines()
    assert [line for line in lines if cell_len(line) > WIDE] == []
    for name in LONG_NAMES:
        assert any(line.startswith(name[:8]) and name[-20:] in line for line in lines), "its end tells it from others"


def test_a_pipe_gets_each_row_whole(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    show_advice(here.answer(f"{LONG_NAMES[0]} {{ @[ustack] = count(); }}"))
    (row, _) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(LONG_NAMES[0])]
    assert "count-by-user-stack" in row
    assert "ns" in row


def test_a_kprobe_where_there_is_none_has_an_estimated_cost(here: Here) -> None:
    said = here.json("k:vfs_read { @ = count() }", {"kprobe:vfs_read": 20e3})
    assert [one["basis"] for one in said["probes"]] == ["estimated"]
    assert said["within_budget"] is not None


@pytest.mark.parametrize("script", ["strace -e trace=write ls", "perf trace -e write -a"])
def test_a_tool_that_leaves_itself_out_is_not_told_to_trace_itself(here: Here, script: str) -> None:
    assumed = here.json(script, target=Target(command=("ls",)))["assumptions"]
    assert not any("fires it again" in one for one in assumed)


@pytest.mark.parametrize(
    ("script", "counted"),
    [
        (
            "strace -f --seccomp-bpf -e trace=openat,newfstatat ls",
            ["syscalls:sys_enter_openat", "syscalls:sys_enter_newfstatat"],
        ),
        ("strace -f --seccomp-bpf -e trace=fstat ls", ["syscalls:sys_enter_newfstat"]),
        ("strace -f -e trace=openat ls", ["raw_syscalls:sys_enter"]),
        ("strace -f --seccomp-bpf -e trace=%file ls", ["raw_syscalls:sys_enter"]),
    ],
)
def test_strace_with_a_filter_of_the_kernel_stops_at_the_calls_that_it_is_asked_for(
    here: Here, script: str, counted: list[str]
) -> None:
    here.answer(script, target=Target(command=("ls",)))
    assert [one.name for one in here.asked[0] if one.probe != CALLS] == counted


@pytest.mark.parametrize("script", ["opensnoop.bt", "sudo opensnoop.bt -p 181"])
def test_a_standard_tool_is_known_by_its_name_and_counted_where_it_probes(here: Here, script: str) -> None:
    said = here.json(script)
    assert said["language"] == "tool"
    assert {"syscalls:sys_enter_openat", "syscalls:sys_exit_openat"} <= {one.name for one in here.asked[0]}
    assert said["busiest_thread"]["slowdown_ratio"] > 0


def test_a_standard_tool_by_its_short_name_is_no_parsers_error(here: Here) -> None:
    assert here.json("opensnoop -p 181")["probes"][0]["probe"].startswith("opensnoop-bpfcc: ")
    assert here.json("/usr/share/bcc/tools/biolatency.py -m")["probes"] == here.json("biolatency")["probes"]


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        (
            "ltrace -c ls",
            r"^ltrace: [\d.]+\sµs \(.*\) for a library call, measured on .+; its command lines are not read$",
        ),
        ("sudo gdb -p 3", r"^gdb: [\d.]+\sµs .* for a breakpoint that goes on by itself, measured on "),
        ("tcpdump -i eth0", r"^tcpdump: .* no cost of it was measured; "),
        ("funclatency vfs_read", r"^funclatency: .* kprobe:NAME and kretprobe:NAME in a script of bpftrace$"),
        ("ls -l", r"found “ls”, expected a command line of bpftrace, dtrace, perf, .* or an attach point and a block"),
    ],
)
def test_of_a_tool_whose_command_lines_are_not_read_one_line_says_what_is_known(
    here: Here, typed: str, known: str
) -> None:
    with pytest.raises(UsageError, match=known) as refused:
        here.answer(typed)
    assert "\n" not in str(refused.value)


def test_one_line_says_where_the_width_comes_from_and_the_widest_is_first(here: Here) -> None:
    here.costs = HereCosts(
        costs={(MALLOC.split(" ", maxsplit=1)[0], "emulated"): HereCost(by_cpu={0: Estimate(300.0, 100.0, 900.0)})},
        seconds=1.0,
    )
    said = width(here.answer(MALLOC, machine=None).advice)
    assert said is not None
    assert said.startswith("upper over lower end: cost of an event ")
    assert "real programs" in said
    assert said.endswith(f"({MALLOC.split(' ', maxsplit=1)[0]})")


def test_a_lower_bound_has_no_width(here: Here) -> None:
    here.low_hz = 900.0
    assert width(here.answer(MALLOC).advice) is None


COMMAND = Target(command=("ls",))


def _mapped() -> list[str]:
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return sorted({line.split()[-1] for line in lines if "/" in line})


LIBC = next((path for path in map(Path, _mapped()) if path.name.startswith(("libc.", "libc-"))), Path("/libc.so"))


def test_a_probe_in_the_c_library_makes_each_start_of_a_program_slower(here: Here) -> None:
    here.path = LIBC
    before = here.json(MALLOC, target=COMMAND, machine=None)
    here.start = Estimate(30_000.0, 20_000.0, 40_000.0)
    after = here.json(MALLOC, target=COMMAND, machine=None)
    assert [one["probe"] for one in before["probes"]] == [MALLOC.split(" ", maxsplit=1)[0]]
    (started,) = [one for one in after["probes"] if one["probe"] == STARTS]
    assert (started["cost_ns"], started["basis"]) == (30_000.0, "calibrated")
    added_s_per_s = after["cpu_s_per_s"] - before["cpu_s_per_s"]
    assert added_s_per_s == pytest.approx(started["rate_hz"] * 30e-6)
    assert after["limits"] == before["limits"], "how often probes may fire has nothing to do with starts"


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/usr/bin/python3", {"target": COMMAND, "machine": None}),
        (LIBC, {"target": Target(pid=TID), "machine": None}),
        (LIBC, {"target": COMMAND}),
        (LIBC, {"target": COMMAND, "machine": None, "is_calibrated": False}),
    ],
    ids=["a file of one program", "a process without its children", "another machine", "nothing measured here"],
)
def test_starts_are_no_part_where_programs_do_not_map_the_file_or_nothing_is_measured(
    here: Here, path: str, asked: dict[str, Any]
) -> None:
    here.path, here.start = Path(path), Estimate(30_000.0, 20_000.0, 40_000.0)
    assert [one["probe"] for one in here.json(MALLOC, **asked)["probes"]] == [MALLOC.split(" ", maxsplit=1)[0]]


def test_a_copy_of_the_c_library_is_mapped_by_nobody(tmp_path: Path) -> None:
    copy = Path(shutil.copy(LIBC, tmp_path / LIBC.name))
    assert (mapped_by_all([copy]), mapped_by_all([copy, LIBC])) == (None, LIBC)


def test_starts_that_took_less_with_the_probe_leave_it_possible_that_it_costs_as_much() -> None:
    """On a machine at work 24 rounds may all be faster with the probe: that it costs exactly nothing is not known."""
    faster_ns = np.linspace(-30_000.0, -10_000.0, 24)
    value, low, high = added(faster_ns)
    assert (value, low) == (0.0, 0.0)
    assert high is not None
    assert 10_000.0 < high < 30_000.0


def test_an_interval_around_nought_keeps_its_upper_end() -> None:
    around_ns = np.linspace(-20_000.0, 30_000.0, 24)
    value, low, high = added(around_ns)
    assert value == pytest.approx(5_000.0)
    assert low == 0.0
    assert high is not None
    assert 5_000.0 < high < 30_000.0


@needs_bpf
def test_what_a_probe_in_the_c_library_adds_to_a_start_is_less_than_the_start() -> None:
    cost = start_cost(LIBC)
    assert cost is not None
    assert cost.high is not None
    assert 0 <= cost.value < cost.high < 1e8


def test_of_a_sampled_event_one_in_so_many_costs_what_a_record_does(here: Here) -> None:
    each, thousandth = (
        here.json(f"perf record {option} -e page-faults -a", {"page-faults": 1e6}) for option in ("-c 1", "-c 1000")
    )
    assert each["probes"][0]["cost_ns"] == pytest.approx(1000 * thousandth["probes"][0]["cost_ns"])
    ratios = [one["busiest_thread"]["slowdown_ratio"] for one in (each, thousandth)]
    assert ratios[0] == pytest.approx(1000 * ratios[1])


def test_a_tracepoint_of_which_one_in_so_many_is_recorded_costs_as_much_as_one_that_always_is(here: Here) -> None:
    """perf fills its buffer before it looks at the period."""
    each, thousandth = (
        here.json(f"perf record {option} -e kmem:kmalloc -a", {"kmem:kmalloc": 1e5}) for option in ("-c 1", "-c 1000")
    )
    assert each["probes"] == thousandth["probes"]
    assert each["recommendation"] == thousandth["recommendation"]


def test_perf_of_a_process_has_no_verdict_and_of_cpus_it_has_one(here: Here) -> None:
    """Each context switch of the process takes time too, and nobody has measured how much."""
    of_process, of_cpus = (
        here.json(f"perf stat -e page-faults {whom}", {"page-faults": 10}) for whom in ("-a -p 42", "-a")
    )
    assert [one["within_budget"] for one in (of_process, of_cpus)] == [None, True]
    assert of_process["recommendation"] is None


def test_no_limit_is_told_in_cycles(here: Here) -> None:
    """It would be read as one of samples: a busy CPU has billions of cycles a second."""
    cycles, faults = (
        limits(here.answer(f"perf record -c 1000 -e {event} -a").advice) for event in ("cycles", "faults")
    )
    assert cycles is None
    assert "go ahead" in str(faults)


def test_what_prints_what_it_traces_is_told_to_trace_itself(here: Here) -> None:
    assumed = here.json('t:syscalls:sys_enter_write { printf("%d", pid) }')["assumptions"]
    assert any("fires it again" in one for one in assumed)


@pytest.mark.parametrize(
    ("kernel", "is_warned"), [("6.17.1", False), ("6.18.1", True), ("7.1.13", True), ("7.2.6", False)]
)
def test_a_nop_that_becomes_a_call_into_the_red_zone_is_warned_of(
    here: Here,
    kernel: str,
    is_warned: bool,
) -> None:
    here.facts, here.first_bytes = replace(FACTS, kernel_release=kernel), bytes.fromhex("0f 1f 44 00 00 c3")
    assumed = here.json(MALLOC)["assumptions"]
    warned = [one for one in assumed if "red zone" in one]
    assert len(warned) == is_warned
    assert all("the call of uprobe:libc:malloc" in one for one in warned)


def test_a_line_for_each_event_has_a_cheaper_script(here: Here) -> None:
    said = here.json('t:syscalls:sys_enter_read { printf("%d", pid) }')
    assert any(one["script"] and "count()" in one["script"] for one in said["cheaper"])


def test_beginning_end_and_intervals_are_no_events(here: Here) -> None:
    said = here.json(f'BEGIN {{ printf("x") }} {READS} interval:s:1 {{ print(@) }} END {{ clear(@) }}')
    assert [one["probe"] for one in said["probes"]] == ["tracepoint:syscalls:sys_enter_read"]


def test_a_profile_fires_as_often_as_it_says(here: Here) -> None:
    for script in ("profile:hz:99 { @ = count() }", "profile:ms:10 { @ = count() }", "perf record -F 49 -a -g"):
        here.answer(script)
    assert [one.hz for (one,) in here.asked] == [99.0, 100.0, 49.0]


def test_the_first_milliseconds_of_a_hot_probe_are_told_as_such(here: Here) -> None:
    here.note = "counted for 3 ms only"
    assert "counted for 3 ms only" in here.json(READS)["probes"][0]["note"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-e", "foo {"], "line 1, column 6"),
        ([], "no script"),
        (["/nowhere.bt"], "cannot be read as a script"),
        (["-e", READS, "--pid", "1", "--cgroup", "/"], "expected one of them"),
        (["-e", READS, "--rate", "tracepoint:x"], "expected PROBE=N"),
        (["-e", READS, "--rate", "tracepoint:x=5"], "the script has no such probe; it has tracepoint:syscalls"),
        (["-e", READS, "--tracer", "nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_is_told_with_what_to_do(words: list[str], message: str) -> None:
    found = CliRunner().invoke(commands, ["advise", "--data", str(REAL_DATA), "--machine", MACHINE, *words])
    assert message in str(found.exception)
    assert getattr(found.exception, "exit_status", None) == 2


def test_a_script_whose_remarks_are_in_another_encoding_is_read_and_a_program_is_not(tmp_path: Path) -> None:
    script = tmp_path / "reads.bt"
    script.write_bytes(b"/* caf\xe9 */ " + READS.encode())
    assert run(str(script), "--rate", "tracepoint:syscalls:sys_enter_read=1").return_value == 0
    script.write_bytes(b"\x7fELF\0\1")
    with pytest.raises(UsageError, match="it is no text"):
        run(str(script))


def test_of_thousands_of_probes_a_message_names_ten(here: Here) -> None:
    script = " ".join(f"t:syscalls:f{at} {{ @ = count(); }}" for at in range(100))
    with pytest.raises(UsageError, match="tracepoint:syscalls:f9 and 90 more") as found:
        here.answer(script, {"other": 1.0})
    assert len(str(found.value)) < 600


def test_a_script_is_read_from_its_file_and_what_follows_it_is_the_command(tmp_path: Path) -> None:
    script = tmp_path / "reads.bt"
    script.write_text(READS)
    said = json.loads(run(str(script), "--rate", "tracepoint:syscalls:sys_enter_read=1k", "--format", "json").stdout)
    assert [one["probe"] for one in said["probes"]] == ["tracepoint:syscalls:sys_enter_read"]
    with pytest.raises(UsageError, match="--pid, --cgroup and a command: expected one of them"):
        run("--pid", "1", str(script), "--", "make", "-j2")


@pytest.mark.tracer
@needs_bpf
def test_a_command_is_counted_for_real() -> None:
    program = "import os\nfile = os.open('/dev/zero', os.O_RDONLY)\nfor _ in range(100000): os.read(file, 1)"
    words = ["-e", READS, "--budget", "50%", "--seconds", "5", "--format", "json", "--", sys.executable, "-c", program]
    found = run(*words)
    said = json.loads(found.stdout)
    assert said["not_counted"] is None
    (probe,) = said["probes"]
    alone_s = said["counted_s"] * (1 - said["counting_cost_ratio"])
    assert probe["rate_hz"] * said["counted_s"] * 1.01 > 100_000 > probe["rate_hz"] * alone_s * 0.5
    assert said["busiest_thread"]["slowdown_ratio"] > 0
    assert said["within_budget"] is not None
