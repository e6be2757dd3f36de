"""The ladder: which rungs a machine has, in which order, and what the home page says of all machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from helpers.evidence_builder import case, suite
from helpers.number_builder import number, submission
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.numbers.shown import home_machine
from probe_effect.site.pages.ladder_page import RUNGS, charts, ladders, span, write

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Submission

PUSH, DORMANT, STRACE = "04-uprobe-push", "02-usdt-compiled-in", "22-system-call"
EPYC, XEON = "AMD EPYC 7763", "Intel(R) Xeon(R) Gold 6148"
SUITE = suite(
    "per-event",
    case(PUSH, "uprobe", "count"),
    case(DORMANT, "usdt", "not-enabled"),
    case(STRACE, "system-call", "print"),
    workload={"program": "loop.c", "operation": "-", "system_calls": 2},
)


def machine(name: str, cpu: str = EPYC, cost_ns: float = 200.0) -> Submission:
    """A machine where a function costs so much, a dormant probe nothing, and an iteration under strace 40 µs."""
    own = submission(name, suite="per-event", document={"machine__cpu_model": cpu}, noise_floor_ns=1.0)
    number(own, Estimate(cost_ns, cost_ns - 9, cost_ns + 9), PUSH)
    number(own, Estimate(0.0, -0.2, 0.1), DORMANT, "dormant", noise_floor_ns=0.3)
    number(own, Estimate(4e4, 3e4, 5e4), STRACE, "strace", attach=Estimate(3e6, 2e6, 4e6))
    return own


def catalogue_of(*machines: Submission) -> Catalogue:
    return Catalogue(suites=(SuiteFolder(Path("per-event"), SUITE),), active=machines)


def test_rungs_rise_from_what_costs_least_with_whole_runs_after_all_events() -> None:
    [steps] = ladders(catalogue_of(machine("a"))).values()
    assert [(one.reply.number.case, one.rung.of) for one in steps] == [
        (DORMANT, "event"),
        (PUSH, "event"),
        (STRACE, "event"),
        (STRACE, "start"),
    ]


def test_a_cost_that_cannot_be_told_from_nothing_is_a_bound() -> None:
    [[bound, clear, *_]] = ladders(catalogue_of(machine("a"))).values()
    assert bound.said() == "below 0.30\u00a0ns"
    assert clear.said() == "200\u00a0ns (191\u00a0to\u00a0209)"


def test_what_strace_stops_is_one_call_and_not_the_whole_iteration() -> None:
    [steps] = ladders(catalogue_of(machine("a"))).values()
    [stopped] = [one for one in steps if one.reply.number.case == STRACE and one.rung.of == "event"]
    assert stopped.reply.time.value == 2e4


def test_each_kind_of_machine_has_a_ladder_and_that_of_the_home_machine_is_first_and_keeps_its_address() -> None:
    found = catalogue_of(machine("c"), machine("b"), machine("a", XEON))
    assert len(ladders(found)) == 2
    assert next(iter(ladders(found))) == home_machine(found.numbers)
    first, other = [one.name for one in charts(found) if one.name.startswith("ladder")]
    assert (first, other) == ("ladder", "ladder-a")


def test_the_range_of_a_rung_is_over_all_machines_where_it_is_clear() -> None:
    found = catalogue_of(machine("a"), machine("b", cost_ns=300.0), machine("c", XEON, 250.0))
    ranges = {rung.cases[0]: span(found, rung) for rung in RUNGS if rung.of == "event"}
    push = ranges[PUSH]
    assert push is not None
    assert (push.time.low, push.time.high, push.machines) == (191.0, 309.0, 3)
    assert ranges[DORMANT] is None


def test_the_picture_says_what_its_machine_is_and_its_title_the_ends_of_the_ladder() -> None:
    chart = charts(catalogue_of(machine("test-0a1b")))[0]
    assert chart.title == "Numbers for tracers: 200\u00a0ns to 3.0\u00a0ms on EPYC, 0a1b"
    assert [row["bound"] for row in chart.rows] == [True, False, False, False]


def test_a_slowdown_is_drawn_of_events_alone() -> None:
    *_, rates = charts(catalogue_of(machine("a")))
    assert rates.name == "events-to-slowdown"
    assert len({row["series"] for row in rates.rows}) == 2


def test_the_home_page_says_on_how_many_machines_and_the_costs_that_several_have() -> None:
    made = write(catalogue_of(machine("a"), machine("b", cost_ns=300.0)))["home.md"]
    assert "Measured on 2 machines" in made
    assert "**190 to 310\u00a0ns** on 2 machines, by its first instruction" in made
    assert "[A user function, counted](/ladder/#each-time)" in made
    assert "tracepoint" not in made


def test_without_machines_there_is_no_picture_and_the_page_says_so() -> None:
    assert charts(Catalogue()) == []
    made = write(Catalogue())
    assert {made["home.md"], made["ladder.md"]} == {"Nothing has been measured yet.\n"}
