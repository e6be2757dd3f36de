"""The estimators that `coverage` compares, each over many repetitions at once.

`paired` and `against_mean` are what `probe_effect.numbers` computes for one repetition;
`tests/numbers/test_coverage.py` holds them against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, ndtri, stdtrit

from probe_effect.model import Estimate
from probe_effect.numbers.estimates import CONFIDENCE, critical_rank
from probe_effect.numbers.trends import discordance_distribution

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evidence.coverage_noise import Floats, Runs

CHUNK = 1000
"""Repetitions whose Walsh averages are in memory at once."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """One estimate and its 95 % interval per repetition, in the unit of the times; ends are nan where none exist."""

    value: Floats
    low: Floats
    high: Floats


def paired(runs: Runs) -> Estimates:
    """Ours: `stats.estimates.paired_estimate`."""
    first, second = (signed_rank(runs.traced_ns - runs.untraced_ns[:, :, column]) for column in (0, 1))
    return Estimates((first.value + second.value) / 2, (first.low + second.low) / 2, (first.high + second.high) / 2)


def against_mean(runs: Runs) -> Estimates:
    """The signed-rank estimate from traced runs less the mean of their block's baselines."""
    return signed_rank(runs.traced_ns - runs.untraced_ns.mean(axis=2))


def signed_rank(differences: Floats) -> Estimates:
    """`stats.estimates.estimate` of each row of (repetitions, n), n at least `MIN_BLOCKS`."""
    first, second = np.triu_indices(differences.shape[1])
    rank, middle = critical_rank(differences.shape[1]), len(first) // 2
    wanted = (rank - 1, (len(first) - 1) // 2, middle, len(first) - rank)
    found = []
    for start in range(0, len(differences), CHUNK):
        part = differences[start : start + CHUNK]
        averages = np.partition((part[:, first] + part[:, second]) / 2, wanted, axis=1)
        found.append(averages[:, wanted])
    low, below, above, high = np.concatenate(found).T
    return Estimates((below + above) / 2, low, high)


def means(runs: Runs) -> Estimates:
    """The difference of means with Welch's interval (Welch 1947, Biometrika 34)."""
    traced_ns, untraced_ns = _arms(runs)
    first, second = (one.var(axis=1, ddof=1) / one.shape[1] for one in (traced_ns, untraced_ns))
    freedom = (first + second) ** 2 / (first**2 / (traced_ns.shape[1] - 1) + second**2 / (untraced_ns.shape[1] - 1))
    value = traced_ns.mean(axis=1) - untraced_ns.mean(axis=1)
    reach = stdtrit(freedom, 0.975) * np.sqrt(first + second)
    return Estimates(value, value - reach, value + reach)


def medians(runs: Runs) -> Estimates:
    """The difference of medians with Price and Bonett's interval (2002, J. Stat. Comput. Simul. 72(2))."""
    traced_ns, untraced_ns = _arms(runs)
    value = np.median(traced_ns, axis=1) - np.median(untraced_ns, axis=1)
    reach = ndtri(0.975) * np.hypot(_median_error(traced_ns), _median_error(untraced_ns))
    return Estimates(value, value - reach, value + reach)


def _median_error(times_ns: Floats) -> Floats:
    """The standard error of each row's median, from two order statistics around it."""
    n = times_ns.shape[1]
    rank = max(1, round((n + 1) / 2 - np.sqrt(n)))
    ordered = np.sort(times_ns, axis=1)
    error: Floats = (ordered[:, n - rank] - ordered[:, rank - 1]) / (2 * ndtri(1 - bdtr(rank - 1, n, 0.5)))
    return error


def minima(runs: Runs) -> Estimates:
    """The difference of minima: `stats.estimates.fastest`. It has no interval."""
    value = runs.traced_ns.min(axis=1) - runs.untraced_ns.min(axis=(1, 2))
    none = np.full_like(value, np.nan)
    return Estimates(value, none, none)


def _arms(runs: Runs) -> tuple[Floats, Floats]:
    """Traced and untraced runs, each (repetitions, runs of the arm)."""
    return runs.traced_ns, runs.untraced_ns.reshape(len(runs.untraced_ns), -1)


OURS = "paired"

IN_BLOCKS: Mapping[str, Callable[[Runs], Estimates]] = {OURS: paired, "against_mean": against_mean}
"""Estimators that need blocks."""

OF_ARMS: Mapping[str, Callable[[Runs], Estimates]] = {"means": means, "medians": medians, "minima": minima}
"""Estimators that take each arm as a whole, in whatever order its runs were made."""


def trend(values_by_block: Floats) -> Estimate | None:
    """How much slower the machine became from the first block to the last, as a ratio; None below two blocks.

    The Theil-Sen slope times the length of the run, over the median; its interval is the exact one of Kendall's
    statistic and needs 5 blocks (Hollander, Wolfe and Chicken 2014, sections 9.2 and 9.3).
    The values are (n,) float64 above 0, any unit: the mean of each block's baselines in the order run.
    """
    n = len(values_by_block)
    if n < 2:
        return None
    before, after = np.triu_indices(n, k=1)
    slopes = np.sort((values_by_block[after] - values_by_block[before]) / (after - before))
    whole = slopes * (n - 1) / np.median(values_by_block)
    rank = _critical_rank(n)
    ends = (float(whole[rank - 1]), float(whole[-rank])) if rank else (None, None)
    return Estimate(float(np.median(whole)), *ends)


@cache
def _critical_rank(n: int) -> int:
    """How many slopes to drop at each end, plus one; 0 when no interval reaches the confidence."""
    tail = np.cumsum(discordance_distribution(n))
    return int(np.searchsorted(tail, (1 - CONFIDENCE) / 2, side="right"))
