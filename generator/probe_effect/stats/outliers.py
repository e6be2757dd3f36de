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

    Args:
        traced_ns: (n,) float64, ns per event.
        baseline_ns: (m,) float64, ns per event: an operation's time over the events that it makes when traced.
    """
    if len(traced_ns) == 0 or len(baseline_ns) == 0:
        return None
    return float(traced_ns.min() - baseline_ns.min())
