"""Slowdowns: the rungs of a ladder, a busy thread by events per second, and predicted against measured ones."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from probe_effect import units
from probe_effect.model import Estimate, interval_json
from probe_effect.numbers.submission import THRESHOLDS, slowdown_at
from probe_effect.site.charts import theme
from probe_effect.site.charts.svg import in_layouts
from probe_effect.site.charts.theme import INK, SERIES, Chart, Datum, Layout, Spec, TextForm, TracerLook

FURNITURE_HEIGHT = 90  # axis and legend
MIDDLE = 0.55  # the share of the axis up to which a value is written at the right of its rung


class LadderRung(NamedTuple):
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
    ends = [end for rung in rungs for end in (rung.cost.value, *(rung.span or ()))]
    # The interval of a clear cost may reach 0 for the next run, which no logarithmic axis has.
    powers = [math.log10(end) for end in ends if end is not None and end > 0]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    rows: list[Spec] = []
    for rung in rungs:
        _, least, greatest = rung.span or (None, None, None)
        ends_ns = interval_json(rung.cost, "time", "ns") | {
            "least_ns": None if least is None else max(least, 10.0**low),
            "greatest_ns": greatest,
        }
        rows.append({"rung": rung.words, "of": rung.group, "bound": rung.is_bound, **ends_ns})
    values = [row | {"text": rung.text} for row, rung in zip(rows, rungs, strict=True)]
    ticks = [10.0**power for power in range(low, high + 1)]

    def spec(layout: Layout) -> Spec:
        is_narrow = layout == "narrow"
        drawn = theme.layers(
            "ladder",
            layout,
            {},
            times=[ticks[0], ticks[-1]],
            ticks=ticks,
            rungs=[rung.words for rung in rungs],
            axis=None if is_narrow else {"labelLimit": 0, "ticks": False, "domain": False, "labelColor": INK},
            first=SERIES[0],
            second=SERIES[1],
            middle=10 ** (low + MIDDLE * (high - low)),
        )
        if not is_narrow:
            del drawn["words"]
        height = FURNITURE_HEIGHT + theme.sizes("ladder", layout)["row"] * len(rungs)
        return theme.frame(layout, height, {"data": {"values": values}, "layer": list(drawn.values())})

    table = TextForm(("Rung", "Of", "Time"), tuple((rung.words, rung.group, rung.text) for rung in rungs))
    return Chart(name, title, sentence, tuple(rows), in_layouts(spec, title, sentence), table=table, page="/ladder/")


# From 100/s, where nothing costs anything, to 10 M/s, which no probe reaches.
RATES = [mantissa * 10.0**exponent for exponent in range(2, 7) for mantissa in (1, 2, 5)] + [1e7]
LINE, MEASURED = "rate x cost", "measured"  # where a value is from
SLOWDOWNS = (1e-4, 10.0)
TEN_PERCENT = 0.1  # a decade without a label: it is too near to two thresholds
WORDS = {percent / 100: word for percent, word in THRESHOLDS.items()}  # thresholds, as ratios, to words beside them


class CostLine(NamedTuple):
    """One series: how it is called, its cost in ns per event, and the tracer that it shows, if any."""

    label: str
    cost: Estimate
    tracer: str | None = None


class MeasuredSlowdown(NamedTuple):
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
    seen = theme.looks({line.label: line.tracer for line in shown})
    drawn = [
        _value(MeasuredSlowdown(line.label, rate, slowdown_at(line.cost, rate)), LINE)
        for line in shown
        for rate in RATES
    ]
    measured = [_value(point, MEASURED) for point in points if point.label in seen]
    values = drawn + measured
    highest = max(float(value["slowdown_ratio"] or 0) for value in drawn if value["rate_hz"] == RATES[-1])
    top = 10.0 ** math.ceil(math.log10(max(highest, SLOWDOWNS[1])))
    decades = {10.0**power for power in range(-4, round(math.log10(top)) + 1)} - {TEN_PERCENT}

    labels = [(f"datum.value == {ratio:g} ? ['{ratio * 100:g} %", f"{word}'] : ") for ratio, word in WORDS.items()]
    spec = partial(
        theme.line_spec,
        "slowdown",
        seen,
        values,
        lines=drawn,
        beside="".join(" ".join(label) for label in labels),
        folded="".join("', '".join(label) for label in labels),
        without=() if measured else ("intervals", "dots"),
        line=LINE,
        measured=MEASURED,
        thresholds=[{"threshold_ratio": ratio} for ratio in WORDS],
        rates=[RATES[0], RATES[-1]],
        foot=SLOWDOWNS[0],
        head=top,
        ticks=sorted(decades | WORDS.keys()),
    )
    # Of what a reader sees at a point the table has the numbers.
    rows = tuple({name: value for name, value in row.items() if name not in {"rate", "slowdown"}} for row in values)
    # A row for each rate, of the line and of what was measured; a column for each series.
    by_rate: dict[tuple[Any, Any], dict[Any, Any]] = {}  # the texts of quantities, which a table writes in one unit
    for value in sorted(values, key=lambda row: (row["from"] != LINE, row["rate_hz"])):
        by_rate.setdefault((value["rate"], value["from"]), {})[value["series"]] = value["slowdown"]
    cells = ((*of, *(texts.get(label, "") for label in seen)) for of, texts in by_rate.items())
    table = TextForm(("Events", "From", *seen), tuple(cells))
    note, specs = theme.left_out(len(lines) - len(shown)), in_layouts(spec, title, sentence)
    return Chart(name, title, sentence, rows, specs, note, table, page)


def _value(point: MeasuredSlowdown, origin: str) -> Datum:
    return {
        "series": point.label,
        "from": origin,
        "rate_hz": point.rate_hz,
        **interval_json(point.slowdown, "slowdown", "ratio"),
        "rate": units.rate(point.rate_hz),
        "slowdown": units.interval(point.slowdown, units.SHARE),
    }


FOOT = 1e-4  # the least slowdown, as a ratio, that an axis can show; what is less, or none at all, is at its foot
# Slowdowns at which an axis may end; every third is a power of ten.
ROUND = tuple(float(f"{digit}e{power}") for power in range(-4, 7) for digit in (1, 2, 5))
HIDDEN = "unclear"  # the reader's choice, in the live chart, to see the pairs too that are not told


class PredictedPair(NamedTuple):
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
    rows = tuple(
        {
            "program": pair.label,
            "series": pair.series,
            "family": pair.family,
            **interval_json(pair.predicted, "predicted", "ratio"),
            **interval_json(pair.measured, "measured", "ratio"),
            "told": pair.is_told,
        }
        for pair in pairs
    )
    seen = theme.looks(dict.fromkeys(sorted({pair.family for pair in pairs})))
    specs = in_layouts(lambda layout: _pairs_spec(layout, rows, seen, near_ratio), title, sentence)
    cells = [
        (
            pair.label,
            pair.series,
            units.interval(pair.predicted, units.SHARE),
            units.interval(pair.measured, units.SHARE),
        )
        for pair in pairs
    ]
    table = TextForm(("Program", "Probe", "Predicted", "Measured"), tuple(cells))
    return Chart(name, title, sentence, rows, specs, table=table, page=page)


def _pairs_spec(layout: Layout, rows: Sequence[Datum], seen: dict[str, TracerLook], near_ratio: float) -> Spec:
    # Both axes end at 1, 2 or 5 times a power of ten around all values of the pairs that are told.
    told = [row for row in rows if row["told"]] or rows
    values = [max(float(row[f"{name}_ratio"] or 0), FOOT) for row in told for name in ("predicted", "measured")]
    least = max(end for end in ROUND if end <= min(values))
    most = min(end for end in ROUND if end > max(*values, least))
    own = theme.sizes("predicted", layout)
    legend = {"columns": own["legend"], "symbolStrokeWidth": 1, "symbolOpacity": 1, "columnPadding": 24}
    words = {
        "hidden": HIDDEN,
        "foot": FOOT,
        "least": least,
        "most": most,
        "every": [tick for tick in ROUND[::3] if FOOT <= tick <= most],
        "told": [tick for tick in ROUND[::3] if least <= tick <= most],
        "ends": [{"at": at, "low": at * (1 - near_ratio), "high": at * (1 + near_ratio)} for at in (FOOT, most)],
    }
    drawn = theme.layers("predicted", layout, theme.channels(seen, legend, field="family", sort=list(seen)), **words)
    hidden = sum(not row["told"] for row in rows)
    wish = {"input": "checkbox", "name": f"show the {hidden} without a clear slowdown too (hollow: beyond an axis)"}
    return theme.frame(
        layout,
        own["height"],
        {
            "params": [{"name": HIDDEN, "value": False, **({"bind": wish} if hidden else {})}],
            "data": {"values": list(rows)},
            **theme.read("predicted", layout, **words)["spec"],
            "layer": list(drawn.values()),
        },
    )
