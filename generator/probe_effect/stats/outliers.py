"""Values far from all others: named, so that somebody looks at them, and never removed."""

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
