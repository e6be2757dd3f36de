"""What suites with a factor say of a case: at which rates the line holds, and what several threads add."""

from collections.abc import Collection
from dataclasses import dataclass

from probe_effect.answer import sentences
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.levels import Contention, RatePoint, contention, line
from probe_effect.charts.slowdown import MeasuredSlowdown
from probe_effect.reduce.submission import Number


@dataclass(frozen=True, slots=True)
class Tested:
    """The cost of a case with a tracer on a machine, and what was measured of it at other rates and by more threads."""

    cost: Number
    points: tuple[RatePoint, ...]
    factors: tuple[Contention, ...]

    @property
    def words(self) -> str:
        """At which rates the line holds."""
        return sentences.line_words(self.points)


def tested(found: Evidence, case_id: str, machines: Collection[str]) -> list[Tested]:
    """Every cost of a case on some machines of which a suite with a factor measured more."""
    every = (
        Tested(cost, tuple(line(found, machine, tracer, case_id)), tuple(contention(found, machine, tracer, case_id)))
        for machine in found.machines
        if machine in machines
        for tracer, cost in found.with_tracers(machine, case_id).items()
    )
    return [one for one in every if one.points or one.factors]


def dots(found: list[Tested], labels: dict[tuple[str, str], str]) -> list[MeasuredSlowdown]:
    """The slowdowns measured at other rates, for the chart; `labels`: machine and tracer to the name of their line."""
    keys = [(one, (one.cost.submission.machine, one.cost.tracer)) for one in found]
    return [
        MeasuredSlowdown(labels[key], point.rate_hz, point.measured)
        for one, key in keys
        if key in labels
        for point in one.points
        if point.measured.value > 0  # the axis is logarithmic
    ]
