"""A drawing as it is taken away: with its title and what it shows above, where it is from below, on white."""

import textwrap
from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree as ET

from probe_effect.charts.svg import element, svg
from probe_effect.charts.theme import CARD_HEIGHT, INK, LAYOUTS, MUTED, WIDTHS, Layout, Spec

FACE = "Arial, Helvetica, 'Liberation Sans', sans-serif"
"""What every system has, and as wide as the letters that a drawing is measured with."""

LEADING = 1.3
WHITE = "#fff"


class Inscription(NamedTuple):
    """The title of a drawing, what it shows, and where it is from."""

    title: str
    sentence: str
    source: str


class _Type(NamedTuple):
    """Sizes of title and sentence, and the margin, in pixels; `_characters` fit in a line, of `lines` at most."""

    title: int
    title_characters: int
    sentence: int
    sentence_characters: int
    margin: int
    lines: int


TYPES: dict[Layout, _Type] = {
    "wide": _Type(18, 66, 13, 98, 10, 4),
    "narrow": _Type(16, 34, 12, 48, 8, 9),
    "card": _Type(38, 56, 23, 98, 36, 2),
}


def in_layouts(spec: Callable[[Layout], Spec], title: str, sentence: str) -> dict[Layout, Spec]:
    """The spec of each layout in a page, and of the card, as high as its words leave it room."""
    around = _head_height(title, sentence, "card") + _foot_height("card")
    return {layout: spec(layout) for layout in LAYOUTS} | {"card": spec("card") | {"height": CARD_HEIGHT - around}}


def framed(drawing: str, words: Inscription | None, layout: Layout) -> str:
    """`drawing`, an SVG element of the layout's width, on white with its words around it, if any."""
    width, look = WIDTHS[layout], TYPES[layout]
    inner = ET.fromstring(drawing)  # noqa: S314 (drawn by us)
    inner.set("font-family", FACE)
    height, around = int(inner.get("height", 0)), list[ET.Element]()
    if words:
        top, y = _head_height(words.title, words.sentence, layout), float(look.margin)
        height += top + _foot_height(layout)
        inner.set("y", str(top))
        around.append(element("title", text=words.title))
        for text, size, attributes in _head(words.title, words.sentence, layout):
            y += size * LEADING
            around.append(element("text", text=text, x=look.margin, y=y, font_size=size, **attributes))
        foot = {"text": words.source, "font_size": f"{look.sentence}", "fill": MUTED}
        around.append(element("text", x=look.margin, y=height - look.margin, **foot))
    ground = element("rect", width=width, height=height, fill=WHITE)
    look_of_all = {"viewBox": f"0 0 {width} {height}", "font_family": FACE}
    return svg(element("svg", ground, *around, inner, width=width, height=height, **look_of_all))


def _head(title: str, sentence: str, layout: Layout) -> list[tuple[str, int, dict[str, str]]]:
    """The lines above a drawing with their sizes and looks."""
    look = TYPES[layout]
    head = [
        (line, look.title, {"fill": INK, "font_weight": "bold"}) for line in _lines(title, look.title_characters, look)
    ]
    return head + [(line, look.sentence, {"fill": MUTED}) for line in _lines(sentence, look.sentence_characters, look)]


def _lines(text: str, width: int, look: _Type) -> list[str]:
    """What does not fit is left out, and a sign says so."""
    return textwrap.wrap(text, width, max_lines=look.lines, placeholder=" …") or [text[:width]]


def _head_height(title: str, sentence: str, layout: Layout) -> int:
    return round(sum(size * LEADING for _, size, _ in _head(title, sentence, layout)) + 1.7 * TYPES[layout].margin)


def _foot_height(layout: Layout) -> int:
    return round(TYPES[layout].sentence + 1.5 * TYPES[layout].margin)
