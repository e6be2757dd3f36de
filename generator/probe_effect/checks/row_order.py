"""Rows stand in the order run, and every block holds the baselines of each level."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSubmission, Fault, Rule
from probe_effect.store.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

BASELINES_PER_BLOCK = 2


def _faults(checked: CheckedSubmission) -> Iterator[Fault]:
    for (_, before), (line, after) in pairwise(checked.lines()):
        if (after.block, after.position) < (before.block, before.position):
            found = f"block {after.block}, position {after.position} stands after a later one"
            yield Fault("samples.csv", line, found, "keep rows in the order run: by block, then by position")
    baselines = Counter((sample.block, sample.level) for sample in checked.samples if sample.arm == "baseline")
    timed = [sample for sample in checked.samples if sample.arm == "traced" and sample.status == "ok"]
    for block, level in dict.fromkeys((sample.block, sample.level) for sample in timed):
        if (number := baselines[block, level]) < BASELINES_PER_BLOCK:
            at = "" if level is None else f" at level `{printable(level)}`"
            found = f"block {block} has {number} baseline runs{at}, expected {BASELINES_PER_BLOCK} or more"
            yield Fault("samples.csv", None, found, "measure the block again: costs are differences inside a block")


RULE = Rule(
    "row-order",
    "Rows stand in the order run; each block has two baselines or more of each level.",
    _faults,
    good="block 0 with positions 0, 1, 2, of which two are baselines",
    bad="block 0 with position 2 before position 1",
)
