"""Slowdowns that were predicted against those that were measured: a dot for each, with both intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts.series_look import TracerLook, channels, looks
from probe_effect.charts.svg import in_layouts
from probe_effect.charts.theme import Chart, Datum, Layout, Spec, TextForm, channel, frame, layers
from probe_effect.model import Estimate, interval_json

FOOT = 1e-4
"""The least slowdown, as a ratio, that an axis can show; what is less, or none at all, is at its foot."""

ROUND = tuple(float(f"{digit}e{power}") for power in range(-4, 7) for digit in (1, 2, 5))
"""Slowdowns at which an axis may end; every third is a power of ten."""

HIDDEN = "unclear"
"""The reader's choice, in the live chart, to see the pairs too whose slowdown is not distinguishable from 0."""

HEIGHTS: dict[Layout, int] = {"wide": 520, "narrow": 430, "card": 0}
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
    rows = tuple(map(_row, pairs))
    families = sorted({one.family for one in pairs})
    seen = dict(zip(families, looks([None] * len(families)), strict=True))
    specs = in_layouts(lambda layout: _spec(layout, rows, seen, near_ratio), title, sentence)
    head = ("Program", "Probe", "Predicted", "Measured")
    words = [[units.interval(each, units.SHARE) for each in (one.predicted, one.measured)] for one in pairs]
    text = TextForm(head, tuple((one.label, one.series, *both) for one, both in zip(pairs, words, strict=True)))
    return Chart(name, title, sentence, rows, specs, table=text, page=page)


def _row(one: PredictedPair) -> Datum:
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


def _spec(layout: Layout, rows: Sequence[Datum], seen: dict[str, TracerLook], near_ratio: float) -> Spec:
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
        HEIGHTS[layout],
        {
            "params": [{"name": HIDDEN, "value": False, **({"bind": wish} if hidden else {})}],
            "data": {"values": list(rows)},
            "transform": [_said("predicted"), _said("measured"), beyond, *inside],
            "layer": list(found.values()),
        },
    )
