"""Drawings to SVG without style or script.

Colours are those of the charts, which the style sheet maps to both themes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from probe_effect.charts.theme import AXIS, GRID, INK, MUTED, PAPER, SERIES
from probe_effect.diagrams.glyphs import CODE_SIZE, SIZE

if TYPE_CHECKING:
    from probe_effect.diagrams.shapes import Arrow, Drawing, Point

LOOKS = {
    "step": {"fill": PAPER, "stroke": AXIS},
    "probe": {"fill": PAPER, "stroke": SERIES[0], "stroke-width": "2"},
    "heading": {"fill": GRID},
    "plain": {"stroke": GRID},
    "lane": {"stroke": GRID},
    "shaded": {"fill": GRID},
}
STYLES = {
    "plain": {"fill": INK},
    "strong": {"fill": INK, "font-weight": "600"},
    "muted": {"fill": MUTED},
    "code": {"fill": INK, "font-family": "monospace", "font-size": str(CODE_SIZE)},
}

HEAD = 5
"""Length of an arrow's head, px."""


@cache
def _environment() -> Environment:
    made = Environment(loader=PackageLoader("probe_effect.diagrams"), autoescape=True, undefined=StrictUndefined)
    made.filters |= {"px": _px, "path": _path}
    return made


def svg(drawing: Drawing) -> str:
    """The drawing as one SVG element, with nothing in it that a content policy would forbid."""
    boxed = [line for one in drawing.boxes for line in one.lines]
    return (
        _environment()
        .get_template("drawing.svg.j2")
        .render(
            drawing=drawing,
            texts=[*boxed, *drawing.texts],
            width=math.ceil(drawing.width),
            height=math.ceil(drawing.height) + 1,
            looks=LOOKS,
            styles=STYLES,
            ink=MUTED,
            size=SIZE,
        )
    )


def _px(value: float) -> str:
    return f"{round(value, 1):g}"


def _path(arrow: Arrow) -> str:
    points = [f"{_px(x)} {_px(y)}" for x, y in arrow.points]
    head = _head(arrow.points[-2], arrow.points[-1]) if arrow.has_head else ""
    return f"M{'L'.join(points)}{head}"


def _head(before: Point, tip: Point) -> str:
    """Two short strokes at the tip; lines of a diagram are level or upright."""
    (x, y), (dx, dy) = tip, (tip[0] - before[0], tip[1] - before[1])
    if abs(dx) > abs(dy):
        back = x - math.copysign(HEAD, dx)
        return f"M{_px(back)} {_px(y - HEAD * 0.7)}L{_px(x)} {_px(y)}L{_px(back)} {_px(y + HEAD * 0.7)}"
    back = y - math.copysign(HEAD, dy)
    return f"M{_px(x - HEAD * 0.7)} {_px(back)}L{_px(x)} {_px(y)}L{_px(x + HEAD * 0.7)} {_px(back)}"
