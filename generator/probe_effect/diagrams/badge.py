"""A badge for a machine: one line that its owner can show anywhere, and that leads to its page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probe_effect.charts.svg import element, svg
from probe_effect.charts.theme import INK, NAME, PAPER
from probe_effect.diagrams.glyphs import SIZE, width_px

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree import ElementTree as ET

HEIGHT, PAD, BASELINE = 24, 8, 16.5
"""px."""

MOST = 2
"""Costs that it has room for."""

MEASURED = "measured"
"""What it says of a machine none of whose costs are told apart from 0."""

FACE = "'Source Serif 4', Georgia, serif"


def badge(costs: Sequence[tuple[str, str]]) -> str:
    """The badge as SVG without style or script, whose own text says all that is seen.

    Args:
        costs: kinds of probes in a few words, and what an event of each costs.
    """
    said = " · ".join(f"{probe} {cost}" for probe, cost in costs[:MOST]) or MEASURED
    left, right = (math.ceil(width_px(text, "plain")) + 2 * PAD for text in (NAME, said))
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
