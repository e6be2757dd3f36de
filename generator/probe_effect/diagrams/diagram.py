"""What a diagram says: steps in panels or rows of boxes, with costs that lead to where they are from.

One description makes the drawings, wide and narrow, and the text form beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probe_effect.diagrams.glyphs import Style


@dataclass(frozen=True, slots=True)
class Words:
    """A run of text in one style."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost as it is written, marked where nobody measured it, and the address of what it is from."""

    text: str
    href: str


Costs = Callable[[str, str], Cost | None]
"""The cost of a tracer and a case on the machine of the diagram; None where nothing tells."""


@dataclass(frozen=True, slots=True)
class Step:
    """What happens next, and on which side of its panel; `label`: what leads there from the step before."""

    side: int
    text: str
    label: str = ""
    is_probe: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One way in which something happens, as steps on two sides."""

    title: str
    sides: tuple[str, str]
    steps: tuple[Step, ...]
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One answer: when it holds, and what follows, box after box."""

    when: str
    cells: tuple[tuple[Words, ...], ...]
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rows below one heading; an empty one is not drawn."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """A question, with its answers in groups."""

    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A diagram by its name, with what it shows in a sentence: either panels or stages of rows."""

    name: str
    title: str
    sentence: str
    panels: tuple[Panel, ...] = ()
    stages: tuple[Stage, ...] = ()
