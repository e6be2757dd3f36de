"""The blocks that a page shows are those that its number is made of: whoever computes again comes to the same."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pytest

from builders import (
    COUNTED_COSTS,
    EVENTS,
    REAL_DATA,
    baseline_row,
    counted_rows,
    machine_document,
    many_blocks,
    traced_row,
)
from probe_effect.guidance import blocks
from probe_effect.guidance.catalogue import Catalogue, read_catalogue
from probe_effect.guidance.rows import CaseKey
from probe_effect.guidance.summary import summarise
from probe_effect.stats.paired import paired_estimate, ragged
from probe_effect.store.places import DataFolder
from probe_effect.store.samples import read_samples

if TYPE_CHECKING:
    from probe_effect.guidance.blocks import Made
    from probe_effect.model import Interval, Sample

KPROBE = CaseKey("02-kprobe", "bpftrace", None)


def only(samples: list[Sample]) -> Made:
    return blocks.timed(samples)[KPROBE]


def again(made: Made) -> Interval:
    """The cost as METHOD.md has it, from the differences alone."""
    return paired_estimate(ragged(block.differences for block in made.blocks if block.differences))


def test_a_block_has_its_runs_over_their_operations_and_their_lines_in_the_file() -> None:
    first = only(many_blocks()).blocks[0]
    assert (first.number, first.untraced, first.traced) == (0, (100.0, 100.0), 150.0)
    assert first.differences == (50.0, 50.0)
    assert first.lines == (2, 3, 4)


def test_lines_go_on_from_block_to_block() -> None:
    assert [block.lines for block in only(many_blocks(3)).blocks] == [(2, 3, 4), (5, 6, 7), (8, 9, 10)]


def test_the_cost_follows_from_the_blocks_shown() -> None:
    samples = many_blocks(8, cost_ns=37)
    assert again(only(samples)) == summarise("m/d", machine_document(), samples).cases[0].cost


def test_a_run_that_did_not_end_well_has_no_difference_and_says_why() -> None:
    samples = many_blocks(2)
    samples[1] = replace(samples[1], status="failed", note="the tool died", wall_ns=None)
    block = only(samples).blocks[0]
    assert (block.traced, block.differences, block.problem) == (None, (), "failed: the tool died")


def test_events_come_from_the_run_in_which_they_were_counted() -> None:
    check = replace(traced_row(0, 3, 0), arm="check", seen=EVENTS - 1, lost=1)
    block = only([*many_blocks(1), check]).blocks[0]
    assert (block.expected, block.seen, block.lost) == (EVENTS, EVENTS - 1, 1)
    assert block.lines == (2, 3, 4, 5)


def test_without_a_count_there_are_no_events() -> None:
    block = only(many_blocks(1)).blocks[0]
    assert (block.expected, block.seen, block.lost) == (None, None, None)


def test_a_level_is_compared_with_the_baselines_of_its_own_level() -> None:
    samples = [
        baseline_row(0, 0, 100, level="1"),
        baseline_row(0, 1, 300, level="2"),
        traced_row(0, 2, 450, level="2"),
    ]
    made = blocks.timed(samples)[CaseKey("02-kprobe", "bpftrace", "2")]
    assert made.blocks[0].untraced == (300.0,)
    assert made.blocks[0].differences == (150.0,)


def test_a_count_is_the_median_of_the_differences_from_the_mean_of_the_baselines() -> None:
    for key, made in blocks.counted(counted_rows()).items():
        found = [float(np.mean(block.differences)) for block in made.blocks]
        assert median(found) == pytest.approx(COUNTED_COSTS[f"{key.case} {key.tracer}"], abs=0.001)


@pytest.fixture(scope="module")
def real() -> Catalogue:
    return read_catalogue(DataFolder(REAL_DATA))


def test_every_published_cost_follows_from_its_blocks(real: Catalogue) -> None:
    for submission in real.submissions:
        made = blocks.timed(read_samples(submission.files.samples, "samples.csv")[0])
        for case in submission.summary.cases:
            if case.cost is not None:
                found = again(made[CaseKey(case.case, case.tracer, case.level)])
                assert (found.value, found.low, found.high) == pytest.approx(
                    (case.cost.value, case.cost.low, case.cost.high), rel=1e-9
                ), (submission.summary.id, case.case, case.tracer, case.level)


def test_every_published_count_follows_from_its_blocks(real: Catalogue) -> None:
    for submission in real.counted:
        made = blocks.counted(read_samples(submission.files.samples, "samples.csv")[0])
        for case in submission.summary.cases:
            if case.cost_instructions is not None:
                of_case = made[CaseKey(case.case, case.tracer, case.level)].blocks
                found = [float(np.mean(block.differences)) for block in of_case if block.differences]
                assert median(found) == pytest.approx(case.cost_instructions.median, rel=1e-9, abs=1e-6)
