"""Whether two things go together: ranks, points of a line, both runs of a block, and noise that two submissions share.

Rank correlation: Kendall and Gibbons (1990), Rank Correlation Methods, 5th edition, chapters 3 to 5 and, for the
variance of related orders, 10 (after Esscher 1924). Fisher's z with a constant variance covers too little beyond 0.8
(Bonett and Wright 2000, Psychometrika 65(1)), and orders of costs often agree more than that.
The line: Press et al., Numerical Recipes, 3rd edition, section 15.2.

Shared noise: the values of a row of a table (one case, over the blocks) become ranks, so that scale, level and single
outliers do not count. What a whole block has in common (a slow beginning) is subtracted. Two tables are compared in
three ways, each of which gives a deviation from unrelated tables, in standard deviations:

- all values, block by block (Fisher's z of their correlation);
- the best single row, for a table of which only some rows were copied;
- each block with the block of the other table that is most like it, for blocks in another order. The expected greatest
  of n standard normal values is Blom's (1958) approximation.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe_effect.model import Estimate
from probe_effect.numbers.estimates import Floats, estimate

MIN_PAIRS = 8
"""Fewest pairs for an interval, which then covers 93 % up to a true tau of 0.95 (`tests/evidence/coverage.py`)."""

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


class Correlation(NamedTuple):
    """Kendall's tau-b from -1 (opposite order) to 1 (same order), with its 95 % interval or None.

    `p_value` is the chance, were the two orders unrelated, of a tau at least as far from 0.
    """

    tau: float
    p_value: float
    low: float | None = None
    high: float | None = None


def kendall(first: Floats, second: Floats) -> Correlation | None:
    """The rank correlation of paired values; None for fewer than 2 pairs or where all values of a list are equal.

    Without ties the p-value is exact; with ties it is that of a normal approximation, and rough below 10 pairs. The
    interval needs `MIN_PAIRS`, and assumes that some change of scale makes the values jointly normal.
    """
    n = len(first)
    pairs = n * (n - 1) // 2
    score = concordance(first, second)
    ties = [np.unique(values, return_counts=True)[1].tolist() for values in (first, second)]
    untied = [pairs - sum(t * (t - 1) // 2 for t in counts) for counts in ties]
    if 0 in untied:
        return None
    tau = score / math.sqrt(untied[0] * untied[1])
    if untied == [pairs, pairs]:
        chances = discordance_distribution(n)
        p_value = min(1.0, 2 * float(chances[: (pairs - abs(score)) // 2 + 1].sum()))
    else:
        p_value = _approximate_p_value(score, n, *ties)
    ends = (_end(tau, -1.0, n), _end(tau, 1.0, n)) if n >= MIN_PAIRS else (None, None)
    return Correlation(tau, p_value, *ends)


def concordance(first: Floats, second: Floats) -> int:
    """Kendall's S: pairs in the same order minus pairs in opposite order; pairs tied in either list count 0."""
    before, after = np.triu_indices(len(first), k=1)
    return int(np.sum(np.sign(first[after] - first[before]) * np.sign(second[after] - second[before])))


def discordance_distribution(n: int) -> Floats:
    """The chance of 0, 1, .. n(n-1)/2 pairs in opposite order when all n! orders are equally likely.

    The recurrence inserts one value after another: the k-th joins with 0 to k - 1 inversions, each with chance 1/k.
    """
    chance = np.ones(1)
    for k in range(2, n + 1):
        chance = np.convolve(chance, np.full(k, 1 / k))
    return chance


def _approximate_p_value(score: int, n: int, first: Sequence[int], second: Sequence[int]) -> float:
    """The p-value of tau from the variance of S, from how often each value occurs (Kendall and Gibbons, eq. 4.4)."""
    spread = n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in (*first, *second))
    twos = [sum(t * (t - 1) for t in ties) for ties in (first, second)]
    threes = [sum(t * (t - 1) * (t - 2) for t in ties) for ties in (first, second)]
    variance = spread / 18 + twos[0] * twos[1] / (2 * n * (n - 1))
    if n > 2:
        variance += threes[0] * threes[1] / (9 * n * (n - 1) * (n - 2))
    return math.erfc(abs(score) / math.sqrt(2 * variance))


def _end(tau: float, outside: float, n: int) -> float:
    """The end of the interval of tau towards `outside`, by bisection: 1.96 standard deviations from `tau`."""
    inside = tau
    for _ in range(40):  # which leaves an error of 2^-39
        middle = (inside + outside) / 2
        if abs(tau - middle) <= Z_95 * _standard_deviation(middle, n):
            inside = middle
        else:
            outside = middle
    return inside


