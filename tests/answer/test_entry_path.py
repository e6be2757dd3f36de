"""What a probe on one system call costs all others, and how that makes a cost from a loop one for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.evidence_builder import MACHINE, TRACER, case, cost_of, evidence, measured, parts, suite
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.costs.row import entry_path
from probe_effect.model import Estimate, UsageError

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Number

LOOP = {"program": "loop.c", "operation": "-", "system_calls": 2}
SUITE = suite(
    "per-event",
    case("04-entry", "tracepoint-entry", silent="28-silent"),
    case("05-return", "tracepoint-return", silent="28-silent"),
    case("21-all", "raw-tracepoint", silent="28-silent", events_per_operation=2),
    case("06-uprobe"),
    case("28-silent", "tracepoint-silent"),
    workload=LOOP,
)
ENTRY = measured("04-entry", Estimate(200.0, 190.0, 210.0))
RETURN = measured("05-return", Estimate(220.0, 210.0, 230.0))
ALL = measured("21-all", Estimate(120.0, 110.0, 130.0))
UPROBE = measured("06-uprobe", Estimate(1000.0, 900.0, 1100.0))
SILENT = measured("28-silent", Estimate(80.0, 70.0, 90.0))
FOUND = evidence((SUITE,), ENTRY, RETURN, ALL, UPROBE, SILENT)


def costs(*cases: str, calls_hz: float | None = None) -> list[float]:
    question = Question(probes=tuple(ProbeQuestion(one, 1000.0) for one in cases), calls_hz=calls_hz)
    return [part.cost.value for part in parts(FOUND, question, MACHINE, TRACER)]


def test_a_probe_that_never_fires_tells_what_each_system_call_of_the_loop_pays() -> None:
    path = entry_path(FOUND, (MACHINE, TRACER, "04-entry"))
    assert path is not None
    assert path.cost == Estimate(40.0, 35.0, 45.0)
    assert (path.source, path.calls_per_event) == (SILENT, 2.0)


def test_where_each_call_is_an_event_one_comes_with_itself_alone() -> None:
    path = entry_path(FOUND, (MACHINE, TRACER, "21-all"))
    assert path is not None
    assert path.calls_per_event == 1.0


@pytest.mark.parametrize(
    "known", [(ENTRY,), (ENTRY, measured("28-silent", Estimate(80.0), tracer="ftrace")), (UPROBE, SILENT)]
)
def test_nothing_is_told_of_a_probe_elsewhere_nor_without_its_silent_twin(known: tuple[object, ...]) -> None:
    found = evidence((SUITE,), *known)  # type: ignore[arg-type]
    assert entry_path(found, (MACHINE, TRACER, "06-uprobe" if UPROBE in known else "04-entry")) is None


def test_a_program_that_makes_more_calls_for_each_event_pays_more_and_one_that_makes_fewer_less() -> None:
    assert costs("04-entry") == [200.0]
    assert costs("04-entry", calls_hz=2000.0) == pytest.approx([200.0])
    assert costs("04-entry", calls_hz=12_000.0) == pytest.approx([200.0 + 10 * 40.0])
    assert costs("04-entry", calls_hz=1000.0) == pytest.approx([200.0 - 40.0])
    assert costs("06-uprobe", calls_hz=12_000.0) == [1000.0]


def test_a_program_cannot_make_fewer_calls_than_fire_the_probe() -> None:
    with pytest.raises(UsageError, match="--calls 999: expected at least 1000"):
        costs("04-entry", calls_hz=999.0)
    assert costs("06-uprobe", calls_hz=1.0) == [1000.0]


def test_several_probes_on_system_calls_make_each_call_pay_once() -> None:
    entry, back = costs("04-entry", "05-return")
    assert entry + back == pytest.approx((200.0 - 80.0) + (220.0 - 80.0) + 80.0)
    with_uprobe = costs("04-entry", "06-uprobe")
    assert with_uprobe == [200.0, 1000.0]


def test_the_interval_grows_with_what_is_added_and_keeps_the_value_inside() -> None:
    path = entry_path(FOUND, (MACHINE, TRACER, "04-entry"))
    assert path is not None
    for calls in (0.0, 1.0, 2.0, 30.0):
        moved = path.moved(ENTRY.known_cost, calls)
        assert moved.low is not None
        assert moved.high is not None
        assert moved.low < moved.value < moved.high
    assert path.moved(ENTRY.known_cost, 2.0) == ENTRY.known_cost


STOPPED = suite(
    "per-event",
    case("22-call", "system-call", "print", silent="30-silent"),
    case("30-silent", "silent-system-call", counted_by="nothing"),
    workload=LOOP,
)


def of_calls(name: str, tracer: str, ns: float) -> Number:
    return measured(name, Estimate(ns, ns - 10.0, ns + 10.0), tracer=tracer)


@pytest.mark.parametrize(
    ("tracer", "whole", "silent", "event"),
    [
        ("strace", 200.0, 190.0, 100.0),
        ("strace", 200.0, None, 100.0),
        ("strace-seccomp", 120.0, 2.0, 119.0),
        ("perf-trace", 80.0, 10.0, 75.0),
        ("perf-trace", 80.0, None, 80.0),
    ],
)
def test_a_tool_that_prints_calls_is_charged_for_one_call_and_not_for_those_of_an_iteration(
    tracer: str, whole: float, silent: float | None, event: float
) -> None:
    known = [of_calls("22-call", tracer, whole)] + ([of_calls("30-silent", tracer, silent)] if silent else [])
    found = evidence((STOPPED,), *known)
    (part,) = parts(found, Question(probes=(ProbeQuestion("22-call", 1000.0),)), MACHINE, tracer)
    assert part.cost.value == pytest.approx(event)
    made = cost_of(found, MACHINE, tracer, kind="system-call", actions=["print"])
    assert made is not None
    assert made.cost == part.cost
    assert (part.path.calls_per_event if part.path else None) == (1.0 if silent else None)


def test_what_each_call_costs_that_is_not_printed_is_a_part_of_an_iteration() -> None:
    found = evidence((STOPPED,), of_calls("22-call", "strace", 200.0), of_calls("30-silent", "strace", 190.0))
    (part,) = parts(found, Question(probes=(ProbeQuestion("30-silent", 1000.0),)), MACHINE, "strace")
    assert part.cost.value == pytest.approx(95.0)
