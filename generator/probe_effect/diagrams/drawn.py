"""Every diagram by its name, and its drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from probe_effect.charts.theme import WIDTHS
from probe_effect.diagrams import breakpoint as at_breakpoint
from probe_effect.diagrams import panels

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Diagram
    from probe_effect.diagrams.shapes import Drawing

Layout = Literal["wide", "narrow"]
LAYOUTS: tuple[Layout, ...] = ("wide", "narrow")

MAKERS = (at_breakpoint.diagram,)
"""From costs to each diagram."""


def drawing(one: Diagram, layout: Layout) -> Drawing:
    """The diagram as wide as a chart of that layout."""
    width, is_wide = WIDTHS[layout], layout == "wide"
    return panels.draw(one.panels, width, columns=len(one.panels) if is_wide else 1)
