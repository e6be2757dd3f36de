"""Values as dots with their ranges: one row per label, one colour and shape per series.

Each dot of a row has a lane of its own, so that none covers another. Few series have a legend; of many, each dot
has its name beside it. A dot that is alone in its row has its value there.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.site.charts import theme
from probe_effect.site.charts.svg import in_layouts
from probe_effect.site.charts.theme import Chart, Layout, Spec, TextForm, TracerLook, channels, folded, looks

ROW_GAP = 8
CARD_HEIGHT = 290  # what rows and legend of a card may take: more could not be read
FURNITURE_HEIGHT = 66  # the axis with its title, in pixels
LEGEND_LINE = 14  # the height of a line of the legend, in pixels
LONG_LABEL = 36  # characters from which two legend entries do not fit side by side
FEW_SERIES = 2  # more have their names beside the dots, if these are short
FEW_DECADES, MANY_DECADES = 2e2, 2e4  # spans of a logarithmic axis up to which more than the powers of ten fit on it
APART = {"labelOverlap": "greedy", "labelSeparation": 8}  # of ticks: no label touches the next
WIDE_RANGE = 30  # from this ratio of largest to smallest, a linear axis would hide the small ones
# Where a dot has its value as a reader sees it, and without its range; the table has the numbers.
TEXT, SHORT_TEXT = "cost", "value"


class Dot(NamedTuple):
    """One value: its row, its series, and what an event adds, with its range where it has one."""

    label: str
    series: str
    cost: Estimate
    tracer: str | None = None  # the one that the series is, which gives it its look; None where it is something else


class DotQuantity(NamedTuple):
    """The quantity that dots show: the title of its axis, its columns (value, low end, high end) and how it is written.

    `reference`: the value with which readers compare all others, drawn as a line over all rows.
    """

    title: str
    columns: tuple[str, str, str]
    written: Callable[[Estimate], str]
    reference: float | None = None


NANOSECONDS = DotQuantity(
    "added ns per event", ("cost_ns", "cost_low_ns", "cost_high_ns"), partial(units.interval, scale=units.DURATION)
)
INSTRUCTIONS = DotQuantity(
    "added instructions per event",
    ("cost_instructions", "cost_least_instructions", "cost_greatest_instructions"),
    partial(units.spread, scale=units.INSTRUCTIONS),
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
    written: list[Any] = units.in_one_unit([quantity.written(dot.cost) for dot in dots])
    rows = tuple(
        {"label": dot.label, "series": dot.series, **dict(zip(quantity.columns, dot.cost, strict=True))} for dot in dots
    )
    values: list[Spec] = [
        row | {TEXT: text, SHORT_TEXT: units.alone(text)} for row, text in zip(rows, written, strict=True)
    ]
    tracers = {dot.series: dot.tracer for dot in reversed(dots)}
    seen = looks({label: tracers[label] for label in (*series, *(dot.series for dot in dots)) if label in tracers})
    specs = in_layouts(lambda layout: _spec(layout, quantity, values, seen), title, sentence)
    # A table of one series does not name it.
    columns = {"label": "Row", "series": "Series", TEXT: quantity.title[:1].upper() + quantity.title[1:]}
    shown = [column for column in columns if column != "series" or len(seen) > 1]
    cells = tuple(tuple(value[column] for column in shown) for value in values)
    table = TextForm(tuple(columns[column] for column in shown), cells)
    return Chart(name, title, sentence, rows, specs, note, table, page)


cost_chart = partial(dot_chart, NANOSECONDS)  # costs as dots with their intervals, ns per event
instruction_chart = partial(dot_chart, INSTRUCTIONS)  # instructions per event as dots with the range of their runs


def _scale_and_axis(quantity: DotQuantity, values: Sequence[Spec], layout: Layout) -> tuple[Spec, Spec]:
    """The axis has few, round ticks: powers of ten, with 2 and 5 between them where there is room."""
    ends = [value[column] for value in values for column in quantity.columns if value[column] is not None]
    if min(ends) <= 0 or max(ends) / min(ends) <= WIDE_RANGE:
        form = ",~r" if quantity.reference is not None else ",.0f"
        axis = {**APART, "format": form, "tickCount": theme.sizes("dots", layout)["ticks"]}
        return {"nice": True, "domain": [min(*ends, 0), max(ends) * 1.05]}, axis
    low, high = min(ends) / 1.3, max(ends) * 1.3
    few: tuple[int, ...] = (1, 3) if high / low < FEW_DECADES else (1,)
    steps = (1, 2, 5) if layout == "wide" and high / low < MANY_DECADES else few
    ticks = [step * 10.0**power for power in range(-1, 9) for step in steps]
    axis = {**APART, "format": ",~r", "values": [tick for tick in ticks if low <= tick <= high]}
    return {"type": "log", "nice": False, "domain": [low, high]}, axis


def _spec(layout: Layout, quantity: DotQuantity, every: Sequence[Spec], seen: dict[str, TracerLook]) -> Spec:
    """The rows that the layout has room for, with the looks that their series have among all.

    A card has one dot a row: those of the series that most rows have.
    """
    is_alone = len(seen) == 1
    if layout == "card":
        ((series, _),) = Counter(value["series"] for value in every).most_common(1)
        seen, every = {series: seen[series]}, [value for value in every if value["series"] == series]
    sizes = theme.sizes("dots", layout)
    is_named = len(seen) > FEW_SERIES and max(map(len, seen)) <= sizes["short_name"]
    is_single = len({value["label"] for value in every}) == len(every)
    alone = SHORT_TEXT if layout == "narrow" else TEXT
    beside = "series" if is_named else alone if is_single else None
    scale, axis = _scale_and_axis(quantity, every, layout)
    names = {name: folded(name, sizes["legend"]) for name in seen}
    legend, legend_height = None, 0
    if not is_named and not is_alone:
        columns = 1 if layout == "narrow" or max(map(len, seen)) > LONG_LABEL else 2
        legend = {"columns": columns, "symbolStrokeWidth": 1, "symbolSize": sizes["symbol"]}
        legend["labelExpr"] = "split(datum.label, '\\n')"
        # Each name is as high as its lines, with a gap to the next.
        heights = (LEGEND_LINE * (text.count("\n") + 1) + 6 for text in names.values())
        legend_height = sum(heights) // columns
    rows = _rows(layout, quantity, every, scale, CARD_HEIGHT - 2 * legend_height)
    drawn = [value | {"series": names[value["series"]]} for row in rows for value in row.values]
    value, low, high = quantity.columns
    layers = theme.layers(
        "dots",
        layout,
        channels({names[name]: look for name, look in seen.items()}, legend),
        scale=scale,
        title=quantity.title,
        axis=axis,
        height=rows[-1].bottom,
        middles=[row.middle for row in rows],
        half_lane=sizes["lane"] / 2,
        value=value,
        low=low,
        high=high,
        edges=[{"at": row.bottom} for row in rows[:-1]],
        reference=quantity.reference,
        beside=beside,
    )
    shown = {
        "edges": not is_single,
        "reference": quantity.reference is not None,
        "ranges": any(value[low] is not None for value in drawn),
        "beside": beside is not None,
    }
    # The lines of each row's label, by its place on the axis.
    texts = {"name": "rows", "value": {str(row.middle): row.label.split("\n") for row in rows}}
    some = [layer for name, layer in layers.items() if shown.get(name, True)]
    body = {"params": [texts], "data": {"values": drawn}, "layer": some}
    return theme.frame(layout, FURNITURE_HEIGHT + rows[-1].bottom + legend_height, body)


class _Row(NamedTuple):
    """A folded label with its dots, each in its lane: places `at`, `middle`, `bottom` are pixels from the top."""

    label: str
    values: list[Spec]
    middle: int
    bottom: int


def _rows(layout: Layout, quantity: DotQuantity, every: Sequence[Spec], scale: Spec, card_px: int) -> list[_Row]:
    """The rows, one below the other, with a lane for each of their dots; a card has those that it has room for."""
    sizes, rows, top = theme.sizes("dots", layout), list[_Row](), 0
    line = sizes["lane"]
    for label in dict.fromkeys(value["label"] for value in every):
        text, own = folded(label, sizes["label"]), [value for value in every if value["label"] == label]
        height = max(len(own), text.count("\n") + 1) * line + ROW_GAP
        if layout == "card" and rows and top + height > card_px:
            break
        middle = top + height // 2
        first = middle - (len(own) - 1) * line / 2
        own.sort(key=lambda value: value[quantity.columns[0]])
        placed = [
            value | _beside(value, quantity, scale, sizes) | {"at": first + lane * line}
            for lane, value in enumerate(own)
        ]
        top += height
        rows.append(_Row(text, placed, middle, top))
    return rows


def _beside(value: Spec, quantity: DotQuantity, scale: Spec, sizes: Mapping[str, float]) -> Spec:
    """Where the words of a dot are: behind it and its range, or before them in the right part, with more room there."""
    ends = [value[column] for column in quantity.columns if value[column] is not None]
    on_axis = math.log if scale.get("type") == "log" else float
    low, high, begin, end = map(on_axis, (*scale["domain"], min(ends), max(ends)))
    apart = math.sqrt(sizes["dot"]) / 2 + 3
    if end - low < sizes["right_part"] * (high - low) or high - end >= begin - low:
        return {"side": "left", "said_at": max(ends), "apart": apart}
    return {"side": "right", "said_at": min(ends), "apart": -apart}
