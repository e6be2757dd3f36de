"""The calculator's chart as its page is sent; `calculator-chart.js` draws the same when a reader asks something else.

Slowdown by rate, both on logarithmic scales, so that a cost is a straight line, with its interval as a band; the
thresholds, and the point that was asked about.
"""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

from probe_effect import units
from probe_effect.charts.svg import element, svg, written
from probe_effect.model import Estimate
from probe_effect.reduce.thresholds import THRESHOLDS

LEFT, TOP, RIGHT, BOTTOM = 46, 10, 314, 222
SLOWDOWNS = (-4, 1)
"""Powers of ten: 0.01 % to 1000 %."""
RATES = (1, 7)
"""Powers of ten: 10/s to 10 M/s."""


def calculator_chart(slowdown: Estimate, rate_hz: float, label: str) -> str:
    """The drawing as SVG, with a point at a rate within `RATES`, where a thread slows by that ratio."""
    inside = element(
        "svg",
        *_cost(slowdown, rate_hz),
        x=LEFT,
        y=TOP,
        width=RIGHT - LEFT,
        height=BOTTOM - TOP,
        viewBox=f"{LEFT} {TOP} {RIGHT - LEFT} {BOTTOM - TOP}",
    )
    parts = [*_grid(), *_thresholds(), inside, *_point(slowdown.value, rate_hz)]
    look = {"class_": "calculator-chart", "role": "img", "aria_label": label, "viewBox": "0 0 340 260"}
    return svg(element("svg", *parts, **look))


def _text(x: float, y: float, words: str, **attributes: str | float) -> ET.Element:
    return element("text", text=words, x=x, y=y, **attributes)


def _line(name: str, x1: float, y1: float, x2: float, y2: float) -> ET.Element:
    return element("line", class_=name, x1=x1, y1=y1, x2=x2, y2=y2)


def _x(power: float) -> float:
    return LEFT + (power - RATES[0]) / (RATES[1] - RATES[0]) * (RIGHT - LEFT)


def _y(power: float) -> float:
    return BOTTOM + (power - SLOWDOWNS[0]) / (SLOWDOWNS[1] - SLOWDOWNS[0]) * (TOP - BOTTOM)


def _grid() -> list[ET.Element]:
    slowdowns = [
        part
        for at in range(SLOWDOWNS[0], SLOWDOWNS[1] + 1)
        for part in (
            _line("grid", LEFT, _y(at), RIGHT, _y(at)),
            _text(LEFT - 6, _y(at) + 4, f"{10.0 ** (at + 2):g}{units.GAP}%", text_anchor="end"),
        )
    ]
    rates = [
        _text(_x(at), BOTTOM + 17, units.stated(10.0**at, units.RATE), text_anchor="middle")
        for at in range(RATES[0], RATES[1] + 1, 2)
    ]
    axis = _line("axis", LEFT, BOTTOM, RIGHT, BOTTOM)
    return [*slowdowns, *rates, axis, _text(RIGHT, BOTTOM + 33, "events per second", text_anchor="end")]


def _thresholds() -> list[ET.Element]:
    found = []
    for percent, name in THRESHOLDS.items():
        at = _y(math.log10(percent / 100))
        found.append(_line("threshold", LEFT, at, RIGHT, at))
        found.append(_text(LEFT + 5, at - 4, f"{percent}{units.GAP}% {name}", class_="limit"))
    return found


def _ends(ratio: float, rate_hz: float) -> list[str]:
    """The points of a slowdown at both ends of the range of rates; one below 0 is on the floor."""
    powers = [(at, at + math.log10(ratio / rate_hz) if ratio > 0 else SLOWDOWNS[0] - 9) for at in RATES]
    return [f"{written(_x(at))},{written(_y(power))}" for at, power in powers]


def _cost(slowdown: Estimate, rate_hz: float) -> list[ET.Element]:
    line = element("polyline", class_="cost", points=" ".join(_ends(slowdown.value, rate_hz)))
    if slowdown.low is None or slowdown.high is None:
        return [line]
    around = [*_ends(slowdown.low, rate_hz), *reversed(_ends(slowdown.high, rate_hz))]
    return [element("polygon", class_="band", points=" ".join(around)), line]


def _point(ratio: float, rate_hz: float) -> list[ET.Element]:
    cx = _x(math.log10(rate_hz))
    cy = _y(min(SLOWDOWNS[1], max(SLOWDOWNS[0], math.log10(ratio))))
    # Never on the line, which rises to the right.
    dx, dy, anchor = (-9, -8, "end") if cx > (LEFT + RIGHT) / 2 else (9, 16, "start")
    y = min(max(cy + dy, TOP + 12), BOTTOM - 6)
    return [
        _line("drop", cx, cy, cx, BOTTOM),
        element("circle", class_="point", cx=cx, cy=cy, r=5),
        _text(cx + dx, y, units.quantity(ratio, units.SHARE), class_="label", text_anchor=anchor),
    ]
