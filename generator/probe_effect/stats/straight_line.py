"""A straight line through points with known errors: least squares, each point weighted by its error.

Source: Press et al., Numerical Recipes, 3rd edition, section 15.2 (fitting data to a straight line).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probe_effect.model import Estimate
from probe_effect.stats.correlation import Z_95

LEAST_POINTS = 3
"""With two there is nothing left that could tell whether it is a line."""

T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""The 97.5 % quantiles of Student's t with 1, 2, 3 .. degrees of freedom."""


@dataclass(frozen=True, slots=True)
class StraightLine:
    """`base + slope * x`, with the covariance of both, in the units of the points.

    An interval is `quantile` standard errors to either side.
    """

    base: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    quantile: float

    def at(self, x: float) -> Estimate:
        """The value at `x` with its 95 % interval."""
        return self._estimate(self.base + self.slope * x, (1.0, x))

    @property
    def per_x(self) -> Estimate:
        """The slope with its 95 % interval."""
        return self._estimate(self.slope, (0.0, 1.0))

    def _estimate(self, value: float, terms: tuple[float, float]) -> Estimate:
        half = self.quantile * float(np.sqrt(np.array(terms) @ np.array(self.covariance) @ np.array(terms)))
        return Estimate(value, value - half, value + half)


def straight_line(points: Sequence[tuple[float, Estimate]]) -> StraightLine | None:
    """The line through (x, value with a 95 % interval); None for fewer than three points that have both ends.

    Where the points scatter more than their intervals allow, the line's errors grow with the scatter: by the root of
    chi-square over its degrees of freedom. They are estimated then and no longer known, so that Student's t is taken.
    """
    known = [
        (x, one.value, (one.high - one.low) / 2 / Z_95)
        for x, one in points
        if one.low is not None and one.high is not None and one.high > one.low
    ]
    if len(known) < LEAST_POINTS or len({x for x, _, _ in known}) < LEAST_POINTS:
        return None
    x, y, error = np.array(known).T
    (slope, base), covariance = np.polyfit(x, y, 1, w=1 / error, cov="unscaled")
    freedom = len(known) - 2
    scatter = float((((y - base - slope * x) / error) ** 2).sum()) / freedom
    quantile = T_95[min(freedom, len(T_95)) - 1] if scatter > 1 else Z_95
    (vs, sb), (_, vb) = covariance * max(1.0, scatter)
    return StraightLine(float(base), float(slope), ((float(vb), float(sb)), (float(sb), float(vs))), quantile)
