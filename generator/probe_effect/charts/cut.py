"""Paths that are cut at the edge of a plot, so that nothing has to be clipped when they are drawn.

A clipped group is a layer of its own to whatever draws it, which takes as long as all the rest of a picture.
"""

import math
import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
LINES = re.compile(r"M[-\d.,L]+Z?")
"""A path of straight lines, in the numbers of Vega."""

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
        if size and len(group.attrib) == 1 and all(map(_is_straight, group)):
            for path in list(group):
                _cut(path, *size)
                if not path.attrib["d"]:
                    group.remove(path)
            del group.attrib["clip-path"]
    used = {one.get("clip-path") for one in root.iter()}
    for definitions in root.findall(f"{{{SVG}}}defs"):
        for clip in definitions.findall(f"{{{SVG}}}clipPath"):
            if f"url(#{clip.get('id')})" not in used:
                definitions.remove(clip)
        if not len(definitions):
            root.remove(definitions)


def _is_straight(one: ET.Element) -> bool:
    return one.tag == f"{{{SVG}}}path" and "transform" not in one.attrib and bool(LINES.fullmatch(one.get("d", "")))


def _cut(path: ET.Element, width: float, height: float) -> None:
    """Leave of a path what is within the rectangle, and its dashes where they were; no points where nothing is."""
    text = path.attrib["d"]
    end = "Z" if text.endswith("Z") else ""
    points = [(float(x), float(y)) for x, y in (one.split(",") for one in re.split("[ML]", text.rstrip("Z"))[1:])]
    if all(0 <= x <= width and 0 <= y <= height for x, y in points):
        return
    parts = [points]
    for depth in (_edge(0, 1, 0), _edge(0, -1, width), _edge(1, 1, 0), _edge(1, -1, height)):
        parts = [part for one in parts for part in (_of_area if end else _of_line)(one, depth)]
    if parts and "stroke-dasharray" in path.attrib:  # a line of a plot hardly bends before it comes into sight
        path.set("stroke-dashoffset", f"{math.dist(points[0], parts[0][0]):.1f}")
    path.set("d", "".join(f"M{'L'.join(f'{x:g},{y:g}' for x, y in part)}{end}" for part in parts))


def _edge(axis: int, sign: int, at: float) -> Callable[[Point], float]:
    """How far a point is inside of an edge; negative outside."""
    return lambda point: sign * point[axis] + (at if sign < 0 else -at)


def _of_line(points: list[Point], depth: Callable[[Point], float]) -> Iterator[list[Point]]:
    """The parts of a line that are inside of an edge."""
    part: list[Point] = []
    for before, point in zip([points[0], *points], points, strict=False):
        if (depth(before) < 0) != (depth(point) < 0):
            part.append(_crossing(before, point, depth))
        if depth(point) >= 0:
            part.append(point)
        elif part:
            yield part
            part = []
    if len(part) > 1:
        yield part


def _of_area(points: list[Point], depth: Callable[[Point], float]) -> Iterator[list[Point]]:
    """The area inside of an edge (Sutherland and Hodgman, 1974)."""
    part: list[Point] = []
    for before, point in zip([points[-1], *points], points, strict=False):
        if (depth(before) < 0) != (depth(point) < 0):
            part.append(_crossing(before, point, depth))
        if depth(point) >= 0:
            part.append(point)
    if part:
        yield part


def _crossing(before: Point, after: Point, depth: Callable[[Point], float]) -> Point:
    share = depth(before) / (depth(before) - depth(after))
    x, y = (first + share * (second - first) for first, second in zip(before, after, strict=True))
    return round(x, 1), round(y, 1)
