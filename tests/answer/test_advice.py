"""From the probes of a script and their rates to what they do to threads, and whether they may run."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.evidence_builder import MACHINE, TRACER, case, evidence, measured, suite
from probe_effect.advising.script_report import limits, recommendation
from probe_effect.answer.advice import Advice, Thread, advise
from probe_effect.costs.table import ProbeGroup
from probe_effect.model import Estimate
from probe_effect.numbers.shown import Facts

HERE = Facts(machine=MACHINE, tier="physical", architecture="x86_64", cpu_model="-", kernel_release="6.12")
LOOP = suite(
    "loop",
    case("entry", "tracepoint-entry", silent="silent"),
    case("entry-count", "tracepoint-entry", "count", silent="silent"),
    case("entry-print", "tracepoint-entry", "print", silent="silent"),
    case("silent", "silent-tracepoint", counted_by="nothing"),
    case("push", "uprobe", "count"),
    case("push-filter", "uprobe", "filter-rejects"),
    case("stopped", "system-call", "print"),
    workload={"program": "loop.c", "operation": "-", "system_calls": 2},
)
COSTS_NS = {"entry": 200, "entry-count": 220, "entry-print": 1200, "silent": 80, "push": 800, "push-filter": 790}
READS, OTHERS = 11, 12
BUSY = Thread(tid=READS, pid=READS, name="reader", busy_ratio=0.5)
IDLE = Thread(tid=OTHERS, pid=READS, name="idler", busy_ratio=0.0)


def group(kind: str = "tracepoint-entry", *actions: str, **values: Any) -> ProbeGroup:  # noqa: ANN401
    known = {"attach": kind, "mechanism": None, "matched": 1, "first_bytes": None, "rates_hz": {READS: 1e4}}
    return ProbeGroup(kind=kind, actions=actions or ("count",), **{"rate_hz": 1e4, **known, **values})


def advised(*groups: ProbeGroup, calls_hz: dict[int, float] | None = None, budget: float = 0.01) -> Advice:
    costs = [measured(name, Estimate(ns, ns - 10.0, ns + 10.0)) for name, ns in COSTS_NS.items()]
    stopped = measured("stopped", Estimate(2e4, 1.9e4, 2.1e4), tracer="strace")
    found = evidence((LOOP,), *costs, stopped)
    tracer = "strace" if groups and groups[0].kind == "system-call" else TRACER
    return advise(found, HERE, tracer, groups, [IDLE, BUSY], calls_hz=calls_hz or {}, budget_ratio=budget)


def test_a_thread_is_slowed_by_rate_times_cost_over_the_time_that_it_runs() -> None:
    said = advised(group())
    assert said.busiest is not None
    assert said.busiest.thread == BUSY
    assert said.slowdown is not None
    assert said.slowdown.value == pytest.approx(1e4 * 220e-9 / 0.5)
    assert said.cpu_s_per_s is not None
    assert said.cpu_s_per_s.value == pytest.approx(1e4 * 220e-9)


def test_all_of_a_threads_system_calls_pay() -> None:
    said = advised(group(), calls_hz={READS: 1e5})
    assert said.slowdown is not None
    assert said.slowdown.value == pytest.approx((1e4 * (220 - 80) + 1e5 * 40) * 1e-9 / 0.5)


def test_the_probe_that_takes_most_comes_first_and_one_without_a_rate_last() -> None:
    unknown = group("uprobe", attach="unknown", rates_hz=None, rate_hz=None)
    said = advised(unknown, group(attach="few"), group("uprobe", attach="dear"))
    assert [one.group.attach for one in said.probes] == ["dear", "few", "unknown"]


@pytest.mark.parametrize(
    ("budget", "within"),
    [
        (0.1, True),
        (0.0045, False),  # the middle is below, and the upper end is not
        (0.001, False),
    ],
)
def test_only_what_lies_below_the_budget_with_all_of_its_interval_is_within(budget: float, *, within: bool) -> None:
    assert advised(group(), budget=budget).within_budget is within


def test_without_a_rate_or_a_cost_nobody_can_tell_unless_the_rest_is_too_much_already() -> None:
    unknown = group("uprobe", rates_hz=None, rate_hz=None)
    without_cost = group("watchpoint")
    assert advised(unknown).within_budget is None
    assert advised(unknown, group()).within_budget is None
    assert advised(without_cost).within_budget is None
    assert advised(unknown, group(), budget=0.001).within_budget is False


def test_a_cost_without_an_interval_is_never_within_the_budget() -> None:
    found = evidence((LOOP,), measured("entry-count", Estimate(220.0)))
    said = [
        advise(found, HERE, TRACER, [group()], [BUSY], calls_hz={}, budget_ratio=ratio).within_budget
        for ratio in (0.1, 0.001)
    ]
    assert said == [None, False]


def test_a_script_with_a_part_that_nobody_understood_may_not_go_ahead() -> None:
    """A loop may take any time, so that the most expensive action that was measured is no upper end of it."""
    said, known = advised(group(unknown=("while (1) { }",)), budget=0.5), advised(group(), budget=0.5)
    assert (said.within_budget, recommendation(said), limits(said)) == (None, None, None)
    assert known.within_budget is True
    assert "go ahead" in f"{recommendation(known)} {limits(known)}"


def test_a_part_that_never_fires_hinders_no_verdict() -> None:
    assert advised(group(unknown=("f(1)",), rates_hz={}, rate_hz=0.0)).within_budget is True


def test_probes_that_did_not_fire_slow_nobody() -> None:
    said = advised(group(rates_hz={}, rate_hz=0.0))
    assert (said.busiest, said.slowdown, said.within_budget) == (None, Estimate(0.0, 0.0, 0.0), True)


def test_a_probe_that_did_not_fire_needs_no_cost() -> None:
    assert advised(group("watchpoint", rates_hz={}, rate_hz=0.0)).within_budget is True


def test_behind_a_filter_the_cost_begins_at_that_of_the_filter_alone() -> None:
    (filtered,) = advised(group("uprobe", has_filter=True)).probes
    assert filtered.part is not None
    assert filtered.part.cost.value == 790 + (220 - 200)
    assert filtered.part.cost.low == 790 - 10
    assert "pass the filter" in (filtered.part.note or "")


def test_a_part_that_was_not_understood_is_bounded_by_the_most_expensive_action() -> None:
    (one,) = advised(group(unknown=("strftime()",))).probes
    assert one.part is not None
    assert one.part.cost.high is not None
    assert one.part.cost.high >= 1000
    assert "strftime()" in (one.part.note or "")


def test_a_tool_that_stops_at_each_call_is_taken_to_print_it_and_costs_a_call_its_part_of_an_iteration() -> None:
    (one,) = advised(group("system-call", "count-by-name")).probes
    assert one.part is not None
    assert one.part.cost.value == 1e4
    assert "taken to be printed" in (one.part.note or "")


def test_the_rate_at_which_a_probe_alone_matters_is_told_without_any_rate() -> None:
    (one,) = advised(group(rates_hz=None, rate_hz=None)).probes
    rate = one.threshold(1)
    assert rate is not None
    assert rate.value == pytest.approx(0.01 / 220e-9)
