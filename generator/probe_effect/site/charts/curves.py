"""Lines: operations by the time that they take, a tracer's start by the number of its probes, and small multiples.

Small multiples: a panel for each thing counted, with a line for each series over the same few places.

Each panel has a scale of its own, from 0 to the greatest value in it, because what is read is the shape of a line, and
costs differ a hundredfold. Panels are laid out here, in pixels, and not by Vega-Lite's facets, whose size follows from
labels: a still drawing and the live chart are to fill the same box.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from probe_effect import units
from probe_effect.model import Estimate, interval_json, spread_json
from probe_effect.site.charts import theme
from probe_effect.site.charts.svg import in_layouts
from probe_effect.site.charts.theme import SERIES, WIDTHS, Chart, Datum, Layout, Spec, TextForm, TracerLook


class Curve(NamedTuple):
    """One series with its tracer, if any: its `points` are times in ns, ascending, and shares that took no less."""

    label: str
    points: Sequence[tuple[int, float]]
    tracer: str | None = None


def tail_chart(
    name: str, title: str, sentence: str, curves: Sequence[Curve], *, table: TextForm, page: str = ""
) -> Chart:
    shown = curves[: len(SERIES)]
    rows: tuple[Datum, ...] = tuple(
        {
            "series": curve.label,
            "time_ns": time_ns,
            "share_ratio": share,
            "time": units.duration(time_ns),
            "share": units.percent(share),
        }
        for curve in shown
        for time_ns, share in curve.points
        if time_ns > 0
    )
    seen = theme.looks({shown_curve.label: shown_curve.tracer for shown_curve in shown})
    times, shares = (_decades([float(row[field] or 0) for row in rows]) for field in ("time_ns", "share_ratio"))
    spec = partial(
        theme.line_spec,
        "tail",
        seen,
        rows,
        lines=rows,
        times=[times[0], times[-1]],
        time_ticks=times,
        shares=[shares[0], shares[-1]],
        share_ticks=shares,
    )
    note = "Further tracers are not drawn; the table has them all." if len(shown) < len(curves) else None
    return Chart(name, title, sentence, rows, in_layouts(spec, title, sentence), note, table, page)


def _decades(values: Sequence[float]) -> list[float]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


MARGIN = 1.3  # room beyond the least and the greatest, as a ratio


class TimePoint(NamedTuple):
    """A time, ns and above 0, of a series at a number; `words` are its row in the table, and say what a reader sees."""

    series: str
    tracer: str
    at: int
    time: Estimate
    words: tuple[str, ...]


class Axes(NamedTuple):
    """What is drawn: titles of both axes, the table's columns, and `quantity`, as the rows name the time (`start`)."""

    quantity: str
    number: str
    time: str
    columns: tuple[str, ...]


def times_chart(
    name: str, title: str, sentence: str, points: Sequence[TimePoint], axes: Axes, *, page: str = ""
) -> Chart:
    """The chart of `points`, of at most as many series as there are colours; a note says when there are more."""
    tracers = dict.fromkeys(point.series for point in points) | {
        point.series: point.tracer for point in reversed(points)
    }
    labels = list(tracers)[: len(SERIES)]
    seen = theme.looks({label: tracers[label] for label in labels})
    drawn = [point for point in points if point.series in seen]
    rows: list[Datum] = []
    for point in drawn:
        seconds = point.time.mapped(lambda ns: ns / units.NS_PER_SECOND)
        rows.append({"series": point.series, "number": point.at, **interval_json(seconds, axes.quantity, "s")})
    values = [row | dict(zip(axes.columns, point.words, strict=True)) for row, point in zip(rows, drawn, strict=True)]
    numbers = sorted({float(point.at) for point in drawn})
    times = [float(row[f"{axes.quantity}_s"] or 0) for row in rows]
    spec = partial(
        theme.line_spec,
        "times",
        seen,
        values,
        lines=sorted(values, key=lambda row: float(row["number"] or 0)),
        quantity=axes.quantity,
        number=axes.number,
        time=axes.time,
        numbers=[numbers[0] / MARGIN, numbers[-1] * MARGIN],
        ticks=numbers,
        foot=min(times) / MARGIN,
        head=max(times) * MARGIN,
        tooltip=[{"field": "series", "title": "series"}, *({"field": name} for name in axes.columns[1:])],
    )
    table = TextForm(axes.columns, tuple(point.words for point in points))
    note = theme.left_out(len(tracers) - len(labels))
    return Chart(name, title, sentence, tuple(rows), in_layouts(spec, title, sentence), note, table, page)


CARD_PANELS = 8  # of a card, at most: more could not be read
# The heights of a panel and of the lines in it, in pixels; title and greatest value are above, the places below.
HEIGHT, PLOT_HEIGHT = 152, 62
GAP, PANEL_MARGIN = 18, 16  # between panels, and between the edge of a panel and its outermost dots
TITLE_LINES, LINE_HEIGHT, LETTER_WIDTH = 2, 14, 6.1
BASE = TITLE_LINES * LINE_HEIGHT + LINE_HEIGHT + 11 + PLOT_HEIGHT  # from the top of a panel to its line of 0
# The height of a row of the legend; what an entry has beside its name; and how far two series are apart, in pixels.
LEGEND_ROW, LEGEND_PX, APART = 20, 46, 3


