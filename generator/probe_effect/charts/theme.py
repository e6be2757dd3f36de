"""Sizes, type and colours of every chart.

Colours are sentinels: the site's style sheet maps each hex value to a variable for light and dark, so one SVG serves
both themes. They are chosen to stay apart for colour-blind readers in this order (after Okabe and Ito, 2008, darkened
to 4.5:1 on white), and shape or dash always says the same beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Spec = dict[str, Any]
Layout = Literal["wide", "narrow"]

INK, MUTED, AXIS, GRID, PAPER = "#1a1a1a", "#5c5c5c", "#8a8a8a", "#e3e3e3", "#fffffe"
SERIES = ("#0b6e8f", "#b4501e", "#4b7a2a", "#7a4fa3", "#96702a", "#b03a5b", "#3d5a99", "#5e6b2e")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""As many dashes and shapes as have no common divisor with the colours: a pair comes again only after all pairs."""

WIDTHS: dict[Layout, int] = {"wide": 760, "narrow": 350}

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


T = TypeVar("T")


def cycled(values: Sequence[T], count: int) -> list[T]:
    """One of `values` for each of `count` series, from the start again when they run out."""
    return list(islice(cycle(values), count))


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart ready to be drawn: its file name, what it says in words, its rows, and one spec per layout."""

    name: str
    title: str
    sentence: str
    rows: tuple[dict[str, str | float | None], ...]
    specs: dict[Layout, Spec]
    note: str | None = None


def config() -> Spec:
    """The look shared by all charts."""
    text = {"labelColor": MUTED, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12}
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
        "text": {"color": MUTED, "fontSize": 12},
    }


def frame(layout: Layout, height: int, body: Spec) -> Spec:
    """`body` as a whole spec of exactly the layout's width, so that still and live chart fill the same box."""
    return {
        "$schema": SCHEMA,
        "width": WIDTHS[layout],
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": 4,
        "config": config(),
        **body,
    }
