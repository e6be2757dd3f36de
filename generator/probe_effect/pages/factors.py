"""What suites with a factor say of a case: at which rates the line holds, and what several threads add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.charts.slowdown import Point as Dot
from probe_effect.guidance import sentences
from probe_effect.guidance.levels import contention, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.guidance.evidence import Evidence, Measured
    from probe_effect.guidance.levels import Contention, Point


@dataclass(frozen=True, slots=True)
class Tested:
    """The cost of a case with a tracer on a machine, and what was measured of it at other rates and by more threads."""

    cost: Measured
    points: tuple[Point, ...]
    factors: tuple[Contention, ...]

    @property
    def words(self) -> str:
        """At which rates the line holds."""
        return sentences.line_words(self.points)


def tested(found: Evidence, case_id: str) -> list[Tested]:
    """Every cost of a case of which a suite with a factor measured more."""
    return [one for one in _all(found, case_id) if one.points or one.factors]


def dots(found: list[Tested], labels: dict[tuple[str, str], str]) -> list[Dot]:
    """The slowdowns measured at other rates, for the chart; `labels`: machine and tracer to the name of their line."""
    keys = [(one, (one.cost.submission.summary.machine, one.cost.case.tracer)) for one in found]
    return [
        Dot(labels[key], point.rate_hz, point.measured)
        for one, key in keys
        if key in labels
        for point in one.points
        if point.measured.value > 0  # the axis is logarithmic
    ]


def _all(found: Evidence, case_id: str) -> Iterator[Tested]:
    for (machine, tracer, case), cost in found.costs.items():
        if case == case_id:
            yield Tested(
                cost,
                tuple(line(found, machine, tracer, case)),
                tuple(contention(found, machine, tracer, case)),
            )
