"""The diagrams of `site/diagrams/` as pictures to take away: what `diagram.css` draws on a page, drawn as SVG."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader

from probe_effect.charts import theme

LETTER_WIDTH = 6.0
"""The mean width of a letter, in pixels."""


def diagram(document: Mapping[str, Any]) -> str:
    """The drawing without its title, as one SVG element of the width of a chart."""
    found = Environment(loader=PackageLoader("probe_effect", "charts"), autoescape=True)
    found.filters["lines"] = lambda text, width_px: theme.folded(text, int(width_px / LETTER_WIDTH)).split("\n")
    found.globals |= {name: getattr(theme, name) for name in ("AXIS", "GRID", "INK", "MUTED", "PAPER", "SERIES")}
    parts = {f"{name}_": document.get(name) for name in ("panels", "stages")}
    template = found.get_template("diagram.svg.j2")
    return template.render(WIDTH=theme.WIDTHS["wide"], columns=document.get("columns"), **parts)
