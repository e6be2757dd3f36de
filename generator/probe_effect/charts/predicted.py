"""Slowdowns that were predicted against those that were measured: a dot for each, with both intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts.framed import in_layouts
from probe_effect.charts.theme import AXIS, MUTED, PAPER, Chart, Datum, Layout, Spec, TextForm, frame
from probe_effect.charts.tracer_look import TracerLook, looks, scale
from probe_effect.model import Estimate

LEAST, MOST = 1e-4, 10.0
"""Slowdowns, as ratios, at the ends of both axes; what is less, or none at all, is at the foot."""

TICKS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
FAINT = 0.3
"""Opacity of a dot whose slowdown is not distinguishable from 0."""

HEIGHTS: dict[Layout, int] = {"wide": 520, "narrow": 430, "card": 0}
DOT: dict[Layout, int] = {"wide": 60, "narrow": 50, "card": 160}
LEGEND_COLUMNS: dict[Layout, int] = {"wide": 2, "narrow": 1, "card": 2}


@dataclass(frozen=True, slots=True)
class PredictedPair:
    """One slowdown, predicted and measured, as ratios, with its label and its series.

    A slowdown that is not distinguishable from 0 is drawn faintly, and without its intervals, which would cover others.
    """

    label: str
    series: str
    predicted: Estimate
    measured: Estimate
    is_told: bool = True


def predicted_chart(
    name: str, title: str, sentence: str, pairs: Sequence[PredictedPair], *, near_ratio: float, page: str = ""
) -> Chart:
    """The chart of `pairs`, with the line where both agree; near it is what differs by that share of a prediction."""
    rows = tuple(map(_row, pairs))
    series = list(dict.fromkeys(one.series for one in pairs))
    seen = dict(zip(series, looks([None] * len(series)), strict=True))
    specs = in_layouts(lambda layout: _spec(layout, rows, seen, near_ratio), title, sentence)
    head = ("Program", "Probe", "Predicted", "Measured")
    text = TextForm(head, tuple((one.label, one.series, _share(one.predicted), _share(one.measured)) for one in pairs))
    return Chart(name, title, sentence, rows, specs, table=text, page=page)


def _share(slowdown: Estimate) -> str:
    return units.interval(slowdown, units.SHARE)


def _row(one: PredictedPair) -> Datum:
    return {
        "program": one.label,
        "series": one.series,
        "predicted_ratio": one.predicted.value,
        "predicted_low_ratio": one.predicted.low,
        "predicted_high_ratio": one.predicted.high,
        "measured_ratio": one.measured.value,
        "measured_low_ratio": one.measured.low,
        "measured_high_ratio": one.measured.high,
        "told": one.is_told,
    }


def _drawn(field: str) -> str:
    """The name of a field with its value inside the axes: a logarithmic one can show neither 0 nor less."""
    return f"drawn_{field}"


def _axis(field: str, title: str, ticks: Sequence[float] = TICKS) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": [LEAST, MOST]},
        "axis": {"values": list(ticks), "labelExpr": "format(datum.value * 100, ',~r') + ' %'"},
        "title": title,
    }


def _spec(layout: Layout, rows: Sequence[Datum], seen: dict[str, TracerLook], near_ratio: float) -> Spec:
    ticks = TICKS[1:-1] if layout == "narrow" else TICKS  # whose ends would touch their neighbours
    x = _axis(_drawn("predicted_ratio"), "slowdown predicted by rate x cost", ticks)
    y = _axis(_drawn("measured_ratio"), "slowdown measured")
    inside = [
        {"calculate": f"min(max(datum.{field}, {LEAST}), {MOST})", "as": _drawn(field)}
        for field in rows[0]
        if field.endswith("_ratio")
    ]
    by_series = {"field": "series", "type": "nominal", "sort": list(seen)}
    legend = {"columns": LEGEND_COLUMNS[layout], "symbolStrokeWidth": 1, "symbolOpacity": 1}
    colour = by_series | scale(seen, "colour") | {"legend": legend}
    shape = colour | scale(seen, "shape")
    thin = {"type": "rule", "clip": True, "strokeWidth": 1, "strokeOpacity": 0.5, "aria": False}
    told = [{"filter": "datum.told"}]
    clear = {"condition": {"test": "datum.told", "value": 1}, "value": FAINT}
    across = {
        "x": x | {"field": _drawn("predicted_low_ratio")},
        "x2": {"field": _drawn("predicted_high_ratio")},
        "y": y,
    }
    up = {"x": x, "y": y | {"field": _drawn("measured_low_ratio")}, "y2": {"field": _drawn("measured_high_ratio")}}
    tooltip = [{"field": name} for name in ("program", "series", "predicted_ratio", "measured_ratio")]
    point = {
        "mark": {"type": "point", "filled": True, "size": DOT[layout], "stroke": PAPER, "strokeWidth": 1},
        "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "opacity": clear, "tooltip": tooltip},
    }
    layers = [
        *_agreement(x, y, near_ratio),
        {"transform": told, "mark": thin, "encoding": across | {"color": colour}},
        {"transform": told, "mark": thin, "encoding": up | {"color": colour}},
        point,
    ]
    body = {"data": {"values": list(rows)}, "transform": inside, "layer": layers}
    return frame(layout, HEIGHTS[layout], body)


def _agreement(x: Spec, y: Spec, near_ratio: float) -> list[Spec]:
    """The line where what was predicted came true, and the band of what is near it."""
    ends = [{"at": at, "low": at * (1 - near_ratio), "high": at * (1 + near_ratio)} for at in (LEAST, MOST)]
    own = {"data": {"values": ends}}
    along = x | {"field": "at"}
    band = {"x": along, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    area = {"type": "area", "clip": True, "color": AXIS, "fillOpacity": 0.2, "aria": False}
    line = {"type": "line", "clip": True, "color": MUTED, "strokeDash": [4, 3], "aria": False}
    return [
        own | {"mark": area, "encoding": band},
        own | {"mark": line, "encoding": {"x": along, "y": y | {"field": "at"}}},
    ]
