"""Sizes, type and colours of every chart.

Colours are sentinels: the site's style sheet maps each hex value to a variable for light and dark, so one SVG serves
both themes. The eight colours are hues whose lightness differs too, at least 3:1 on paper in either theme. A search
made them as different as possible in four kinds of sight (Machado, Oliveira and Fernandes, 2009). Shape or dash always
says the same beside them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Spec = dict[str, Any]
Datum = dict[str, str | float | bool | None]
"""The values of a mark, by field."""
Layout = Literal["wide", "narrow", "card"]

LAYOUTS: tuple[Layout, ...] = ("wide", "narrow")
"""The layouts in a page; the card is the picture that a link to it shows elsewhere."""

INK, MUTED, AXIS, GRID, PAPER = "#1a1a1a", "#5c5c5c", "#8a8a8a", "#e3e3e3", "#fffffe"
SERIES = ("#0c97c6", "#b17243", "#115431", "#3f3c70", "#9c8a0a", "#c94d73", "#4c61cc", "#554f0a")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [3, 6], [4, 2, 1, 2], [9, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""As many dashes and shapes as have no common divisor with the colours: a pair comes again only after all pairs."""

WIDTHS: dict[Layout, int] = {"wide": 760, "narrow": 350, "card": 1200}
CARD_HEIGHT = 630
"""1.91 to 1, as Open Graph has it."""
TEXT_SIZE: dict[Layout, int] = {"wide": 12, "narrow": 12, "card": 20}
PADDING: dict[Layout, int] = {"wide": 4, "narrow": 4, "card": 48}

STROKE: dict[Layout, float] = {"wide": 2.5, "narrow": 2.5, "card": 4}
LEGEND_WIDTH: dict[Layout, int] = {"wide": 330, "narrow": 270, "card": 500}
"""The widths of the lines of series, and of their names in a legend of two columns, in pixels."""

TITLE_SIZE, TITLE_CHARACTERS = 38, 56
SENTENCE_SIZE, SENTENCE_CHARACTERS = 23, 98
"""The text of a card, which is part of the picture: sizes, and characters that surely fit in a line."""

NAME, NAME_DROP = "Probe Effect", 62
"""The site's name, and its distance below a card's axis, in pixels: beside the title of the axis."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


@dataclass(frozen=True, slots=True)
class TextForm:
    """What a chart shows as a table of words, for readers who cannot see it or want the numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart ready to be drawn: its file name, what it says in words, its rows, and one spec per layout."""

    name: str
    title: str
    sentence: str
    rows: tuple[Datum, ...]
    specs: dict[Layout, Spec]
    note: str | None = None
    table: TextForm = TextForm((), ())
    page: str = ""
    """The address of the page that it belongs to; empty where that is not known."""


def config(layout: Layout = "wide") -> Spec:
    """The look shared by all charts."""
    size = TEXT_SIZE[layout]
    text = {"labelColor": MUTED, "titleColor": MUTED, "labelFontSize": size, "titleFontSize": size}
    return {
        "background": None,
        "font": "sans-serif",
        "view": {"stroke": None},
        "axis": text
        | {
            "titleFontWeight": "normal",
            "domainColor": AXIS,
            "tickColor": AXIS,
            "gridColor": GRID,
            "labelPadding": 6,
            "titlePadding": 10,
            "tickSize": 4,
        },
        "legend": text
        | {
            "labelColor": INK,
            "title": None,
            "orient": "top",
            "symbolStrokeWidth": 2.5,
            "labelLimit": 400,
            "columnPadding": 60,
        },
        "text": {"color": MUTED, "fontSize": size},
    }


def frame(layout: Layout, height: int, body: Spec) -> Spec:
    """`body` as a whole spec of exactly the layout's width, so that still and live chart fill the same box."""
    return {
        "$schema": SCHEMA,
        "width": WIDTHS[layout],
        "height": CARD_HEIGHT if layout == "card" else height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": PADDING[layout],
        "config": config(layout),
        **body,
    }


def curves(layout: Layout, x: Spec, y: Spec, colour: Spec, dash: Spec) -> Spec:
    """The layer of the lines of all series; choosing one in the legend makes the others faint."""
    faint = {"condition": {"param": "series_pick", "value": 1}, "value": 0.12}
    return {
        "mark": {"type": "line", "clip": True, "strokeWidth": STROKE[layout]},
        "params": [{"name": "series_pick", "select": {"type": "point", "fields": ["series"]}, "bind": "legend"}],
        "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash, "opacity": faint},
    }


def hover(x: Spec, y: Spec, tooltip: list[Spec]) -> Spec:
    """The layer of invisible points that show their numbers under the pointer; the still picture has none."""
    return {
        "mark": {"type": "point", "clip": True, "size": 160, "opacity": 0, "filled": True, "aria": False},
        "encoding": {"x": x, "y": y, "detail": {"field": "series"}, "tooltip": tooltip},
    }


def in_layouts(spec: Callable[[Layout], Spec], title: str, sentence: str) -> dict[Layout, Spec]:
    """The spec of each layout in a page, and of the card with its words."""
    return {layout: spec(layout) for layout in LAYOUTS} | {"card": _headed(spec("card"), title, sentence)}


def _headed(card: Spec, title: str, sentence: str) -> Spec:
    """`card` with its words in the picture, because it is shown without the page, and with the site's name."""
    place = {"x": {"expr": "width"}, "y": {"expr": f"height + {NAME_DROP}"}, "align": "right"}
    name = {"type": "text", "text": NAME, "fontSize": SENTENCE_SIZE, "fontWeight": "bold", "color": INK, **place}
    return card | {
        "layer": [*card["layer"], {"data": {"values": [{}]}, "mark": name}],
        "title": {
            "text": _lines(title, TITLE_CHARACTERS),
            "subtitle": [*_lines(sentence, SENTENCE_CHARACTERS), ""],
            "anchor": "start",
            "frame": "bounds",
            "align": "left",
            "fontSize": TITLE_SIZE,
            "color": INK,
            "subtitleFontSize": SENTENCE_SIZE,
            "subtitleColor": MUTED,
            "subtitleLineHeight": SENTENCE_SIZE + 7,
            "subtitlePadding": 12,
            "offset": 12,
        },
    }


def _lines(text: str, width: int) -> list[str]:
    """At most two lines of `text`; what does not fit is left out, and a sign says so."""
    return textwrap.wrap(text, width, max_lines=2, placeholder=" …") or [text[:width]]
