"""How many of the operations take how long or longer: a line for the untraced ones, and one for each tracer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts.ends import named
from probe_effect.charts.framed import in_layouts
from probe_effect.charts.theme import SERIES, Chart, Datum, Layout, Spec, TextForm, channel, curves, hover
from probe_effect.charts.tracer_look import TracerLook, looks, scale

HEIGHTS: dict[Layout, int] = {"wide": 430, "narrow": 400, "card": 0}
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
    rows = tuple(_row(curve.label, *point) for curve in shown for point in curve.points if point[0] > 0)
    seen = dict(zip((one.label for one in shown), looks([one.tracer for one in shown]), strict=True))
    note = "Further tracers are not drawn; the table has them all." if len(shown) < len(curves) else None
    specs = in_layouts(lambda layout: _spec(layout, rows, seen), title, sentence)
    return Chart(name, title, sentence, rows, specs, note, table, page)


def _row(label: str, time_ns: int, share: float) -> Datum:
    return {
        "series": label,
        "time_ns": time_ns,
        "share_ratio": share,
        "time": units.duration(time_ns),
        "share": units.percent(share),
    }


def _spec(layout: Layout, rows: Sequence[Datum], seen: dict[str, TracerLook]) -> Spec:
    x = _axis("time_ns", "time of one operation", rows, TIME_LABEL)
    y = _axis("share_ratio", "share that takes as long or longer", rows, SHARE_LABEL)
    series = {"field": "series", "type": "nominal", "sort": list(seen)}
    colour = series | scale(seen, "colour") | {"legend": None}
    lines = curves(layout, x, y, colour, colour | scale(seen, "dash"))
    ends = {str(row["series"]): (float(row["time_ns"] or 0), float(row["share_ratio"] or 0)) for row in rows}
    points = hover(x, y, [{"field": field} for field in ("series", "time", "share")])
    return named(layout, HEIGHTS[layout], ends, seen, x=x, y=y, layers=[lines, points], values=rows)


def _axis(field: str, title: str, rows: Sequence[Datum], label: str) -> Spec:
    """A logarithmic axis from a power of ten to a power of ten, with a tick at each."""
    values = [float(row[field] or 0) for row in rows]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ticks = [10.0**power for power in range(low, max(high, low + 1) + 1)]
    log = {"type": "log", "domain": [ticks[0], ticks[-1]]}
    return channel(field, title, log, {"values": ticks, "labelExpr": label})
