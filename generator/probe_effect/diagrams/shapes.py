"""Boxes, arrows and lines of text: what a drawing is made of, in px."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from probe_effect.diagrams.diagram import Words
from probe_effect.diagrams.glyphs import LEADING, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.diagrams.glyphs import Style

PADDING = 7
"""Between a box and its text, px."""

BASELINE = 12
"""From the top of a line of text to its baseline, px."""

Kind = Literal["step", "probe", "heading", "plain", "lane", "shaded"]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text that ends, begins or is centred at `x`; `y` is its baseline."""

    x: float
    y: float
    text: str
    style: Style = "plain"
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, slots=True)
class Box:
    """A box with its lines of text."""

    x: float
    y: float
    width: float
    height: float
    kind: Kind
    lines: tuple[Text, ...] = ()

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line from point to point, with a head at its end."""

    points: tuple[Point, ...]
    has_head: bool = True


@dataclass(slots=True)
class Drawing:
    """All that is drawn, in the order of its layers: boxes, then arrows, then lines of text that stand alone."""

    width: float
    height: float = 0.0
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def add(self, box: Box) -> Box:
        """`box`, as a part of the drawing, which becomes as high as it needs."""
        self.boxes.append(box)
        self.height = max(self.height, box.bottom)
        return box


def block(said: Iterable[Words], width: float) -> list[Words]:
    """`said` in lines of at most `width` px."""
    return [Words(line, one.style) for one in said for line in wrapped(one.text, one.style, width)]


def height_of(said: Iterable[Words], width: float) -> float:
    """How high a box of `width` must be for its text, px."""
    return len(block(said, width - 2 * PADDING)) * LEADING + 2 * PADDING - 2


def box(said: Iterable[Words], at: Point, width: float, kind: Kind = "step", least: float = 0.0) -> Box:
    """A box around `said` with its corner `at`, at least so high, its text in the middle of its height."""
    (x, y), lines = at, block(said, width - 2 * PADDING)
    height = max(least, len(lines) * LEADING + 2 * PADDING - 2)
    top = y + (height - len(lines) * LEADING) / 2
    return Box(x, y, width, height, kind, tuple(set_lines(lines, x + PADDING, top)))


def set_lines(lines: Iterable[Words], x: float, top: float) -> list[Text]:
    """Lines one below the other, from the left."""
    return [Text(x, top + BASELINE + place * LEADING, one.text, one.style) for place, one in enumerate(lines)]
