"""Drawings without Vega-Lite, drawings without what nobody sees, and drawings as they are taken away.

Vega writes for its own scene: empty paths, marks that wait for a pointer, labels on each of hundreds of marks, and
coordinates with fifteen digits. A drawing is one picture with one name, so what its marks are called is only weight;
what a dot says is kept for who points at it.

Paths are cut at the edge of a plot: a clipped group is a layer of its own to whatever draws it, which takes as long as
all the rest of a picture.
"""

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from jinja2 import Environment, PackageLoader

from probe_effect.site.charts import theme
from probe_effect.site.charts.theme import CARD_HEIGHT, INK, LAYOUTS, MUTED, WIDTHS, Layout, Spec

SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", SVG)

LINES = re.compile(r"M[-\d.,L]+Z?")  # a path of straight lines, in the numbers of Vega
Point = tuple[float, float]


def cut_clipped(root: ET.Element) -> None:
    """Cut what is in clipped groups of nothing but straight paths, and clip these groups no more."""
    sizes = {
        f"url(#{clip.get('id')})": (float(area.get("width", 0)), float(area.get("height", 0)))
        for clip in root.iter(f"{{{SVG}}}clipPath")
        if len(clip) == 1 and (area := clip[0]).tag == f"{{{SVG}}}rect" and not area.get("x") and not area.get("y")
    }
    clipped = [group for group in root.iter(f"{{{SVG}}}g") if "clip-path" in group.attrib]
    for group in clipped:
        size = sizes.get(group.attrib["clip-path"])
        is_straight = all(
            element.tag == f"{{{SVG}}}path"
            and "transform" not in element.attrib
            and LINES.fullmatch(element.get("d", ""))
            for element in group
        )
        if size and len(group.attrib) == 1 and is_straight:
            for path in list(group):
                _cut(path, *size)
                if not path.attrib["d"]:
                    group.remove(path)
            del group.attrib["clip-path"]
    used = {element.get("clip-path") for element in root.iter()}
    for definitions in root.findall(f"{{{SVG}}}defs"):
        for clip in definitions.findall(f"{{{SVG}}}clipPath"):
            if f"url(#{clip.get('id')})" not in used:
                definitions.remove(clip)
        if not len(definitions):
            root.remove(definitions)


def _cut(path: ET.Element, width: float, height: float) -> None:
    """Leave of a path what is within the rectangle, and its dashes where they were; no points where nothing is."""
    text = path.attrib["d"]
    end = "Z" if text.endswith("Z") else ""
    points = [(float(x), float(y)) for x, y in (pair.split(",") for pair in re.split("[ML]", text.rstrip("Z"))[1:])]
    if all(0 <= x <= width and 0 <= y <= height for x, y in points):
        return
    parts = [points]
    for depth in (_edge(0, 1, 0), _edge(0, -1, width), _edge(1, 1, 0), _edge(1, -1, height)):
        parts = [inside for part in parts for inside in _inside(part, depth, is_area=bool(end))]
    if parts and "stroke-dasharray" in path.attrib:  # a line of a plot hardly bends before it comes into sight
        path.set("stroke-dashoffset", f"{math.dist(points[0], parts[0][0]):.1f}")
    path.set("d", "".join(f"M{'L'.join(f'{x:g},{y:g}' for x, y in part)}{end}" for part in parts))


def _edge(axis: int, sign: int, at: float) -> Callable[[Point], float]:
    return lambda point: sign * point[axis] + (at if sign < 0 else -at)


def _inside(points: list[Point], depth: Callable[[Point], float], *, is_area: bool) -> list[list[Point]]:
    """The area inside of an edge (Sutherland and Hodgman, 1974), or the parts of a line."""
    parts: list[list[Point]] = [[]]
    for before, point in zip([points[-1 if is_area else 0], *points], points, strict=False):
        if (depth(before) < 0) != (depth(point) < 0):
            share = depth(before) / (depth(before) - depth(point))
            x, y = (first + share * (second - first) for first, second in zip(before, point, strict=True))
            parts[-1].append((round(x, 1), round(y, 1)))
        if depth(point) >= 0:
            parts[-1].append(point)
        elif parts[-1] and not is_area:
            parts.append([])
    # What is left of a line is more than a point.
    return [part for part in parts if len(part) > (0 if is_area else 1)]


