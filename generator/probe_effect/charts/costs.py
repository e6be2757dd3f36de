"""Costs as dots with their intervals: one row per label, one colour and shape per series."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.charts.theme import PAPER, SERIES, SHAPES, Chart, Layout, Spec, cycled, frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Interval

ROW_HEIGHT, LINE_HEIGHT = 25, 14
LINES = "split(datum.label, '\\n')"

LABEL_WIDTH: dict[Layout, int] = {"wide": 52, "narrow": 24}
LEGEND_WIDTH: dict[Layout, int] = {"wide": 70, "narrow": 30}
"""Characters in a line of a label; longer labels go on in a further line, because a cut one names nothing."""

FURNITURE_HEIGHT = 90
"""Axis, its title and the legend."""

LONG_LABEL = 36
"""Characters from which two legend entries do not fit side by side."""

FEW_DECADES, MANY_DECADES = 2e2, 2e4
"""Spans of a logarithmic axis, as ratios, up to which more than the powers of ten fit on it."""

WIDE_RANGE = 30
"""From this ratio of largest to smallest, a linear axis would hide the small ones."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One cost: the row where it stands, its series, and ns per event."""

    label: str
    series: str
    cost: Interval


def cost_chart(name: str, title: str, sentence: str, dots: Sequence[Dot], note: str | None = None) -> Chart:
    """The chart of `dots`; rows in the order given, the axis from 0, or logarithmic where costs differ widely."""
    rows = tuple(
        {
            "label": dot.label,
            "series": dot.series,
            "cost_ns": dot.cost.value,
            "cost_low_ns": dot.cost.low,
            "cost_high_ns": dot.cost.high,
        }
        for dot in dots
    )
    specs: dict[Layout, Spec] = {layout: _spec(layout, dots, rows) for layout in ("wide", "narrow")}
    return Chart(name, title, sentence, rows, specs, note)


def _folded(text: str, width: int) -> str:
    """`text` in lines of at most `width` characters, where its words allow."""
    return "\n".join(textwrap.wrap(text, width)) or text


def _height(label: str) -> int:
    """Pixels that a folded label takes, with the gap to the next."""
    return LINE_HEIGHT * (label.count("\n") + 1) + 6


def _scale(dots: Sequence[Dot]) -> Spec:
    costs = [dot.cost for dot in dots]
    values = [end for cost in costs for end in (cost.value, cost.low, cost.high) if end is not None]
    if min(values) > 0 and max(values) / min(values) > WIDE_RANGE:
        return {"type": "log", "nice": False, "domain": [min(values) / 1.3, max(values) * 1.3]}
    return {"zero": True, "nice": True}


def _axis(scale: Spec, layout: Layout) -> Spec:
    """Few, round ticks: powers of ten, with 2 and 5 between them where there is room."""
    if scale.get("type") != "log":
        return {"format": ",.0f", "tickCount": 3 if layout == "narrow" else 8}
    low, high = scale["domain"]
    few: tuple[int, ...] = (1, 3) if high / low < FEW_DECADES else (1,)
    steps = (1, 2, 5) if layout == "wide" and high / low < MANY_DECADES else few
    ticks = [step * 10.0**power for power in range(-1, 9) for step in steps]
    return {"format": ",~r", "values": [tick for tick in ticks if low <= tick <= high]}


def _spec(layout: Layout, dots: Sequence[Dot], rows: Sequence[dict[str, str | float | None]]) -> Spec:
    labels = {dot.label: _folded(dot.label, LABEL_WIDTH[layout]) for dot in dots}
    names = {dot.series: _folded(dot.series, LEGEND_WIDTH[layout]) for dot in dots}
    rows = [
        row
        | {"label": labels[dot.label], "series": names[dot.series], "cost": units.interval(dot.cost, units.DURATION)}
        for row, dot in zip(rows, dots, strict=True)
    ]
    series, scale = list(names.values()), _scale(dots)
    x = {
        "field": "cost_ns",
        "type": "quantitative",
        "scale": scale,
        "title": "added ns per event",
        "axis": _axis(scale, layout),
    }
    y = {
        "field": "label",
        "type": "nominal",
        "sort": list(labels.values()),
        "title": None,
        "axis": {"labelLimit": 0, "labelExpr": LINES, "labelLineHeight": LINE_HEIGHT},
    }
    colour = {"field": "series", "type": "nominal", "scale": {"domain": series, "range": cycled(SERIES, len(series))}}
    columns = 1 if layout == "narrow" or max(map(len, series)) > LONG_LABEL else 2
    legend = {"columns": columns, "symbolStrokeWidth": 1, "labelExpr": LINES} if len(series) > 1 else None
    shape = {"field": "series", "type": "nominal", "scale": {"domain": series, "range": cycled(SHAPES, len(series))}}
    interval = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "transform": [{"filter": "isValid(datum.cost_low_ns)"}],
        "encoding": {
            "x": x | {"field": "cost_low_ns"},
            "x2": {"field": "cost_high_ns"},
            "y": y,
            "color": colour | {"legend": legend},
        },
    }
    tooltip = [{"field": name} for name in ("label", "series", "cost")]
    point = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "stroke": PAPER, "strokeWidth": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": colour | {"legend": legend},
            "shape": shape | {"legend": legend},
            "tooltip": tooltip,
        },
    }
    legend_height = -(-sum(map(_height, series)) // columns)
    row_height = max(ROW_HEIGHT, max(map(_height, labels.values())) + 4)
    height = FURNITURE_HEIGHT + row_height * len(labels) + legend_height
    # Vega warns of a layer without a single interval, as published costs are.
    layers = [interval, point] if any(dot.cost.low is not None for dot in dots) else [point]
    return frame(layout, height, {"data": {"values": list(rows)}, "layer": layers})
