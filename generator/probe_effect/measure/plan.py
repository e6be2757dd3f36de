"""The order of runs: randomised blocks, so that drift and neighbours hit every case alike.

Source: the design of interleaved, randomised blocks follows Kalibera and Jones (2013) and the reports on random
interleaving in Google Benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probe_effect.measure.one_run import PlannedRun, baseline
from probe_effect.model import Key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Arm
    from probe_effect.store.plan_file import PlannedSubject

BASELINES = 2
"""In each block."""


def plan(subjects: Sequence[PlannedSubject], blocks: int, seed: int) -> tuple[PlannedRun, ...]:
    """Every run of a suite, in order. The same arguments give the same plan.

    A case that is measured runs once in every block, at each level; one that is not takes a place in the first block
    only, for the row that says why; one that a twin counts runs once more at the end of the first block. The runs of a
    level stand together, so that its baselines are near in time, and the levels in random order.

    Args:
        subjects: the cases with their tracers and levels.
        blocks: how many rounds.
        seed: of the random order.
    """
    random = np.random.default_rng(seed)
    measured = [_subject(one) for one in subjects if one.operations is not None]
    left_out = [_subject(one) for one in subjects if one.operations is None]
    counted = [_subject(one) for one in subjects if one.is_counted_apart]
    runs: list[PlannedRun] = []
    for block in range(blocks):
        order: list[tuple[Key, Arm]] = [
            (subject, "baseline" if subject.is_baseline else "traced")
            for subject in _block(measured, left_out if block == 0 else [], random)
        ]
        if block == 0:
            order += [(subject, "check") for subject in counted]
        runs += [PlannedRun(block, place, subject, arm) for place, (subject, arm) in enumerate(order)]
    return tuple(runs)


def _subject(planned: PlannedSubject) -> Key:
    return Key(planned.case, planned.tracer, planned.level)


def _block(measured: Sequence[Key], left_out: Sequence[Key], random: np.random.Generator) -> list[Key]:
    """One block: the levels in random order, and at the end what is left out at levels of which nothing is measured."""
    levels = list(dict.fromkeys(subject.level for subject in measured)) or [None]
    order: list[Key] = []
    for place in random.permutation(len(levels)):
        level = levels[place]
        order += _with_baselines([one for one in (*measured, *left_out) if one.level == level], level, random)
    return [*order, *(subject for subject in left_out if subject.level not in levels)]


def _with_baselines(subjects: Sequence[Key], level: str | None, random: np.random.Generator) -> list[Key]:
    """The subjects of one level in random order, with two baselines half a round apart, the first at a random place.

    Every place is a baseline's as often as any other case's, so that a block that begins slowly, or drifts, disturbs
    both alike on average (`benchmarks/coverage.py` shows what happens otherwise).
    """
    order = [subjects[place] for place in random.permutation(len(subjects))]
    places = len(order) + BASELINES
    first = int(random.integers(places))
    second = (first + (places + int(random.integers(2))) // 2) % places
    for place in sorted((first, second)):
        order.insert(place, baseline(level))
    return order
