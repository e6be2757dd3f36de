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
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from probe_effect.stats.signed_rank import Floats

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
    """Ranked noise: (rows, blocks) float64 of mean 0; 0 where there is no value."""

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

    @property
    def chance(self) -> float:
        """Of so great a deviation of two unrelated tables; of many, so many times as much (Bonferroni)."""
        return 0.5 * math.erfc(self.deviation / math.sqrt(2)) * self.tried


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
    return NoiseTable(tuple(rows), np.nan_to_num(table))


def shared_noise(one: NoiseTable, others: Sequence[NoiseTable], width: float) -> list[Shared | None]:
    """What a table has in common with each of some others; None where the two share too few values to say.

    Args:
        width: by which deviations of unrelated tables are wider than a standard normal, because the values of a run
            are not independent of each other.
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
    """Some tables side by side, in the rows of another: all blocks of the first, then all of the second, and so on."""

    values: Floats
    """(rows, blocks of all)."""
    has: NDArray[np.bool_]
    """(rows, tables): whether the table has the row."""
    blocks: NDArray[np.int64]
    """Of each table."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The place of each table's first block."""
        return np.cumsum(self.blocks) - self.blocks


def _laid_beside(one: NoiseTable, others: Sequence[NoiseTable]) -> _Others:
    """Some tables in the rows of `one`. One without blocks is given an empty block, as each has to have its place."""
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
    rows = _moments(one.values, others)
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
    """Ranks from -0.5 to 0.5, in the mean 0; equal values share theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts / 2) / len(values) - 0.5)[which]


def _moments(one: Floats, others: _Others) -> Floats:
    """(4, rows, tables): how many values both have, the sums of their squares, and that of their products."""
    first = np.zeros((len(one), max(one.shape[1], others.blocks.max())))
    first[:, : one.shape[1]] = one
    block = np.arange(others.values.shape[1]) - np.repeat(others.starts, others.blocks)
    first, second = first[:, block], others.values
    there, here = first != 0, second != 0
    parts = (1.0 * (there & here), first**2 * here, second**2 * there, first * second)
    return np.stack([np.add.reduceat(part, others.starts, axis=1) for part in parts])


def _deviations(moments: Floats, least: int) -> Floats:
    """(3, rows, tables): Fisher's z in its standard deviations, correlation, values; not a number below `least`."""
    number, first, second, both = np.where(moments[0] >= least, moments, np.nan)
    ratio = both / np.sqrt(first * second)
    return np.stack([_z(ratio) * np.sqrt(number - 3), ratio, number])


def _out_of_step(one: Floats, others: _Others, width: float) -> Floats:
    """The same (3, 1, tables) of blocks, each beside that of the other table which it is most like."""
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
