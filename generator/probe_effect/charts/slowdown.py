"""What costs come to: the rungs of a ladder, and the slowdown of a busy thread by events per second."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts import theme
from probe_effect.charts.series_look import TracerLook, channels, looks, named
from probe_effect.charts.svg import in_layouts
from probe_effect.charts.theme import INK, SERIES, Chart, Datum, Layout, Spec, TextForm, frame
from probe_effect.model import Estimate, interval_json
from probe_effect.reduce.grades import THRESHOLDS, slowdown_at

ROW_HEIGHT: dict[Layout, int] = {"wide": 30, "narrow": 40, "card": 0}
FURNITURE_HEIGHT = 90
"""Axis and legend."""

TICK = (
    "round(log(datum.value) / LN10) % 3 ? '' : "
    "datum.value < 1e3 ? '1 ns' : datum.value < 1e6 ? '1 µs' : datum.value < 1e9 ? '1 ms' : '1 s'"
)
MIDDLE = 0.55
"""The share of the axis up to which a value is written at the right of its rung."""


@dataclass(frozen=True, slots=True)
class LadderRung:
    """A cost, ns: its words, what it is of, and its value as readers see it.

    `span`: the least and the greatest of all machines. `is_bound`: it is at most `cost.value`, and may be nothing.
    """

    words: str
    group: str
    cost: Estimate
    text: str
    span: Estimate | None = None
    is_bound: bool = False


def ladder_chart(name: str, title: str, sentence: str, rungs: Sequence[LadderRung]) -> Chart:
    """The chart of `rungs` in their order, with a colour for each of up to two groups."""
    rows = tuple(_row(one) for one in rungs)
    specs = in_layouts(lambda layout: _ladder_spec(layout, rungs), title, sentence)
    table = TextForm(("Rung", "Of", "Time"), tuple((one.words, one.group, one.text) for one in rungs))
    return Chart(name, title, sentence, rows, specs, table=table, page="/ladder/")


def _row(one: LadderRung) -> Spec:
    words = {"rung": one.words, "of": one.group, "bound": one.is_bound}
    _, least, greatest = one.span or (None, None, None)
    return words | interval_json(one.cost, "time", "ns") | {"least_ns": least, "greatest_ns": greatest}


def _ladder_spec(layout: Layout, rungs: Sequence[LadderRung]) -> Spec:
    ends = [math.log10(end) for one in rungs for end in (one.cost.value, *(one.span or ()))]
    low, high = math.floor(min(ends)), math.ceil(max(ends))
    ticks = [10.0**power for power in range(low, high + 1)]
    scale = {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False}
    x = {"type": "quantitative", "scale": scale, "axis": {"values": ticks, "labelExpr": TICK, "title": None}}
    axis, is_narrow = {"labelLimit": 0, "ticks": False, "domain": False, "labelColor": INK}, layout == "narrow"
    y: Spec = {"field": "rung", "type": "nominal", "sort": [one.words for one in rungs], "title": None}
    y["axis"] = None if is_narrow else axis
    middle = 10 ** (low + MIDDLE * (high - low))
    layers = theme.layers("ladder", {"x": x, "y": y}, first=SERIES[0], second=SERIES[1], middle=middle)
    if not is_narrow:
        del layers["words"]
    values = [_row(one) | {"text": one.text} for one in rungs]
    height = FURNITURE_HEIGHT + ROW_HEIGHT[layout] * len(rungs)
    return frame(layout, height, {"data": {"values": values}, "layer": list(layers.values())})


RATES = [mantissa * 10.0**exponent for exponent in range(2, 7) for mantissa in (1, 2, 5)] + [1e7]
"""From 100/s, where nothing costs anything, to 10 M/s, which no probe reaches."""

LINE, MEASURED = "rate x cost", "measured"
"""Where a value is from."""
TEXTS = ("rate", "slowdown")
"""The fields that a reader sees at a point; the table has the numbers."""

SLOWDOWNS = (1e-4, 10.0)
TEN_PERCENT = 0.1
"""A decade without a label: it is too near to two thresholds."""
HEIGHTS: dict[Layout, int] = {"wide": 430, "narrow": 400, "card": 0}

X = theme.channel(
    "rate_hz",
    "events per second in one busy thread",
    {"type": "log", "domain": [RATES[0], RATES[-1]]},
    {"values": [10**n for n in range(2, 8)], "labelExpr": "format(datum.value, '~s')", "grid": False},
)
WORDS = {percent / 100: word for percent, word in THRESHOLDS.items()}
"""Each threshold, as a ratio, to what is said beside it."""


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
    note = theme.left_out(len(lines) - len(shown))
    seen = dict(zip(labels, looks([line.tracer for line in shown]), strict=True))
    specs = in_layouts(lambda layout: _spec(layout, values, seen), title, sentence)
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
        **interval_json(point.slowdown, "slowdown", "ratio"),
        "rate": units.rate(point.rate_hz),
        "slowdown": units.interval(point.slowdown, units.SHARE),
    }


def _spec(layout: Layout, values: Sequence[Datum], seen: dict[str, TracerLook]) -> Spec:
    line = channels({"field": "series", "type": "nominal", "sort": list(seen), "legend": None}, seen)
    lasting = {str(one["series"]): float(one["slowdown_ratio"] or 0) for one in values if one["from"] == LINE}
    y = _slowdowns(layout, max(lasting.values()))
    low, high = y["scale"]["domain"]
    ends = {name: (RATES[-1], min(max(ratio, low), high)) for name, ratio in lasting.items()}
    fields = {"series": "probe", "rate": "events", "slowdown": "slowdown"}
    words = {
        "line": LINE,
        "measured": MEASURED,
        "foot": SLOWDOWNS[0],
        "thresholds": [{"threshold_ratio": ratio} for ratio in WORDS],
        "tooltip": [{"field": field, "title": title} for field, title in fields.items()],
    }
    found = theme.layers("slowdown", {"x": X, "y": y, **line}, **words, stroke=theme.STROKE[layout])
    if all(value["from"] == LINE for value in values):
        del found["intervals"], found["dots"]
    return named(layout, HEIGHTS[layout], ends, seen, x=X, y=y, layers=found, values=values)


def _slowdowns(layout: Layout, highest: float) -> Spec:
    """The vertical channel, high enough for every line's end; thresholds have their words in place of a decade."""
    top = 10.0 ** math.ceil(math.log10(max(highest, SLOWDOWNS[1])))
    decades = [10.0**power for power in range(-4, round(math.log10(top)) + 1)]
    break_ = "', '" if layout == "narrow" else " "
    said = (f"datum.value == {ratio:g} ? ['{ratio * 100:g} %{break_}{word}'] : " for ratio, word in WORDS.items())
    axis = {
        "values": sorted({one for one in decades if one != TEN_PERCENT} | WORDS.keys()),
        "labelExpr": "".join(said) + "format(datum.value * 100, ',~r') + ' %'",
        "labelOverlap": False,
    }
    scale = {"type": "log", "domain": [SLOWDOWNS[0], top], "nice": False}
    return theme.channel("slowdown_ratio", "slowdown", scale, axis)
