"""Costs as dots with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.dots import Place, Quantity, dot_chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.model import Estimate

COST = Quantity("added ns per event", ("cost_ns", "cost_low_ns", "cost_high_ns"))


@dataclass(frozen=True, slots=True)
class Dot:
    """One cost: the row where it stands, its series, and ns per event."""

    label: str
    series: str
    cost: Estimate
    tracer: str | None = None
    """The tracer that the series is; None where it is something else."""


def cost_chart(
    name: str, title: str, sentence: str, dots: Sequence[Dot], note: str | None = None, *, page: str = ""
) -> Chart:
    """The chart of `dots`; rows in the order given, the axis from 0, or logarithmic where costs differ widely."""
    places = [
        Place(
            dot.label,
            dot.series,
            dot.cost.value,
            dot.cost.low,
            dot.cost.high,
            units.interval(dot.cost, units.DURATION),
            dot.tracer,
        )
        for dot in dots
    ]
    series = [dot.series for dot in dots]
    return dot_chart(name, title, sentence, COST, places, series=series, note=note, page=page)
