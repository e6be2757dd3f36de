"""Two counts against each other: which changes are real, and what swapping the sides does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import UNTRACED_INSTRUCTIONS, changed, counted_row, counted_rows, counted_values
from probe_effect.guidance.catalogue import CountedSubmission
from probe_effect.guidance.instruction_change import (
    Change,
    Counted,
    CountedSide,
    change,
    changes,
    changes_of_tracers,
    difference_instructions,
    grown,
    largest,
    outcomes,
)
from probe_effect.guidance.instructions import summarise_instructions
from probe_effect.guidance.rows import CaseKey
from probe_effect.model import InstructionCase, Spread
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import Submission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from probe_effect.model import Sample

KPROBE, FENTRY = "02-kprobe bpftrace", "19-fentry bpftrace"


def submission(samples: list[Sample], name: str = "a", started: str = "2026-11-21T10:00:00Z") -> CountedSubmission:
    document = MachineFile.model_validate(changed(counted_values(machine=name), "run.started", started), strict=False)
    files = Submission(Path(name) / "2026-11-21-per-event")
    return CountedSubmission(files, document, summarise_instructions(files.id, document, samples))


def side(costs: Mapping[str, float], name: str = "a") -> CountedSide:
    return CountedSide(name, (submission(counted_rows(costs), name),))


def counted(cost: Spread, untraced: float = UNTRACED_INSTRUCTIONS, faults: tuple[str, ...] = ()) -> Counted:
    case = InstructionCase(
        case="02-kprobe",
        tracer="bpftrace",
        level=None,
        status="ok",
        blocks=3,
        baseline_instructions=Spread(untraced, untraced, untraced),
        cost_instructions=cost,
        faults=faults,
    )
    return Counted(submission([]), case)


def around(median: float, half_range: float = 0.5) -> Counted:
    return counted(Spread(median, median - half_range, median + half_range))


def only(found: list[Change]) -> Change:
    (one,) = found
    return one


def test_a_count_that_grew_takes_more_by_its_share_of_the_first() -> None:
    found = only(changes(side({KPROBE: 640}), side({KPROBE: 672}, "b")))
    assert (found.outcome, found.is_clear, found.reason) == ("more", True, None)
    assert found.ratio == pytest.approx(0.05)
    assert difference_instructions(found) == pytest.approx(32)


def test_a_count_that_shrank_takes_fewer() -> None:
    found = change(around(672), around(640))
    assert found.outcome == "fewer"
    assert found.ratio == pytest.approx(-32 / 672)


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        pytest.param(around(1000), around(1009), "no change", id="less than 1 % of the cost"),
        pytest.param(around(1000), around(1011), "more", id="more than 1 % of the cost"),
        pytest.param(around(1000, 30), around(1040, 30), "no change", id="ranges that overlap"),
        pytest.param(around(1000, 20), around(1040, 20), "no change", id="ranges that touch"),
        pytest.param(around(100, 0), around(101.4, 0), "no change", id="a small cost, within 0.1 % of the operation"),
        pytest.param(around(100, 0), around(101.6, 0), "more", id="a small cost, beyond 0.1 % of the operation"),
        pytest.param(around(-0.2), around(0.9), "no change", id="a tracer that watches nothing"),
    ],
)
def test_only_what_does_not_repeat_by_chance_is_a_change(first: Counted, second: Counted, outcome: str) -> None:
    assert change(first, second).outcome == outcome


def test_the_larger_untraced_operation_decides_how_small_a_change_may_be() -> None:
    small, large = Spread(100, 100, 100), Spread(102, 102, 102)
    assert change(counted(small), counted(large)).outcome == "more"
    assert change(counted(small), counted(large, untraced=3000)).outcome == "no change"
    assert change(counted(large, untraced=3000), counted(small)).outcome == "no change"


def test_a_finer_limit_finds_smaller_changes_of_large_costs_only() -> None:
    assert change(around(5000), around(5035), 0.005).outcome == "more"
    assert change(around(100, 0), around(101, 0), 0.005).outcome == "no change"


def test_a_change_from_a_cost_that_was_not_above_zero_has_no_ratio() -> None:
    found = change(around(-0.2), around(40))
    assert (found.outcome, found.ratio) == ("more", None)
    assert grown([found], 10.0) == [found]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_faulty_case_is_named_and_never_compared(is_first: bool) -> None:
    sound, faulty = around(640), counted(Spread(900, 899, 901), faults=("it lost 3 % of its events",))
    found = change(faulty, sound) if is_first else change(sound, faulty)
    assert (found.outcome, found.ratio, found.is_clear) == ("not comparable", None, False)
    assert found.reason == "a/2026-11-21-per-event, bpftrace: it lost 3 % of its events"
    assert grown([found], 0.0) == largest([found], 3) == []


@given(st.floats(0.5, 1e6), st.floats(0.5, 1e6), st.floats(0, 100), st.floats(0, 100))
def test_swapping_the_sides_inverts_the_ratio(first: float, second: float, half: float, other_half: float) -> None:
    one, other = around(first, half), around(second, other_half)
    there, back = change(one, other), change(other, one)
    assert there.ratio is not None
    assert back.ratio is not None
    assert (1 + there.ratio) * (1 + back.ratio) == pytest.approx(1)
    assert difference_instructions(there) == -difference_instructions(back)
    swapped = {"more": "fewer", "fewer": "more"}
    assert back.outcome == swapped.get(there.outcome, there.outcome)


@given(st.floats(0.5, 1e6), st.floats(0, 100))
def test_a_count_against_its_like_is_no_change(median: float, half_range: float) -> None:
    assert change(around(median, half_range), around(median, half_range)).outcome == "no change"


def at_levels(costs: Mapping[str, float], name: str = "a") -> CountedSide:
    rows = [
        replace(
            counted_row(0, 2 * place + traced, 1500 + traced * cost, KPROBE if traced else "baseline none"), level=level
        )
        for place, (level, cost) in enumerate(costs.items())
        for traced in (0, 1)
    ]
    return CountedSide(name, (submission(rows, name),))


def test_levels_are_compared_each_with_its_own_in_the_order_of_their_numbers() -> None:
    found = changes(at_levels({"10": 700, "2": 640}), at_levels({"10": 640, "2": 700}, "b"))
    assert [(one.first.case.level, one.outcome) for one in found] == [("2", "more"), ("10", "fewer")]


def test_only_cases_that_both_have_are_compared() -> None:
    found = changes(side({KPROBE: 640, FENTRY: 110}), side({KPROBE: 640}, "b"))
    assert [one.first.key for one in found] == [CaseKey("02-kprobe", "bpftrace", None)]


def test_of_a_machine_the_newest_counts_are_compared() -> None:
    old = submission(counted_rows({KPROBE: 500, FENTRY: 110}), started="2026-11-01T10:00:00Z")
    new = submission(counted_rows({KPROBE: 640}))
    found = changes(CountedSide("a", (new, old)), side({KPROBE: 640, FENTRY: 120}, "b"))
    assert [(one.first.case.case, one.outcome) for one in found] == [("02-kprobe", "no change"), ("19-fentry", "more")]


def test_two_tracers_of_one_submission_are_compared() -> None:
    one = side({"19-fentry libbpf": 95, FENTRY: 110, KPROBE: 640})
    found = only(changes_of_tracers(one, "bpftrace", "libbpf"))
    assert (found.first.case.tracer, found.second.case.tracer, found.outcome) == ("bpftrace", "libbpf", "fewer")


def test_the_largest_changes_come_first_whatever_their_direction() -> None:
    before = {"a t": 100.0, "b t": 100.0, "c t": 100.0, "d t": 100.0}
    after = {"a t": 110.0, "b t": 50.0, "c t": 100.0, "d t": 180.0}
    found = changes(side(before), side(after, "b"))
    assert [one.first.case.case for one in largest(found, 3)] == ["b", "d", "a"]
    assert outcomes(found) == {"more": 2, "fewer": 1, "no change": 1, "not comparable": 0}
    assert [one.first.case.case for one in grown(found, 0.2)] == ["d"]
