"""A badge for a machine: one line that its owner can show anywhere, and that leads to its page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from probe_effect.charts.theme import INK, NAME, PAPER
from probe_effect.diagrams.glyphs import SIZE, width_px

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    size = {"width": left + right, "height": HEIGHT}
    root = _part(None, "svg", xmlns="http://www.w3.org/2000/svg", role="img", **size)
    root.set("aria-label", f"{NAME}: {said}")
    _part(root, "title").text = f"{NAME}: {said}"
    _part(root, "rect", fill=PAPER, stroke=INK, x=0.5, y=0.5, width=left + right - 1, height=HEIGHT - 1, rx=3)
    _part(root, "path", fill=INK, d=f"M3 0H{left}V{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z")
    for text, x, wide, colour in ((NAME, PAD, left, PAPER), (said, left + PAD, right, INK)):
        look = {
            "font-family": FACE,
            "font-size": SIZE,
            "textLength": wide - 2 * PAD,
            "lengthAdjust": "spacingAndGlyphs",
        }
        _part(root, "text", fill=colour, x=x, y=BASELINE, **look).text = text
    return ET.tostring(root, encoding="unicode")


def _part(parent: ET.Element | None, tag: str, **attributes: object) -> ET.Element:
    values = {name: str(value) for name, value in attributes.items()}
    return ET.Element(tag, values) if parent is None else ET.SubElement(parent, tag, values)