def _standard_deviation(tau: float, n: int) -> float:
    """That of a sample's tau, if the true `tau` is that of jointly normal values (Esscher 1924)."""
    half = 2 / math.pi * math.asin(math.sin(math.pi * tau / 2) / 2)
    return math.sqrt(max(0.0, 2 / (n * (n - 1)) * (1 - tau**2 + 2 * (n - 2) * (1 / 9 - half**2))))


T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""The 97.5 % quantiles of Student's t with 1, 2, 3 .. degrees of freedom."""


@dataclass(frozen=True, slots=True)
class StraightLine:
    """`base + slope * x`, with the covariance of both; an interval is `quantile` standard errors to either side."""

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

    Where the points scatter more than their intervals allow, the line's errors grow by the root of chi-square over its
    degrees of freedom. They are estimated then and no longer known, so that Student's t is taken.
    """
    bounded_points = [
        (x, interval.value, (interval.high - interval.low) / 2 / Z_95)
        for x, interval in points
        if interval.low is not None and interval.high is not None and interval.high > interval.low
    ]
    if len({x for x, _, _ in bounded_points}) < 3:
        return None
    x, y, error = np.array(bounded_points).T
    (slope, base), covariance = np.polyfit(x, y, 1, w=1 / error, cov="unscaled")
    freedom = len(bounded_points) - 2
    scatter = float((((y - base - slope * x) / error) ** 2).sum()) / freedom
    quantile = T_95[min(freedom, len(T_95)) - 1] if scatter > 1 else Z_95
    (vs, sb), (_, vb) = covariance * max(1.0, scatter)
    return StraightLine(float(base), float(slope), ((float(vb), float(sb)), (float(sb), float(vs))), quantile)


def within_blocks(first: Floats, second: Floats) -> Estimate | None:
    """How much slower the machine became from the first baseline of a block to its second; None without a block.

    It is the Hodges-Lehmann estimate of the differences over the median of all; both are (n,) float64, any unit.
    """
    if len(first) == 0:
        return None
    return estimate(second - first).times(1 / float(np.median([first, second])))


LEAST_BLOCKS, LEAST_VALUES, LEAST_IN_ROW = 4, 20, 12
"""The blocks that a row needs, the values that two tables must share, and those that a row needs to be compared alone.
Of 8 ranks, one pair in 40 320 agrees fully by chance.
"""

MOST_CELLS = 1_000_000
"""No honest run has a larger table; a larger one is taken as empty."""

OF_GREATEST = 0.7
"""An upper bound of the standard deviation of the greatest of some standard normal values."""

LIMIT = 0.999
"""The greatest correlation, so that two equal tables deviate by a finite number."""


class NoiseTable(NamedTuple):
    """Ranked noise: (rows, blocks) float64 of mean 0; 0 where there is no value."""

    rows: tuple[Hashable, ...]
    values: Floats


class Shared(NamedTuple):
    """How much two tables have in common beyond chance: the greatest of the `tried` deviations.

    `deviation` is in standard deviations of unrelated tables; `correlation` is that of the `values` it comes from.
    """

    deviation: float
    correlation: float
    values: int
    tried: int

    @property
    def chance(self) -> float:
        """The chance of so great a deviation of two unrelated tables, times the number of ways (Bonferroni)."""
        return 0.5 * math.erfc(self.deviation / math.sqrt(2)) * self.tried


def noise_table(values: Mapping[Hashable, Mapping[int, float]], blocks: int) -> NoiseTable:
    """The noise in the values of each row, by block; without rows of fewer than `LEAST_BLOCKS`, or of equal values."""
    rows = {name: of for name, of in values.items() if len(of) >= LEAST_BLOCKS and len(set(of.values())) > 1}
    if not rows or len(rows) * blocks > MOST_CELLS:
        rows, blocks = {}, 0
    table = np.full((len(rows), blocks), np.nan)
    for index, of in enumerate(rows.values()):
        table[index, list(of)] = _scores(np.array(list(of.values())))
    if len(rows) > 1:
        is_finite = np.isfinite(table)
        sums = np.where(is_finite, table, 0).sum(axis=0)
        table -= sums / np.maximum(1, is_finite.sum(axis=0))
    return NoiseTable(tuple(rows), np.nan_to_num(table))


def shared_noise(table: NoiseTable, others: Sequence[NoiseTable], width: float) -> list[Shared | None]:
    """How much a table has in common with each other table; None if the two share too few values to say.

    `width`: by what factor deviations of unrelated tables are wider than a standard normal, because the values of a
    run are not independent of each other.
    """
    if not table.rows:
        return [None] * len(others)
    largest = len(table.rows) * max((other.values.shape[1] for other in others), default=1)
    step = max(1, MOST_CELLS // max(1, largest))  # so that what is laid beside each other is no larger than a table
    return [
        overlap
        for start in range(0, len(others), step)
        for overlap in _beside(table, _laid_beside(table, others[start : start + step]), width)
    ]


class _Others(NamedTuple):
    """Tables side by side, in the rows of another table: all blocks of the first, then all of the second, and so on.

    `values`: (rows, blocks of all tables). `has`: whether a table has a row, (rows, tables). `blocks` and `starts`:
    the number of blocks of each table, and the place of its first one.
    """

    values: Floats
    has: NDArray[np.bool_]
    blocks: NDArray[np.int64]
    starts: NDArray[np.int64]


def _laid_beside(table: NoiseTable, others: Sequence[NoiseTable]) -> _Others:
    # A table without blocks gets an empty one, because each needs its place.
    places = {name: index for index, name in enumerate(table.rows)}
    blocks = np.array([max(1, other.values.shape[1]) for other in others])
    values, has = np.zeros((len(places), blocks.sum())), np.zeros((len(places), len(others)), dtype=bool)
    for which, (other, end) in enumerate(zip(others, np.cumsum(blocks), strict=True)):
        common = [(places[name], index) for index, name in enumerate(other.rows) if name in places]
        if common:
            to, of = map(list, zip(*common, strict=True))
            values[to, end - blocks[which] : end] = other.values[of]
            has[to, which] = True
    return _Others(values, has, blocks, np.cumsum(blocks) - blocks)


def _beside(table: NoiseTable, others: _Others, width: float) -> list[Shared | None]:
    # The moments, (4, rows, tables): the number of common values, the sums of either's squares, of their products.
    first = np.zeros((len(table.values), max(table.values.shape[1], others.blocks.max())))
    first[:, : table.values.shape[1]] = table.values
    block = np.arange(others.values.shape[1]) - np.repeat(others.starts, others.blocks)
    first, second = first[:, block], others.values
    there, here = first != 0, second != 0
    parts = (1.0 * (there & here), first**2 * here, second**2 * there, first * second)
    rows = np.stack([np.add.reduceat(part, others.starts, axis=1) for part in parts])
    whole = _deviations(rows.sum(axis=1, keepdims=True), LEAST_VALUES)
    figures = np.concatenate(
        [whole, _deviations(rows, LEAST_IN_ROW), _out_of_step(table.values, others, width)], axis=1
    )
    tried = np.isfinite(figures[0])
    best = figures[:, np.where(tried, figures[0], -np.inf).argmax(axis=0), np.arange(figures.shape[2])]
    return [
        Shared(deviation / width, ratio, int(number), ways) if is_known else None
        for (deviation, ratio, number), ways, is_known in zip(
            best.T.tolist(), tried.sum(axis=0).tolist(), tried[0].tolist(), strict=True
        )
    ]


def _scores(values: Floats) -> Floats:
    """The ranks of the values, from -0.5 to 0.5, of mean 0; equal values share a rank."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts / 2) / len(values) - 0.5)[which]


