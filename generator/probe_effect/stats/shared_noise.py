"""Whether two series of runs share their noise, which the runs of two machines never do by chance.

The values of a row of the table (one case, over the blocks) become ranks, so that scale, level and single outliers do
not count. What a whole block has in common (a slow beginning) is subtracted. Two tables are compared in three ways,
each of which gives a deviation from unrelated tables, in standard deviations:

- all values, block by block (Fisher's z of their correlation);
- the best single row, for a table of which only some rows were copied;
- each block with the block of the other table that is most like it, for blocks in another order. The expected greatest
  of n standard normal values is Blom's (1958) approximation.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from probe_effect.stats.robust import Floats

LEAST_BLOCKS = 4
"""The blocks that a row needs: with fewer, its ranks say nothing."""

LEAST_VALUES = 20
"""The values that two tables must share to be compared."""

LEAST_IN_ROW = 12
"""The values that a row needs to be compared alone: of 8 ranks, one pair in 40 320 agrees fully by chance."""

MOST_CELLS = 1_000_000
"""The cells of the largest table: no honest run has more, and a larger one is taken as empty."""

OF_GREATEST = 0.7
"""An upper bound of the standard deviation of the greatest of some standard normal values."""

LIMIT = 0.999
"""The greatest correlation, so that two equal tables deviate by a finite number."""


@dataclass(frozen=True, slots=True)
class NoiseTable:
    """Ranked noise: (rows, blocks) float64 of mean 0; 0 where there is no value."""

    rows: tuple[Hashable, ...]
    values: Floats


@dataclass(frozen=True, slots=True)
class Shared:
    """How much two tables have in common beyond chance."""

    deviation: float
    """The greatest of the `tried` deviations, in standard deviations of unrelated tables."""
    correlation: float
    """The correlation of the values from which the deviation comes."""
    values: int
    """The number of these values."""
    tried: int
    """The number of ways in which the tables were compared."""

    @property
    def chance(self) -> float:
        """The chance of so great a deviation of two unrelated tables, times the number of ways (Bonferroni)."""
        return 0.5 * math.erfc(self.deviation / math.sqrt(2)) * self.tried


def noise_table(values: Mapping[Hashable, Mapping[int, float]], blocks: int) -> NoiseTable:
    """The noise in the values of each row, by block, in any unit.

    A row of fewer than `LEAST_BLOCKS`, or of equal values, is excluded.
    """
    rows = {name: of for name, of in values.items() if len(of) >= LEAST_BLOCKS and len(set(of.values())) > 1}
    if not rows or len(rows) * blocks > MOST_CELLS:
        rows, blocks = {}, 0
    table = np.full((len(rows), blocks), np.nan)
    for place, of in enumerate(rows.values()):
        table[place, list(of)] = _scores(np.array(list(of.values())))
    if len(rows) > 1:
        known = np.isfinite(table)
        sums = np.where(known, table, 0).sum(axis=0)
        table -= sums / np.maximum(1, known.sum(axis=0))
    return NoiseTable(tuple(rows), np.nan_to_num(table))


def shared_noise(one: NoiseTable, others: Sequence[NoiseTable], width: float) -> list[Shared | None]:
    """How much a table has in common with each other table; None if the two share too few values to say.

    `width`: by what factor deviations of unrelated tables are wider than a standard normal, because the values of a
    run are not independent of each other.
    """
    if not one.rows:
        return [None] * len(others)
    largest = len(one.rows) * max((other.values.shape[1] for other in others), default=1)
    step = max(1, MOST_CELLS // max(1, largest))  # so that what is laid beside each other is no larger than a table
    return [
        found
        for start in range(0, len(others), step)
        for found in _beside(one, _laid_beside(one, others[start : start + step]), width)
    ]


@dataclass(frozen=True, slots=True)
class _Others:
    """Tables side by side, in the rows of another table: all blocks of the first, then all of the second, and so on."""

    values: Floats
    """The values, (rows, blocks of all tables)."""
    has: NDArray[np.bool_]
    """Whether a table has a row, (rows, tables)."""
    blocks: NDArray[np.int64]
    """The number of blocks of each table."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The place of each table's first block."""
        return np.cumsum(self.blocks) - self.blocks


def _laid_beside(one: NoiseTable, others: Sequence[NoiseTable]) -> _Others:
    """The other tables in the rows of `one`. A table without blocks gets an empty one, because each needs its place."""
    places = {name: place for place, name in enumerate(one.rows)}
    blocks = np.array([max(1, other.values.shape[1]) for other in others])
    values, has = np.zeros((len(places), blocks.sum())), np.zeros((len(places), len(others)), dtype=bool)
    for which, (other, end) in enumerate(zip(others, np.cumsum(blocks), strict=True)):
        common = [(places[name], place) for place, name in enumerate(other.rows) if name in places]
        if common:
            to, of = map(list, zip(*common, strict=True))
            values[to, end - blocks[which] : end] = other.values[of]
            has[to, which] = True
    return _Others(values, has, blocks)


def _beside(one: NoiseTable, others: _Others, width: float) -> list[Shared | None]:
    # The moments, (4, rows, tables): the number of common values, the sums of either's squares, of their products.
    first = np.zeros((len(one.values), max(one.values.shape[1], others.blocks.max())))
    first[:, : one.values.shape[1]] = one.values
    block = np.arange(others.values.shape[1]) - np.repeat(others.starts, others.blocks)
    first, second = first[:, block], others.values
    there, here = first != 0, second != 0
    parts = (1.0 * (there & here), first**2 * here, second**2 * there, first * second)
    rows = np.stack([np.add.reduceat(part, others.starts, axis=1) for part in parts])
    whole = _deviations(rows.sum(axis=1, keepdims=True), LEAST_VALUES)
    found = np.concatenate([whole, _deviations(rows, LEAST_IN_ROW), _out_of_step(one.values, others, width)], axis=1)
    tried = np.isfinite(found[0])
    best = found[:, np.where(tried, found[0], -np.inf).argmax(axis=0), np.arange(found.shape[2])]
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


def _out_of_step(one: Floats, others: _Others, width: float) -> Floats:
    """As `_deviations`, (3, 1, tables), of each block and the block of the other table that is most like it."""
    own, rows = one.shape[1], others.has.sum(axis=0)
    norms = np.sqrt((one**2).T @ others.has).repeat(others.blocks, axis=1)
    sizes = norms * np.sqrt((others.values**2).sum(axis=0))
    ratios = np.divide(one.T @ others.values, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    best = np.maximum.reduceat(ratios, others.starts, axis=1)
    z = _z(best) * np.sqrt(np.maximum(0, rows - 3))
    expected = [NormalDist().inv_cdf((number - 0.375) / (number + 0.25)) for number in others.blocks.tolist()]
    deviation = (z / width - expected).sum(axis=0) / (OF_GREATEST * math.sqrt(own)) * width
    found = np.stack([deviation, best.mean(axis=0), rows * float(own)])
    is_enough = (rows >= LEAST_VALUES / 2) & (np.minimum(own, others.blocks) >= LEAST_BLOCKS)
    return np.where(is_enough, found, np.nan)[:, np.newaxis]


def _z(ratio: Floats) -> Floats:
    """Fisher's z of a correlation."""
    return np.arctanh(np.clip(ratio, -LIMIT, LIMIT))
