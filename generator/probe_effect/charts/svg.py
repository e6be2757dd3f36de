"""Small drawings without Vega-Lite, put together of elements; and drawings without what nobody sees.

Vega writes for its own scene: empty paths, marks that wait for a pointer, labels on each of hundreds of marks, and
coordinates with fifteen digits. A drawing is one picture with one name, so what its marks are called is only weight.
"""

import re
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


DIGITS = 1
"""The decimals of a coordinate: a tenth of a pixel."""

NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
GEOMETRY = {"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height"}
DEFAULTS = {"opacity": "1", "fill-opacity": "1", "stroke-opacity": "1", "stroke-width": "1", "text-anchor": "start"}
DEFAULTS |= {"x": "0", "y": "0", "x2": "0", "y2": "0", "transform": "translate(0,0)"}
UNUSED = {"class", "role", "version", "pointer-events"}
SHARED = {"font-family": "sans-serif", "font-size": "12px"}
"""The attributes that nearly every text has, written once for all."""
PAINTED = {"fill", "stroke"}
CLIPPED = {"clip-path"}


def slim(svg: str) -> str:
    """`svg` as one line of SVG that looks the same."""
    root = ET.fromstring(svg)  # noqa: S314 (drawn by us)
    _prune(root, clips=_clips(root))
    for one in root.iter():
        # A line of a text says where it begins, or it would begin where the line before it ends.
        needed = {"x"} if one.tag == f"{{{SVG}}}tspan" else set()
        kept = {name: value for name, value in one.attrib.items() if name in needed or not _is_waste(name, value)}
        one.attrib = {name: _short(name, value) for name, value in kept.items()}
    root.attrib |= SHARED
    _unwrap(root)
    _join(root)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _is_waste(name: str, value: str) -> bool:
    plain = name in UNUSED or name.startswith("aria-") or SHARED.get(name) == value
    return plain or DEFAULTS.get(name) == value


def _short(name: str, value: str) -> str:
    """Numbers in `value` with no more digits than can be seen."""
    return NUMBER.sub(lambda number: f"{round(float(number[0]), DIGITS) + 0.0:g}", value) if name in GEOMETRY else value


def _clips(root: ET.Element) -> dict[str, str]:
    """Reference to a clip path, to the one that is the same: Vega makes one for each layer."""
    first: dict[str, str] = {}
    found = {}
    for clip in root.iter(f"{{{SVG}}}clipPath"):
        name = f"url(#{clip.get('id')})"
        found[name] = first.setdefault("".join(ET.tostring(part, "unicode") for part in clip), name)
    return found


def _prune(parent: ET.Element, clips: dict[str, str]) -> None:
    """Remove what is not seen, from the leaves up, so that a group of nothing goes too."""
    for child in list(parent):
        _prune(child, clips)
        if (clip := child.get("clip-path")) is not None:
            child.set("clip-path", clips[clip])
        if _is_unseen(child, clips):
            parent.remove(child)


def _is_unseen(one: ET.Element, clips: dict[str, str]) -> bool:
    kind = one.tag.rpartition("}")[2]
    if kind in {"g", "defs"}:
        return not len(one)
    if kind == "clipPath":
        name = f"url(#{one.get('id')})"
        return clips[name] != name
    if one.get("display") == "none" or one.get("opacity") == "0":
        return True
    # The root has fill="none", so a path that names no paint is a frame for the pointer.
    return kind == "path" and not PAINTED & one.attrib.keys()


def _unwrap(parent: ET.Element) -> None:
    """Put the content of groups that say nothing in their place."""
    for child in list(parent):
        _unwrap(child)
        if child.tag == f"{{{SVG}}}g" and not child.attrib:
            place = list(parent).index(child)
            parent[place : place + 1] = list(child)


def _join(parent: ET.Element) -> None:
    """Make one group of neighbours that are clipped by the same, because a browser draws each group as a layer."""
    before = None
    for child in list(parent):
        _join(child)
        if before is not None and before.attrib == child.attrib and child.attrib.keys() == CLIPPED:
            before.extend(child)
            parent.remove(child)
        else:
            before = child
