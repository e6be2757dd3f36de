"""How far true values differ from each other, where each was measured with an error of its own.

The random-effects model of meta-analysis: what values differ by more than their errors explain is their own spread
(DerSimonian and Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7 (1986), 177-188). Each value is
moved towards the mean until all together have that spread (Louis, Estimating a population of parameter values using
Bayes and empirical Bayes methods, Journal of the American Statistical Association 79 (1984), 393-398). So a tail that
precise values show remains, and one that errors make does not.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from probe_effect.model import Estimate

INTERVAL_WIDTHS = 2 * NormalDist().inv_cdf(0.975)
"""Standard errors in an interval of 95 %."""


def range_of_ratios(ratios: Sequence[Estimate], share: float, alike: Sequence[Estimate] = ()) -> Estimate:
    """The mean of true ratios, and ends between which such a share of them is, as far as the mean's own error allows.

    Worked out on logarithms.

    Args:
        ratios: at least two, with intervals of 95 % above 0.
        share: above 0 and below 1.
        alike: more such ratios. These are taken to differ as much among each other, since a few tell little of that.
    """
    values, errors = _logarithms(ratios)
    own = max(_own_variance(*_logarithms(one)) for one in (ratios, alike) if len(one) > 1)
    weights = 1 / (errors**2 + own)
    mean, error = float(np.average(values, weights=weights)), 1 / math.sqrt(weights.sum())
    moved = mean + (values - mean) * np.sqrt(own / (own + errors**2))
    low, high = np.quantile(moved, [(1 - share) / 2, (1 + share) / 2])
    beyond = NormalDist().inv_cdf((1 + share) / 2) * error
    ends = mean - math.hypot(mean - low, beyond), mean + math.hypot(high - mean, beyond)
    return Estimate(math.exp(mean), math.exp(ends[0]), math.exp(ends[1]))


def _logarithms(ratios: Sequence[Estimate]) -> tuple[np.ndarray, np.ndarray]:
    """Values, and their standard errors."""
    widths = np.log([(one.high or one.value) / (one.low or one.value) for one in ratios])
    return np.log([one.value for one in ratios]), widths / INTERVAL_WIDTHS


def _own_variance(values: np.ndarray, errors: np.ndarray) -> float:
    """By how much the values differ beyond their errors."""
    weights = 1 / errors**2
    apart = float(weights @ (values - np.average(values, weights=weights)) ** 2)
    return max(0.0, (apart - len(values) + 1) / float(weights.sum() - weights @ weights / weights.sum()))
