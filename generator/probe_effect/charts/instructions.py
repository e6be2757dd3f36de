"""Instructions per event as dots with the range of their runs; a line joins what one row has in several series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.dots import Place, Quantity, dot_chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.charts.theme import Chart
    from probe_effect.model import Estimate

COLUMNS = ("cost_instructions", "cost_least_instructions", "cost_greatest_instructions")
ADDED = Quantity("added instructions per event", COLUMNS, is_joined=True)


@dataclass(frozen=True, slots=True)
class Count:
    """One count: the row where it stands, its series, and instructions per event."""

    label: str
    series: str
    cost: Estimate
    tracer: str | None = None
    """The tracer that the series is; None where it is something else."""


def instruction_chart(
    name: str,
    title: str,
    sentence: str,
    counts: Sequence[Count],
    *,
    series: Sequence[str],
    note: str | None = None,
    page: str = "",
) -> Chart:
    """The chart of `counts`; rows in the order given, and of `series`, in their order, those that have a count."""
    places = [
        Place(
            count.label,
            count.series,
            count.cost.value,
            count.cost.low,
            count.cost.high,
            units.spread(count.cost, units.INSTRUCTIONS),
            count.tracer,
        )
        for count in counts
    ]
    return dot_chart(name, title, sentence, ADDED, places, series=series, note=note, page=page)
