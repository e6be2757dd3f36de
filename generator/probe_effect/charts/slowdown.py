"""Events per second to slowdown: the line of each case with its interval, and the 1, 5 and 30 % thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts import theme
from probe_effect.charts.theme import INK, MUTED, PAPER, SERIES, Chart, Datum, Layout, Spec, TextForm
from probe_effect.charts.tracer_look import TracerLook, looks, scale
from probe_effect.model import Estimate
from probe_effect.reduce.thresholds import THRESHOLDS, slowdown_at

RATES = [mantissa * 10.0**exponent for exponent in range(2, 7) for mantissa in (1, 2, 5)] + [1e7]
"""From 100/s, where nothing costs anything, to 10 M/s, which no probe reaches."""

LINE, MEASURED = "rate x cost", "measured"
"""Where a value is from."""
TEXTS = ("rate", "slowdown")
"""The fields that a reader sees at a point; the table has the numbers."""

SLOWDOWNS = (1e-4, 10.0)
PASSED = 1.0
"""A slowdown that is well above the last threshold."""
HEIGHTS: dict[Layout, int] = {"wide": 430, "narrow": 400, "card": 0}

X = {
    "field": "rate_hz",
    "type": "quantitative",
    "scale": {"type": "log", "domain": [RATES[0], RATES[-1]]},
    "axis": {"values": [10**n for n in range(2, 8)], "labelExpr": "format(datum.value, '~s')", "grid": False},
    "title": "events per second in one busy thread",
}
Y_SCALE = {"type": "log", "domain": list(SLOWDOWNS)}
Y_AXIS = {
    "values": [1e-4, 1e-3, 1e-2, 1e-1, 1, 10],
    "labelExpr": "format(datum.value * 100, '~r') + ' %'",
    "tickCount": 6,
}


Y = {"field": "slowdown_ratio", "type": "quantitative", "scale": Y_SCALE, "axis": Y_AXIS, "title": "slowdown"}
ENDS = {"y": Y | {"field": "slowdown_low_ratio"}, "y2": {"field": "slowdown_high_ratio"}}


@dataclass(frozen=True, slots=True)
class CostLine:
    """One series: how it is called, its cost in ns per event, and the tracer that it shows, if any."""

    label: str
    cost: Estimate
    tracer: str | None = None


@dataclass(frozen=True, slots=True)
class MeasuredSlowdown:
    """A slowdown that was measured at a rate, in the colour of the series called `label`."""

    label: str
    rate_hz: float
    slowdown: Estimate


def slowdown_chart(
    name: str,
    title: str,
    sentence: str,
    lines: Sequence[CostLine],
    points: Sequence[MeasuredSlowdown] = (),
    *,
    page: str = "",
) -> Chart:
    """The chart of `lines`, at most as many as there are series colours; a note says when there are more."""
    shown = lines[: len(SERIES)]
    labels = [line.label for line in shown]
    values = [
        _value(MeasuredSlowdown(line.label, rate, slowdown_at(line.cost, rate)), LINE)
        for line in shown
        for rate in RATES
    ]
    values += [_value(point, MEASURED) for point in points if point.label in labels]
    rows = tuple({name: value for name, value in one.items() if name not in TEXTS} for one in values)
    left_out = len(lines) - len(shown)
    more = "1 more line is" if left_out == 1 else f"{left_out} more lines are"
    note = f"{more} not drawn; the table has them all." if left_out else None
    seen = dict(zip(labels, looks([line.tracer for line in shown]), strict=True))
    specs = theme.in_layouts(lambda layout: _spec(layout, values, seen), title, sentence)
    return Chart(name, title, sentence, rows, specs, note, _text_form(values, labels), page)


def _text_form(values: Sequence[Datum], labels: Sequence[str]) -> TextForm:
    """A row for each rate, of the line and of what was measured; a column for each series."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for value in sorted(values, key=lambda one: (one["from"] != LINE, one["rate_hz"])):
        found.setdefault((str(value["rate"]), str(value["from"])), {})[str(value["series"])] = str(value["slowdown"])
    rows = ((rate, made, *(cells.get(label, "") for label in labels)) for (rate, made), cells in found.items())
    return TextForm(("Events", "From", *labels), tuple(rows))


