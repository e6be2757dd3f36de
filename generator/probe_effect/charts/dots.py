"""Values as dots with their ranges: one row per label, one colour and shape per series."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from probe_effect import units
from probe_effect.charts.theme import AXIS, PAPER, Chart, Layout, Spec, TextForm, frame, in_layouts
from probe_effect.charts.tracer_look import TracerLook, looks, scale
from probe_effect.model import Estimate

ROW_HEIGHT, LINE_HEIGHT = 25, 14
LABEL_LINE_HEIGHT: dict[Layout, int] = {"wide": LINE_HEIGHT, "narrow": LINE_HEIGHT, "card": 23}
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

TEXT = "cost"
"""Where a dot has its value as a reader sees it; the table has the numbers."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One value: its row, its series, and what an event adds, with its range where it has one."""

    label: str
    series: str
    cost: Estimate
    tracer: str | None = None
    """The tracer that the series is, which gives it its look; None where it is something else."""


@dataclass(frozen=True, slots=True)
class DotQuantity:
    """The quantity that dots show: the title of its axis, its columns (value, low end, high end) and how it is written.

    `is_joined`: a row has a thin line from its least dot to its greatest, so that a change between series stands out.
    `reference`: the value with which readers compare all others, drawn as a line over all rows.
    """

    title: str
    columns: tuple[str, str, str]
    written: Callable[[Estimate], str]
    is_joined: bool = False
    reference: float | None = None


NANOSECONDS = DotQuantity(
    "added ns per event", ("cost_ns", "cost_low_ns", "cost_high_ns"), partial(units.interval, scale=units.DURATION)
)
INSTRUCTIONS = DotQuantity(
    "added instructions per event",
    ("cost_instructions", "cost_least_instructions", "cost_greatest_instructions"),
    partial(units.spread, scale=units.INSTRUCTIONS),
    is_joined=True,
)


def dot_chart(
    quantity: DotQuantity,
    name: str,
    title: str,
    sentence: str,
    dots: Sequence[Dot],
    *,
    series: Sequence[str] = (),
    note: str | None = None,
    page: str = "",
) -> Chart:
    """The chart of `dots`; rows in the order given, the axis from 0, or logarithmic where values differ widely.

    Args:
        series: their order, where it is not that of the dots; those without a value are left out. Series that are no
            tracers have colours and shapes by it.
    """
    values = [_value(dot, quantity) for dot in dots]
    rows = tuple({column: cell for column, cell in value.items() if column != TEXT} for value in values)
    tracers = {dot.series: dot.tracer for dot in reversed(dots)}
    order = [one for one in dict.fromkeys((*series, *(dot.series for dot in dots))) if one in tracers]
    seen = dict(zip(order, looks([tracers[one] for one in order]), strict=True))
    specs = in_layouts(lambda layout: _spec(layout, quantity, values, seen), title, sentence)
    return Chart(name, title, sentence, rows, specs, note, _text_form(quantity, values, order), page)


cost_chart = partial(dot_chart, NANOSECONDS)
"""Costs as dots with their intervals, ns per event."""

instruction_chart = partial(dot_chart, INSTRUCTIONS)
"""Instructions per event as dots with the range of their runs; a line joins what one row has in several series."""


def _value(dot: Dot, quantity: DotQuantity) -> Spec:
    """A dot as Vega takes it."""
    ends = dict(zip(quantity.columns, dot.cost, strict=True))
    return {"label": dot.label, "series": dot.series, **ends, TEXT: quantity.written(dot.cost)}


def _text_form(quantity: DotQuantity, values: Sequence[Spec], order: Sequence[str]) -> TextForm:
    """A row for each dot; without the series where there is but one."""
    columns = {"label": "Row", "series": "Series", TEXT: quantity.title[:1].upper() + quantity.title[1:]}
    if len(order) == 1:
        del columns["series"]
    return TextForm(tuple(columns.values()), tuple(tuple(value[column] for column in columns) for value in values))


def _folded(text: str, width: int) -> str:
    """`text` in lines of at most `width` characters, where its words allow."""
    return "\n".join(textwrap.wrap(text, width)) or text


def _height(label: str) -> int:
    """Pixels that a folded label takes, with the gap to the next."""
    return LINE_HEIGHT * (label.count("\n") + 1) + 6


def _scale(quantity: DotQuantity, values: Sequence[Spec]) -> Spec:
    ends = [value[column] for value in values for column in quantity.columns if value[column] is not None]
    if min(ends) > 0 and max(ends) / min(ends) > WIDE_RANGE:
        return {"type": "log", "nice": False, "domain": [min(ends) / 1.3, max(ends) * 1.3]}
    return {"zero": True, "nice": True}


