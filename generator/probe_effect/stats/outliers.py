"""Single values of runs: those far from all others, and the fastest ones."""

import numpy as np

from probe_effect.stats.signed_rank import Floats

OUTER_FENCE = 3.0
"""Interquartile ranges beyond the quartiles: Tukey (1977), Exploratory Data Analysis, section 2D: "far out"."""


def outliers(values: Floats) -> tuple[int, ...]:
    """The indices, in ascending order, of the values beyond Tukey's outer fences.

    About one normal value in 400 000 is an outlier, and more if there are few values, because the quartiles vary.
    Fewer than 5 values have none.
    Quartiles are interpolated between order statistics, as numpy does by default.

    Args:
        values: (n,) float64, any unit.
    """
    if len(values) == 0:
        return ()
    first, third = np.quantile(values, [0.25, 0.75])
    reach = OUTER_FENCE * (third - first)
    return tuple(int(index) for index in np.flatnonzero((values < first - reach) | (values > third + reach)))


def fastest(traced_ns: Floats, baseline_ns: Floats) -> float | None:
    """The least traced time minus the least untraced time, ns per event; None where an arm has no run.

    It is the statistic of the book and of the talk, and has no interval. It estimates the cost on an undisturbed
    machine where every disturbance only adds time: the least of many runs then comes near the undisturbed time in both
    arms (Chen and Revels 2016, arXiv 1608.04295). It is biased
    - upward where more runs are untraced than traced, because the least of more runs is lower;
    - upward where disturbance is frequent or lasts, because then not even the least traced run is undisturbed;
    - downward where the cost itself varies from run to run (full buffers, wake-ups, another state after attaching),
      because it takes the luckiest run;
    - either way where one run can be too fast, because a single run decides.

    Args:
        traced_ns: (n,) float64, ns per event.
        baseline_ns: (m,) float64, ns per event: an operation's time over the events that it makes when traced.
    """
    if len(traced_ns) == 0 or len(baseline_ns) == 0:
        return None
    return float(traced_ns.min() - baseline_ns.min())
