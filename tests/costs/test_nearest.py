"""For each probe of a script the cost from the nearest basis that knows it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from helpers.evidence_builder import MACHINE, TRACER, asked_here, case, evidence, measured, suite
from probe_effect.advising.script_report import recommendation
from probe_effect.answer.advice import Thread, advise, what_to_run
from probe_effect.answer.spread import Spread
from probe_effect.costs.evidence import Evidence, Scope
from probe_effect.costs.evidence import whose as whose_scope
from probe_effect.costs.table import HereCost, HereCosts, ProbeGroup
from probe_effect.model import Estimate
from probe_effect.numbers.shown import facts_of_submission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.advice import Advice
    from probe_effect.costs.row import CostRow
    from probe_effect.numbers.submission import Number

ALIKE, FAR, BARE = "alike", "far", "bare"
CPU = {FAR: "Another Maker 1"}
GUEST = {"machine__virtualization": "kvm", "machine__nested": False}
LOOP = suite(
    "loop",
    case("entry", "tracepoint-entry"),
    case("entry-count", "tracepoint-entry", "count"),
    case("entry-print", "tracepoint-entry", "print"),
    case("push", "uprobe"),
    case("push-count", "uprobe", "count"),
    case("push-print", "uprobe", "print"),
    case("push-filter", "uprobe", "filter-rejects"),
)
BUSY = Thread(tid=7, pid=7, name="busy", busy_ratio=1.0)


def cost(name: str, ns: float, low: float | None = None, high: float | None = None, machine: str = MACHINE) -> Number:
    """A case that costs so much, by default within a tenth."""
    ends = (ns * 0.9 if low is None else low, ns * 1.1 if high is None else high)
    own = {} if machine == BARE else GUEST
    document = own | ({"machine__cpu_model": CPU[machine]} if machine in CPU else {})
    return measured(name, Estimate(ns, *ends), machine, document=document)


def group(kind: str = "tracepoint-entry", *actions: str, **values: Any) -> ProbeGroup:  # noqa: ANN401
    known = {"attach": kind, "mechanism": None, "matched": 1, "first_bytes": None, "actions": actions or ("count",)}
    return ProbeGroup(kind=kind, **known | values)


HERE = facts_of_submission(cost("entry", 1.0).submission)


def here(ns: float, low: float, high: float, attach: str = "tracepoint-entry") -> HereCosts:
    """What a calibration says of one probe, on CPU 1."""
    own = HereCost(by_cpu={1: Estimate(ns, low, high)})
    return HereCosts(costs={(attach, None): own}, seconds=3.1)


def nearest(
    *costs: Number, asked: ProbeGroup | None = None, own: HereCosts | None = None, named: str | None = None
) -> CostRow:
    found = evidence((LOOP,), *costs)
    known = asked_here(found, HERE, TRACER, asked or group(), own=own, named=named)
    assert known is not None
    return known


def whose(known: CostRow) -> tuple[str, str | None]:
    return known.basis, known.machines[0] if known.machines else None


EVERYWHERE = [cost("entry-count", ns, machine=one) for one, ns in ((MACHINE, 100), (ALIKE, 200), (FAR, 300))]
COMPOSED = [cost("entry", 100), cost("push", 500), cost("push-count", 520)]


@pytest.mark.parametrize(
    ("costs", "basis"),
    [
        (EVERYWHERE, ("measured", MACHINE)),
        (EVERYWHERE[1:], ("measured", FAR)),
        (EVERYWHERE[2:], ("measured", FAR)),
        (COMPOSED, ("composed", MACHINE)),
    ],
    ids=["this machine", "the greater of two", "another", "composed here"],
)
def test_this_machine_comes_first_and_else_the_median_of_all_like_it(
    costs: list[Number], basis: tuple[str, str]
) -> None:
    assert whose(nearest(*costs)) == basis


def test_elsewhere_the_cost_is_the_range_over_all_machines_of_the_kind() -> None:
    part = nearest(*EVERYWHERE[1:])
    assert part.cost == pytest.approx((300, 180, 330))
    assert part.machines == (FAR, ALIKE)


def test_a_machine_that_does_not_know_an_action_is_left_out_of_the_range() -> None:
    part = nearest(cost("entry", 100, machine=ALIKE), cost("entry-print", 9000, machine=ALIKE), EVERYWHERE[2])
    assert part.machines == (FAR,)


def test_what_an_action_adds_is_lent_by_others_where_a_machine_knows_the_probe_alone() -> None:
    there = [cost("entry", 100, machine=ALIKE), cost("entry-print", 9000, machine=ALIKE)]
    part = nearest(cost("entry", 260), *there, asked=group("tracepoint-entry", "print"))
    assert (part.basis, part.machines) == ("composed", (MACHINE,))
    assert part.cost.value == pytest.approx(260 + 8900)
    assert "What print adds was measured on other machines" in (part.note or "")


def test_an_action_that_nobody_measured_with_the_tracer_is_not_known() -> None:
    found = evidence((LOOP,), cost("entry", 100), cost("entry-count", 120))
    assert asked_here(found, HERE, TRACER, group("tracepoint-entry", "histogram")) is None


def test_what_was_measured_here_and_now_comes_before_everything() -> None:
    known = nearest(*EVERYWHERE, own=here(480, 450, 560))
    assert whose(known) == ("calibrated", None)
    assert known.cost == Estimate(480, 450, 560)
    assert (known.added, known.sources, known.highest_hz) == ((), (), None)


def test_a_named_machine_answers_alone() -> None:
    assert whose(nearest(*EVERYWHERE, named=FAR)) == ("measured", FAR)
    found = evidence((LOOP,), *EVERYWHERE[:2], cost("push", 10, machine=FAR))
    assert asked_here(found, HERE, TRACER, group("tracepoint-entry"), named=FAR) is None


@pytest.mark.parametrize(
    ("low", "high", "is_passed_over"),
    [(20.0, 190.0, False), (10.0, 190.0, True), (-5.0, 190.0, True), (-5.0, 90.0, False)],
    ids=["a factor of nine", "a factor of 19", "none to something", "none to next to nothing"],
)
def test_a_cost_that_spans_more_than_a_factor_of_ten_is_passed_over(
    low: float, high: float, *, is_passed_over: bool
) -> None:
    wide = cost("entry-count", 60, low, high)
    narrow = [cost("entry-count", 60, 50, 70, machine=one) for one in (ALIKE, FAR)]
    part = nearest(wide, *narrow)
    assert part.machines == ((FAR, ALIKE) if is_passed_over else (MACHINE,))
    assert whose(nearest(*EVERYWHERE, own=here(60, low, high))) == (
        ("measured", MACHINE) if is_passed_over else ("calibrated", None)
    )


def test_where_every_cost_spans_too_far_the_nearest_one_answers() -> None:
    assert whose(nearest(cost("entry-count", 60, 1, 500), cost("entry-count", 60, 1, 400, machine=FAR))) == (
        "measured",
        MACHINE,
    )


def test_a_filter_that_rejects_for_next_to_nothing_does_not_make_a_cost_too_wide() -> None:
    costs = [cost("push-count", 1000), cost("push-filter", 20, 10, 30), cost("push", 15, 10, 20)]
    known = nearest(*costs, cost("push-count", 400, machine=FAR), asked=group("uprobe", has_filter=True))
    assert known.machines == (MACHINE,)
    assert known.cost.low == 10


def test_another_kind_of_machine_is_asked_last_and_says_so_with_the_range_of_all() -> None:
    bare = [cost("entry-count", 50, machine=BARE), measured("entry-count", Estimate(400, 390, 410), "bare-2")]
    assert whose(nearest(*bare, *EVERYWHERE[2:])) == ("measured", FAR)
    part = nearest(*bare)
    assert (part.cost.low, part.cost.high) == (45.0, 410.0)
    assert "Another kind of machine may differ several times" in (part.note or "")


def test_nothing_at_all_says_which_suite_to_run_and_that_advise_can_measure_it() -> None:
    found = evidence((LOOP,))
    assert asked_here(found, HERE, TRACER, group()) is None
    assert "`probe-effect measure loop`, or let `probe-effect advise`" in what_to_run(found, TRACER, group())
    assert what_to_run(found, "strace", group("watchpoint")) == "measure it with `probe-effect measure`"
    assert what_to_run(Evidence(()), "strace", group()) == "measure it with `probe-effect measure`"


def rated(kind: str, rate_hz: float = 1e5, **values: Any) -> ProbeGroup:  # noqa: ANN401
    return group(kind, rates_hz={BUSY.tid: rate_hz}, rate_hz=rate_hz, **values)


def advised(*groups: ProbeGroup, known: Sequence[Spread] = (), **words: Any) -> Advice:  # noqa: ANN401
    found = evidence(
        (LOOP,), EVERYWHERE[0], cost("push-count", 1000, machine=FAR), cost("push-print", 2000, machine=FAR)
    )
    rows = json.dumps([asdict(one) for one in known]).encode()
    found.keep = lambda package, make: rows if package == "answer" else make()
    return advise(found, HERE, TRACER, groups, [BUSY], calls_hz={}, budget_ratio=0.01, **words)


def test_costs_of_two_machines_and_of_this_one_add_up_in_a_thread() -> None:
    one = advised(rated("tracepoint-entry"), rated("uprobe"), own_probe := rated("usdt"), here=here(50, 45, 60, "usdt"))
    assert {probe.group.attach: probe.part.basis for probe in one.probes if probe.part} == {
        "tracepoint-entry": "measured",
        "uprobe": "measured",
        own_probe.attach: "calibrated",
    }
    assert one.machine == FAR, "that of the most expensive probe"
    assert one.slowdown is not None
    assert one.slowdown.value == pytest.approx(1e5 * (100 + 1000 + 50) * 1e-9)
    assert one.busiest is not None
    assert one.busiest.forecast.loss_ratio is None, "nobody counted what is lost here"


def test_a_rate_that_is_not_exact_widens_what_its_probe_takes() -> None:
    exact = advised(rated("tracepoint-entry"))
    counted = advised(rated("tracepoint-entry", rate_low_hz=0.5e5, rate_high_hz=1.2e5))
    assert exact.slowdown is not None
    assert exact.slowdown == pytest.approx((0.01, 0.009, 0.011))
    assert counted.slowdown == pytest.approx((0.01, 0.01 - 0.01 * (0.1**2 + 0.5**2) ** 0.5, 0.01 + 0.01 * 0.05**0.5))
    assert counted.cpu_s_per_s == pytest.approx(counted.slowdown)
    assert counted.probes[0].part == exact.probes[0].part, "what an event costs is known as well as before"


def test_each_probe_has_the_spread_of_programs_of_its_own_kind() -> None:
    numbers: dict[str, Any] = {"measured": 20, "pairs": 10, "clear": 8, "machines": 1}
    twice = Spread(kind="print", ratio=Estimate(1.0, 0.5, 2.0), **numbers)
    plain = Spread(kind="plain", ratio=Estimate(1.0, 1.0, 1.0), **numbers)
    printing = rated("uprobe", actions=("print",))
    one = advised(rated("tracepoint-entry"), printing, known=[twice, plain])
    assert set(one.spreads) == {twice, plain}
    assert one.slowdown == pytest.approx((0.01 + 0.2, 0.009 + 0.18 / 2, 0.011 + 0.22 * 2))


def test_a_cpu_on_which_a_probe_fires_has_its_own_cost() -> None:
    both = HereCost(by_cpu={0: Estimate(300, 290, 310), 1: Estimate(100, 90, 110)})
    own = replace(here(1, 1, 1), costs={("tracepoint-entry", None): both}, calls=HereCost(by_cpu={1: Estimate(20)}))
    known = [nearest(own=own, asked=group(events_by_cpu=dict.fromkeys(cpus, 1))) for cpus in ((1,), (0, 1), (3,))]
    assert [part.cost.value for part in known] == [100, 200, 200]
    assert known[0].path is not None
    assert (known[0].path.cost.value, known[0].path.source) == (20, None)


def test_a_lower_bound_of_a_rate_gives_no_verdict() -> None:
    """Nobody knows how much more often it fires, so its slowdown has no upper end, and no one may go ahead by it."""
    bounded = advised(rated("tracepoint-entry", rate_hz=100.0, rate_low_hz=100.0))
    assert bounded.slowdown is not None
    assert bounded.slowdown.high is None
    assert (bounded.within_budget, recommendation(bounded)) == (None, None)
    assert recommendation(advised(rated("tracepoint-entry", rate_hz=100.0))) == "Below 1\u00a0%: go ahead."


def test_a_process_that_is_sampled_has_no_verdict_before_its_switches_are_known() -> None:
    found = evidence((suite("samples", case("sample", "profile", "record-stack")),), sampled := sample())
    asked = group("profile", "record-stack", rates_hz={BUSY.tid: 99.0}, rate_hz=99.0)
    said = [
        advise(found, HERE, sampled.tracer, [asked], [BUSY], calls_hz={}, budget_ratio=0.01, options=options)
        for options in (("-F 99", "-g"), ("-F 99", "-g", "-a"))
    ]
    assert [one.within_budget for one in said] == [None, True]
    assert [recommendation(one) for one in said] == [None, "Below 1\u00a0%: go ahead."]


def sample() -> Number:
    return measured("sample", Estimate(4000.0, 3900.0, 4100.0), document=GUEST, tracer="perf-record")


def test_whose_costs_answer_is_decided_before_any_of_them_is_looked_at() -> None:
    found = evidence((LOOP,), *EVERYWHERE, cost("entry", 50, machine=BARE))
    assert whose_scope(found, HERE) == Scope(own=(MACHINE,), alike=(ALIKE, FAR), others=(BARE,))
    assert whose_scope(found, HERE, FAR) == Scope(own=(FAR,), lending=(ALIKE, MACHINE))
    assert whose_scope(found, HERE, "somebody-2023") == Scope(printed="somebody-2023")