def _axis(scale: Spec, layout: Layout, form: str = ",.0f") -> Spec:
    """Few, round ticks: powers of ten, with 2 and 5 between them where there is room."""
    if scale.get("type") != "log":
        return {"format": form, "tickCount": TICKS[layout]}
    low, high = scale["domain"]
    few: tuple[int, ...] = (1, 3) if high / low < FEW_DECADES else (1,)
    steps = (1, 2, 5) if layout == "wide" and high / low < MANY_DECADES else few
    ticks = [step * 10.0**power for power in range(-1, 9) for step in steps]
    return {"format": ",~r", "values": [tick for tick in ticks if low <= tick <= high]}


def _spec(layout: Layout, quantity: DotQuantity, every: Sequence[Spec], seen: dict[str, TracerLook]) -> Spec:
    """The rows that the layout has room for, with the looks that their series have among all."""
    rows = list(dict.fromkeys(value["label"] for value in every))[: CARD_ROWS if layout == "card" else None]
    values = [value for value in every if value["label"] in rows]
    used = {value["series"] for value in values}
    labels = {row: _folded(row, LABEL_WIDTH[layout]) for row in rows}
    names = {name: _folded(name, LEGEND_WIDTH[layout]) for name in seen if name in used}
    drawn = [value | {"label": labels[value["label"]], "series": names[value["series"]]} for value in values]
    columns = 1 if layout == "narrow" or max(map(len, names.values())) > LONG_LABEL else 2
    scale = _scale(quantity, values)
    axis = _axis(scale, layout, ",~r" if quantity.reference is not None else ",.0f")
    x = {"type": "quantitative", "scale": scale, "title": quantity.title, "axis": axis}
    y_axis = {"labelLimit": 0, "labelExpr": LINES, "labelLineHeight": LABEL_LINE_HEIGHT[layout]}
    y = {"field": "label", "type": "nominal", "sort": list(labels.values()), "title": None, "axis": y_axis}
    look = _coloured(layout, columns, {names[name]: one for name, one in seen.items() if name in used})
    ranges, points = _dots(layout, quantity, {"x": x, "y": y}, look)
    layers = [_joins(quantity, x, y)] if quantity.is_joined and len(names) > 1 else []
    layers += [_reference(quantity, x)] if quantity.reference is not None else []
    # Vega warns of a layer without a single range, as published costs are.
    layers += [ranges, points] if any(value[quantity.columns[1]] is not None for value in values) else [points]
    legend_height = -(-sum(map(_height, names.values())) // columns)
    row_height = max(ROW_HEIGHT, max(map(_height, labels.values())) + 4)
    height = FURNITURE_HEIGHT + row_height * len(labels) + legend_height
    return frame(layout, height, {"data": {"values": drawn}, "layer": layers})


def _joins(quantity: DotQuantity, x: Spec, y: Spec) -> Spec:
    """From the least dot of each row to its greatest."""
    field = {"field": quantity.columns[0]}
    ends = {"x": x | field | {"aggregate": "min"}, "x2": field | {"aggregate": "max"}}
    return {"mark": {"type": "rule", "strokeWidth": 1.5, "color": AXIS, "aria": False}, "encoding": {**ends, "y": y}}


def _reference(quantity: DotQuantity, x: Spec) -> Spec:
    """A line over all rows, at the value that they are seen against."""
    mark = {"type": "rule", "strokeWidth": 1.5, "color": AXIS, "aria": False}
    return {"data": {"values": [{"at": quantity.reference}]}, "mark": mark, "encoding": {"x": x | {"field": "at"}}}


def _coloured(layout: Layout, columns: int, seen: dict[str, TracerLook]) -> Spec:
    """The two channels that distinguish series, colour and shape, with one legend for both."""
    size = 160 if layout == "card" else 100
    legend = {"columns": columns, "symbolStrokeWidth": 1, "symbolSize": size, "labelExpr": LINES}
    by_series = {"field": "series", "type": "nominal", "legend": legend if len(seen) > 1 else None}
    return {"color": by_series | scale(seen, "colour"), "shape": by_series | scale(seen, "shape")}


def _dots(layout: Layout, quantity: DotQuantity, axes: Spec, look: Spec) -> tuple[Spec, Spec]:
    """The layer of ranges, and that of dots."""
    value, low, high = quantity.columns
    x, y = axes["x"], axes["y"]
    ranges = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "transform": [{"filter": f"isValid(datum.{low})"}],
        "encoding": {"x": x | {"field": low}, "x2": {"field": high}, "y": y, "color": look["color"]},
    }
    tooltip = [{"field": name} for name in ("label", "series", TEXT)]
    size = 0.8 * DOT[layout] if quantity.is_joined else DOT[layout]  # joined dots often touch
    points = {
        "mark": {"type": "point", "filled": True, "size": size, "opacity": 1, "stroke": PAPER, "strokeWidth": 1},
        "encoding": {"x": x | {"field": value}, "y": y, **look, "tooltip": tooltip},
    }
    return ranges, points
