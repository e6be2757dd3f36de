"""Costs as the rungs of a ladder: one logarithmic axis of time, words and values in the picture."""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from probe_effect.charts.svg import in_layouts
from probe_effect.charts.theme import AXIS, INK, PAPER, SERIES, Chart, Layout, Spec, TextForm, frame
from probe_effect.model import Estimate, interval_json

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
    specs = in_layouts(lambda layout: _spec(layout, rungs), title, sentence)
    table = TextForm(("Rung", "Of", "Time"), tuple((one.words, one.group, one.text) for one in rungs))
    return Chart(name, title, sentence, rows, specs, table=table, page="/ladder/")


def _row(one: LadderRung) -> Spec:
    words = {"rung": one.words, "of": one.group, "bound": one.is_bound}
    _, least, greatest = one.span or (None, None, None)
    return words | interval_json(one.cost, "time", "ns") | {"least_ns": least, "greatest_ns": greatest}


def _spec(layout: Layout, rungs: Sequence[LadderRung]) -> Spec:
    ends = [math.log10(end) for one in rungs for end in (one.cost.value, *(one.span or ()))]
    low, high = math.floor(min(ends)), math.ceil(max(ends))
    ticks = [10.0**power for power in range(low, high + 1)]
    scale = {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False}
    x = {"type": "quantitative", "scale": scale, "axis": {"values": ticks, "labelExpr": TICK, "title": None}}
    axis, is_narrow = {"labelLimit": 0, "ticks": False, "domain": False, "labelColor": INK}, layout == "narrow"
    y: Spec = {"field": "rung", "type": "nominal", "sort": [one.words for one in rungs], "title": None}
    y["axis"] = None if is_narrow else axis
    text = Template(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    middle = 10 ** (low + MIDDLE * (high - low))
    filled = text.substitute(AXIS=AXIS, INK=INK, PAPER=PAPER, FIRST=SERIES[0], SECOND=SERIES[1], MIDDLE=middle)
    layers = tomllib.loads(filled)["layers"][: None if is_narrow else -1]
    for layer in layers:
        layer["encoding"] |= {"y": y} | ({"x": x | layer["encoding"]["x"]} if "x" in layer["encoding"] else {})
    values = [_row(one) | {"text": one.text} for one in rungs]
    height = FURNITURE_HEIGHT + ROW_HEIGHT[layout] * len(rungs)
    return frame(layout, height, {"data": {"values": values}, "layer": layers})