class CountPoint(NamedTuple):
    """One count: its panel, its series and its place on the axis; a series of a `tracer` has that tracer's look."""

    panel: str
    series: str
    at: str
    cost: Estimate
    tracer: str | None = None


def panels_chart(
    name: str,
    title: str,
    sentence: str,
    points: Sequence[CountPoint],
    *,
    places: Sequence[str],
    series: Sequence[str],
    note: str | None = None,
    page: str = "",
) -> Chart:
    """The chart of `points`, panels in their order; axes have `places` from left to right, the legend has `series`."""
    tracers = {point.series: point.tracer for point in reversed(points)}
    seen = theme.looks({label: tracers[label] for label in series if label in tracers})
    specs = in_layouts(lambda layout: _panels_spec(layout, points, places, seen), title, sentence)
    columns = ("Row", "Series", "At", "Added instructions per event")
    table = tuple(
        (point.panel, point.series, point.at, units.spread(point.cost, units.INSTRUCTIONS)) for point in points
    )
    rows = tuple(
        {"label": point.panel, "series": point.series, "at": point.at, **spread_json(point.cost, "cost")}
        for point in points
    )
    return Chart(name, title, sentence, rows, specs, note, TextForm(columns, table), page)


def _panels_spec(
    layout: Layout, points: Sequence[CountPoint], places: Sequence[str], seen: Mapping[str, TracerLook]
) -> Spec:
    panels = list(dict.fromkeys(point.panel for point in points))[: CARD_PANELS if layout == "card" else None]
    sizes = theme.sizes("panels", layout)
    columns = sizes["columns"]
    width = WIDTHS[layout] / columns - GAP
    rows = -(-len(panels) // columns)
    # The upper left corner of each panel.
    corners = {
        panel: ((index % columns) * (width + GAP), (index // columns) * HEIGHT) for index, panel in enumerate(panels)
    }
    greatest = {panel: max(point.cost.value for point in points if point.panel == panel) for panel in panels}
    step = (width - 2 * PANEL_MARGIN) / max(len(places) - 1, 1)
    named = [(PANEL_MARGIN + step * index, text) for index, text in _apart(places, step, sizes["text"])]
    letters = int(width / (LETTER_WIDTH * sizes["text"] / 11))
    aside = {name: APART * (index - (len(seen) - 1) / 2) for index, name in enumerate(seen)}
    drawn = [
        {
            "label": point.panel,
            "series": point.series,
            "at": point.at,
            "cost": units.spread(point.cost, units.INSTRUCTIONS),
            "line": f"{point.panel} {point.series}",
            "x": corners[point.panel][0] + PANEL_MARGIN + step * places.index(point.at) + aside[point.series],
            "y": corners[point.panel][1] + BASE - PLOT_HEIGHT * max(point.cost.value, 0) / greatest[point.panel],
        }
        for point in points
        if point.panel in corners
    ]
    used = {value["series"] for value in drawn}
    looks = {name: look for name, look in seen.items() if name in used}
    across = max(
        1, int(WIDTHS[layout] / (LEGEND_PX + max(theme.width_px(name, theme.TEXT_SIZE[layout]) for name in looks)))
    )
    legend = {"columns": across, "symbolOpacity": 1, "symbolStrokeWidth": 1, "columnPadding": 16}
    titles, tops, below = [], [], []
    for panel, (left, top) in corners.items():
        folded = textwrap.wrap(panel, letters, max_lines=TITLE_LINES, placeholder=" …") or [panel]
        first = TITLE_LINES - len(folded) + 1
        titles += [{"x": left, "y": top + LINE_HEIGHT * (first + row), "text": text} for row, text in enumerate(folded)]
        tops.append({"x": left, "y": top + BASE - PLOT_HEIGHT - 7, "text": units.count(greatest[panel])})
        below += [{"x": left + at, "y": top + BASE + LINE_HEIGHT, "text": text} for at, text in named]
    layers = theme.layers(
        "panels",
        layout,
        theme.channels(looks, legend),
        width=WIDTHS[layout],
        height=rows * HEIGHT,
        titles=titles,
        tops=tops,
        below=below,
        zeros=[{"x": left, "x2": left + width, "y": top + BASE} for left, top in corners.values()],
    )
    height = rows * HEIGHT + LEGEND_ROW * -(-len(looks) // across) + 20
    return theme.frame(layout, height, {"data": {"values": drawn}, "layer": list(layers.values())})


def _apart(places: Sequence[str], step: float, size: float) -> list[tuple[int, str]]:
    """The places whose names do not touch each other: the last one, and each before it for which there is room."""
    kept: list[tuple[int, str]] = []
    for index, text in reversed(list(enumerate(places))):
        widths = [theme.width_px(name, size) for name in (text, kept[-1][1] if kept else "")]
        if not kept or step * (kept[-1][0] - index) >= sum(widths) / 2 + APART:
            kept.append((index, text))
    return kept[::-1]