@cache
def _templates() -> Environment:
    templates = Environment(loader=PackageLoader("probe_effect", "site/charts"), autoescape=True)
    templates.filters["lines"] = lambda text, width_px: theme.folded(text, int(width_px / LETTER_WIDTH)).split("\n")
    templates.globals |= {
        name: getattr(theme, name) for name in ("AXIS", "GRID", "INK", "MUTED", "NAME", "PAPER", "SERIES")
    }
    return templates


def drawing(name: str, **values: object) -> str:
    return _templates().get_template(f"{name}.svg.j2").render(**values)


LETTER_WIDTH = 6.0  # the mean width of a letter, in pixels


def diagram(document: Mapping[str, Any]) -> str:
    parts = {f"{name}_": document.get(name) for name in ("panels", "stages")}
    return drawing("diagram", WIDTH=theme.WIDTHS["wide"], columns=document.get("columns"), **parts)


DIGITS = 1  # the decimals of a coordinate: a tenth of a pixel
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
GEOMETRY = {"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height"}
DEFAULTS = {"opacity": "1", "fill-opacity": "1", "stroke-opacity": "1", "stroke-width": "1", "text-anchor": "start"}
DEFAULTS |= {"x": "0", "y": "0", "x2": "0", "y2": "0", "transform": "translate(0,0)"}
UNUSED = {"class", "role", "version", "pointer-events"}
SHARED = {"font-family": "sans-serif", "font-size": "12px"}  # what nearly every text has, written once for all
READ = "data-says"  # of a dot: its value in words, which the page shows (site/assets/js/chart-values.js)


def slim(svg: str) -> str:
    root = ET.fromstring(svg)  # noqa: S314 (drawn by us)
    _prune(root, clips=_clips(root))
    for element in root.iter():
        # A line of a text says where it begins, or it would begin where the line before it ends.
        needed = {"x"} if element.tag == f"{{{SVG}}}tspan" else set()
        kept = {
            name: value
            for name, value in element.attrib.items()
            if name in needed
            or not (name in UNUSED or name.startswith("aria-") or value in {SHARED.get(name), DEFAULTS.get(name)})
        }
        if element.get("aria-roledescription") == "point":
            kept[READ] = " ".join(element.attrib["aria-label"].split())
        for name in GEOMETRY & kept.keys():  # no more digits than can be seen
            kept[name] = NUMBER.sub(lambda number: f"{round(float(number[0]), DIGITS) + 0.0:g}", kept[name])
        element.attrib = kept
    root.attrib |= SHARED
    _unwrap(root)
    _join(root)
    cut_clipped(root)
    _unwrap(root)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _clips(root: ET.Element) -> dict[str, str]:
    """Reference to a clip path, to the one that is the same: Vega makes one for each layer."""
    first: dict[str, str] = {}
    same = {}
    for clip in root.iter(f"{{{SVG}}}clipPath"):
        name = f"url(#{clip.get('id')})"
        same[name] = first.setdefault("".join(ET.tostring(part, "unicode") for part in clip), name)
    return same


def _prune(parent: ET.Element, clips: dict[str, str]) -> None:
    """Remove what is not seen, from the leaves up, so that a group of nothing goes too."""
    for child in list(parent):
        _prune(child, clips)
        if (clip := child.get("clip-path")) is not None:
            child.set("clip-path", clips[clip])
        if _is_unseen(child, clips):
            parent.remove(child)


def _is_unseen(element: ET.Element, clips: dict[str, str]) -> bool:
    kind = element.tag.rpartition("}")[2]
    if kind in {"g", "defs"}:
        return not len(element)
    if kind == "clipPath":
        name = f"url(#{element.get('id')})"
        return clips[name] != name
    if element.get("display") == "none" or element.get("opacity") == "0":
        return True
    # The root has fill="none", so a path that names no paint is a frame for the pointer.
    return kind == "path" and not {"fill", "stroke"} & element.attrib.keys()


