"""Values as dots with their ranges: one row per label, one colour and shape per series."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.charts.theme import AXIS, LAYOUTS, PAPER, Chart, Layout, Spec, TextForm, frame, headed
from probe_effect.charts.tracer_look import Look, looks

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, str | float | None]

ROW_HEIGHT, LINE_HEIGHT = 25, 14
CARD_LINE_HEIGHT = 23
LINES = "split(datum.label, '\\n')"

LABEL_WIDTH: dict[Layout, int] = {"wide": 52, "narrow": 24, "card": 36}
LEGEND_WIDTH: dict[Layout, int] = {"wide": 70, "narrow": 30, "card": 40}
"""Characters in a line of a label; longer labels go on in a further line, because a cut one names nothing."""

TICKS: dict[Layout, int] = {"wide": 6, "narrow": 3, "card": 5}
DOT: dict[Layout, int] = {"wide": 70, "narrow": 70, "card": 200}
"""Area of a dot in square pixels."""

CARD_ROWS = 8
"""Of a card, at most: more could not be read."""

FURNITURE_HEIGHT = 90
"""Axis, its title and the legend."""

LONG_LABEL = 36
"""Characters from which two legend entries do not fit side by side."""

FEW_DECADES, MANY_DECADES = 2e2, 2e4
"""Spans of a logarithmic axis, as ratios, up to which more than the powers of ten fit on it."""

WIDE_RANGE = 30
"""From this ratio of largest to smallest, a linear axis would hide the small ones."""


@dataclass(frozen=True, slots=True)
class Place:
    """One value: the row where it stands, its series, its range or None, and how the reader sees it written."""

    label: str
    series: str
    value: float
    low: float | None
    high: float | None
    text: str
    tracer: str | None = None
    """The tracer that the series is, which gives it its look; None where it is something else."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What the dots are of: the axis title, the columns of value, low and high end, and whether a row is joined.

    A joined row has a thin line from its least dot to its greatest, so that a change between series stands out.
    """

    title: str
    columns: tuple[str, str, str]
    is_joined: bool = False


def dot_chart(
    name: str,
    title: str,
    sentence: str,
    quantity: Quantity,
    places: Sequence[Place],
    *,
    series: Sequence[str],
    note: str | None = None,
    page: str = "",
) -> Chart:
    """The chart of `places`; rows in the order given, the axis from 0, or logarithmic where values differ widely.

    Args:
        series: their order; those without a value are left out. Series that are no tracers have colours and shapes
            by it.
        page: the address of the page that the chart belongs to.
    """
    rows = tuple(_row(place, quantity) for place in places)
    tracers = {place.series: place.tracer for place in reversed(places)}
    order = [one for one in dict.fromkeys(series) if one in tracers]
    seen = dict(zip(order, looks([tracers[one] for one in order]), strict=True))
    specs: dict[Layout, Spec] = {layout: _spec(layout, quantity, places, seen) for layout in LAYOUTS}
    specs["card"] = headed(_card(quantity, places, seen), title, sentence)
    return Chart(name, title, sentence, rows, specs, note, _text_form(quantity, places, order), page)


def _card(quantity: Quantity, places: Sequence[Place], seen: dict[str, Look]) -> Spec:
    """The first rows, with the looks that they have among all."""
    first = set(list(dict.fromkeys(place.label for place in places))[:CARD_ROWS])
    shown = [place for place in places if place.label in first]
    used = {place.series for place in shown}
    return _spec("card", quantity, shown, {name: one for name, one in seen.items() if name in used})


def _text_form(quantity: Quantity, places: Sequence[Place], order: Sequence[str]) -> TextForm:
    """A row for each dot; without the series where there is but one."""
    several = len(order) > 1
    head = ("Row", *(["Series"] if several else []), quantity.title[:1].upper() + quantity.title[1:])
    rows = ((place.label, *([place.series] if several else []), place.text) for place in places)
    return TextForm(head, tuple(rows))


def _row(place: Place, quantity: Quantity) -> Row:
    ends = zip(quantity.columns, (place.value, place.low, place.high), strict=True)
    return {"label": place.label, "series": place.series, **dict(ends)}


def _line_height(layout: Layout) -> int:
    return CARD_LINE_HEIGHT if layout == "card" else LINE_HEIGHT


def _folded(text: str, width: int) -> str:
    """`text` in lines of at most `width` characters, where its words allow."""
    return "\n".join(textwrap.wrap(text, width)) or text


def _height(label: str) -> int:
    """Pixels that a folded label takes, with the gap to the next."""
    return LINE_HEIGHT * (label.count("\n") + 1) + 6


def _scale(places: Sequence[Place]) -> Spec:
    values = [end for place in places for end in (place.value, place.low, place.high) if end is not None]
    if min(values) > 0 and max(values) / min(values) > WIDE_RANGE:
        return {"type": "log", "nice": False, "domain": [min(values) / 1.3, max(values) * 1.3]}
    return {"zero": True, "nice": True}


def _axis(scale: Spec, layout: Layout) -> Spec:
    """Few, round ticks: powers of ten, with 2 and 5 between them where there is room."""
    if scale.get("type") != "log":
        return {"format": ",.0f", "tickCount": TICKS[layout]}
    low, high = scale["domain"]
    few: tuple[int, ...] = (1, 3) if high / low < FEW_DECADES else (1,)
    steps = (1, 2, 5) if layout == "wide" and high / low < MANY_DECADES else few
    ticks = [step * 10.0**power for power in range(-1, 9) for step in steps]
    return {"format": ",~r", "values": [tick for tick in ticks if low <= tick <= high]}


def _spec(layout: Layout, quantity: Quantity, places: Sequence[Place], seen: dict[str, Look]) -> Spec:
    labels = {place.label: _folded(place.label, LABEL_WIDTH[layout]) for place in places}
    names = {name: _folded(name, LEGEND_WIDTH[layout]) for name in seen}
    values = [
        _row(place, quantity) | {"label": labels[place.label], "series": names[place.series], "cost": place.text}
        for place in places
    ]
    columns = 1 if layout == "narrow" or max(map(len, names.values())) > LONG_LABEL else 2
    scale = _scale(places)
    x = {"type": "quantitative", "scale": scale, "title": quantity.title, "axis": _axis(scale, layout)}
    y_axis = {"labelLimit": 0, "labelExpr": LINES, "labelLineHeight": _line_height(layout)}
    y = {"field": "label", "type": "nominal", "sort": list(labels.values()), "title": None, "axis": y_axis}
    folded = dict(zip(names.values(), seen.values(), strict=True))
    look = _coloured(folded, _legend(layout, columns))
    ranges, points = _dots(layout, quantity, {"x": x, "y": y}, look)
    layers = [_joins(quantity, x, y)] if quantity.is_joined and len(names) > 1 else []
    # Vega warns of a layer without a single range, as published costs are.
    layers += [ranges, points] if any(place.low is not None for place in places) else [points]
    legend_height = -(-sum(map(_height, names.values())) // columns)
    row_height = max(ROW_HEIGHT, max(map(_height, labels.values())) + 4)
    height = FURNITURE_HEIGHT + row_height * len(labels) + legend_height
    return frame(layout, height, {"data": {"values": values}, "layer": layers})


def _joins(quantity: Quantity, x: Spec, y: Spec) -> Spec:
    """From the least dot of each row to its greatest."""
    field = {"field": quantity.columns[0]}
    ends = {"x": x | field | {"aggregate": "min"}, "x2": field | {"aggregate": "max"}}
    return {"mark": {"type": "rule", "strokeWidth": 1.5, "color": AXIS, "aria": False}, "encoding": {**ends, "y": y}}


def _legend(layout: Layout, columns: int) -> Spec:
    size = 160 if layout == "card" else 100
    return {"columns": columns, "symbolStrokeWidth": 1, "symbolSize": size, "labelExpr": LINES}


def _coloured(seen: dict[str, Look], legend: Spec) -> Spec:
    """The channels by which series are told apart, with one legend for both."""
    by_series = {"field": "series", "type": "nominal", "legend": legend if len(seen) > 1 else None}
    domain = list(seen)
    return {
        "color": by_series | {"scale": {"domain": domain, "range": [one.colour for one in seen.values()]}},
        "shape": by_series | {"scale": {"domain": domain, "range": [one.shape for one in seen.values()]}},
    }


def _dots(layout: Layout, quantity: Quantity, axes: Spec, look: Spec) -> tuple[Spec, Spec]:
    """The layer of ranges, and that of dots."""
    value, low, high = quantity.columns
    x, y = axes["x"], axes["y"]
    ranges = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "transform": [{"filter": f"isValid(datum.{low})"}],
        "encoding": {"x": x | {"field": low}, "x2": {"field": high}, "y": y, "color": look["color"]},
    }
    tooltip = [{"field": name} for name in ("label", "series", "cost")]
    size = 0.8 * DOT[layout] if quantity.is_joined else DOT[layout]  # joined dots often touch
    points = {
        "mark": {"type": "point", "filled": True, "size": size, "opacity": 1, "stroke": PAPER, "strokeWidth": 1},
        "encoding": {"x": x | {"field": value}, "y": y, **look, "tooltip": tooltip},
    }
    return ranges, points
