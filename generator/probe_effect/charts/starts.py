"""How long a tracer takes to start or to stop, by how many probes: a line for each series, on two log axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from probe_effect import units
from probe_effect.charts.theme import LAYOUTS, PAPER, SERIES, Chart, Layout, Spec, TextForm, frame, headed
from probe_effect.charts.tracer_look import Look, looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.model import Estimate

Row = dict[str, str | float | None]

HEIGHTS: dict[Layout, int] = {"wide": 430, "narrow": 400, "card": 0}
LEGEND_WIDTH: dict[Layout, int] = {"wide": 330, "narrow": 270, "card": 500}
STROKE: dict[Layout, float] = {"wide": 2.5, "narrow": 2.5, "card": 4}
DOT: dict[Layout, int] = {"wide": 70, "narrow": 70, "card": 200}

X = {
    "field": "probes",
    "type": "quantitative",
    "scale": {"type": "log", "nice": False},
    "axis": {"values": [10**n for n in range(7)], "labelExpr": "format(datum.value, ',')", "grid": False},
    "title": "probes that the script asks for",
}
Y_SCALE = {"type": "log"}
Y_AXIS = {"values": [10.0**n for n in range(-6, 4)], "labelExpr": "format(datum.value, '~s') + 's'"}
Verb = Literal["start", "stop"]

TEXTS = {"series": "tracer", "asked": "probes asked for", "attached": "probes attached", "time": "time"}
"""What a reader sees at a point: field to its name."""
WRITTEN = frozenset({"asked", "attached", "time"})
"""Fields that are words of numbers; the table has these."""


@dataclass(frozen=True, slots=True)
class Start:
    """How long one number's tracer took to start or stop, ns, with the probes asked for and those it says it has."""

    label: str
    """Its series."""
    tracer: str
    asked: int
    attached: int | None
    time: Estimate


def starts_chart(
    name: str, title: str, sentence: str, starts: Sequence[Start], *, verb: Verb = "start", page: str = ""
) -> Chart:
    """The chart of `starts`, of at most as many series as there are colours; a note says when there are more.

    Args:
        verb: what the times are of.
        page: the address of the page that the chart belongs to.
    """
    labels = list(dict.fromkeys(one.label for one in starts))
    shown = labels[: len(SERIES)]
    tracers = {one.label: one.tracer for one in reversed(starts)}
    values = [_value(one, verb) for one in starts if one.label in shown]
    rows = tuple({field: cell for field, cell in one.items() if field not in WRITTEN} for one in values)
    seen = dict(zip(shown, looks([tracers[label] for label in shown]), strict=True))
    specs: dict[Layout, Spec] = {layout: _spec(layout, values, seen, verb) for layout in LAYOUTS}
    specs["card"] = headed(_spec("card", values, seen, verb), title, sentence)
    left_out = len(labels) - len(shown)
    note = f"{left_out} more {'line is' if left_out == 1 else 'lines are'} not drawn; the table has them all."
    text = TextForm(
        ("Tracer", "Probes asked for", "Probes attached", verb.capitalize()),
        tuple(tuple(str(one[field]) for field in TEXTS) for one in (_value(start, verb) for start in starts)),
    )
    return Chart(name, title, sentence, rows, specs, note if left_out else None, text, page)


def _value(one: Start, verb: Verb) -> Row:
    low, high = (None if end is None else end / units.NS_PER_SECOND for end in (one.time.low, one.time.high))
    return {
        "series": one.label,
        "probes": one.asked,
        f"{verb}_s": one.time.value / units.NS_PER_SECOND,
        f"{verb}_low_s": low,
        f"{verb}_high_s": high,
        "asked": units.count(one.asked),
        "attached": units.MISSING if one.attached is None else units.count(one.attached),
        "time": units.interval(one.time, units.DURATION),
    }


def _spec(layout: Layout, values: Sequence[Row], seen: dict[str, Look], verb: Verb) -> Spec:
    labels = list(seen)
    series = {"field": "series", "type": "nominal", "sort": labels}
    legend = {"columns": 1 if layout == "narrow" else 2, "labelLimit": LEGEND_WIDTH[layout], "symbolOpacity": 1}

    def scaled(look: Sequence[object]) -> Spec:
        return series | {"scale": {"domain": labels, "range": list(look)}, "legend": legend}

    colour = scaled([one.colour for one in seen.values()])
    shape = scaled([one.shape for one in seen.values()])
    y = {"field": f"{verb}_s", "type": "quantitative", "scale": Y_SCALE, "axis": Y_AXIS, "title": f"time to {verb}"}
    ends = {"y": y | {"field": f"{verb}_low_s"}, "y2": {"field": f"{verb}_high_s"}}
    tooltip = [{"field": field, "title": title} for field, title in TEXTS.items()]
    line = {"type": "line", "strokeWidth": STROKE[layout], "aria": False}
    dot = {"type": "point", "filled": True, "size": DOT[layout], "opacity": 1, "stroke": PAPER, "strokeWidth": 1}
    layers = [
        {"mark": line, "encoding": {"x": X, "y": y, "color": colour}},
        {"mark": {"type": "rule", "strokeWidth": 2, "aria": False}, "encoding": {"x": X, **ends, "color": colour}},
        {"mark": dot, "encoding": {"x": X, "y": y, "color": colour, "shape": shape, "tooltip": tooltip}},
    ]
    return frame(layout, HEIGHTS[layout], {"data": {"values": list(values)}, "layer": layers})
