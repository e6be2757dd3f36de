"""The order of runs: randomised blocks, so that drift and neighbours hit every case alike.

Source: the design of interleaved, randomised blocks follows Kalibera and Jones (2013) and the reports on random
interleaving in Google Benchmark.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from probe_effect.model import NO_TRACER, Arm, Key

BASELINES = 2
"""How many baselines each block has."""

BASELINE_CASE = "baseline"


def baseline(level: str | None = None) -> Key:
    """The baseline of a level."""
    return Key(BASELINE_CASE, NO_TRACER, level)


def blocks_in_order(
    measured: Sequence[Key], left_out: Sequence[Key], counted: Sequence[Key], blocks: int, seed: int
) -> Iterator[list[tuple[Key, Arm]]]:
    """The runs of each block, in order. The same arguments give the same order.

    What is `measured` runs once in every block, at each level. What is `left_out` has a place in the first block only,
    for the row that says why. What is `counted`, by a twin, runs once more at the end of the first block. The runs of a
    level are together, so that its baselines are near in time, and the levels are in random order.
    """
    random = np.random.default_rng(seed)
    for block in range(blocks):
        order: list[tuple[Key, Arm]] = [
            (subject, "baseline" if subject.is_baseline else "traced")
            for subject in _block(measured, left_out if block == 0 else [], random)
        ]
        if block == 0:
            order += [(subject, "check") for subject in counted]
        yield order


def _block(measured: Sequence[Key], left_out: Sequence[Key], random: np.random.Generator) -> list[Key]:
    """One block: the levels in random order, then the subjects left out at levels at which nothing is measured."""
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
