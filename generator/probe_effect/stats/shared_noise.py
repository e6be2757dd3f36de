"""Whether two series of runs share their noise: what chance adds to a run, no other machine's chance adds too.

The values of a row of the table (one case, over the blocks) become ranks, so that neither scale nor level nor single
outliers count; what a whole block has in common (a slow beginning) is taken out. Of two tables, three things are asked,
each as a deviation from what unrelated tables give, in standard deviations:

- all values, block by block (Fisher's z of their correlation);
- the best single row, for a table of which only some rows were copied;
- each block with that of the other which it is most like, for blocks in another order. The greatest of n standard
  normal values is Blom's (1958) approximation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_BLOCKS = 4
"""Of a row; with fewer its ranks say nothing."""

LEAST_VALUES = 20
"""That two tables have to share."""

LEAST_IN_ROW = 12
"""That a row has to have to be compared alone: of 8 ranks, one pair in 40 320 agrees wholly by chance."""

MOST_CELLS = 1_000_000
"""Of a table; a larger one is of no honest run, and is taken as empty."""

OF_GREATEST = 0.7
"""At least the standard deviation of the greatest of some standard normal values."""

LIMIT = 0.999
"""Of a correlation, so that two equal tables deviate by a finite number."""


@dataclass(frozen=True, slots=True)
class NoiseTable:
    """Ranked noise: (rows, blocks) float64 of mean 0; not a number where there is no value."""

    rows: tuple[Hashable, ...]
    values: Floats


@dataclass(frozen=True, slots=True)
class Shared:
    """How much two tables have in common beyond chance."""

    deviation: float
    """In standard deviations of what unrelated tables give; the greatest of `tried`."""
    correlation: float
    """That of the values from which the deviation comes."""
    values: int
    """How many these are."""
    tried: int
    """Ways in which the tables were laid beside each other."""

    def chance(self, tables: int) -> float:
        """Of so great a deviation in any of so many pairs of unrelated tables (Bonferroni)."""
        return min(1.0, 0.5 * math.erfc(self.deviation / math.sqrt(2)) * self.tried * max(1, tables))


def noise_table(values: Mapping[Hashable, Mapping[int, float]], blocks: int) -> NoiseTable:
    """The noise in the values of each row, by block, in any unit.

    A row of fewer than `LEAST_BLOCKS`, or of equal values, is left out.
    """
    rows = {name: of for name, of in values.items() if len(of) >= LEAST_BLOCKS and len(set(of.values())) > 1}
    if len(rows) * blocks > MOST_CELLS:
        rows, blocks = {}, 0
    table = np.full((len(rows), blocks), np.nan)
    for place, of in enumerate(rows.values()):
        table[place, list(of)] = _scores(np.array(list(of.values())))
    if len(rows) > 1:
        known = np.isfinite(table)
        sums = np.where(known, table, 0).sum(axis=0)
        table -= sums / np.maximum(1, known.sum(axis=0))
    return NoiseTable(tuple(rows), table)


def shared_noise(one: NoiseTable, other: NoiseTable, width: float) -> Shared | None:
    """What two tables have in common; None where they share too few values to say.

    Args:
        width: by which deviations of unrelated tables are wider than a standard normal, because the values of a run
            are not independent of each other.
    """
    places = {name: place for place, name in enumerate(other.rows)}
    common = [(place, places[name]) for place, name in enumerate(one.rows) if name in places]
    if not common:
        return None
    mine, theirs = (
        np.nan_to_num(table.values[list(which)])
        for table, which in zip((one, other), zip(*common, strict=True), strict=True)
    )
    blocks = min(mine.shape[1], theirs.shape[1])
    rows = _moments(mine[:, :blocks], theirs[:, :blocks])
    whole = _deviations(rows.sum(axis=0, keepdims=True), LEAST_VALUES)
    if not whole:
        return None
    found = [*whole, *_deviations(rows, LEAST_IN_ROW), *_out_of_step(mine, theirs, width)]
    best = max(found)
    return Shared(best[0] / width, best[1], best[2], len(found))


def _scores(values: Floats) -> Floats:
    """Ranks from -0.5 to 0.5, in the mean 0; equal values share theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts / 2) / len(values) - 0.5)[which]


def _moments(one: Floats, other: Floats) -> Floats:
    """Of each row: how many values both have, the sums of their squares, and that of their products.

    A value of 0 is taken as missing.
    """
    there = (one != 0) & (other != 0)
    first, second = one * there, other * there
    return np.stack(
        [there.sum(axis=1), (first**2).sum(axis=1), (second**2).sum(axis=1), (first * second).sum(axis=1)], 1
    )


def _deviations(moments: Floats, least: int) -> list[tuple[float, float, int]]:
    """(Fisher's z in its standard deviations, correlation, values) of each row with at least so many values."""
    number, first, second, both = moments[moments[:, 0] >= least].T
    ratio = both / np.sqrt(first * second)
    z = np.arctanh(np.clip(ratio, -LIMIT, LIMIT)) * np.sqrt(number - 3)
    return list(zip(z.tolist(), ratio.tolist(), number.astype(int).tolist(), strict=True))


def _out_of_step(one: Floats, other: Floats, width: float) -> list[tuple[float, float, int]]:
    """The same of blocks, each beside that of the other table which it is most like."""
    if len(one) < LEAST_VALUES / 2 or min(one.shape[1], other.shape[1]) < LEAST_BLOCKS:
        return []
    sizes = np.outer(np.linalg.norm(one, axis=0), np.linalg.norm(other, axis=0))
    ratios = np.divide(one.T @ other, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    z = np.arctanh(np.clip(ratios, -LIMIT, LIMIT)) * math.sqrt(len(one) - 3)
    number = z.shape[1]
    expected = NormalDist().inv_cdf((number - 0.375) / (number + 0.25))
    best = z.max(axis=1)
    deviation = float(np.sum(best / width - expected)) / (OF_GREATEST * math.sqrt(len(best))) * width
    return [(deviation, float(ratios.max(axis=1).mean()), one.size)]
