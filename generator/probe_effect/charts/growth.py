"""What tools take themselves, over how much there is to look at: a line for each, on logarithmic axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.theme import LAYOUTS, PAPER, Chart, Layout, Spec, TextForm, frame, headed
from probe_effect.charts.tracer_look import Look, looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Estimate

Row = dict[str, str | float | None]

HEIGHTS: dict[Layout, int] = {"wide": 470, "narrow": 460, "card": 0}
STROKE: dict[Layout, float] = {"wide": 2, "narrow": 2, "card": 3.5}
DOT: dict[Layout, int] = {"wide": 70, "narrow": 60, "card": 170}
LEGEND_COLUMNS: dict[Layout, int] = {"wide": 4, "narrow": 2, "card": 5}
POWERS = range(3, 13)
"""Of ten, for the ticks of times in ns: 1 µs to 1000 s."""

TICK = (
    "datum.value < 1e6 ? format(datum.value / 1e3, '~r') + ' µs' : "
    "datum.value < 1e9 ? format(datum.value / 1e6, '~r') + ' ms' : format(datum.value / 1e9, '~r') + ' s'"
)
MARGIN = 1.3
"""Room beyond the least and the greatest, as a ratio."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a series takes at a level, ns, and the tracer that it shows."""

    series: str
    level: float
    cpu: Estimate
    tracer: str | None = None


def growth_chart(name: str, title: str, sentence: str, uses: Sequence[Use], *, level: str, page: str = "") -> Chart:
    """The chart of `uses`, all of them above 0.

    Args:
        level: what a level counts, as the title of the axis.
        page: the address of the page that the chart belongs to.
    """
    rows = tuple(map(_row, uses))
    tracers = {one.series: one.tracer for one in uses}
    seen = dict(zip(tracers, looks(list(tracers.values())), strict=True))
    specs: dict[Layout, Spec] = {layout: _spec(layout, rows, seen, level) for layout in LAYOUTS}
    specs["card"] = headed(_spec("card", rows, seen, level), title, sentence)
    text = TextForm(
        ("Tool", f"{level[:1].upper()}{level[1:]}", "CPU time"),
        tuple((one.series, units.count(one.level), units.interval(one.cpu, units.DURATION)) for one in uses),
    )
    return Chart(name, title, sentence, rows, specs, table=text, page=page)


def _row(one: Use) -> Row:
    return {
        "series": one.series,
        "level": one.level,
        "cpu_ns": one.cpu.value,
        "cpu_low_ns": one.cpu.low,
        "cpu_high_ns": one.cpu.high,
    }


def _spec(layout: Layout, rows: Sequence[Row], seen: dict[str, Look], level: str) -> Spec:
    levels = sorted({float(row["level"] or 0) for row in rows})
    ends = [float(row["cpu_ns"] or 0) for row in rows]
    low, high = min(ends) / MARGIN, max(ends) * MARGIN
    x = {
        "field": "level",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "domain": [levels[0] / MARGIN, levels[-1] * MARGIN]},
        "axis": {"values": levels, "format": ",.0f", "grid": False},
        "title": level,
    }
    y = {
        "field": "cpu_ns",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "domain": [low, high]},
        "axis": {"values": [10.0**power for power in POWERS if low <= 10.0**power <= high], "labelExpr": TICK},
        "title": "CPU time of the tool, an operation",
    }
    names = list(seen)
    by_series = {"field": "series", "type": "nominal", "sort": names}
    legend = {"columns": LEGEND_COLUMNS[layout], "symbolStrokeWidth": 1, "symbolOpacity": 1}
    colour = by_series | {"scale": {"domain": names, "range": [one.colour for one in seen.values()]}, "legend": legend}
    shape = by_series | {"scale": {"domain": names, "range": [one.shape for one in seen.values()]}, "legend": legend}
    dash = by_series | {"scale": {"domain": names, "range": [one.dash for one in seen.values()]}, "legend": None}
    tooltip = [{"field": name} for name in ("series", "level", "cpu_ns")]
    look = {"type": "point", "filled": True, "size": DOT[layout], "opacity": 1, "stroke": PAPER, "strokeWidth": 1}
    layers = [
        {
            "mark": {"type": "line", "strokeWidth": STROKE[layout], "aria": False},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
        },
        {"mark": look, "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip}},
    ]
    if any(row["cpu_low_ns"] is not None for row in rows):
        layers.insert(1, _intervals(x, y, colour, low))
    return frame(layout, HEIGHTS[layout], {"data": {"values": list(rows)}, "layer": layers})


def _intervals(x: Spec, y: Spec, colour: Spec, low: float) -> Spec:
    """The layer of intervals; a low end that the logarithmic axis cannot show stands at its foot."""
    ends = {"y": y | {"field": "drawn_low_ns"}, "y2": {"field": "cpu_high_ns"}}
    return {
        "transform": [
            {"filter": "isValid(datum.cpu_low_ns)"},
            {"calculate": f"max(datum.cpu_low_ns, {low})", "as": "drawn_low_ns"},
        ],
        "mark": {"type": "rule", "clip": True, "strokeWidth": 2, "aria": False},
        "encoding": {"x": x, **ends, "color": colour},
    }
