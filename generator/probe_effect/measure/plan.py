"""The order of runs and their length: randomised blocks, so that drift and neighbours hit every case alike.

A run has as many operations as are enough to time well, and few enough to repeat.

Source: the design of interleaved, randomised blocks follows Kalibera and Jones (2013) and the reports on random
interleaving in Google Benchmark.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from probe_effect.model import NO_TRACER, Arm, Key, Sample

BASELINES = 2  # how many baselines each block has
BASELINE_CASE = "baseline"


def baseline(level: str | None = None) -> Key:
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
    for index in random.permutation(len(levels)):
        level = levels[index]
        subjects = [subject for subject in (*measured, *left_out) if subject.level == level]
        order += _with_baselines(subjects, level, random)
    return [*order, *(subject for subject in left_out if subject.level not in levels)]


def _with_baselines(subjects: Sequence[Key], level: str | None, random: np.random.Generator) -> list[Key]:
    """The subjects of one level in random order, with two baselines half a round apart, the first at a random place.

    Every place is a baseline's as often as any other case's, so that a block that begins slowly, or drifts, disturbs
    both alike on average (`tests/evidence/coverage.py` shows what happens otherwise).
    """
    order = [subjects[index] for index in random.permutation(len(subjects))]
    places = len(order) + BASELINES
    first = int(random.integers(places))
    second = (first + (places + int(random.integers(2))) // 2) % places
    for index in sorted((first, second)):
        order.insert(index, baseline(level))
    return order


FIRST_OPERATIONS = 20_000
"""Operations of a first trial: 10 ms with a probe of 500 ns, 0.8 s with one of 40 µs."""

FIRST_AT_A_LEVEL = 1
"""Operations of a first trial in a suite with a factor, at whose levels an operation may take a second."""

MIN_OPERATIONS = 1_000
"""Fewest operations of a suite without a factor: work that is done once in a run is spread over them."""
CHECK_OPERATIONS = 100_000
"""Fewest events of a counting run: a hundred events of other programs are then 0.1 %."""

LONGEST_CHECK_S = 10.0
ONE_BUILD = 1  # operations of a run that builds a project: a second build would find everything built


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long runs should take, in seconds."""

    baseline_s: float
    traced_s: float


THOROUGH = Lengths(baseline_s=0.4, traced_s=0.5)
QUICK = Lengths(baseline_s=0.1, traced_s=0.05)
"""Starting and ending the tracer takes longer than that: 18 cases in 6 blocks are a minute."""

COUNTED = Lengths(baseline_s=0.2, traced_s=0.2)
COUNTED_QUICK = Lengths(baseline_s=0.1, traced_s=0.1)
"""Of an emulated clock, where 0.2 s are 200 million instructions, with 50 ticks of the kernel's clock among them. A
shorter run would not do: some ten events of other programs must stay below 0.1 % of its own."""


def first_operations(level: str | None, baseline_operations: int | None = None) -> int:
    """Operations of a first trial; of a traced one at a level, where they may take long, a tenth of a baseline's."""
    if level is None:
        return FIRST_OPERATIONS
    return FIRST_AT_A_LEVEL if baseline_operations is None else min(FIRST_OPERATIONS, -(-baseline_operations // 10))


def operations_for(
    target_s: float, run: Callable[[int], Sample], first: int = FIRST_OPERATIONS, least: int = MIN_OPERATIONS
) -> tuple[int, Sample]:
    """The operations that take about `target_s`, and the last trial's row.

    Trials grow until one takes a tenth of the target. A trial that fails stops the search; its row says why.
    `run` makes a run of so many operations: `first` in the first trial, and never fewer than `least`.
    """
    operations = first
    while True:
        row = run(operations)
        if row.status != "ok" or row.wall_ns is None:
            return operations, row
        wanted = operations * target_s * 1e9 / row.wall_ns
        if row.wall_ns >= target_s * 1e8:
            return rounded(wanted, least), row
        operations = rounded(min(wanted / 3, operations * 50), least)


def check_operations(operations: int, target_s: float) -> int:
    """Operations of a counting run for a case whose timed run takes `target_s` for `operations`."""
    bearable = operations * LONGEST_CHECK_S / target_s
    return rounded(min(max(operations, CHECK_OPERATIONS), bearable))


def rounded(operations: float, least: int = MIN_OPERATIONS) -> int:
    """The operations, rounded to two significant digits, which are easy to read, and never fewer than `least`."""
    step: int = 10 ** max(math.floor(math.log10(max(operations, 1.0))) - 1, 0)
    return max(least, round(operations / step) * step)
