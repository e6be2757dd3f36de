"""Sizes, type and colours of every chart.

Colours are sentinels: the site's style sheet maps each hex value to a variable for light and dark, so one SVG serves
both themes. The eight colours are hues whose lightness differs too, at least 3:1 on paper in either theme. A search
made them as different as possible in four kinds of sight (Machado, Oliveira and Fernandes, 2009). Shape or dash always
says the same beside them.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any, Literal

from probe_effect import units
from probe_effect.toml import beside

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
"""The width of the lines of series, in pixels."""

LETTER_WIDTH = 0.55
"""The mean width of a letter, as a ratio to its size."""

NAME, LICENCE = "Probe Effect", "CC BY 4.0"

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
    edition: str = ""
    """The one submission that it is of, which never changes; empty where it changes with the data."""


def source(version: str, edition: str = "") -> str:
    """The line that says where a picture is from, with its edition or else the version of the data, if there is one."""
    return ", ".join(filter(None, (NAME, edition or (version and f"data version {version}"), LICENCE)))


def left_out(number: int) -> str | None:
    """The note that so many lines have no room; None where all are drawn."""
    lines = "line is" if number == 1 else "lines are"
    return f"{number} more {lines} not drawn; the table has them all." if number else None


WORDS = {"AXIS": AXIS, "GRID": GRID, "INK": INK, "MUTED": MUTED, "PAPER": PAPER, "group": units.GROUP, "none": None}
"""The words that every file of specs may have, `$AXIS` and so on."""


@cache
def _read(name: str) -> Any:  # noqa: ANN401 (of TOML)
    return beside(__file__, name)


def _filled(part: Any, words: Mapping[str, object]) -> Any:  # noqa: ANN401 (whatever a spec nests)
    """A part of a file with the value of each `$word`; where that is the whole text, whatever type the value has."""
    if isinstance(part, dict):
        return {key: _filled(one, words) for key, one in part.items()}
    if isinstance(part, list):
        return [_filled(one, words) for one in part]
    if not isinstance(part, str) or "$" not in part:
        return part
    return words[part[1:]] if part[1:] in words else Template(part).substitute(words)


def layers(name: str, channels: Mapping[str, Spec], **words: object) -> dict[str, Spec]:
    """The layers of a file by their names, with `words`; what they encode also has what `channels` say of it."""
    found: dict[str, Spec] = _filled(_read(name), WORDS | words)
    for layer in found.values():
        own = layer["encoding"]
        layer["encoding"] = own | {one: channels[one] | own[one] for one in own if one in channels}
    return found


def config(layout: Layout = "wide") -> Spec:
    """The look shared by all charts."""
    found: Spec = _filled(_read("config"), WORDS | {"size": TEXT_SIZE[layout]})
    return found


def folded(text: str, width: int) -> str:
    """`text` in lines of at most `width` characters, where its words allow."""
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) or text


def width_px(text: str, size: float) -> float:
    """About how wide the longest line of `text` is."""
    return LETTER_WIDTH * size * max(map(len, text.split("\n")))


def frame(layout: Layout, height: int, body: Spec) -> Spec:
    """`body` as a whole spec of exactly the layout's width, so that still and live chart fill the same box."""
    sides = dict.fromkeys(("left", "right"), PADDING[layout])
    return {
        "$schema": SCHEMA,
        "width": WIDTHS[layout],
        "height": CARD_HEIGHT if layout == "card" else height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"top": PADDING["wide"], "bottom": PADDING["wide"], **sides},
        "config": config(layout),
        **body,
    }


def channel(field: str, title: str, scale: Spec, axis: Spec) -> Spec:
    """A quantity along an axis of Vega-Lite."""
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": title}
