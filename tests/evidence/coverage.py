"""How often our 95 % intervals hold the truth, against a simulator that knows it: nothing is measured.

Usage: PYTHONPATH=tests .venv/bin/python -m evidence.coverage [--short] [--json FILE] (`make bench` runs it too).

Runs are laid out by the harness's own plan, several cases and two baselines in a block. Each takes its true time plus
noise, whose distribution is the same in both arms unless the model says otherwise; so the truth is the time that
tracing adds on a quiet machine, and it does not matter where the noise has its middle. The same noise is given to what
others do: differences of means (Welch's interval), of medians (Price and Bonett's) and of minima (none), from the
same interleaved runs and from as many runs with all untraced ones first.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TextIO

import click
import numpy as np

from evidence.coverage_combined import NOISES, PAIRS, combined, correlations, ranking
from evidence.coverage_estimators import IN_BLOCKS, OF_ARMS, trend
from evidence.coverage_noise import (
    BASELINE_NS,
    COST_NS,
    MODELS,
    RUNS_PER_BLOCK,
    SIGMA_NS,
    interleaved,
    layouts,
    sequential,
)
from evidence.coverage_tables import combined_tables, model_table
from probe_effect.numbers.estimates import excludes_0
from probe_effect.numbers.trends import within_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evidence.coverage_combined import Share
    from evidence.coverage_estimators import Estimates
    from evidence.coverage_noise import NoiseModel, Runs
    from probe_effect.model import Estimate

SEED = 20261121


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is simulated."""

    repetitions: int
    checked: int
    """Repetitions whose baselines `stats.trends` looks at, and of which figures are computed; one after another."""
    layouts: int
    blocks: tuple[int, ...]


SHORT = Size(repetitions=1000, checked=250, layouts=100, blocks=(6, 20))
LONG = Size(repetitions=10_000, checked=2500, layouts=1000, blocks=(6, 10, 20, 30))
"""10 000: the standard error of a coverage is at most 0.5 %, and 0.2 % at 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the repetitions of one estimate come to. None: it has no interval."""

    coverage_ratio: float | None
    width_ns: float | None
    """Median width of the intervals."""
    bias_ns: float
    """Median estimate less the truth."""
    spread_ns: float
    """Distance between the quartiles of the estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One noise model with one number of blocks."""

    model: str
    blocks: int
    figures: dict[str, Figures]
    """By estimator; those of arms as a whole once for each order of runs."""
    trend_ratio: float
    """Share of repetitions in which the trend over the run is significant."""
    within_blocks_ratio: float
    """Share in which the drift inside blocks is."""


def outcomes(size: Size, seed: int) -> Iterator[Outcome]:
    """Every noise model with every number of blocks."""
    for blocks in size.blocks:
        places = np.tile(layouts(blocks, size.layouts, seed), (size.repetitions // size.layouts, 1, 1))
        for number, (name, model) in enumerate(MODELS.items()):
            say(f"{blocks} blocks, {model.words}")
            yield _outcome(name, model, places, size, np.random.default_rng([seed, blocks, number]))


def _outcome(
    name: str, model: NoiseModel, places: NDArray[np.intp], size: Size, random: np.random.Generator
) -> Outcome:
    noise = model.draw(random, (*places.shape[:2], RUNS_PER_BLOCK))
    runs, apart = interleaved(noise, places, model.traced_factor), sequential(noise, model.traced_factor)
    found = {estimator: estimate(runs) for estimator, estimate in IN_BLOCKS.items()}
    for estimator, estimate in OF_ARMS.items():
        found |= {f"{estimator}_interleaved": estimate(runs), f"{estimator}_sequential": estimate(apart)}
    trends, drifts = _warnings(runs, size.checked)
    return Outcome(
        model=name,
        blocks=places.shape[1],
        figures={estimator: _figures(one) for estimator, one in found.items()},
        trend_ratio=trends,
        within_blocks_ratio=drifts,
    )


def _figures(found: Estimates) -> Figures:
    first, third = np.quantile(found.value, [0.25, 0.75])
    has_interval = not np.isnan(found.low).any()
    return Figures(
        coverage_ratio=float(np.mean((found.low <= COST_NS) & (found.high >= COST_NS))) if has_interval else None,
        width_ns=float(np.median(found.high - found.low)) if has_interval else None,
        bias_ns=float(np.median(found.value)) - COST_NS,
        spread_ns=float(third - first),
    )


def _warnings(runs: Runs, checked: int) -> tuple[float, float]:
    """Shares of repetitions in which `stats.trends` finds a trend over the run, and a drift inside blocks."""
    trends = [trend(one.mean(axis=1)) for one in runs.untraced_ns[:checked]]
    drifts = [within_blocks(one[:, 0], one[:, 1]) for one in runs.untraced_ns[:checked]]
    return _significant(trends), _significant(drifts)


def _significant(found: list[Estimate | None]) -> float:
    return float(np.mean([one is not None and excludes_0(one) for one in found]))


def shares(size: Size, seed: int) -> Iterator[Share]:
    """Everything about figures that are computed from intervals."""
    random = np.random.default_rng([seed, 0])
    for blocks in size.blocks:
        for name in NOISES:
            say(f"{blocks} blocks, {MODELS[name].words}, combined")
            yield from combined(name, blocks, size.checked, random)
            yield from ranking(name, blocks, size.checked, random)
    for pairs in PAIRS:
        say(f"{pairs} pairs, correlation")
        yield from correlations(pairs, size.checked, random)


def document(found: list[Outcome], also: list[Share], size: Size, seed: int) -> dict[str, object]:
    """All of it for programs."""
    return {
        "seed": seed,
        **asdict(size),
        "baseline_ns": BASELINE_NS,
        "cost_ns": COST_NS,
        "sigma_ns": SIGMA_NS,
        "models": {name: {"words": one.words, "is_promised": one.is_promised} for name, one in MODELS.items()},
        "outcomes": [asdict(one) for one in found],
        "shares": [asdict(one) for one in also],
    }


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


@click.command()
@click.option("--short", is_flag=True, help="Some seconds: to see that it works, never for figures.")
@click.option("--seed", default=SEED, show_default=True, help="Of the noise and of the plans.")
@click.option("--json", "json_file", type=click.File("w", encoding="utf-8", lazy=False), help="All of it for programs.")
def main(*, short: bool, seed: int, json_file: TextIO | None) -> None:
    """Print as Markdown what the intervals cover."""
    size = SHORT if short else LONG
    found, also = list(outcomes(size, seed)), list(shares(size, seed))
    print(model_table(found, size, seed))
    print()
    print(combined_tables(also, size, seed))
    if json_file is not None:
        json.dump(document(found, also, size, seed), json_file, indent=2)
        json_file.write("\n")


if __name__ == "__main__":
    main()
