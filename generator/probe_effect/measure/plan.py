"""The order of runs: randomised blocks, so that drift and neighbours hit every case alike.

Source: the design of interleaved, randomised blocks follows Kalibera and Jones (2013) and the reports on random
interleaving in Google Benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.model import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Arm
    from probe_effect.store.plan_file import PlannedSubject

BASELINE_CASE = "baseline"


@dataclass(frozen=True, slots=True)
class Subject:
    """A case with a tracer, or the baseline."""

    case: str
    tracer: str


BASELINE = Subject(BASELINE_CASE, NO_TRACER)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make, with its place."""

    block: int
    position: int
    subject: Subject
    arm: Arm


def plan(subjects: Sequence[PlannedSubject], blocks: int, seed: int) -> tuple[PlannedRun, ...]:
    """Every run of a suite, in order. The same arguments give the same plan.

    A case that is measured runs once in every block; one that is not takes a place in the first block only, for the
    row that says why; one that a twin counts runs once more at the end of the first block.

    Args:
        subjects: the cases with their tracers.
        blocks: how many rounds.
        seed: of the random order.
    """
    random = np.random.default_rng(seed)
    measured = [Subject(one.case, one.tracer) for one in subjects if one.operations is not None]
    left_out = [Subject(one.case, one.tracer) for one in subjects if one.operations is None]
    counted = [Subject(one.case, one.tracer) for one in subjects if one.is_counted_apart]
    runs: list[PlannedRun] = []
    for block in range(blocks):
        order: list[tuple[Subject, Arm]] = [
            (subject, "baseline" if subject == BASELINE else "traced")
            for subject in _block([*measured, *left_out] if block == 0 else measured, random)
        ]
        if block == 0:
            order += [(subject, "check") for subject in counted]
        runs += [PlannedRun(block, place, subject, arm) for place, (subject, arm) in enumerate(order)]
    return tuple(runs)


def _block(subjects: Sequence[Subject], random: np.random.Generator) -> list[Subject]:
    """The subjects in random order, with one baseline in each half and something between the two.

    Both at one end would leave drift within the block in the difference.
    """
    order = [subjects[place] for place in random.permutation(len(subjects))]
    first = int(random.integers(0, (len(order) - 1) // 2, endpoint=True)) if order else 0
    second = int(random.integers(len(order) // 2 + 1, len(order), endpoint=True)) if order else 0
    return [*order[:first], BASELINE, *order[first:second], BASELINE, *order[second:]]
