"""What `probe-effect watch` finds, what it adds to the kernel's own statistics, and how it says so."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helpers.evidence_builder import case, evidence, measured, suite
from helpers.json_keys import undescribed
from helpers.live_programs import needs_bpf
from probe_effect.advising.watched import ProbeCosts, TracingCost, Watched, watch_json
from probe_effect.cli import watch_run
from probe_effect.cli.advise import watch as command
from probe_effect.live import kernel_calls, loaded
from probe_effect.live.attachment import Attachments, Countable
from probe_effect.live.bpf_objects import OwnCost
from probe_effect.live.loaded import Active, Loaded, Process, RunStatistics
from probe_effect.live.places import Place
from probe_effect.model import Estimate, HostNotReady
from probe_effect.numbers.shown import Facts

if TYPE_CHECKING:
    from pathlib import Path

HERE = Facts(
    machine="here",
    tier="physical machine",
    architecture="x86_64",
    cpu_model="Example CPU 9000",
    kernel_release="6.18.3-amd64",
)
STEPPED, EMULATED = b"\x48\x8b\x05\x00", b"\x55\x48\x89\xe5"
OWN = OwnCost(counted_ns=30.0, added_ns=45.0)


def found_costs() -> ProbeCosts:
    """Costs of a machine on which functions that are stepped cost ten times those that are emulated."""
    kinds = suite(
        "kinds",
        case("entry", "tracepoint-entry"),
        case("stepped", needs=["uprobe"], functions=["loop:stepped"]),
        case("pushed", needs=["uprobe"], functions=["loop:pushed"]),
    )
    bytes_of = {"loop:stepped": STEPPED.hex(" "), "loop:pushed": EMULATED.hex(" ")}
    document = {"run.functions": bytes_of}
    known = [
        ("entry", Estimate(40, 30, 50)),
        ("stepped", Estimate(2000, 1900, 2100)),
        ("pushed", Estimate(200, 180, 220)),
    ]
    numbers = [measured(name, cost, document=document, tracer="libbpf") for name, cost in known]
    return ProbeCosts(evidence((kinds,), *numbers), HERE, "test-machine")


def active(*places: Place, kind: str = "kprobe", hz: float | None = 1e6, sort: loaded.Sort = "bpf") -> Active:
    one = Loaded(key=("bpf", 7), sort=sort, id=7, kind=kind, name="probe", places=places)
    return Active(one, hz, None if hz is None else 0.01)


def uprobe(first_bytes: bytes) -> Place:
    return Place(kind="uprobe", name="/bin/x", first_bytes=first_bytes)


# What statistics cannot see


def test_a_probe_costs_what_its_program_takes_and_what_a_plain_probe_of_its_kind_takes() -> None:
    taken = found_costs().of(active(Place(kind="tracepoint-entry", name="sys_enter_read"), kind="tracepoint"))
    assert taken.probe == Estimate(40, 30, 50)
    assert taken.cpu_s_per_s == pytest.approx(Estimate(0.05, 0.04, 0.06))
    assert taken.machine == "test-machine"


@pytest.mark.parametrize(
    ("first", "cost_ns"), [pytest.param(STEPPED, 2000, id="stepped"), pytest.param(EMULATED, 200, id="pushed")]
)
def test_a_user_probe_costs_what_its_first_instruction_makes_of_it(first: bytes, cost_ns: float) -> None:
    taken = found_costs().of(active(uprobe(first)))
    assert taken.probe is not None
    assert taken.probe.value == cost_ns


def test_a_program_on_many_functions_costs_between_the_least_and_the_most_expensive() -> None:
    taken = found_costs().of(active(uprobe(STEPPED), uprobe(EMULATED), uprobe(EMULATED)))
    assert taken.probe == pytest.approx(Estimate(800, 180, 2100))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        pytest.param(active(kind="cgroup_skb"), "not run by a probe", id="the network runs it"),
        pytest.param(active(), "no place is told", id="a place that the kernel does not tell"),
        pytest.param(active(Place(kind="kprobe", name="f"), hz=None), "its events are not counted", id="no count"),
        pytest.param(active(Place(kind="fentry", name="f")), "not measured: fentry", id="a kind that nobody measured"),
        pytest.param(
            active(uprobe(b"\x0f\x1f\x44\x00\x00")), "not measured: uprobe (called)", id="how it fires, likewise"
        ),
    ],
)
def test_what_is_not_known_is_named_and_never_taken_for_nothing(one: Active, words: str) -> None:
    taken = found_costs().of(one)
    assert taken.probe is None
    assert taken.why == words


def test_the_statistics_own_part_is_taken_off_each_run_and_what_is_new_began_at_zero() -> None:
    def at(events: int, program_ns: int) -> Loaded:
        return Loaded(key=("bpf", 1), sort="bpf", id=1, kind="kprobe", name="x", events=events, program_ns=program_ns)

    watch = RunStatistics.__new__(RunStatistics)
    watch.own = OWN
    first, last = (
        loaded.TracingSnapshot(0, (at(100, 5_000),)),
        loaded.TracingSnapshot(2_000_000_000, (at(1_100, 105_000),)),
    )
    (old,), (new,) = watch.between(first, last), watch.between(loaded.TracingSnapshot(0, ()), last)
    assert old.events_hz == 500
    assert old.program_s_per_s == pytest.approx((100_000 - 1_000 * 30) / 2e9)
    assert new.events_hz == 550
    assert watch.added_s_per_s([old]) == pytest.approx(500 * 45e-9)


# How it is told


def watched(*costs: TracingCost) -> Watched:
    return Watched(costs=costs, seconds=2.0, statistics_s_per_s=0.045)


def test_the_summary_tells_apart_what_statistics_see_and_what_they_cannot() -> None:
    costs = found_costs()
    seen = watched(costs.of(active(uprobe(EMULATED))), costs.of(active(hz=None)))
    text = "\n".join(watch_run.summary(seen, costs.machines)).replace("\u00a0", " ")
    assert "Together 21.0 % (19.0 to 23.0) of a CPU." in text
    assert "as the kernel's statistics see it: 1.0 %" in text
    assert "which they cannot see: 20.0 % (18.0 to 22.0)" in text
    assert "Not in it: 1 of 2" in text
    assert "The statistics themselves cost 4.5 % of a CPU" in text


def test_names_cannot_speak_to_the_terminal_and_are_cut() -> None:
    place = Place(kind="uprobe", name="/bin/x")
    one = Loaded(
        key=(1,),
        sort="bpf",
        id=1,
        kind="kprobe",
        name="\x1b[2J" + "x" * 99,
        owners=(Process(1, "a\nb"),),
        places=(place,),
    )
    row = watch_run._row(TracingCost(Active(one, 1.0, 0.0)))
    assert "\x1b" not in "".join(row)
    assert "\n" not in "".join(row)
    assert len(row[0]) == watch_run.MOST_LETTERS


def test_json_has_every_key_that_its_description_names() -> None:
    told = watch_json(watched(found_costs().of(active(uprobe(EMULATED)))), ["test-machine"], OWN)
    assert set(told) == set(
        "seconds machines cpu_s_per_s cpu_low_s_per_s cpu_high_s_per_s program_s_per_s probe_s_per_s probe_low_s_per_s "
        "probe_high_s_per_s statistics_s_per_s statistics_ns statistics_counted_ns found".split()
    )
    assert undescribed("watch", told) == set()
    assert set(told["found"][0]) == set(
        "sort id type name owners places other_places events_hz program_s_per_s probe_ns probe_low_ns probe_high_ns "
        "probe_s_per_s probe_low_s_per_s probe_high_s_per_s cpu_s_per_s cpu_low_s_per_s cpu_high_s_per_s machine "
        "why".split()
    )
    assert json.loads(json.dumps(told)) == told


def test_without_root_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(kernel_calls, "command", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostNotReady, match=r"asking what is loaded: the kernel refuses .* user 1000 is not root"):
        CliRunner().invoke(command, ["--once", "--data", str(data)], catch_exceptions=False, standalone_mode=False)


# What is on


def traced(folder: Path, **files: str) -> Path:
    """A folder like tracefs; `__` in names stands for a slash."""
    (folder / "sys/kernel/tracing/events").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / "sys/kernel/tracing" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_what_is_on_in_ftrace_is_found_with_its_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = traced(
        tmp_path,
        current_tracer="nop",
        set_event="sched:sched_switch\nmine:entry\n",
        uprobe_events="p:mine/entry /bin/x:0x0000000000001130\nr4:mine/off /bin/x:0x0000000000001140\n",
        uprobe_profile="  /bin/x entry                                                  77\n",
        per_cpu__cpu0__stats="entries: 5\noverrun: 10\ncommit overrun: 3\nread events: 100\n",
        per_cpu__cpu1__stats="entries: 1\noverrun: 0\nread events: 0\n",
        instances__other__current_tracer="function_graph\n",
        instances__other__set_event="",
    )
    monkeypatch.setattr(loaded, "ROOT", folder)
    rows = list(loaded._in_tracefs())
    assert [(one.kind, one.name, one.events) for one in rows] == [
        ("uprobe", "mine:entry", 77),
        ("buffer", "ftrace", 116 - 77),
        ("buffer", "other", 0),
    ]
    assert rows[0].places[0].offset == 0x1130
    assert [place.kind for one in rows[1:] for place in one.places] == ["tracepoint", "function-graph"]


def test_where_ftrace_is_off_or_not_mounted_nothing_is_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded, "ROOT", tmp_path)
    assert list(loaded._in_tracefs()) == []
    monkeypatch.setattr(loaded, "ROOT", traced(tmp_path, current_tracer="nop", set_event=""))
    assert list(loaded._in_tracefs()) == []


def test_who_traces_by_ptrace_is_found_with_those_that_it_traces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid, comm, tracer in ((10, "strace", 0), (11, "sleep", 10), (12, "sleep", 10)):
        folder = tmp_path / f"proc/{pid}"
        (folder / "fd").mkdir(parents=True)
        (folder / "comm").write_text(f"{comm}\n")
        (folder / "status").write_text(f"Name:\t{comm}\nTracerPid:\t{tracer}\n")
    monkeypatch.setattr(loaded, "ROOT", tmp_path)
    assert loaded.holders().traced == {Process(10, "strace"): {Process(11, "sleep"), Process(12, "sleep")}}


# For real


@needs_bpf
def test_the_command_prints_one_look_as_a_table_and_as_json(data: Path) -> None:
    def run(*words: str) -> str:
        code = "from probe_effect.cli import main; main()"
        words = (sys.executable, "-c", code, "watch", "--once", "--seconds", "0.2", "--data", str(data), *words)
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    probe = Countable(probe="call", kind="tracepoint", name="syscalls:sys_enter_getppid")
    with contextlib.closing(Attachments([probe], None, follow=False)):
        assert "pe_raw" in run()
        told: dict[str, Any] = json.loads(run("--format", "json"))
    assert "pe_raw" in {one["name"] for one in told["found"]}
