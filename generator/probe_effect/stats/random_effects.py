"""How far true ratios differ from each other, from measured ones of which some are known well and others hardly.

The random-effects model of meta-analysis, for ratios that errors may make 0 or negative. (DerSimonian and Laird,
Meta-analysis in clinical trials, Controlled Clinical Trials 7 (1986), 177-188.) The logarithms of the true ratios are
normal, and each measured ratio is normal around its true one, with its own standard error. Median and width of the true
ratios are unknown: all pairs of them in the grid below are equally likely beforehand.

The result is the distribution of the next true ratio, over all models as likely as the measured ratios make them: the
predictive distribution. (Higgins, Thompson and Spiegelhalter, A re-evaluation of random-effects meta-analysis, Journal
of the Royal Statistical Society A 172 (2009), 137-159.) So nothing is selected by its outcome: a ratio that is hardly
known says little, whether it differs from 0 or not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from probe_effect.model import Estimate

LOGARITHMS = np.linspace(np.log(0.01), np.log(100), 461)
"""The logarithms of true ratios that are thought of, in steps of 2 %."""

MEDIANS = np.linspace(np.log(0.1), np.log(10), 116)
WIDTHS = np.linspace(0.02, 2.0, 67)
"""Medians of logarithms, and standard deviations."""

LEAST = 1e-300


class MeasuredRatio(NamedTuple):
    """A ratio, which may be negative, and its standard error, above 0."""

    value: float
    error: float


def next_ratio(ratios: Sequence[MeasuredRatio], share: float) -> Estimate:
    """The median of the next true ratio, with ends between which it is with a probability of `share`.

    `share`: above 0 and below 1. Of no ratios it is as wide as the grid.
    """
    values, errors = np.array(ratios, dtype=float).reshape(-1, 2, 1).swapaxes(0, 1)
    likelihoods = np.exp(-(((values - np.exp(LOGARITHMS)) / errors) ** 2) / 2)
    each = np.log(np.maximum(likelihoods @ _DENSITIES.T, LEAST)).sum(axis=0)
    weights = np.exp(each - each.max())
    density = weights @ _DENSITIES / weights.sum()
    low, median, high = np.interp([(1 - share) / 2, 0.5, (1 + share) / 2], np.cumsum(density), LOGARITHMS)
    return Estimate(*np.exp([median, low, high]).tolist())


def _densities() -> np.ndarray:
    """A row for each median and width: how likely each of the logarithms is."""
    medians, widths = (one.reshape(-1, 1) for one in map(np.ravel, np.meshgrid(MEDIANS, WIDTHS)))
    made = np.exp(-(((LOGARITHMS - medians) / widths) ** 2) / 2)
    whole: np.ndarray = made / made.sum(axis=1, keepdims=True)
    return whole


_DENSITIES = _densities()
