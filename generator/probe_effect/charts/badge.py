"""A badge for a machine: one line that its owner can show anywhere, and that leads to its page."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from probe_effect.charts.svg import element, svg
from probe_effect.charts.theme import INK, NAME, PAPER
from probe_effect.toml import beside

SIZE, HEIGHT, PAD, BASELINE = 13, 24, 8, 16.5
"""px."""

EM_THOUSANDTHS: list[int] = beside(__file__)["em_thousandths"]

WIDEST, SPARE = 900, 1.02
"""The width of any other character; and how much wider than the typeface a stand-in for it may be."""

MOST = 2
"""Costs that it has room for."""

MEASURED = "measured"
"""What it says of a machine without a cost that is distinguishable from 0."""

FACE = "'Source Serif 4', Georgia, serif"


def badge(costs: Sequence[tuple[str, str]]) -> str:
    """The costs of an event by kind of probe: SVG without style or script, whose own text says all that is seen."""
    said = " · ".join(f"{probe} {cost}" for probe, cost in costs[:MOST]) or MEASURED
    left, right = (math.ceil(_width_px(text)) + 2 * PAD for text in (NAME, said))
    return svg(
        element(
            "svg",
            element("title", text=f"{NAME}: {said}"),
            element("rect", fill=PAPER, stroke=INK, x=0.5, y=0.5, width=left + right - 1, height=HEIGHT - 1, rx=3),
            element("path", fill=INK, d=f"M3 0H{left}V{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z"),
            _text(NAME, PAD, left, PAPER),
            _text(said, left + PAD, right, INK),
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            aria_label=f"{NAME}: {said}",
            width=left + right,
            height=HEIGHT,
        )
    )


def _text(text: str, x: float, wide: float, colour: str) -> ET.Element:
    return element(
        "text",
        text=text,
        fill=colour,
        x=x,
        y=BASELINE,
        font_family=FACE,
        font_size=SIZE,
        textLength=wide - 2 * PAD,
        lengthAdjust="spacingAndGlyphs",
    )


def _width_px(text: str) -> float:
    """How wide a line of text is, and never less than a browser makes it."""
    places = (ord(one) - ord(" ") for one in text.replace("\u00a0", " ").replace("\u202f", " "))
    em = sum(EM_THOUSANDTHS[place] if place < len(EM_THOUSANDTHS) else WIDEST for place in places)
    return em / 1000 * SIZE * SPARE
