"""What standard tools cost an event: both ends of it, the most expensive it may be, and nothing that nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers.evidence_builder import MACHINE, case, evidence, measured, suite
from probe_effect.answer.question import best_machine, tool_costs
from probe_effect.model import Estimate
from probe_effect.store.transcripts import StandardTool, ToolPackage, ToolProbes

if TYPE_CHECKING:
    from probe_effect.answer.question import ToolCost
    from probe_effect.costs.evidence import Evidence

NS = {"entry": 100.0, "entry-count": 160.0, "entry-pid": 180.0, "entry-print": 5000.0, "return": 90.0}
SUITES = (
    suite(
        "calls",
        case("entry", "tracepoint-entry"),
        case("entry-count", "tracepoint-entry", "count"),
        case("entry-pid", "tracepoint-entry", "count-by-pid"),
        case("entry-print", "tracepoint-entry", "print"),
        case("return", "tracepoint-return"),
    ),
    suite(
        "real",
        case("real-opens", "tracepoint-entry-and-return", "print"),
        factor={"name": "program", "title": "-", "unit": "-", "levels": ["cc", "tar"]},
    ),
)


def costs_known(*, machine: str = MACHINE, without: tuple[str, ...] = ()) -> Evidence:
    known = {name: ns for name, ns in NS.items() if name not in without}
    numbers = [measured(name, Estimate(ns, ns - 10, ns + 10), machine) for name, ns in known.items()]
    return evidence(SUITES, *numbers)


def probes(kind: str, *actions: str, **values: Any) -> ToolProbes:  # noqa: ANN401
    return ToolProbes(attach=("somewhere",), kind=kind, actions=actions or ("nothing",), **values)


def package(*groups: ToolProbes, stands_in: str | None = None, **values: Any) -> ToolPackage:  # noqa: ANN401
    tool = StandardTool(name="snoop", answers="-", event="-", probes=groups, **values)
    return ToolPackage(
        schema_version=1,
        title="-",
        package="us",
        version="1",
        where="-",
        tracer="bpftrace",
        stands_in=stands_in,
        tools=(tool,),
    )


def cost(*groups: ToolProbes, found: Evidence | None = None, **values: Any) -> ToolCost:  # noqa: ANN401
    (one,) = tool_costs(found or costs_known(), MACHINE, package(*groups, **values))
    return one


def test_one_probe_with_a_measured_action_costs_what_was_measured() -> None:
    one = cost(probes("tracepoint-entry", "count"))
    assert (one.cost, one.basis) == (Estimate(160.0, 150.0, 170.0), "measured")


def test_an_event_passes_its_beginning_and_its_end() -> None:
    one = cost(probes("tracepoint-entry", "count-by-pid"), probes("tracepoint-return"))
    assert one.cost is not None
    assert (one.cost.value, one.basis) == (180 + 90, "composed")


def test_of_several_events_that_a_tool_watches_one_is_counted_and_the_most_expensive() -> None:
    one = cost(probes("tracepoint-entry", "count"), probes("tracepoint-entry", "print"))
    assert one.cost is not None
    assert one.cost.value == 5000


def test_the_end_of_a_timed_pair_is_the_end_of_its_event_wherever_it_stands() -> None:
    one = cost(
        probes("tracepoint-entry", "count-by-pid", timing="start"), probes("tracepoint-entry", "count", timing="end")
    )
    assert one.cost is not None
    assert one.cost.value == 180 + 160


def test_a_part_that_nobody_knows_is_bounded_by_the_most_expensive_and_said() -> None:
    one = cost(probes("tracepoint-entry", "count", unknown=("signal(9)",)))
    assert one.cost is not None
    assert one.cost.low == 150
    assert one.cost.value == pytest.approx(160 + (5000 - 100))
    assert any("signal(9)" in note for note in one.notes)


def test_where_no_cost_of_a_kind_is_known_none_is_told_and_the_kind_is_named() -> None:
    one = cost(probes("tracepoint-entry", "count"), probes("kretprobe", "print"))
    assert (one.cost, one.basis, one.missing) == (None, None, ("kretprobe",))


def test_what_a_clock_fires_is_no_event() -> None:
    one = cost(probes("tracepoint-entry", "count"), probes("interval", "print"))
    assert one.cost is not None
    assert (one.cost.value, one.is_clocked) == (160, False)
    alone = cost(probes("profile", "histogram"))
    assert (alone.cost, alone.is_clocked, alone.missing) == (None, True, ())


def test_a_cost_that_stands_in_for_another_tools_is_an_estimate() -> None:
    assert cost(probes("tracepoint-entry", "count"), stands_in="It is alike.").basis == "estimated"


def test_at_the_usual_rate_a_thread_slows_by_rate_times_cost() -> None:
    one = cost(probes("tracepoint-entry", "count"), usual_to_hz=1e6, usual_source="snoop(8)")
    assert one.usual_slowdown is not None
    assert one.usual_slowdown.value == pytest.approx(0.16)
    assert cost(probes("tracepoint-entry", "count")).usual_slowdown is None


def test_a_program_in_which_the_tool_was_measured_stands_beside_what_is_predicted_of_it() -> None:
    found = costs_known()
    values: dict[str, Any] = {"level": "tar", "baseline": Estimate(1e4, 1e4, 1e4), "slowdown": Estimate(0.5, 0.4, 0.6)}
    found.add(measured("real-opens", Estimate(5000.0, 4000.0, 6000.0), **values))
    ((number, point),) = cost(probes("tracepoint-entry", "print"), found=found, case="real-opens").points
    assert (number.level, point.rate_hz) == ("tar", 1e5)
    assert point.predicted.value == pytest.approx(0.5)


def test_the_machine_that_tells_most_tools_is_shown_and_of_equals_the_first() -> None:
    wanted = [package(probes("tracepoint-return"))]
    found = costs_known(without=("return",))
    for number in costs_known(machine="other").costs.values():
        found.add(number)
    assert best_machine(found, wanted, [MACHINE, "other"]) == "other"
    assert best_machine(costs_known(), wanted, [MACHINE, MACHINE]) == MACHINE
    assert best_machine(found, wanted, []) is None
