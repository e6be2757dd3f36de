"""Two counts against each other: which changes are real, and what swapping the sides does."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import UNTRACED_INSTRUCTIONS, changed, counted_row, counted_rows, counted_values
from helpers.number_builder import number, reduced
from helpers.number_builder import submission as without_numbers
from probe_effect.compare.comparison import (
    Comparison,
    Side,
    between,
    between_tracers,
    compare,
    grown,
    largest,
    outcomes,
)
from probe_effect.model import Estimate, Key
from probe_effect.store.machine_file import MachineFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from probe_effect.model import Sample
    from probe_effect.numbers.submission import Number, Submission

KPROBE, FENTRY = "02-kprobe bpftrace", "19-fentry bpftrace"


def submission(samples: list[Sample], name: str = "a", started: str = "2026-11-21T10:00:00Z") -> Submission:
    values = changed(counted_values(machine=name), "run.started", started)
    return reduced(samples, MachineFile.model_validate_json(json.dumps(values)), "2026-11-21-per-event")


def side(costs: Mapping[str, float], name: str = "a") -> Side:
    return Side(name, (submission(counted_rows(costs), name),))


def counted(cost: Estimate, untraced: float = UNTRACED_INSTRUCTIONS, faults: tuple[str, ...] = ()) -> Number:
    own = without_numbers("a", metric="instructions")
    return number(own, cost, baseline=Estimate(untraced, untraced, untraced), faults=faults)


def around(median: float, half_range: float = 0.5) -> Number:
    return counted(Estimate(median, median - half_range, median + half_range))


def only(found: list[Comparison]) -> Comparison:
    (one,) = found
    return one


def test_a_count_that_grew_is_higher_by_its_share_of_the_first() -> None:
    found = only(between(side({KPROBE: 640}), side({KPROBE: 672}, "b")))
    assert (found.outcome, found.is_clear, found.reason) == ("higher", True, None)
    assert found.change_ratio == pytest.approx(0.05)
    assert found.difference.value == pytest.approx(32)


def test_a_count_that_shrank_is_lower() -> None:
    found = compare(around(672), around(640))
    assert found.outcome == "lower"
    assert found.change_ratio == pytest.approx(-32 / 672)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        pytest.param(around(1000), around(1009), "no difference", id="less than 1 % of the cost"),
        pytest.param(around(1000), around(1011), "higher", id="more than 1 % of the cost"),
        pytest.param(around(1000, 30), around(1040, 30), "no difference", id="ranges that overlap"),
        pytest.param(around(1000, 20), around(1040, 20), "no difference", id="ranges that touch"),
        pytest.param(
            around(100, 0), around(101.4, 0), "no difference", id="a small cost, within 0.1 % of the operation"
        ),
        pytest.param(around(100, 0), around(101.6, 0), "higher", id="a small cost, beyond 0.1 % of the operation"),
        pytest.param(around(-0.2), around(0.9), "no difference", id="a tracer that watches nothing"),
    ],
)
def test_only_what_does_not_repeat_by_chance_is_a_change(first: Number, second: Number, outcome: str) -> None:
    assert compare(first, second).outcome == outcome


def test_the_larger_untraced_operation_decides_how_small_a_change_may_be() -> None:
    small, large = Estimate(100, 100, 100), Estimate(102, 102, 102)
    assert compare(counted(small), counted(large)).outcome == "higher"
    assert compare(counted(small), counted(large, untraced=3000)).outcome == "no difference"
    assert compare(counted(large, untraced=3000), counted(small)).outcome == "no difference"


def test_a_finer_limit_finds_smaller_changes_of_large_costs_only() -> None:
    assert compare(around(5000), around(5035), 0.005).outcome == "higher"
    assert compare(around(100, 0), around(101, 0), 0.005).outcome == "no difference"


def test_a_change_from_a_cost_that_was_not_above_zero_has_no_ratio() -> None:
    found = compare(around(-0.2), around(40))
    assert (found.outcome, found.ratio) == ("higher", None)
    assert grown([found], 10.0) == [found]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_faulty_case_is_named_and_never_compared(is_first: bool) -> None:
    sound, faulty = around(640), counted(Estimate(900, 899, 901), faults=("it lost 3 % of its events",))
    found = compare(faulty, sound) if is_first else compare(sound, faulty)
    assert (found.outcome, found.change_ratio, found.is_clear) == ("not comparable", None, False)
    assert found.reason == "a/2026-11-20-tiny, bpftrace: it lost 3 % of its events"
    assert grown([found], 0.0) == largest([found], 3) == []


@given(st.floats(0.5, 1e6), st.floats(0.5, 1e6), st.floats(0, 100), st.floats(0, 100))
def test_swapping_the_sides_inverts_the_ratio(first: float, second: float, half: float, other_half: float) -> None:
    one, other = around(first, half), around(second, other_half)
    there, back = compare(one, other), compare(other, one)
    assert there.ratio is not None
    assert back.ratio is not None
    assert there.ratio.value * back.ratio.value == pytest.approx(1)
    assert there.difference.value == -back.difference.value
    swapped = {"higher": "lower", "lower": "higher"}
    assert back.outcome == swapped.get(there.outcome, there.outcome)


@given(st.floats(0.5, 1e6), st.floats(0, 100))
def test_a_count_against_its_like_is_no_difference(median: float, half_range: float) -> None:
    assert compare(around(median, half_range), around(median, half_range)).outcome == "no difference"


def at_levels(costs: Mapping[str, float], name: str = "a") -> Side:
    rows = [
        replace(
            counted_row(0, 2 * place + traced, 1500 + traced * cost, KPROBE if traced else "baseline none"), level=level
        )
        for place, (level, cost) in enumerate(costs.items())
        for traced in (0, 1)
    ]
    return Side(name, (submission(rows, name),))


def test_levels_are_compared_each_with_its_own_in_the_order_of_their_numbers() -> None:
    found = between(at_levels({"10": 700, "2": 640}), at_levels({"10": 640, "2": 700}, "b"))
    assert [(one.first.level, one.outcome) for one in found] == [("2", "higher"), ("10", "lower")]


def test_only_cases_that_both_have_are_compared() -> None:
    found = between(side({KPROBE: 640, FENTRY: 110}), side({KPROBE: 640}, "b"))
    assert [one.first.key for one in found] == [Key("02-kprobe", "bpftrace", None)]


def test_of_a_machine_the_newest_counts_are_compared() -> None:
    old = submission(counted_rows({KPROBE: 500, FENTRY: 110}), started="2026-11-01T10:00:00Z")
    new = submission(counted_rows({KPROBE: 640}))
    found = between(Side("a", (new, old)), side({KPROBE: 640, FENTRY: 120}, "b"))
    assert [(one.first.case, one.outcome) for one in found] == [("02-kprobe", "no difference"), ("19-fentry", "higher")]


def test_two_tracers_of_one_submission_are_compared() -> None:
    one = side({"19-fentry libbpf": 95, FENTRY: 110, KPROBE: 640})
    found = only(between_tracers(one, "bpftrace", "libbpf"))
    assert (found.first.tracer, found.second.tracer, found.outcome) == ("bpftrace", "libbpf", "lower")


def test_the_largest_changes_come_first_whatever_their_direction() -> None:
    before = {"a t": 100.0, "b t": 100.0, "c t": 100.0, "d t": 100.0}
    after = {"a t": 110.0, "b t": 50.0, "c t": 100.0, "d t": 180.0}
    found = between(side(before), side(after, "b"))
    assert [one.first.case for one in largest(found, 3)] == ["b", "d", "a"]
    assert outcomes(found) == {"higher": 2, "lower": 1, "no difference": 1, "not comparable": 0}
    assert [one.first.case for one in grown(found, 0.2)] == ["d"]
