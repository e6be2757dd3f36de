"""Messages between host and guest: what is sent is what arrives, and noise on the line is no message."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from probe_effect.guests.guest import decode, encode, in_guest, load_message, load_of, planned_of, run_request
from probe_effect.guests.testbed import ROW
from probe_effect.host.workloads import WorkloadTask
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, empty_row
from probe_effect.model import Bucket, Key
from probe_effect.tracers.bpftrace import Bpftrace

TEXTS = st.text(min_size=1, max_size=30)
RUNS = st.builds(
    PlannedRun,
    block=st.integers(0, 99),
    position=st.integers(0, 99),
    subject=st.builds(Key, case=TEXTS, tracer=TEXTS, level=st.none() | TEXTS),
    arm=st.sampled_from(["baseline", "traced", "check"]),
)
LOADS = st.builds(
    WorkloadTask,
    program=st.just(Path("/home/me/.cache/workloads/1f/loop")),
    operations=st.integers(1, 10**9),
    cpu=st.integers(-1, 7),
    level=st.none() | TEXTS,
    variant=st.none() | TEXTS,
    threads=st.integers(1, 8),
)
LIMITS = Limits(start_s=1.0, run_s=2.0, stop_s=3.0)


@given(RUNS, LOADS)
def test_a_run_arrives_as_it_was_planned(planned: PlannedRun, load: WorkloadTask) -> None:
    watch = TracerTask(Bpftrace(), Path("/data/suites/tiny/02-kprobe.bt"), "maps", 2)
    request = decode(encode(run_request(planned, load, watch, LIMITS)))
    assert request is not None
    assert planned_of(request["planned"]) == planned
    assert Limits(**request["limits"]) == LIMITS
    assert request["watch"] == {
        "tracer": "bpftrace",
        "script": "/probe-effect/suites/tiny/02-kprobe.bt",
        "counting": "maps",
        "events_per_operation": 2,
        "is_start": False,
    }


@given(LOADS)
def test_a_workload_keeps_its_orders_and_gets_its_place_in_the_guest(load: WorkloadTask) -> None:
    arrived = load_of(load_message(load))
    assert arrived.program == Path("/probe-effect/workloads/loop")
    assert arrived.words()[1:] == load.words()[1:]


def test_a_baseline_has_nobody_who_watches() -> None:
    planned = PlannedRun(0, 0, Key("baseline", "none"), "baseline")
    load = WorkloadTask(program=Path("/x/loop"), operations=1, cpu=0)
    assert run_request(planned, load, None, LIMITS)["watch"] is None


def test_no_path_of_the_host_reaches_the_guest() -> None:
    planned = PlannedRun(0, 0, Key("02-kprobe", "bpftrace"), "traced")
    load = WorkloadTask(program=Path("/home/me/secret/loop"), operations=1, cpu=0)
    watch = TracerTask(Bpftrace(), Path("/home/me/secret/suites/tiny/02-kprobe.bt"), "maps")
    assert b"secret" not in encode(run_request(planned, load, watch, LIMITS)).replace(b"/suites", b"")


def test_a_row_comes_back_as_it_was_made() -> None:
    row = empty_row(PlannedRun(3, 4, Key("02-kprobe", "bpftrace", "7"), "traced"))
    row = replace(row, histogram=(Bucket(300, 303, 17), Bucket(9000, 9001, 1)))
    message = decode(encode({"row": asdict(row)}))
    assert message is not None
    assert ROW.validate_python(message["row"]) == row


@given(st.binary().filter(lambda line: b"\n" not in line))
def test_whatever_a_kernel_prints_on_the_line_is_an_object_or_nothing(line: bytes) -> None:
    assert isinstance(decode(line), dict | None)


def test_a_message_is_one_line() -> None:
    assert encode({"note": "two\nlines"}).count(b"\n") == 1


def test_scripts_of_two_suites_do_not_meet() -> None:
    first, second = (in_guest(Path(f"/data/suites/{suite}/01-control.bt")) for suite in ("one", "two"))
    assert first != second
