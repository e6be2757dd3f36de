"""Every diagram by its name, and its drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from probe_effect.charts.theme import WIDTHS
from probe_effect.diagrams import breakpoint as at_breakpoint
from probe_effect.diagrams import decision, panels, return_probe, rows, trampoline, where_time_goes
from probe_effect.diagrams.rows import Columns

if TYPE_CHECKING:
    from probe_effect.diagrams.diagram import Diagram
    from probe_effect.diagrams.shapes import Drawing

Layout = Literal["wide", "narrow"]
LAYOUTS: tuple[Layout, ...] = ("wide", "narrow")

MAKERS = (
    decision.diagram,
    at_breakpoint.diagram,
    trampoline.diagram,
    return_probe.diagram,
    where_time_goes.diagram,
)
"""From costs to each diagram."""

IN_STAGES = Columns(stage=118, group=76, when=158, cells=(262,), cost=92)
IN_ROWS = Columns(stage=0, group=0, when=122, cells=(250, 250), cost=102)


def drawing(one: Diagram, layout: Layout) -> Drawing:
    """The diagram as wide as a chart of that layout."""
    width, is_wide = WIDTHS[layout], layout == "wide"
    if one.panels:
        return panels.draw(one.panels, width, columns=len(one.panels) if is_wide else 1)
    if is_wide:
        return rows.draw_wide(one.stages, IN_STAGES if one.stages[0].title else IN_ROWS)
    return rows.draw_narrow(one.stages, width)
