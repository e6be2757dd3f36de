"""What the rows of a submission of times say: known costs from rows made for the purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.builders import (
    BASELINE_NS,
    COST_NS,
    EVENTS,
    baseline_row,
    block_rows,
    machine_document,
    many_blocks,
    skipped_row,
    traced_row,
)
from helpers.number_builder import reduced
from probe_effect.model import Estimate, Sample, Status

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Number


def only(samples: list[Sample]) -> Number:
    (number,) = reduced(samples).numbers
    return number


def drifting(blocks: int, cost_ns: float, floor_ns: float) -> list[Sample]:
    """Baselines that differ inside a block by `floor_ns`, on a machine that becomes slower from block to block."""
    return [
        row
        for block in range(blocks)
        for row in block_rows(block, cost_ns, (100 + 10 * block, 100 + 10 * block + floor_ns))
    ]


def test_a_known_cost_is_found_with_its_slowdown() -> None:
    number = only(many_blocks())
    assert number.status == "ok"
    assert number.blocks == 8
    assert number.baseline == Estimate(BASELINE_NS)
    assert number.cost == Estimate(COST_NS, COST_NS, COST_NS)
    assert number.time.slowdown is not None
    assert number.time.slowdown.value == pytest.approx(0.5)


def test_a_machine_that_becomes_slower_does_not_change_the_cost() -> None:
    number = only(drifting(8, cost_ns=50, floor_ns=2))
    assert number.cost is not None
    assert number.cost.value == pytest.approx(50)


def test_the_fastest_statistic_is_least_traced_minus_least_untraced() -> None:
    number = only(drifting(8, cost_ns=50, floor_ns=2))
    assert number.time.fastest_ns == pytest.approx(51)


def test_runs_of_different_lengths_are_compared_per_event() -> None:
    rows = [
        replace(row, events=10 * EVENTS, wall_ns=10 * (row.wall_ns or 0)) if row.arm == "traced" else row
        for row in many_blocks()
    ]
    assert only(rows).cost == Estimate(COST_NS, COST_NS, COST_NS)


def test_the_cost_is_measured_against_the_mean_of_a_blocks_baselines() -> None:
    rows = [row for block in range(8) for row in (*block_rows(block, 50, (90, 110)), baseline_row(block, 5, 130))]
    number = only(rows)
    assert number.cost is not None
    assert number.cost.value == pytest.approx(150 - 110)


def test_thresholds_follow_from_the_cost() -> None:
    number = only(many_blocks(cost_ns=50))
    found = [one.value for one in (number.threshold(1), number.threshold(5), number.threshold(30)) if one is not None]
    assert found == pytest.approx([200_000, 1_000_000, 6_000_000])


def test_a_cost_inside_the_noise_floor_is_no_difference_and_has_no_thresholds() -> None:
    number = only(drifting(8, cost_ns=3, floor_ns=5))
    assert number.distinguishable is False
    assert number.cost is not None
    assert number.cost.low is not None
    assert number.cost.low > 0
    assert (number.threshold(1), number.threshold(5), number.threshold(30)) == (None, None, None)


def test_an_interval_around_zero_is_no_difference() -> None:
    costs = [-40, -30, -20, 30, 40, 60, 70, 80]
    number = only([row for block, cost in enumerate(costs) for row in block_rows(block, cost)])
    assert number.distinguishable is False


def test_a_clear_cost_is_a_difference() -> None:
    assert only(drifting(8, cost_ns=6, floor_ns=5)).distinguishable is True


def test_a_tracer_that_makes_it_faster_is_told_as_such_without_thresholds() -> None:
    number = only(many_blocks(cost_ns=-20))
    assert number.cost == Estimate(-20, -20, -20)
    assert number.distinguishable is True
    assert number.threshold(5) is None


def test_the_noise_floor_is_what_baselines_of_the_same_block_differ_by() -> None:
    assert reduced(drifting(8, cost_ns=50, floor_ns=4)).noise_floor_ns == pytest.approx(4)


def test_one_baseline_per_block_gives_no_noise_floor_and_no_verdict() -> None:
    rows = [row for block in range(8) for row in block_rows(block, 50, (100,))]
    found = reduced(rows)
    assert found.noise_floor_ns is None
    assert found.numbers[0].cost == Estimate(50, 50, 50)
    assert found.numbers[0].distinguishable is None
    assert found.numbers[0].threshold(5) is None
    assert "noise floor" in (found.numbers[0].note or "")


def test_one_block_has_a_cost_without_an_interval_and_says_so() -> None:
    number = only(many_blocks(1))
    assert number.cost == Estimate(COST_NS)
    assert number.distinguishable is None
    assert number.threshold(5) is None
    assert "too few blocks" in (number.note or "")


def test_blocks_without_a_baseline_are_not_used() -> None:
    rows = [row for row in many_blocks(9) if not (row.block == 8 and row.arm == "baseline")]
    assert only(rows).blocks == 8


def test_no_baseline_at_all_leaves_the_case_without_a_cost() -> None:
    found = reduced([row for row in many_blocks() if row.arm == "traced"])
    assert found.baseline is None
    assert found.noise_floor_ns is None
    assert found.numbers[0].cost is None
    assert "no block has both" in (found.numbers[0].note or "")


def test_failed_baselines_are_not_used() -> None:
    broken = [
        replace(row, status="failed", note="died", wall_ns=9) if row.arm == "baseline" and row.position == 0 else row
        for row in many_blocks()
    ]
    assert only(broken).cost == Estimate(COST_NS, COST_NS, COST_NS)


def test_a_skipped_case_keeps_its_reason() -> None:
    skipped = reduced([*many_blocks(), skipped_row(3)]).numbers[1]
    assert (skipped.case, skipped.status, skipped.blocks) == ("06-uprobe", "skipped", 0)
    assert skipped.note == "this kernel has no uprobes"
    assert skipped.cost is None


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_a_case_whose_runs_all_ended_badly_has_their_status_and_first_reason(status: Status) -> None:
    rows = [
        replace(row, status=status, note=f"block {row.block}") if row.arm == "traced" else row for row in many_blocks()
    ]
    number = only(rows)
    assert (number.status, number.note, number.cost) == (status, "block 0", None)


def test_a_case_that_failed_in_some_blocks_is_measured_in_the_others_and_says_so() -> None:
    rows = [
        replace(row, status="failed", note="the tracer died", wall_ns=None, events=None)
        if row.arm == "traced" and row.block in (2, 5)
        else row
        for row in many_blocks(9)
    ]
    number = only(rows)
    assert (number.status, number.blocks) == ("ok", 7)
    assert number.note == "2 of 9 runs did not end well: the tracer died"


def test_check_runs_count_events_and_are_never_timed() -> None:
    rows = many_blocks()
    check = replace(traced_row(7, 9, 1e6, seen=EVENTS), arm="check")
    number = only([*rows, check])
    assert number.cost == Estimate(COST_NS, COST_NS, COST_NS)
    assert (number.time.reconciled, number.time.loss_ratio) == (True, 0.0)


@pytest.mark.parametrize(
    ("seen", "lost", "reconciled"),
    [
        pytest.param(1000, 0, True, id="all seen"),
        pytest.param(1000, None, True, id="loss not told"),
        pytest.param(999, 0, True, id="one in a thousand missing is within tolerance"),
        pytest.param(998, 0, False, id="two are not"),
        pytest.param(1001, 0, True, id="one too many"),
        pytest.param(1002, 0, False, id="another process fired it too"),
        pytest.param(600, 400, True, id="lost ones are accounted for"),
        pytest.param(0, 0, False, id="nothing seen"),
    ],
)
def test_events_reconcile_within_a_thousandth(seen: int, lost: int | None, reconciled: bool) -> None:
    assert only(many_blocks(seen=seen, lost=lost)).time.reconciled is reconciled


def test_what_was_not_counted_is_neither_reconciled_nor_lost() -> None:
    number = only(many_blocks())
    assert (number.time.reconciled, number.time.loss_ratio) == (None, None)


def test_loss_is_the_share_of_all_events() -> None:
    rows = [row for block in range(8) for row in block_rows(block, seen=900 if block < 4 else 1000, lost=100)]
    assert only(rows).time.loss_ratio == pytest.approx(0.1)


def test_an_unreconciled_case_is_flagged_left_out_of_guidance_and_lowers_the_grade() -> None:
    found = reduced(many_blocks(20, seen=500))
    number = found.numbers[0]
    assert number.cost is not None
    assert number.threshold(5) is None
    assert "do not add up" in (number.note or "")
    assert found.grade == "D"


def test_a_case_is_graded_no_better_than_its_submission_and_tells_both_reasons() -> None:
    found = reduced(many_blocks(20, seen=EVENTS), machine_document(run__steal_ratio=0.2))
    (number,) = found.numbers
    assert (found.grade, number.grade) == ("C", "C")
    assert set(found.grade_reasons) <= set(number.grade_reasons)


def test_a_case_that_was_not_measured_has_no_grade() -> None:
    assert reduced([*many_blocks(), skipped_row(3)]).numbers[1].grade is None


def test_one_bad_case_among_many_does_not_condemn_the_submission() -> None:
    good = [
        row
        for block in range(20)
        for row in (
            *block_rows(block, 50, seen=EVENTS),
            *(traced_row(block, 4 + n, 180, case=f"1{n}-good", seen=EVENTS) for n in range(10)),
        )
    ]
    bad = [traced_row(block, 20, 180, case="99-bad", seen=1) for block in range(20)]
    found = reduced([*good, *bad])
    assert [number.grade for number in found.numbers if number.case == "99-bad"] == ["D"]
    assert found.grade == "A"


def test_a_block_far_from_the_others_is_named_and_kept() -> None:
    costs = [50.0, 51, 49, 50, 52, 48, 50, 51, 49, 500]
    number = only([row for block, cost in enumerate(costs) for row in block_rows(block, cost)])
    assert (number.blocks, number.outlier_blocks) == (10, (9,))
    assert "1 of 10 blocks lie far from the others, and are kept: 9" in (number.note or "")


def test_the_highest_rate_is_events_over_the_time_of_a_traced_run() -> None:
    assert only(many_blocks(cost_ns=50)).time.rate_hz == pytest.approx(1e9 / (BASELINE_NS + 50))


def test_each_level_has_its_own_baseline_and_noise_floor() -> None:
    rows = [
        row
        for block in range(8)
        for level, (low_ns, high_ns), cost_ns in (("1", (100, 101), 50), ("2", (900, 910), 70))
        for row in (
            replace(baseline_row(block, 0, low_ns), level=level),
            replace(traced_row(block, 1, (low_ns + high_ns) / 2 + cost_ns), level=level),
            replace(baseline_row(block, 2, high_ns), level=level),
        )
    ]
    first, second = reduced(rows).numbers
    assert (first.cost, second.cost) == (Estimate(50, 50, 50), Estimate(70, 70, 70))
    assert (first.time.noise_floor_ns, second.time.noise_floor_ns) == (1, 10)


@pytest.mark.parametrize("events", [0, None])
def test_a_run_without_events_is_not_used(events: int | None) -> None:
    number = only([replace(row, events=events) if row.arm == "traced" else row for row in many_blocks()])
    assert number.cost is None
    assert number.time.reconciled is None


def test_events_of_several_threads_at_once_cost_what_each_adds_to_its_own_thread() -> None:
    """Two threads of 500 operations each make 1000 events; each operation takes 20 ns longer."""
    rows = [
        replace(row, level="2", operations=EVENTS // 2, wall_ns=EVENTS // 2 * per_operation_ns)
        for block in range(8)
        for row, per_operation_ns in (
            (baseline_row(block, 0), 100),
            (traced_row(block, 1, 0), 120),
            (baseline_row(block, 2), 100),
        )
    ]
    number = only(rows)
    assert number.cost == Estimate(20, 20, 20)
    assert number.baseline == Estimate(100)


def test_levels_stand_in_the_order_of_their_numbers() -> None:
    rows = [row for block in range(6) for level in ("10", "2", "1") for row in block_rows(block, 50, level=level)]
    assert [number.level for number in reduced(rows).numbers] == ["1", "2", "10"]


def test_levels_and_tracers_of_a_case_are_numbers_of_their_own() -> None:
    rows = [
        row
        for block in range(8)
        for row in (
            *block_rows(block, 50, level="1"),
            traced_row(block, 4, 300, level="2"),
            traced_row(block, 5, 400, tracer="dtrace"),
        )
    ]
    found = {(one.tracer, one.level): one.cost.value for one in reduced(rows).numbers if one.cost is not None}
    assert found == pytest.approx({("bpftrace", "1"): 50, ("bpftrace", "2"): 200, ("dtrace", None): 300})


def test_cases_come_in_the_order_of_their_ids() -> None:
    rows = [row for block in range(6) for row in (*block_rows(block), traced_row(block, 4, 180, case="01-control"))]
    assert [one.case for one in reduced(rows).numbers] == ["01-control", "02-kprobe"]


def test_no_rows_give_no_numbers_and_the_lowest_grade() -> None:
    found = reduced([])
    assert (found.numbers, found.baseline, found.noise_floor_ns, found.grade) == ((), None, None, "D")


def test_what_the_machine_is_does_not_decide_its_grade() -> None:
    found = reduced(many_blocks(20), machine_document(machine__virtualization="kvm", machine__nested=True))
    assert (found.grade, found.grade_reasons) == ("A", ())


def test_the_interval_of_the_cost_covers_it_on_a_noisy_drifting_machine() -> None:
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(100):
        rows = []
        for block in range(20):
            level = 100 + 2 * block
            first, traced, second = level + generator.lognormal(0, 1, 3) * 3
            rows += [
                baseline_row(block, 0, first, events=1_000_000, wall_ns=round(first * 1e6)),
                traced_row(block, 1, 0, events=1_000_000, wall_ns=round((traced + 40) * 1e6)),
                baseline_row(block, 2, second, events=1_000_000, wall_ns=round(second * 1e6)),
            ]
        cost = only(rows).cost
        assert cost is not None
        assert cost.low is not None
        assert cost.high is not None
        covered += cost.low <= 40 <= cost.high
    assert covered >= 90


# What follows from a number


def test_a_number_is_named_by_tracer_case_and_level_and_known_by_where_it_lies() -> None:
    plain, leveled = only(many_blocks()), only(many_blocks(level="2"))
    assert (plain.name, leveled.name) == ("bpftrace.02-kprobe", "bpftrace.02-kprobe@2")
    assert plain.id == "test-machine/2026-11-20-per-event/02-kprobe/bpftrace"
    assert leveled.id == "test-machine/2026-11-20-per-event/02-kprobe/bpftrace/2"


def test_what_an_event_adds_is_a_share_of_the_untraced_work_for_it() -> None:
    assert only(many_blocks()).added_ratio == pytest.approx(COST_NS / BASELINE_NS)
    assert reduced([*many_blocks(), skipped_row(3)]).numbers[1].added_ratio is None


def test_a_number_without_a_cost_says_so_where_one_is_asked_for() -> None:
    skipped = reduced([*many_blocks(), skipped_row(3)]).numbers[1]
    with pytest.raises(ValueError, match="06-uprobe/bpftrace has no cost"):
        _ = skipped.known_cost


def test_only_a_cost_whose_events_add_up_is_sound() -> None:
    assert only(many_blocks(seen=EVENTS)).is_sound
    assert not only(many_blocks(seen=1)).is_sound
    assert not reduced([*many_blocks(), skipped_row(3)]).numbers[1].is_sound
