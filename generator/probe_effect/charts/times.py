"""Lines over times: how many operations take how long, and how long a tracer takes by the number of its probes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts import theme
from probe_effect.charts.series_look import TracerLook, channels, looks, named
from probe_effect.charts.svg import in_layouts
from probe_effect.charts.theme import SERIES, STROKE, Chart, Datum, Layout, Spec, TextForm, channel, layers
from probe_effect.model import Estimate, interval_json

TAIL_HEIGHTS: dict[Layout, int] = {"wide": 430, "narrow": 400, "card": 0}
TIME_LABEL = (
    "datum.value < 1e3 ? datum.value + ' ns' : datum.value < 1e6 ? datum.value / 1e3 + ' µs' : "
    "datum.value < 1e9 ? datum.value / 1e6 + ' ms' : datum.value / 1e9 + ' s'"
)
SHARE_LABEL = "format(datum.value * 100, '~r') + ' %'"


@dataclass(frozen=True, slots=True)
class Curve:
    """One series with its tracer, if any: its `points` are times in ns, ascending, and shares that took no less."""

    label: str
    points: Sequence[tuple[int, float]]
    tracer: str | None = None


def tail_chart(
    name: str, title: str, sentence: str, curves: Sequence[Curve], *, table: TextForm, page: str = ""
) -> Chart:
    """The chart of `curves`, at most as many as there are series colours, on logarithmic axes; `table` has them all."""
    shown = curves[: len(SERIES)]
    rows = tuple(_tail_row(curve.label, *point) for curve in shown for point in curve.points if point[0] > 0)
    seen = dict(zip((one.label for one in shown), looks([one.tracer for one in shown]), strict=True))
    note = "Further tracers are not drawn; the table has them all." if len(shown) < len(curves) else None
    specs = in_layouts(lambda layout: _tail_spec(layout, rows, seen), title, sentence)
    return Chart(name, title, sentence, rows, specs, note, table, page)


def _tail_row(label: str, time_ns: int, share: float) -> Datum:
    return {
        "series": label,
        "time_ns": time_ns,
        "share_ratio": share,
        "time": units.duration(time_ns),
        "share": units.percent(share),
    }


def _tail_spec(layout: Layout, rows: Sequence[Datum], seen: dict[str, TracerLook]) -> Spec:
    x = _axis("time_ns", "time of one operation", rows, TIME_LABEL)
    y = _axis("share_ratio", "share that takes as long or longer", rows, SHARE_LABEL)
    line = channels({"field": "series", "type": "nominal", "sort": list(seen), "legend": None}, seen)
    tooltip = [{"field": field} for field in ("series", "time", "share")]
    found = layers("tail", {"x": x, "y": y, **line}, stroke=STROKE[layout], tooltip=tooltip)
    ends = {str(row["series"]): (float(row["time_ns"] or 0), float(row["share_ratio"] or 0)) for row in rows}
    return named(layout, TAIL_HEIGHTS[layout], ends, seen, x=x, y=y, layers=found, values=rows)


def _axis(field: str, title: str, rows: Sequence[Datum], label: str) -> Spec:
    """A logarithmic axis from a power of ten to a power of ten, with a tick at each."""
    values = [float(row[field] or 0) for row in rows]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ticks = [10.0**power for power in range(low, max(high, low + 1) + 1)]
    log = {"type": "log", "domain": [ticks[0], ticks[-1]]}
    return channel(field, title, log, {"values": ticks, "labelExpr": label})


HEIGHTS: dict[Layout, int] = {"wide": 450, "narrow": 430, "card": 0}
DOT: dict[Layout, int] = {"wide": 70, "narrow": 70, "card": 200}
MARGIN = 1.3
"""Room beyond the least and the greatest, as a ratio."""

TICK = (
    "datum.value < 1e-3 ? format(datum.value * 1e6, '~r') + ' µs' : "
    "datum.value < 1 ? format(datum.value * 1e3, '~r') + ' ms' : format(datum.value, '~r') + ' s'"
)
Y_AXIS = {"values": [10.0**n for n in range(-6, 4)], "labelExpr": TICK}


@dataclass(frozen=True, slots=True)
class TimePoint:
    """A time, ns and above 0, of a series at a number; `words` are its row in the table, and say what a reader sees."""

    series: str
    tracer: str
    at: int
    time: Estimate
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What is drawn: titles of both axes, the table's columns, and `quantity`, as the rows name the time (`start`)."""

    quantity: str
    number: str
    time: str
    columns: tuple[str, ...]


def times_chart(
    name: str, title: str, sentence: str, points: Sequence[TimePoint], axes: Axes, *, page: str = ""
) -> Chart:
    """The chart of `points`, of at most as many series as there are colours; a note says when there are more."""
    labels = list(dict.fromkeys(one.series for one in points))
    shown = labels[: len(SERIES)]
    tracers = {one.series: one.tracer for one in reversed(points)}
    drawn = [one for one in points if one.series in shown]
    rows = tuple(_row(one, axes) for one in drawn)
    values = [row | dict(zip(axes.columns, one.words, strict=True)) for row, one in zip(rows, drawn, strict=True)]
    seen = dict(zip(shown, looks([tracers[label] for label in shown]), strict=True))
    specs = in_layouts(lambda layout: _spec(layout, values, seen, axes), title, sentence)
    text = TextForm(axes.columns, tuple(one.words for one in points))
    return Chart(name, title, sentence, rows, specs, theme.left_out(len(labels) - len(shown)), text, page)


def _row(one: TimePoint, axes: Axes) -> Datum:
    seconds = one.time.mapped(lambda ns: ns / units.NS_PER_SECOND)
    return {"series": one.series, "number": one.at, **interval_json(seconds, axes.quantity, "s")}


def _spec(layout: Layout, values: Sequence[Datum], seen: dict[str, TracerLook], axes: Axes) -> Spec:
    numbers = sorted({float(row["number"] or 0) for row in values})
    times = [float(row[f"{axes.quantity}_s"] or 0) for row in values]
    low, high = min(times) / MARGIN, max(times) * MARGIN
    log, own = {"type": "log", "nice": False}, {"values": numbers, "format": ",.0f", "grid": False}
    x = channel("number", axes.number, log | {"domain": [numbers[0] / MARGIN, numbers[-1] * MARGIN]}, own)
    y = channel(f"{axes.quantity}_s", axes.time, log | {"domain": [low, high]}, Y_AXIS)
    line = channels({"field": "series", "type": "nominal", "sort": list(seen), "legend": None}, seen)
    tooltip = [{"field": "series", "title": "series"}, *({"field": name} for name in axes.columns[1:])]
    words = {"quantity": axes.quantity, "foot": low, "tooltip": tooltip}
    found = layers("times", {"x": x, "y": y, **line}, **words, stroke=STROKE[layout], dot=DOT[layout])
    rising = sorted(values, key=lambda row: float(row["number"] or 0))
    ends = {str(row["series"]): (float(row["number"] or 0), float(row[f"{axes.quantity}_s"] or 0)) for row in rising}
    return named(layout, HEIGHTS[layout], ends, seen, x=x, y=y, layers=found, values=values)