def _value(point: MeasuredSlowdown, made: str) -> Datum:
    return {
        "series": point.label,
        "from": made,
        "rate_hz": point.rate_hz,
        "slowdown_ratio": point.slowdown.value,
        "slowdown_low_ratio": point.slowdown.low,
        "slowdown_high_ratio": point.slowdown.high,
        "rate": units.rate(point.rate_hz),
        "slowdown": units.interval(point.slowdown, units.SHARE),
    }


def _spec(layout: Layout, values: Sequence[Datum], seen: dict[str, TracerLook]) -> Spec:
    series = {"field": "series", "type": "nominal", "sort": list(seen)}
    legend = {"columns": 1 if layout == "narrow" else 2, "labelLimit": theme.LEGEND_WIDTH[layout]}
    strokes = {"symbolType": "stroke", "symbolSize": 300, "symbolOpacity": 1}
    colour = series | scale(seen, "colour") | {"legend": legend | strokes}
    band = {"mark": {"type": "area", "clip": True, "fillOpacity": 0.18}, "encoding": {"x": X, **ENDS, "color": colour}}
    lines = theme.curves(layout, X, Y, colour, colour | scale(seen, "dash"))
    layers = [_only(LINE, band), _only(LINE, lines), *_thresholds(layout, values)]
    if any(value["from"] == MEASURED for value in values):
        layers += [_only(MEASURED, layer) for layer in _dots(colour)]
    fields = {"series": "probe", "rate": "events", "slowdown": "slowdown"}
    points = theme.hover(X, Y, [{"field": field, "title": title} for field, title in fields.items()])
    return theme.frame(layout, HEIGHTS[layout], {"layer": [*layers, points], "data": {"values": list(values)}})


def _only(made: str, layer: Spec) -> Spec:
    return layer | {"transform": [{"filter": {"field": "from", "equal": made}}, *layer.get("transform", ())]}


def _dots(colour: Spec) -> list[Spec]:
    """What was measured, with its intervals; a low end that the logarithmic axis cannot show is at its foot."""
    foot = {"calculate": f"max(datum.slowdown_low_ratio, {SLOWDOWNS[0]})", "as": "drawn_low_ratio"}
    ends = {"y": Y | {"field": "drawn_low_ratio"}, "y2": {"field": "slowdown_high_ratio"}}
    interval = {
        "transform": [foot],
        "mark": {"type": "rule", "clip": True, "strokeWidth": 2, "aria": False},
        "encoding": {"x": X, **ends, "color": colour},
    }
    look = {"type": "point", "clip": True, "filled": True, "size": 70, "opacity": 1, "stroke": PAPER, "strokeWidth": 1}
    return [interval, {"mark": look, "encoding": {"x": X, "y": Y, "color": colour}}]


def _thresholds(layout: Layout, values: Sequence[Datum]) -> list[Spec]:
    """The layers of the thresholds; words are at the right where every line has long passed them, else at the left."""
    fastest = (
        float(one["slowdown_ratio"] or 0) for one in values if one["from"] == LINE and one["rate_hz"] == RATES[-1]
    )
    side = {"align": "right", "dx": -6, "x": "width"} if min(fastest) > PASSED else {"align": "left", "dx": 6, "x": 0}
    rows = [{"threshold_ratio": percent / 100, "label": f"{percent} % {word}"} for percent, word in THRESHOLDS.items()]
    y = {"field": "threshold_ratio", "type": "quantitative", "scale": Y_SCALE}
    rule = {"mark": {"type": "rule", "color": INK, "strokeDash": [1, 3]}, "encoding": {"y": y}}
    word: Spec = {"type": "text", "dy": -0.6 * theme.TEXT_SIZE[layout], **side}
    halo: Spec = {"stroke": PAPER, "strokeWidth": 4, "aria": False}
    texts: list[Spec] = [  # paper behind the letters keeps them readable where a line passes
        {"mark": word | look, "encoding": {"y": y, "text": {"field": "label"}}} for look in (halo, {"color": MUTED})
    ]
    return [{"data": {"values": rows}, **layer} for layer in (rule, *texts)]
