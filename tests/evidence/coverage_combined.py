"""What `coverage` finds about figures that are computed from intervals: sums, ratios, thresholds, ranks; and tau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evidence.coverage_estimators import paired
from evidence.coverage_noise import BASELINE_NS, COST_NS, MODELS, SIGMA_NS, Runs
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.numbers.estimates import Rank, ranks
from probe_effect.numbers.submission import threshold
from probe_effect.numbers.trends import MIN_PAIRS, kendall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.random import Generator

    from evidence.coverage_noise import NoiseModel

NOISES = ("normal", "lognormal", "hit-10", "block-effects")
"""Models in which all runs of a block are alike, so that it does not matter where in the block they stand."""

OTHER_COST_NS = 260.0

CASES = 22
"""As many as the largest submission has."""

STEP_NS = 3 * SIGMA_NS
"""Between the costs of half of the cases and of the other half, where they differ."""

TAUS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)
PAIRS = (MIN_PAIRS, 10, 15, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How often something happened."""

    what: str
    under: str
    size: int
    unit: Literal["blocks", "pairs"]
    ratio: float


Costs = list[list[Estimate]]
"""Repetitions of the costs of several cases with the same baselines."""

COMBINED: Mapping[str, tuple[float, Callable[[Sequence[Estimate], Sequence[Estimate]], Estimate | None]]] = {
    "difference of two submissions": (
        OTHER_COST_NS - COST_NS,
        lambda one, other: estimates.difference(other[1], one[0]),
    ),
    "ratio of two submissions": (OTHER_COST_NS / COST_NS, lambda one, other: estimates.ratio(other[1], one[0])),
    "total of three costs, same baselines": (
        COST_NS + 2 * OTHER_COST_NS,
        lambda one, _: estimates.total(one),
    ),
    "threshold of 5 %": (0.05e9 / COST_NS, lambda one, _: threshold(one[0], 5)),
}
"""What is computed to its true value and how, from the costs of two submissions."""


def costs(model: NoiseModel, truths_ns: Sequence[float], repetitions: int, blocks: int, random: Generator) -> Costs:
    """Estimates of costs that share their baselines, as one submission has them, for each repetition."""
    times_ns = BASELINE_NS + SIGMA_NS * model.draw(random, (repetitions, blocks, len(truths_ns) + 2))
    by_case = []
    for place, truth_ns in enumerate(truths_ns):
        found = paired(Runs(times_ns[:, :, place + 2] + truth_ns, times_ns[:, :, :2]))
        ends = zip(found.value.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
        by_case.append([Estimate(*one) for one in ends])
    return [list(one) for one in zip(*by_case, strict=True)]


def combined(name: str, blocks: int, repetitions: int, random: Generator) -> Iterator[Share]:
    """Coverage of every figure in `COMBINED` under one noise model, of those that exist."""
    truths_ns = (COST_NS, OTHER_COST_NS, OTHER_COST_NS)
    first, second = (costs(MODELS[name], truths_ns, repetitions, blocks, random) for _ in range(2))
    for what, (truth, computed) in COMBINED.items():
        found = [computed(one, other) for one, other in zip(first, second, strict=True)]
        ratio = float(np.mean([_covers(one, truth) for one in found if one is not None]))
        yield Share(what=what, under=MODELS[name].words, size=blocks, unit="blocks", ratio=ratio)


def _covers(interval: Estimate, truth: float) -> bool:
    """Whether the interval holds the truth; a threshold may have no upper end."""
    return interval.low is not None and interval.low <= truth <= (np.inf if interval.high is None else interval.high)


def ranking(name: str, blocks: int, repetitions: int, random: Generator) -> Iterator[Share]:
    """How often ranks part equal cases, and how often different ones.

    Half of the cases cost `STEP_NS` more than the others; the first half alone is a family of equal cases, too small a
    one, so the family of `CASES` is drawn apart.
    """
    equal = [ranks(one) for one in costs(MODELS[name], [COST_NS] * CASES, repetitions, blocks, random)]
    wrong = float(np.mean([any(rank != Rank(1, CASES) for rank in one) for one in equal]))
    yield Share(
        what=f"any two of {CASES} equal cases parted", under=MODELS[name].words, size=blocks, unit="blocks", ratio=wrong
    )
    half = CASES // 2
    truths_ns = [COST_NS] * half + [COST_NS + STEP_NS] * half
    parted = [
        np.mean([rank.last <= half for rank in ranks(one)[:half]])
        for one in costs(MODELS[name], truths_ns, repetitions, blocks, random)
    ]
    yield Share(
        what=f"parted from all that cost {STEP_NS:g} ns more",
        under=MODELS[name].words,
        size=blocks,
        unit="blocks",
        ratio=float(np.mean(parted)),
    )


def correlations(pairs: int, repetitions: int, random: Generator) -> Iterator[Share]:
    """Coverage of Kendall's tau for jointly normal values, and how often unrelated orders have a p-value up to 0.05."""
    for tau in TAUS:
        rho = np.sin(np.pi * tau / 2)  # Greiner's relation for normal values
        first, noise = random.standard_normal((2, repetitions, pairs))
        second = rho * first + np.sqrt(1 - rho**2) * noise
        found = [one for row in zip(first, second, strict=True) if (one := kendall(*row)) is not None]
        held = [_covers(Estimate(one.tau, one.low, one.high), tau) for one in found]
        yield Share(what="Kendall's tau", under=f"tau {tau:g}", size=pairs, unit="pairs", ratio=float(np.mean(held)))
        if tau == 0:
            low = float(np.mean([one.p_value <= 0.05 for one in found]))
            yield Share(what="p-value up to 0.05", under="unrelated orders", size=pairs, unit="pairs", ratio=low)
