"""Small drawings without Vega-Lite, put together of elements, and diagrams; whatever text is in them is escaped."""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from jinja2 import Environment, PackageLoader

from probe_effect.charts import theme

SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)


def element(name: str, *content: ET.Element, text: str | None = None, **attributes: str | float) -> ET.Element:
    """An element; `class_` and `aria_label` are the attributes `class` and `aria-label`."""
    made = ET.Element(name, {key.rstrip("_").replace("_", "-"): written(value) for key, value in attributes.items()})
    made.text = text
    made.extend(content)
    return made


def written(value: str | float) -> str:
    """A length to two decimals, without zeros that say nothing."""
    return value if isinstance(value, str) else f"{round(value, 2):g}"


def svg(root: ET.Element) -> str:
    """The drawing as text that HTML may contain: no element is left open, which only HTML's own may be."""
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


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