def _deviations(moments: Floats, least: int) -> Floats:
    """Fisher's z in standard deviations, correlation and number of values, (3, rows, tables); nan below `least`."""
    number, first, second, both = np.where(moments[0] >= least, moments, np.nan)
    ratio = both / np.sqrt(first * second)
    return np.stack([_z(ratio) * np.sqrt(number - 3), ratio, number])


def _out_of_step(values: Floats, others: _Others, width: float) -> Floats:
    """As `_deviations`, (3, 1, tables), of each block and the block of the other table that is most like it."""
    own, rows = values.shape[1], others.has.sum(axis=0)
    norms = np.sqrt((values**2).T @ others.has).repeat(others.blocks, axis=1)
    sizes = norms * np.sqrt((others.values**2).sum(axis=0))
    ratios = np.divide(values.T @ others.values, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    best = np.maximum.reduceat(ratios, others.starts, axis=1)
    z = _z(best) * np.sqrt(np.maximum(0, rows - 3))
    expected = [NormalDist().inv_cdf((number - 0.375) / (number + 0.25)) for number in others.blocks.tolist()]
    deviation = (z / width - expected).sum(axis=0) / (OF_GREATEST * math.sqrt(own)) * width
    figures = np.stack([deviation, best.mean(axis=0), rows * float(own)])
    is_enough = (rows >= LEAST_VALUES / 2) & (np.minimum(own, others.blocks) >= LEAST_BLOCKS)
    return np.where(is_enough, figures, np.nan)[:, np.newaxis]


def _z(ratio: Floats) -> Floats:
    return np.arctanh(np.clip(ratio, -LIMIT, LIMIT))