def _unwrap(parent: ET.Element) -> None:
    for child in list(parent):
        _unwrap(child)
        if child.tag == f"{{{SVG}}}g" and not child.attrib:
            index = list(parent).index(child)
            parent[index : index + 1] = list(child)


def _join(parent: ET.Element) -> None:
    """Make one group of neighbours that are clipped by the same, because a browser draws each group as a layer."""
    before = None
    for child in list(parent):
        _join(child)
        if before is not None and before.attrib == child.attrib and child.attrib.keys() == {"clip-path"}:
            before.extend(child)
            parent.remove(child)
        else:
            before = child


# What every system has, and as wide as the letters that a drawing is measured with.
FACE = "Arial, Helvetica, 'Liberation Sans', sans-serif"
LEADING = 1.3


class Inscription(NamedTuple):
    """The title of a drawing, what it shows, and where it is from."""

    title: str
    sentence: str
    source: str


class _Type(NamedTuple):
    """Sizes of title and sentence, and the margin, in pixels; `_characters` fit in a line, of `lines` at most."""

    title: int
    title_characters: int
    sentence: int
    sentence_characters: int
    margin: int
    lines: int


TYPES: dict[Layout, _Type] = {
    "wide": _Type(18, 66, 13, 98, 10, 4),
    "narrow": _Type(16, 34, 12, 48, 8, 9),
    "card": _Type(38, 56, 23, 98, 36, 2),
}


def in_layouts(spec: Callable[[Layout], Spec], title: str, sentence: str) -> dict[Layout, Spec]:
    """The spec of each layout in a page, and of the card, as high as its words leave it room."""
    around = _head_height(title, sentence, "card") + _foot_height("card")
    return {layout: spec(layout) for layout in LAYOUTS} | {"card": spec("card") | {"height": CARD_HEIGHT - around}}


def framed(svg: str, words: Inscription | None, layout: Layout) -> str:
    """`svg`, an SVG element of the layout's width, on white with its words around it, if any."""
    inner, look = ET.fromstring(svg), TYPES[layout]  # noqa: S314 (drawn by us)
    inner.set("font-family", FACE)
    height, lines = int(inner.get("height", 0)), []
    if words:
        top, y = _head_height(words.title, words.sentence, layout), float(look.margin)
        height += top + _foot_height(layout)
        inner.set("y", str(top))
        for text, size, colour in _head(words.title, words.sentence, layout):
            y += size * LEADING
            lines.append((text, f"{y:g}", size, colour))
        lines.append((words.source, f"{height - look.margin}", look.sentence, MUTED))
    drawn = ET.tostring(inner, encoding="unicode", short_empty_elements=False).replace(f' xmlns="{SVG}"', "", 1)
    settings = {"width": WIDTHS[layout], "height": height, "margin": look.margin, "face": FACE}
    return drawing("framed", **settings, title=words and words.title, lines=lines, drawing=drawn)


def _head(title: str, sentence: str, layout: Layout) -> list[tuple[str, int, str]]:
    """The lines above a drawing with their sizes and colours; what does not fit is left out, and a sign says so."""
    look = TYPES[layout]
    texts = (
        (title, look.title_characters, look.title, INK),
        (sentence, look.sentence_characters, look.sentence, MUTED),
    )
    return [
        (line, size, colour)
        for text, width, size, colour in texts
        for line in textwrap.wrap(text, width, max_lines=look.lines, placeholder=" …") or [text[:width]]
    ]


def _head_height(title: str, sentence: str, layout: Layout) -> int:
    return round(sum(size * LEADING for _, size, _ in _head(title, sentence, layout)) + 1.7 * TYPES[layout].margin)


def _foot_height(layout: Layout) -> int:
    return round(TYPES[layout].sentence + 1.5 * TYPES[layout].margin)
