"""The blocks that a page shows are those that its number is made of: whoever computes again comes to the same."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.builders import (
    COUNTED_COSTS,
    EVENTS,
    baseline_row,
    counted_document,
    counted_rows,
    many_blocks,
    traced_row,
)
from helpers.number_builder import reduced
from probe_effect.model import Estimate, Key
from probe_effect.numbers.estimates import paired_estimate, ragged

if TYPE_CHECKING:
    from probe_effect.model import Sample
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.rows import Block, BlockTable

KPROBE = Key("02-kprobe", "bpftrace", None)


def only(samples: list[Sample]) -> BlockTable:
    return reduced(samples).blocks[KPROBE]


def first(samples: list[Sample]) -> tuple[Block, tuple[float, ...]]:
    """The first block of the only number, with its differences."""
    made = only(samples)
    return made.blocks[0], made.differences(made.blocks[0])


def cost_again(made: BlockTable) -> Estimate:
    """The cost as /method/interval/ has it, from the differences alone."""
    every = (made.differences(block) for block in made.blocks)
    return paired_estimate(ragged(found for found in every if found))


def count_again(made: BlockTable) -> Estimate:
    every = (made.differences(block) for block in made.blocks)
    counts = [float(np.mean(found)) for found in every if found]
    return Estimate(median(counts), min(counts), max(counts))


def test_a_block_has_its_runs_over_their_operations_and_their_lines_in_the_file() -> None:
    block, differences = first(many_blocks())
    assert (block.number, block.untraced, block.traced) == (0, (100.0, 100.0), 150.0)
    assert differences == (50.0, 50.0)
    assert block.lines == (2, 3, 4)


def test_lines_go_on_from_block_to_block() -> None:
    assert [block.lines for block in only(many_blocks(3)).blocks] == [(2, 3, 4), (5, 6, 7), (8, 9, 10)]


def test_the_cost_follows_from_the_blocks_shown() -> None:
    (number,) = reduced(many_blocks(8, cost_ns=37)).numbers
    assert cost_again(number.submission.blocks[KPROBE]) == number.cost


def test_differences_are_of_an_event_where_an_operation_makes_several() -> None:
    rows = many_blocks()
    twice = [replace(row, events=2 * EVENTS, operations=EVENTS) if row.arm == "traced" else row for row in rows]
    assert first(twice)[1] == (25.0, 25.0)


def test_a_run_that_did_not_end_well_has_no_difference_and_says_why() -> None:
    samples = many_blocks(2)
    samples[1] = replace(samples[1], status="failed", note="the tool died", wall_ns=None)
    block, differences = first(samples)
    assert (block.traced, differences, block.problem) == (None, (), "failed: the tool died")
    assert [one.number for one in only(samples).usable()] == [1]


def test_events_come_from_the_run_in_which_they_were_counted() -> None:
    check = replace(traced_row(0, 3, 0), arm="check", seen=EVENTS - 1, lost=1)
    block, _ = first([*many_blocks(1), check])
    assert (block.expected, block.seen, block.lost) == (EVENTS, EVENTS - 1, 1)
    assert block.lines == (2, 3, 4, 5)


def test_without_a_count_there_are_no_events() -> None:
    block, _ = first(many_blocks(1))
    assert (block.expected, block.seen, block.lost) == (None, None, None)


def test_a_level_is_compared_with_the_baselines_of_its_own_level() -> None:
    samples = [
        baseline_row(0, 0, 100, level="1"),
        baseline_row(0, 1, 300, level="2"),
        traced_row(0, 2, 450, level="2"),
    ]
    made = reduced(samples).blocks[KPROBE._replace(level="2")]
    assert made.blocks[0].untraced == (300.0,)
    assert made.differences(made.blocks[0]) == (150.0,)


def test_a_level_without_baselines_is_compared_with_those_without_a_level() -> None:
    samples = [row if row.arm == "baseline" else replace(row, level="2") for row in many_blocks()]
    made = reduced(samples).blocks[KPROBE._replace(level="2")]
    assert made.differences(made.blocks[0]) == (50.0, 50.0)


def test_a_count_is_the_median_of_the_differences_from_the_mean_of_the_baselines() -> None:
    for key, made in reduced(counted_rows(), counted_document()).blocks.items():
        assert count_again(made).value == pytest.approx(COUNTED_COSTS[f"{key.case} {key.tracer}"], abs=0.001)


def known(cost: Estimate) -> list[float]:
    """Its value and its ends, where it has some."""
    return [one for one in cost if one is not None]


def test_every_published_number_follows_from_its_blocks(catalogue: Catalogue) -> None:
    for submission in catalogue.everything:
        blocks = submission.blocks
        for one in submission.numbers:
            if one.cost is not None:
                found = (cost_again if one.is_time else count_again)(blocks[one.key])
                assert known(found) == pytest.approx(known(one.cost), rel=1e-9, abs=1e-6), one.id
