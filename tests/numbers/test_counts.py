"""What rows of counted instructions say: known costs from rows made for the purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.builders import EVENTS, UNTRACED_INSTRUCTIONS, counted_document, counted_row, counted_rows, skipped_row
from helpers.number_builder import reduced
from probe_effect.model import Estimate, Sample
from probe_effect.numbers.rows import reconcile_events

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Number, Submission

KPROBE = "02-kprobe bpftrace"


def counts(samples: list[Sample]) -> Submission:
    return reduced(samples, counted_document())


def only(samples: list[Sample]) -> Number:
    (number,) = counts(samples).numbers
    return number


def kprobe_rows(cost: float = 640.0, blocks: int = 3, jitter_instructions: float = 0.5) -> list[Sample]:
    return counted_rows({KPROBE: cost}, blocks, jitter_instructions)


def traced(rows: list[Sample], **changes: int) -> list[Sample]:
    """`rows` with the same change in every traced one."""
    return [replace(row, **changes) if row.arm == "traced" else row for row in rows]  # type: ignore[arg-type]


def test_a_known_cost_is_found_with_the_range_of_its_blocks() -> None:
    number = only(kprobe_rows())
    assert (number.status, number.blocks, number.faults, number.note) == ("ok", 3, (), None)
    assert number.cost == Estimate(640, 639.5, 640.5)
    assert number.baseline == Estimate(UNTRACED_INSTRUCTIONS, UNTRACED_INSTRUCTIONS, UNTRACED_INSTRUCTIONS)


def test_the_untraced_work_of_a_block_is_the_mean_of_its_baselines() -> None:
    rows = [
        counted_row(0, 0, 1490),
        counted_row(0, 1, 2100, KPROBE),
        counted_row(0, 2, 1510),
        counted_row(0, 3, 1530),
    ]
    assert only(rows).cost == Estimate(590, 590, 590)


def test_blocks_are_compared_with_their_own_baselines() -> None:
    rows = [
        row
        for block, untraced in enumerate((1000, 2000, 3000))
        for row in (counted_row(block, 0, untraced), counted_row(block, 1, untraced + 70, KPROBE))
    ]
    assert only(rows).cost == Estimate(70, 70, 70)


def test_several_events_of_an_operation_share_its_instructions() -> None:
    rows = traced(kprobe_rows(jitter_instructions=0), events=2 * EVENTS, operations=EVENTS)
    number = only(rows)
    assert number.cost == Estimate(320, 320, 320)
    assert number.baseline == Estimate(750, 750, 750)
    assert counts(rows).baseline == Estimate(1500, 1500, 1500)


def test_what_an_event_adds_is_a_share_of_the_untraced_work_for_it() -> None:
    rows = kprobe_rows(cost=750)
    assert only(rows).added_ratio == pytest.approx(0.5)
    assert only(traced(rows, events=2 * EVENTS, operations=EVENTS)).added_ratio == pytest.approx(0.5)
    assert only([skipped_row(0)]).added_ratio is None


def test_runs_of_different_lengths_are_compared_per_event() -> None:
    rows = [
        replace(row, events=10 * EVENTS, instructions=10 * (row.instructions or 0)) if row.arm == "traced" else row
        for row in kprobe_rows()
    ]
    assert only(rows).cost == Estimate(640, 639.5, 640.5)


def test_each_level_has_baselines_of_its_own_and_the_first_is_that_of_the_submission() -> None:
    rows = [
        replace(row, level=level, position=row.position + 3 * place)
        for place, (level, untraced, cost) in enumerate((("10", 3000, 30), ("2", 1000, 20)))
        for row in (counted_row(0, 0, untraced), counted_row(0, 1, untraced + cost, KPROBE))
    ]
    found = counts(rows)
    assert [(number.level, number.cost) for number in found.numbers] == [
        ("2", Estimate(20, 20, 20)),
        ("10", Estimate(30, 30, 30)),
    ]
    assert found.baseline == Estimate(1000, 1000, 1000)


def test_a_case_knows_how_the_kernel_made_its_kprobes() -> None:
    assert {f"{number.case} {number.tracer}": number.count.mechanism for number in counts(counted_rows()).numbers} == {
        KPROBE: "ftrace",
        "19-fentry bpftrace": None,
        "19-fentry libbpf": None,
    }


def test_what_starting_and_stopping_took_is_the_middle_of_the_runs_with_their_range() -> None:
    rows = [
        replace(row, attach_instructions=400 + row.block, detach_instructions=50, probes=10 + row.block)
        if row.arm == "traced"
        else row
        for row in kprobe_rows()
    ]
    number = only(rows)
    assert number.count.attach == Estimate(401, 400, 402)
    assert number.count.detach == Estimate(50, 50, 50)
    assert number.count.probes == 11


def test_a_count_without_starts_has_none() -> None:
    number = only(kprobe_rows())
    assert (number.count.attach, number.count.detach, number.count.probes) == (None, None, None)


def test_a_count_has_neither_grade_nor_noise_floor() -> None:
    found = counts(kprobe_rows())
    assert (found.grade, found.noise_floor_ns) == (None, None)
    assert (found.numbers[0].grade, found.numbers[0].distinguishable) == (None, None)


# Faults


def test_a_case_that_lost_events_is_faulty() -> None:
    number = only(traced(kprobe_rows(), seen=EVENTS - 20, lost=20))
    assert (number.count.loss_ratio, number.count.reconciled) == (0.02, True)
    (fault,) = number.faults
    assert "it lost 2.0\u00a0% of its events" in fault


def test_a_loss_of_one_event_in_a_thousand_is_no_fault() -> None:
    number = only(traced(kprobe_rows(), seen=EVENTS - 1, lost=1))
    assert (number.count.loss_ratio, number.faults) == (0.001, ())


def test_a_case_whose_events_do_not_add_up_is_faulty() -> None:
    number = only(traced(kprobe_rows(), seen=EVENTS + 5))
    assert (number.count.reconciled, number.faults) == (False, ("its events do not add up",))


def test_what_a_counting_twin_saw_counts_for_its_case() -> None:
    twin = replace(counted_row(0, 5, 1, KPROBE), arm="check", seen=EVENTS // 2, instructions=None)
    assert only([*kprobe_rows(), twin]).faults == ("its events do not add up",)


def test_a_case_that_nobody_counted_is_not_faulty() -> None:
    assert reconcile_events(kprobe_rows()) == (None, None)
    assert only(kprobe_rows()).faults == ()


# Cases without a count


def test_a_skipped_case_has_its_reason_and_no_count() -> None:
    number = only([*counted_rows({}), skipped_row(5)])
    assert (number.status, number.blocks, number.cost) == ("skipped", 0, None)
    assert number.note == "this kernel has no uprobes"


def test_failed_runs_are_left_out_and_told() -> None:
    rows = [
        replace(row, status="failed", note="it died", instructions=None)
        if row.block == 1 and row.arm == "traced"
        else row
        for row in kprobe_rows()
    ]
    number = only(rows)
    assert (number.status, number.blocks) == ("ok", 2)
    assert number.note == "1 of 3 runs did not end well: it died"


def test_a_case_without_baselines_says_what_it_lacks() -> None:
    number = only([row for row in kprobe_rows() if row.arm == "traced"])
    assert (number.status, number.cost) == ("failed", None)
    assert number.note == "no block has both a traced run and a baseline"


def test_a_submission_without_rows_has_no_numbers() -> None:
    assert (counts([]).numbers, counts([]).baseline) == ((), None)


@given(st.integers(1, 1000), st.lists(st.integers(-1000, 10**6), min_size=1, max_size=6))
def test_as_many_times_the_instructions_are_as_many_times_the_cost(factor: int, costs: list[int]) -> None:
    rows = [
        row
        for block, cost in enumerate(costs)
        for row in (counted_row(block, 0, UNTRACED_INSTRUCTIONS), counted_row(block, 1, 1500 + cost, KPROBE))
    ]
    grown = [replace(row, instructions=factor * (row.instructions or 0)) for row in rows]
    before, after = only(rows).cost, only(grown).cost
    assert before is not None
    assert after is not None
    assert after == pytest.approx(before.times(factor))
