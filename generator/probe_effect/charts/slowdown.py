"""Events per second to slowdown: the line of each case with its interval, and the 1, 5 and 30 % thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.charts.theme import DASHES, INK, MUTED, PAPER, SERIES, Chart, Layout, Spec, cycled, frame
from probe_effect.guidance.slowdown import THRESHOLDS, slowdown_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Interval

RATES = [mantissa * 10.0**exponent for exponent in range(2, 7) for mantissa in (1, 2, 5)] + [1e7]
"""From 100/s, where nothing costs anything, to 10 M/s, which no probe reaches."""

SLOWDOWNS = (1e-4, 10.0)
HEIGHTS: dict[Layout, int] = {"wide": 430, "narrow": 400}

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


@dataclass(frozen=True, slots=True)
class Line:
    """One series: how it is called, and its cost in ns per event."""

    label: str
    cost: Interval


def slowdown_chart(name: str, title: str, sentence: str, lines: Sequence[Line]) -> Chart:
    """The chart of `lines`, at most as many as there are series colours; a note says when there are more.

    Args:
        sentence: one sentence that says what the chart shows.
    """
    shown = lines[: len(SERIES)]
    rows = tuple(row for line in shown for row in _rows(line))
    labels = [line.label for line in shown]
    left_out = len(lines) - len(shown)
    note = f"{left_out} more lines are not drawn; the table has them all." if left_out else None
    specs: dict[Layout, Spec] = {layout: _spec(layout, rows, labels) for layout in ("wide", "narrow")}
    return Chart(name, title, sentence, rows, specs, note)


def _rows(line: Line) -> list[dict[str, str | float | None]]:
    points = [(rate, slowdown_at(line.cost, rate)) for rate in RATES]
    return [
        {
            "series": line.label,
            "rate_hz": rate,
            "slowdown_ratio": point.value,
            "slowdown_low_ratio": point.low,
            "slowdown_high_ratio": point.high,
        }
        for rate, point in points
    ]


def _spec(layout: Layout, rows: Sequence[dict[str, str | float | None]], labels: list[str]) -> Spec:
    series = {"field": "series", "type": "nominal", "sort": labels}
    colour = series | {
        "scale": {"domain": labels, "range": cycled(SERIES, len(labels))},
        "legend": {
            "columns": 1 if layout == "narrow" else 2,
            "labelLimit": 270 if layout == "narrow" else 330,
            "symbolType": "stroke",
            "symbolSize": 300,
            "symbolOpacity": 1,
        },
    }
    dash = colour | {"scale": {"domain": labels, "range": cycled(DASHES, len(labels))}}
    y = {"field": "slowdown_ratio", "type": "quantitative", "scale": Y_SCALE, "axis": Y_AXIS, "title": "slowdown"}
    picked = {"condition": {"param": "series_pick", "value": 1}, "value": 0.12}
    band = {
        "mark": {"type": "area", "clip": True, "opacity": 0.18},
        "encoding": {
            "x": X,
            "y": y | {"field": "slowdown_low_ratio"},
            "y2": {"field": "slowdown_high_ratio"},
            "color": colour,
        },
    }
    stroke = {
        "mark": {"type": "line", "clip": True, "strokeWidth": 2.5},
        "params": [{"name": "series_pick", "select": {"type": "point", "fields": ["series"]}, "bind": "legend"}],
        "encoding": {"x": X, "y": y, "color": colour, "strokeDash": dash, "opacity": picked},
    }
    return frame(
        layout, HEIGHTS[layout], {"layer": [band, stroke, *_thresholds(), _hover(y)], "data": {"values": list(rows)}}
    )


def _hover(y: Spec) -> Spec:
    """Points that show their numbers under the pointer; invisible, and left out of the still picture's tree."""
    fields = (("series", "probe", None), ("rate_hz", "events/s", ",.0f"), ("slowdown_ratio", "slowdown", ".3~%"))
    ends = (("slowdown_low_ratio", "from", ".3~%"), ("slowdown_high_ratio", "to", ".3~%"))
    tooltip = [
        {"field": field, "title": title} | ({"format": form} if form else {}) for field, title, form in fields + ends
    ]
    return {
        "mark": {"type": "point", "clip": True, "size": 160, "opacity": 0, "filled": True, "aria": False},
        "encoding": {"x": X, "y": y, "detail": {"field": "series"}, "tooltip": tooltip},
    }


def _thresholds() -> list[Spec]:
    rows = [{"threshold_ratio": percent / 100, "label": f"{percent} % {word}"} for percent, word in THRESHOLDS.items()]
    y = {"field": "threshold_ratio", "type": "quantitative", "scale": Y_SCALE}
    rule = {"mark": {"type": "rule", "color": INK, "strokeDash": [1, 3]}, "encoding": {"y": y}}
    word: Spec = {"type": "text", "align": "left", "dx": 6, "dy": -7, "x": 0}
    halo: Spec = {"stroke": PAPER, "strokeWidth": 4, "aria": False}
    texts: list[Spec] = [  # paper behind the letters keeps them readable where a line passes
        {"mark": word | look, "encoding": {"y": y, "text": {"field": "label"}}} for look in (halo, {"color": MUTED})
    ]
    return [{"data": {"values": rows}, **layer} for layer in (rule, *texts)]
