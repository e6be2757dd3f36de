"""Slowdowns: the rungs of a ladder, a busy thread by events per second, and predicted against measured ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probe_effect import units
from probe_effect.model import Estimate, interval_json
from probe_effect.numbers.submission import THRESHOLDS, slowdown_at
from probe_effect.site.charts import theme
from probe_effect.site.charts.svg import in_layouts
from probe_effect.site.charts.theme import (
    INK,
    SERIES,
    Chart,
    Datum,
    Layout,
    Spec,
    TextForm,
    TracerLook,
    channel,
    channels,
    frame,
    layers,
    looks,
    named,
)

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

DECADES: dict[Layout, range] = {"wide": range(2, 8), "narrow": range(2, 8, 2), "card": range(2, 8)}
"""Powers of ten that are written below the axis of rates; on a phone there is room for every second one."""

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
    found: dict[tuple[Any, Any], dict[str, Any]] = {}
    for value in sorted(values, key=lambda one: (one["from"] != LINE, one["rate_hz"])):
        found.setdefault((value["rate"], value["from"]), {})[str(value["series"])] = value["slowdown"]
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
    x = theme.channel(
        "rate_hz",
        "events per second in one busy thread",
        {"type": "log", "domain": [RATES[0], RATES[-1]]},
        {"values": [10**n for n in DECADES[layout]], "labelExpr": "format(datum.value, '~s')", "grid": False},
    )
    found = theme.layers("slowdown", {"x": x, "y": y, **line}, **words, stroke=theme.STROKE[layout])
    if all(value["from"] == LINE for value in values):
        del found["intervals"], found["dots"]
    return named(layout, HEIGHTS[layout], ends, seen, x=x, y=y, own_layers=found, values=values)


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


FOOT = 1e-4
"""The least slowdown, as a ratio, that an axis can show; what is less, or none at all, is at its foot."""

ROUND = tuple(float(f"{digit}e{power}") for power in range(-4, 7) for digit in (1, 2, 5))
"""Slowdowns at which an axis may end; every third is a power of ten."""

HIDDEN = "unclear"
"""The reader's choice, in the live chart, to see the pairs too whose slowdown is not distinguishable from 0."""

PAIR_HEIGHTS: dict[Layout, int] = {"wide": 520, "narrow": 430, "card": 0}
DOT: dict[Layout, int] = {"wide": 60, "narrow": 50, "card": 160}
LEGEND_COLUMNS: dict[Layout, int] = {"wide": 3, "narrow": 1, "card": 3}


@dataclass(frozen=True, slots=True)
class PredictedPair:
    """One slowdown, predicted and measured, as ratios: of which program, by what, and of which family that is.

    A slowdown that is not distinguishable from 0 (`is_told` is false) is drawn only where the reader asks for it.
    """

    label: str
    series: str
    family: str
    predicted: Estimate
    measured: Estimate
    is_told: bool = True


def predicted_chart(
    name: str, title: str, sentence: str, pairs: Sequence[PredictedPair], *, near_ratio: float, page: str = ""
) -> Chart:
    """The chart of `pairs`, with the line where both agree; near it is what differs by that share of a prediction."""
    rows = tuple(map(_pair_row, pairs))
    families = sorted({one.family for one in pairs})
    seen = dict(zip(families, looks([None] * len(families)), strict=True))
    specs = in_layouts(lambda layout: _pairs_spec(layout, rows, seen, near_ratio), title, sentence)
    head = ("Program", "Probe", "Predicted", "Measured")
    words = [[units.interval(each, units.SHARE) for each in (one.predicted, one.measured)] for one in pairs]
    text = TextForm(head, tuple((one.label, one.series, *both) for one, both in zip(pairs, words, strict=True)))
    return Chart(name, title, sentence, rows, specs, table=text, page=page)


def _pair_row(one: PredictedPair) -> Datum:
    ends = interval_json(one.predicted, "predicted", "ratio") | interval_json(one.measured, "measured", "ratio")
    return {"program": one.label, "series": one.series, "family": one.family, **ends, "told": one.is_told}


def _ends(rows: Sequence[Datum]) -> tuple[float, float]:
    """The ends of both axes: 1, 2 or 5 times a power of ten around all values of the pairs that are told."""
    told = [row for row in rows if row["told"]] or rows
    values = [max(float(row[f"{name}_ratio"] or 0), FOOT) for row in told for name in ("predicted", "measured")]
    least = max(one for one in ROUND if one <= min(values))
    return least, min(one for one in ROUND if one > max(*values, least))


def _axis(name: str, title: str, least: float, most: float) -> Spec:
    every, told = ([tick for tick in ROUND[::3] if low <= tick <= most] for low in (FOOT, least))
    log = {"type": "log", "domainMin": {"expr": f"{HIDDEN} ? {FOOT} : {least}"}, "domainMax": most}
    label = {"labelExpr": "format(datum.value * 100, ',~r') + ' %'", "labelOverlap": "greedy"}
    return channel(f"{name}_ratio", title, log, {"values": {"expr": f"{HIDDEN} ? {every} : {told}"}, **label})


def _said(name: str) -> Spec:
    """The field with a slowdown in words, for the tooltip."""
    value, low, high = (f"format(datum.{name}{end}_ratio * 100, ',.2~r')" for end in ("", "_low", "_high"))
    return {"calculate": f"{value} + ' % (' + {low} + ' to ' + {high} + ')'", "as": name}


def _pairs_spec(layout: Layout, rows: Sequence[Datum], seen: dict[str, TracerLook], near_ratio: float) -> Spec:
    least, most = _ends(rows)
    x = _axis("predicted", "slowdown predicted by rate x cost", least, most)
    y = _axis("measured", "slowdown measured", least, most)
    foot = f"({HIDDEN} ? {FOOT} : {least})"
    # A logarithmic axis can show neither 0 nor less: a dot whose value is beyond stands at the foot, hollow.
    beyond = {"calculate": f"min(datum.predicted_ratio, datum.measured_ratio) < {foot}", "as": "beyond"}
    fields = [field for field in rows[0] if field.endswith("_ratio")]
    inside = [{"calculate": f"min(max(datum.{one}, {foot}), {most})", "as": one} for one in fields]
    legend = {"columns": LEGEND_COLUMNS[layout], "symbolStrokeWidth": 1, "symbolOpacity": 1, "columnPadding": 24}
    family = {"field": "family", "type": "nominal", "sort": list(seen), "legend": legend}
    ends = [{"at": at, "low": at * (1 - near_ratio), "high": at * (1 + near_ratio)} for at in (FOOT, most)]
    found = layers("predicted", {"x": x, "y": y, **channels(family, seen)}, ends=ends, hidden=HIDDEN, dot=DOT[layout])
    hidden = sum(not row["told"] for row in rows)
    wish = {"input": "checkbox", "name": f"show the {hidden} without a clear slowdown too (hollow: beyond an axis)"}
    return frame(
        layout,
        PAIR_HEIGHTS[layout],
        {
            "params": [{"name": HIDDEN, "value": False, **({"bind": wish} if hidden else {})}],
            "data": {"values": list(rows)},
            "transform": [_said("predicted"), _said("measured"), beyond, *inside],
            "layer": list(found.values()),
        },
    )
