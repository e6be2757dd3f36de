"""What a probe costs with what it does, where nobody measured the two together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.evidence_builder import MACHINE, TRACER, case, cost_of, evidence, measured, suite
from probe_effect.costs.instructions import mechanism, mechanism_of
from probe_effect.model import Estimate

if TYPE_CHECKING:
    from probe_effect.costs.row import CostRow

BYTES = {"loop:push": "55 48 89 e5", "loop:load": "48 8b 05 71 2b 00 00", "libc:read": "80 3d 31 33 0e 00 00"}
PROBED: dict[str, dict[str, Any]] = {one.partition(":")[2]: {"functions": [one], "needs": ["uprobe"]} for one in BYTES}
LOOP = {"program": "loop.c", "operation": "-", "system_calls": 2}
SUITES = (
    suite(
        "calls",
        case("entry", "tracepoint-entry", silent="silent"),
        case("entry-count", "tracepoint-entry", "count", silent="silent"),
        case("entry-stack", "tracepoint-entry", "count-by-user-stack", silent="silent"),
        case("entry-both", "tracepoint-entry", "count", parts=["entry", "entry-count"]),
        case("read", "uprobe", **PROBED["read"]),
        case("silent", "silent-tracepoint", counted_by="nothing"),
        workload=LOOP,
    ),
    suite(
        "user",
        case("push", "uprobe", "count", **PROBED["push"]),
        case("push-string", "uprobe", "count-by-string", **PROBED["push"]),
        case("push-filter", "uprobe", "filter-rejects", **PROBED["push"]),
        case("load", "uprobe", "count", **PROBED["load"]),
    ),
)
NS = {
    "entry": 200.0,
    "entry-count": 260.0,
    "entry-stack": 1000.0,
    "read": 10_000.0,
    "silent": 80.0,
    "push": 800.0,
    "push-string": 1100.0,
    "push-filter": 750.0,
    "load": 10_100.0,
}


def cost(
    kind: str,
    *actions: str,
    mechanism: str | None = None,
    without: tuple[str, ...] = (),
    unknown: tuple[str, ...] = (),
) -> CostRow | None:
    document: dict[str, Any] = {"run__functions": BYTES, "system__kernel_release": "6.12.1"}
    numbers = [
        measured(name, Estimate(ns, ns - 10, ns + 10), document=document)
        for name, ns in NS.items()
        if name not in without
    ]
    found = evidence(SUITES, *numbers)
    return cost_of(found, MACHINE, TRACER, kind=kind, mechanism=mechanism, actions=actions, unknown=unknown)


def made_of(part: CostRow | None) -> tuple[list[str], list[str]]:
    assert part is not None
    return [one.case for one in part.added], [one.case for one in part.less]


def test_what_somebody_measured_whole_is_that_case() -> None:
    part = cost("uprobe", "count", mechanism="stepped")
    assert part is not None
    assert (part.name, part.basis, part.cost.value, part.note) == ("load", "measured", 10_100.0, None)


def test_an_action_from_another_probe_takes_the_place_of_the_cases_own() -> None:
    part = cost("uprobe", "count-by-user-stack", mechanism="emulated")
    assert part is not None
    assert made_of(part) == (["push", "entry-stack"], ["entry-count"])
    assert (part.name, part.basis) == ("uprobe (emulated) with count-by-user-stack", "composed")
    assert part.cost.value == pytest.approx(800 + 1000 - 260)


def test_a_probe_alone_is_a_case_less_what_its_action_adds_elsewhere() -> None:
    assert made_of(cost("uprobe", mechanism="emulated")) == (["push", "entry"], ["entry-count"])


def test_several_actions_are_added_each_once_to_one_probe() -> None:
    part = cost("uprobe", "count", "count-by-string", mechanism="stepped")
    assert part is not None
    assert part.cost.value == pytest.approx(10_100 + (1100 - 800) + (260 - 200))


def test_two_actions_that_were_measured_apart_cost_no_less_together_than_each_where_no_plain_probe_tells_more() -> None:
    part = cost(
        "uprobe", "count", "count-by-string", mechanism="emulated", without=("entry", "entry-count", "entry-stack")
    )
    assert part is not None
    assert part.cost.value >= 1100
    assert part.note is not None
    assert "adds at most what all of the probe costs with it" in part.note


def test_a_filter_that_rejects_is_asked_for_as_a_filter() -> None:
    part = cost("uprobe", "filter", mechanism="emulated")
    assert part is not None
    assert (part.name, part.basis) == ("push-filter", "measured")


def test_a_tracepoint_on_no_system_call_does_without_what_they_pay() -> None:
    part = cost("tracepoint")
    assert part is not None
    assert made_of(part) == (["entry"], ["silent"])
    assert part.cost.value == pytest.approx(200 - 80)
    assert part.path is None


def test_without_a_silent_probe_a_tracepoint_on_no_system_call_costs_at_most_as_much_as_one_on_them() -> None:
    part = cost("tracepoint", without=("silent",))
    assert part is not None
    assert (part.cost.low, part.cost.high) == (0.0, 210.0)
    assert part.note is not None
    assert "at most" in part.note


def test_a_first_instruction_that_nobody_knows_is_not_taken_for_a_cheap_one() -> None:
    part = cost("uprobe", "count")
    assert part is not None
    assert part.cost == Estimate(10_100.0, 790.0, 10_110.0)
    assert part.note is not None
    assert "stepped" in part.note
    assert "emulated" in part.note


def test_a_part_that_is_not_understood_costs_at_most_what_the_most_expensive_action_does() -> None:
    part, plain = cost("uprobe", unknown=("fly",), mechanism="emulated"), cost("uprobe", mechanism="emulated")
    assert part is not None
    assert plain is not None
    assert part.cost.value == pytest.approx(plain.cost.value + 1000 - 200)
    assert part.cost.low == plain.cost.low
    assert part.note is not None
    assert "the action fly" in part.note
    assert "count-by-user-stack" in part.note


def test_an_action_that_nobody_measured_with_the_tracer_is_not_known() -> None:
    assert cost("uprobe", "histogram-of-time", mechanism="emulated") is None
    assert cost("uprobe", "count", "fly", mechanism="emulated") is None


def test_a_kind_that_nobody_measured_has_no_composed_cost() -> None:
    assert cost("kprobe") is None
    assert cost("uprobe", mechanism="called") is None


def test_a_static_user_probe_that_nobody_measured_is_a_uprobe_on_what_is_handled_as_a_nop() -> None:
    assert made_of(cost("usdt", "count")) == (["push"], [])
    assert cost("usdt", "count", mechanism="stepped") is None


@pytest.mark.parametrize(
    ("first_bytes", "kernel", "expected"),
    [
        ("90 c3", "6.1.0", "emulated"),
        ("55 5d c3", "6.1.0", "emulated"),
        ("41 54 55", "6.1.0", "emulated"),
        ("e9 00 00 00 00", "6.1.0", "emulated"),
        ("0f 84 00 00 00 00", "6.1.0", "emulated"),
        ("0f 1f 44 00 00 c3", "6.12.107+deb13-amd64", "stepped"),
        ("0f 1f 44 00 00 c3", "6.18.44", "called"),
        ("0f 1f 44 00 00 c3", "7.3.4+deb13-amd64", "emulated"),
        ("48 8b 05 71 2b 00 00", "6.18.44", "stepped"),
        ("c3", "6.18.44", "stepped"),
        ("", "6.18.44", None),
        ("no digits", "6.18.44", None),
    ],
)
def test_the_kernel_emulates_some_instructions_and_steps_the_others(
    first_bytes: str, kernel: str, expected: str | None
) -> None:
    assert mechanism(first_bytes, "x86_64", kernel) == expected
    assert mechanism(first_bytes, "riscv64", kernel) is None


@pytest.mark.parametrize(
    ("architecture", "kernel", "expected"),
    [
        ("x86_64", "6.1.0", "emulated"),
        ("amd64", "6.1.0", "emulated"),
        ("aarch64", "6.12.107+deb13-arm64", "stepped"),
        ("aarch64", "6.13.1", "emulated"),
        ("riscv64", "6.13.1", None),
    ],
)
def test_a_static_user_probe_is_a_uprobe_on_the_nop_of_its_architecture(
    architecture: str, kernel: str, expected: str | None
) -> None:
    (static,) = suite("static", case("enabled", "usdt", needs=["uprobe"])).cases
    machine = {"machine__architecture": architecture, "system__kernel_release": kernel}
    assert mechanism_of(static, measured("enabled", Estimate(1.0), document=machine)) == expected


@given(
    st.sampled_from(["uprobe", "tracepoint", "tracepoint-entry"]),
    st.lists(
        st.sampled_from(["count", "count-by-string", "count-by-user-stack", "filter", "fly", "nothing"]), max_size=5
    ),
    st.sampled_from(["emulated", "stepped", None]),
)
def test_a_cost_lies_in_its_interval_and_another_action_never_raises_its_low_end_above_it(
    kind: str, actions: list[str], how: str | None
) -> None:
    known, unknown = [one for one in actions if one != "fly"], ("fly",) * actions.count("fly")
    part = cost(kind, *known, mechanism=how if kind == "uprobe" else None, unknown=unknown)
    assert part is not None
    low, high = part.cost.low, part.cost.high
    assert low is not None
    assert high is not None
    assert low <= part.cost.value <= high
    assert (part.note is None) or part.basis == "composed"


def test_no_action_makes_a_probe_cost_less_than_it_does_alone() -> None:
    """The filter was measured apart, and there it cost less than the count that it takes the place of."""
    plain, filtered = cost("uprobe", mechanism="stepped"), cost("uprobe", "filter", mechanism="stepped")
    assert plain is not None
    assert filtered is not None
    assert filtered.cost.value >= plain.cost.value


def test_a_user_probe_of_which_nobody_knows_how_it_fires_stands_for_no_mechanism() -> None:
    assert cost("uprobe", mechanism="called") is None
