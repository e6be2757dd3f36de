"""Panels of steps between two sides, beside each other where there is room, else one below the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.diagrams.diagram import Words
from probe_effect.diagrams.glyphs import LEADING
from probe_effect.diagrams.shapes import BASELINE, Arrow, Box, Drawing, Text, block, box, set_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.diagrams.diagram import Panel
    from probe_effect.diagrams.shapes import Kind

GAP = 24
"""Between panels, px."""
APART = 8
"""Between the two sides of a panel."""
DOWN = 20
"""Between a step and the next: room for an arrow."""
INSET = 6
"""Of a step in its side."""
KINDS: tuple[Kind, Kind] = ("lane", "shaded")
LABEL_RISE = 5
"""Of a label above its arrow."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a panel stands: its corner, where its sides begin below its title, and its width."""

    x: float
    top: float
    begin: float
    width: float

    @property
    def side(self) -> float:
        """The width of one of its two sides."""
        return (self.width - APART) / 2


def draw(panels: Sequence[Panel], width: float, columns: int) -> Drawing:
    """The panels in so many columns."""
    made = Drawing(width)
    each = (width - (columns - 1) * GAP) / columns
    for first in range(0, len(panels), columns):
        row = panels[first : first + columns]
        top = made.height + GAP if made.height else 0.0
        begin = top + max(len(_head(one, each)) for one in row) * LEADING + 8
        places = [Place(number * (each + GAP), top, begin, each) for number in range(len(row))]
        bottom = max(_panel(made, one, place) for one, place in zip(row, places, strict=True)) + INSET
        made.boxes[:0] = [side for one, place in zip(row, places, strict=True) for side in _sides(one, place, bottom)]
        made.height = bottom
    return made


def _head(panel: Panel, width: float) -> list[Words]:
    cost = [Words(f"{panel.cost.text} an event", "muted")] if panel.cost else []
    return block([Words(panel.title, "strong"), *cost], width)


def _sides(panel: Panel, place: Place, bottom: float) -> Iterator[Box]:
    """What lies below the steps; those of one row are equally long."""
    for x, name, kind in zip((place.x, place.x + place.side + APART), panel.sides, KINDS, strict=True):
        title = Text(x + INSET, place.begin + BASELINE + 3, name, "muted")
        yield Box(x, place.begin, place.side, bottom - place.begin, kind, (title,))


def _panel(made: Drawing, panel: Panel, place: Place) -> float:
    """Draw the title and the steps of a panel, and give where they end."""
    made.texts += set_lines(_head(panel, place.width), place.x, place.top)
    y, before = place.begin + LEADING + 12, None
    for step in panel.steps:
        x = place.x + INSET + step.side * (place.side + APART)
        kind: Kind = "probe" if step.is_probe else "step"
        now = made.add(box([Words(step.text)], (x, y), place.side - 2 * INSET, kind))
        if before is not None:
            _lead(made, before, now, step.label)
        before, y = now, now.bottom + DOWN
    return y - DOWN


def _lead(made: Drawing, before: Box, now: Box, label: str) -> None:
    """The arrow from a step to the next: straight down, or across to the other side and down."""
    centre = now.middle[0]
    if before.x == now.x:
        made.arrows.append(Arrow(((centre, before.bottom), (centre, now.y))))
        return
    edge = before.right if now.x > before.x else before.x
    y = before.middle[1]
    made.arrows.append(Arrow(((edge, y), (centre, y), (centre, now.y))))
    lines = block([Words(label, "muted")], now.width) if label else []
    rise = y - LABEL_RISE - (len(lines) - 1) * LEADING
    made.texts += [
        Text(centre, rise + number * LEADING, one.text, one.style, "middle") for number, one in enumerate(lines)
    ]
