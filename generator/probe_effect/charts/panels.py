"""Small multiples: a panel for each thing counted, with a line for each series over the same few places.

Each panel has a scale of its own, from 0 to the greatest value in it, because what is read is the shape of a line, and
costs differ a hundredfold. Panels are laid out here, in pixels, and not by Vega-Lite's facets, whose size follows from
labels: a still drawing and the live chart are to fill the same box.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from probe_effect import units
from probe_effect.charts import theme
from probe_effect.charts.series_look import TracerLook, channels, looks
from probe_effect.charts.svg import in_layouts
from probe_effect.charts.theme import WIDTHS, Chart, Layout, Spec, TextForm, frame, width_px
from probe_effect.model import Estimate, spread_json

COLUMNS: dict[Layout, int] = {"wide": 4, "narrow": 2, "card": 4}
CARD_PANELS = 8
"""Of a card, at most: more could not be read."""

HEIGHT, PLOT_HEIGHT = 152, 62
"""The heights of a panel and of the lines in it, in pixels; title and greatest value are above, the places below."""

GAP, MARGIN = 18, 16
"""Between panels, and between the edge of a panel and its outermost dots."""

TITLE_LINES, LINE_HEIGHT, LETTER_WIDTH = 2, 14, 6.1
BASE = TITLE_LINES * LINE_HEIGHT + LINE_HEIGHT + 11 + PLOT_HEIGHT
"""The distance from the top of a panel to its line of 0, in pixels."""

TEXT_SIZE: dict[Layout, int] = {"wide": 11, "narrow": 11, "card": 17}
DOT: dict[Layout, int] = {"wide": 40, "narrow": 36, "card": 90}
LEGEND_ROW, LEGEND_PX, APART = 20, 46, 3
"""The height of a row of the legend; what an entry has beside its name; and how far two series are apart, in pixels."""


@dataclass(frozen=True, slots=True)
class CountPoint:
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
    tracers = {one.series: one.tracer for one in reversed(points)}
    order = [one for one in series if one in tracers]
    seen = dict(zip(order, looks([tracers[one] for one in order]), strict=True))
    every = list(dict.fromkeys(one.panel for one in points))
    specs = in_layouts(lambda layout: _spec(layout, points, every, places, seen), title, sentence)
    columns = ("Row", "Series", "At", "Added instructions per event")
    table = tuple((one.panel, one.series, one.at, _written(one)) for one in points)
    return Chart(name, title, sentence, tuple(map(_row, points)), specs, note, TextForm(columns, table), page)


def _row(one: CountPoint) -> dict[str, str | float | None]:
    return {"label": one.panel, "series": one.series, "at": one.at, **spread_json(one.cost, "cost")}


def _written(one: CountPoint) -> str:
    return units.spread(one.cost, units.INSTRUCTIONS)


def _spec(
    layout: Layout,
    points: Sequence[CountPoint],
    panels: Sequence[str],
    places: Sequence[str],
    seen: dict[str, TracerLook],
) -> Spec:
    shown = panels[: CARD_PANELS if layout == "card" else None]
    columns = COLUMNS[layout]
    width = WIDTHS[layout] / columns - GAP
    rows = -(-len(shown) // columns)
    corners: Corners = {
        panel: ((place % columns) * (width + GAP), (place // columns) * HEIGHT) for place, panel in enumerate(shown)
    }
    greatest = {panel: max(one.cost.value for one in points if one.panel == panel) for panel in shown}
    step = (width - 2 * MARGIN) / max(len(places) - 1, 1)
    aside = {name: APART * (place - (len(seen) - 1) / 2) for place, name in enumerate(seen)}
    drawn = [
        {
            "label": one.panel,
            "series": one.series,
            "at": one.at,
            "cost": _written(one),
            "line": f"{one.panel} {one.series}",
            "x": corners[one.panel][0] + MARGIN + step * places.index(one.at) + aside[one.series],
            "y": corners[one.panel][1] + BASE - PLOT_HEIGHT * max(one.cost.value, 0) / greatest[one.panel],
        }
        for one in points
        if one.panel in corners
    ]
    used = {value["series"] for value in drawn}
    known = {name: one for name, one in seen.items() if name in used}
    across = max(1, int(WIDTHS[layout] / (LEGEND_PX + max(width_px(name, theme.TEXT_SIZE[layout]) for name in known))))
    x = {"type": "quantitative", "axis": None, "scale": {"domain": [0, WIDTHS[layout]], "nice": False, "zero": False}}
    y = {"type": "quantitative", "axis": None, "scale": {"domain": [rows * HEIGHT, 0], "nice": False, "zero": False}}
    zeros = [{"x": left, "x2": left + width, "y": top + BASE} for left, top in corners.values()]
    legend = {"columns": across, "symbolOpacity": 1, "symbolStrokeWidth": 1, "columnPadding": 16}
    line = channels({"field": "series", "type": "nominal", "legend": legend}, known)
    texts = _texts(layout, corners, greatest, places, step)
    sizes = {"text": TEXT_SIZE[layout], "dot": DOT[layout]}
    layers = theme.layers("panels", {"x": x, "y": y, **line}, **texts, **sizes, zeros=zeros)
    height = rows * HEIGHT + LEGEND_ROW * -(-len(known) // across) + 20
    return frame(layout, height, {"data": {"values": drawn}, "layer": list(layers.values())})


Corners = dict[str, tuple[float, float]]
"""Panel to its upper left corner, in pixels."""


def _texts(
    layout: Layout, corners: Corners, greatest: dict[str, float], places: Sequence[str], step: float
) -> dict[str, list[Spec]]:
    """Titles, greatest values (`tops`) and the names of places (`below`) of all panels."""
    letters = int((WIDTHS[layout] / COLUMNS[layout] - GAP) / (LETTER_WIDTH * TEXT_SIZE[layout] / 11))
    titles, tops, below = [], [], []
    for panel, (left, top) in corners.items():
        folded = textwrap.wrap(panel, letters, max_lines=TITLE_LINES, placeholder=" …") or [panel]
        first = TITLE_LINES - len(folded) + 1
        titles += [{"x": left, "y": top + LINE_HEIGHT * (first + row), "text": text} for row, text in enumerate(folded)]
        tops.append({"x": left, "y": top + BASE - PLOT_HEIGHT - 7, "text": units.count(greatest[panel])})
        below += [
            {"x": left + MARGIN + step * place, "y": top + BASE + LINE_HEIGHT, "text": text}
            for place, text in _apart(places, step, layout)
        ]
    return {"titles": titles, "tops": tops, "below": below}


def _apart(places: Sequence[str], step: float, layout: Layout) -> list[tuple[int, str]]:
    """The places whose names do not touch each other: the last one, and each before it for which there is room."""
    kept: list[tuple[int, str]] = []
    for place, text in reversed(list(enumerate(places))):
        widths = [width_px(name, TEXT_SIZE[layout]) for name in (text, kept[-1][1] if kept else "")]
        if not kept or step * (kept[-1][0] - place) >= sum(widths) / 2 + APART:
            kept.append((place, text))
    return kept[::-1]
