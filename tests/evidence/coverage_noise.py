"""The noise of `coverage`: what a machine adds to each run's time, and where in a block the runs stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.measure.bench import plan
from probe_effect.store.machine_file import PlannedSubject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Shape = tuple[int, int, int]
    """Repetitions, blocks of each, runs of a block in the order made."""

BASELINE_NS, COST_NS = 300.0, 200.0
"""The truth: an untraced operation, and what tracing adds to it."""

SIGMA_NS = 0.03 * BASELINE_NS
"""Of the plain noise that every model has; all other sizes below are multiples of it."""

CASES = 6
RUNS_PER_BLOCK = CASES + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseModel:
    """Added time in multiples of `SIGMA_NS`, drawn for a `Shape`, and what the intervals promise under it."""

    words: str
    """For the table."""
    draw: Callable[[Generator, Shape], Floats]
    is_promised: bool = True
    """Whether a traced run less its cost is like an untraced run of its block, but for the size of symmetric noise."""
    traced_factor: float = 1.0
    """How much more a traced run is disturbed than an untraced one."""
    drifts_in_blocks: bool = False
    """Whether a strong drift inside blocks is there to be warned of."""


def normal(random: Generator, shape: Shape) -> Floats:
    """The plain noise."""
    return random.standard_normal(shape)


def lognormal(random: Generator, shape: Shape) -> Floats:
    """Skewed: never below 0, mostly small."""
    return random.lognormal(0, 1, shape)


def heavy_tailed(random: Generator, shape: Shape) -> Floats:
    """Student's t with 2 degrees of freedom on top: its variance is infinite."""
    return normal(random, shape) + random.standard_t(2, shape)


def bimodal(random: Generator, shape: Shape) -> Floats:
    """Three runs in ten land in a slower state."""
    return normal(random, shape) + 4 * (random.random(shape) < 0.3)


def hit(share: float) -> Callable[[Generator, Shape], Floats]:
    """A neighbour hits a share of the runs, and adds 15 on average: 45 % of an untraced run's time."""
    return lambda random, shape: normal(random, shape) + random.exponential(15, shape) * (random.random(shape) < share)


def block_effects(random: Generator, shape: Shape) -> Floats:
    """All runs of a block are slower or faster together."""
    return normal(random, shape) + 5 * random.standard_normal((*shape[:2], 1))


def slow_drift(random: Generator, shape: Shape) -> Floats:
    """The machine becomes steadily slower, by 5 over the run: 15 %."""
    line: Floats = np.linspace(0, 5, shape[1] * shape[2]).reshape(shape[1:])
    return normal(random, shape) + line


def line_in_blocks(size: float) -> Callable[[Generator, Shape], Floats]:
    """Each block begins afresh and becomes slower on a straight line, by `size` at its end."""
    return lambda random, shape: normal(random, shape) + size * np.linspace(0, 1, shape[2])


def curve_in_blocks(random: Generator, shape: Shape) -> Floats:
    """Each block's first runs are the slowest: 15 above the rest, a third of it at each further run."""
    return normal(random, shape) + 15 * 3.0 ** -np.arange(shape[2])


def autoregressive(random: Generator, shape: Shape) -> Floats:
    """Each run takes over 0.8 of what disturbed the one before; the disturbance's standard deviation is 3."""
    steps: Floats = random.standard_normal((shape[0], shape[1] * shape[2])) * 3 * np.sqrt(1 - 0.8**2)
    state = 3 * random.standard_normal(shape[0])
    for place in range(steps.shape[1]):
        state = 0.8 * state + steps[:, place]
        steps[:, place] = state
    return normal(random, shape) + steps.reshape(shape)


def periodic(period_runs: float) -> Callable[[Generator, Shape], Floats]:
    """A neighbour is busy for half of each period and adds 10; the start of its period is random."""

    def draw(random: Generator, shape: Shape) -> Floats:
        time = np.arange(shape[1] * shape[2]) / period_runs + random.random((shape[0], 1))
        return normal(random, shape) + 10 * (time % 1 < 0.5).reshape(shape)

    return draw


MODELS: Mapping[str, NoiseModel] = {
    "normal": NoiseModel(words="normal", draw=normal),
    "lognormal": NoiseModel(words="lognormal", draw=lognormal),
    "heavy-tailed": NoiseModel(words="heavy tails", draw=heavy_tailed),
    "bimodal": NoiseModel(words="two states", draw=bimodal),
    "hit-1": NoiseModel(words="1 % of runs hit", draw=hit(0.01)),
    "hit-5": NoiseModel(words="5 % of runs hit", draw=hit(0.05)),
    "hit-10": NoiseModel(words="10 % of runs hit", draw=hit(0.1)),
    "block-effects": NoiseModel(words="blocks differ", draw=block_effects),
    "traced-noisier": NoiseModel(words="traced runs vary 5 times as much", draw=normal, traced_factor=5),
    "slow-drift": NoiseModel(words="slower over the run", draw=slow_drift),
    "autoregressive": NoiseModel(words="neighbouring runs alike", draw=autoregressive),
    "periodic": NoiseModel(words="periodic neighbour", draw=periodic(11.3)),
    "weak-line": NoiseModel(words="slower inside blocks, weak", draw=line_in_blocks(1)),
    "strong-line": NoiseModel(words="slower inside blocks, strong", draw=line_in_blocks(10), drifts_in_blocks=True),
    "curve": NoiseModel(words="slow start of blocks", draw=curve_in_blocks, is_promised=False, drifts_in_blocks=True),
    "in-step": NoiseModel(words="neighbour in step with blocks", draw=periodic(RUNS_PER_BLOCK), is_promised=False),
    "traced-hit": NoiseModel(
        words="10 % hit, traced 5 times as hard", draw=hit(0.1), is_promised=False, traced_factor=5
    ),
}


@dataclass(frozen=True, slots=True)
class Runs:
    """Times in ns: traced (repetitions, n) and untraced (repetitions, n, 2), of one case."""

    traced_ns: Floats
    untraced_ns: Floats


def layouts(blocks: int, count: int, seed: int) -> NDArray[np.intp]:
    """The places of first baseline, second baseline and first case in (count, blocks, 3): a plan for each layout."""
    subjects = [
        PlannedSubject(case=f"case-{number}", tracer="tracer", operations=1, is_counted_apart=False)
        for number in range(CASES)
    ]
    found = np.empty((count, blocks, 3), dtype=np.intp)
    for number in range(count):
        baselines = np.zeros(blocks, dtype=np.intp)
        for run in plan(subjects, blocks, seed + number):
            if run.arm == "baseline":
                found[number, run.block, baselines[run.block]] = run.position
                baselines[run.block] += 1
            elif run.subject.case == "case-0":
                found[number, run.block, 2] = run.position
    return found


def interleaved(noise: Floats, places: NDArray[np.intp], traced_factor: float) -> Runs:
    """The runs as the plans place them."""
    chosen = np.take_along_axis(noise, places, axis=2) * SIGMA_NS
    return Runs(BASELINE_NS + COST_NS + traced_factor * chosen[:, :, 2], BASELINE_NS + chosen[:, :, :2])


def sequential(noise: Floats, traced_factor: float) -> Runs:
    """As many runs from the same noise, all untraced ones first, at the start of the same time."""
    repetitions, blocks, _ = noise.shape
    line = noise.reshape(repetitions, -1)[:, : 3 * blocks] * SIGMA_NS
    return Runs(
        BASELINE_NS + COST_NS + traced_factor * line[:, 2 * blocks :],
        BASELINE_NS + line[:, : 2 * blocks].reshape(repetitions, blocks, 2),
    )
