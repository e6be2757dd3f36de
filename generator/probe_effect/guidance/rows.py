"""The rows of a submission, sorted for the statistics: baselines by level, timed runs by case, times by block."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from probe_effect.stats.drift import Trend, trend, within_blocks
from probe_effect.stats.paired import ragged
from probe_effect.stats.signed_rank import noise_floor
from probe_effect.units import NS_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from probe_effect.model import Sample

    Floats = NDArray[np.float64]


class CaseKey(NamedTuple):
    """What is measured: a case with a tracer, at a level of the suite's factor where it has one."""

    case: str
    tracer: str
    level: str | None

    @property
    def order(self) -> tuple[str, str, tuple[float, str]]:
        """By which they are sorted: case, tracer, level."""
        return self.case, self.tracer, level_order(self.level)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The untraced runs of a submission at one level: ns per operation of each, by block, in the order run."""

    by_block: Mapping[int, list[float]]
    threads: float = 1.0
    """How many threads perform the operations at once: the events of all over the operations of one."""

    @property
    def all_ns(self) -> list[float]:
        """Every baseline run."""
        return [value for values in self.by_block.values() for value in values]

    @property
    def median_ns(self) -> float | None:
        """The middle of every baseline run; None without any."""
        return float(np.median(self.all_ns)) if self.by_block else None

    def means_ns(self, blocks: Iterable[int]) -> Floats:
        """The mean of the baselines of each of `blocks`, ns per operation."""
        return np.array([np.mean(self.by_block[block]) for block in blocks], dtype=np.float64)

    def each_ns(self, blocks: Iterable[int]) -> Floats:
        """(blocks, baselines) ns per operation of each run, in the order run; nan where a block has fewer."""
        return ragged(self.by_block[block] for block in blocks)

    def floor_ns(self) -> float | None:
        """Noise floor from the first two baselines of each block (see `stats.signed_rank.noise_floor`)."""
        first, second = self._pairs()
        return noise_floor(first - second)

    def drift(self) -> Trend | None:
        """How much slower the machine became from the first block to the last."""
        return trend(self.means_ns(sorted(self.by_block)))

    def drift_within(self) -> Trend | None:
        """How much slower the machine became from the first baseline of a block to its second."""
        return within_blocks(*self._pairs())

    def _pairs(self) -> tuple[Floats, Floats]:
        pairs = [values[:2] for values in self.by_block.values() if len(values) > 1]
        first, second = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return first, second


def baselines(samples: Iterable[Sample]) -> dict[str | None, Baseline]:
    """Level, None where the suite has no factor, to its untraced runs; in the order of levels."""
    levels: dict[str | None, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm == "baseline":
            levels[sample.level].append(sample)
    return {level: _baseline(levels[level]) for level in sorted(levels, key=level_order)}


def _baseline(rows: Sequence[Sample]) -> Baseline:
    by_block: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if (wall_ns := per_operation_ns(row)) is not None:
            by_block[row.block].append(wall_ns)
    return Baseline(dict(by_block), events_per_operation(rows))


def level_order(level: str | None) -> tuple[float, str]:
    """By which levels are sorted: numbers by their size, other words after them."""
    text = level or ""
    return (float(text) if text.isdecimal() else math.inf, text)


def by_case(samples: Iterable[Sample]) -> dict[CaseKey, list[Sample]]:
    """Traced and check rows by what they measure, in the order of case ids."""
    groups: dict[CaseKey, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.arm != "baseline":
            groups[CaseKey(sample.case, sample.tracer, sample.level)].append(sample)
    return dict(sorted(groups.items(), key=lambda item: item[0].order))


def traced_ns(rows: Iterable[Sample]) -> dict[int, float]:
    """Block to ns per operation of its traced run, of the runs that ended well."""
    return {
        row.block: wall_ns for row in rows if row.arm == "traced" and (wall_ns := per_operation_ns(row)) is not None
    }


def per_operation_ns(sample: Sample) -> float | None:
    """ns per operation of one run; None for a run that did not end well.

    Per operation, because runs of different cases may be of different lengths; the timed loop has no fixed part.
    """
    operations = sample.operations or sample.events
    if sample.status != "ok" or not operations or not sample.wall_ns:
        return None
    return sample.wall_ns / operations


def events_per_operation(rows: Iterable[Sample]) -> float:
    """How many events one operation makes for the probe of a case: 2 for a probe on every system call of dd."""
    return next((row.events / row.operations for row in rows if row.events and row.operations), 1.0)


def highest_rate_hz(rows: Iterable[Sample]) -> float | None:
    """Events per second in the middle one of the timed runs; None without any that ended well."""
    rates = [
        row.events / row.wall_ns * NS_PER_SECOND
        for row in rows
        if row.arm == "traced" and row.events and per_operation_ns(row) and row.wall_ns
    ]
    return float(np.median(rates)) if rates else None
