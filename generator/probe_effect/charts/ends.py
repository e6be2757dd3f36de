"""Lines with their names at their ends: beside the axes, each with a stroke of its line's colour, none over another."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from probe_effect.charts.theme import CARD_HEIGHT, INK, TEXT_SIZE, Datum, Layout, Spec, folded, frame
from probe_effect.charts.tracer_look import TracerLook, scale

NAME_WIDTH: dict[Layout, int] = {"wide": 26, "narrow": 17, "card": 40}
"""Characters of a name in one line."""

STROKE_PX, GAP_PX = 14, 4
"""The stroke beside the axes that leads to a name, and what is between the two."""

FURNITURE_PX: dict[Layout, int] = {"wide": 60, "narrow": 60, "card": 380}
"""What the axis below, and the words of a card, take of the height."""

LEADING = 1.25
"""The height of a line of text, as a ratio to its size."""


def named(
    layout: Layout,
    height_px: int,
    ends: Mapping[str, tuple[float, float]],
    seen: Mapping[str, TracerLook],
    *,
    x: Spec,
    y: Spec,
    layers: Sequence[Spec],
    values: Sequence[Datum],
) -> Spec:
    """The spec of `layers` over `values`, with the name of each series beside its last point (`ends`).

    Both axes are logarithmic, and as high as all names need at least.
    """
    line_px = LEADING * TEXT_SIZE[layout]
    names = {name: folded(name, NAME_WIDTH[layout]) for name in sorted(ends, key=lambda name: -ends[name][1])}
    heights = [line_px * (text.count("\n") + 1) + GAP_PX for text in names.values()]
    whole_px = CARD_HEIGHT if layout == "card" else max(height_px, round(sum(heights)) + FURNITURE_PX[layout])
    room_px = whole_px - FURNITURE_PX[layout]
    low, high = (math.log(end) for end in y["scale"]["domain"])
    wanted = [(high - math.log(ends[name][1])) / (high - low) * room_px for name in names]

    def at(place_px: float) -> float:
        return math.exp(high - place_px / room_px * (high - low))

    drawn = [
        {
            "series": name,
            "name": text,
            "at": ends[name][0],
            "end": ends[name][1],
            "beside": at(place),
            "first": at(place - (size - GAP_PX - line_px) / 2),
        }
        for (name, text), place, size in zip(names.items(), dodged(wanted, heights, room_px), heights, strict=True)
    ]
    more = [{"data": {"values": drawn}, **one} for one in (_strokes(x, y, seen), _texts(layout, y))]
    return frame(layout, whole_px, {"data": {"values": list(values)}, "layer": [*layers, *more]})


def _strokes(x: Spec, y: Spec, seen: Mapping[str, TracerLook]) -> Spec:
    """From the end of each line to its name."""
    places = {"x": x | {"field": "at"}, "y": y | {"field": "end"}, "y2": {"field": "beside"}}
    colour = {"field": "series", "type": "nominal", **scale(seen, "colour"), "legend": None}
    beside = {"value": {"expr": f"width + {STROKE_PX}"}}
    mark = {"type": "rule", "strokeWidth": 1, "aria": False}
    return {"mark": mark, "encoding": {**places, "x2": beside, "color": colour}}


def _texts(layout: Layout, y: Spec) -> Spec:
    look = {"align": "left", "baseline": "middle", "color": INK, "fontSize": TEXT_SIZE[layout], "lineBreak": "\n"}
    place = {"x": {"expr": f"width + {STROKE_PX + GAP_PX}"}, "lineHeight": LEADING * TEXT_SIZE[layout]}
    mark = {"type": "text", "aria": False, **look, **place}
    return {"mark": mark, "encoding": {"y": y | {"field": "first"}, "text": {"field": "name"}}}


def dodged(wanted: Sequence[float], sizes: Sequence[float], room: float) -> list[float]:
    """Middles of things of `sizes` that do not overlap, in the order of and as near as can be to those wanted.

    Neighbours that would overlap are moved together (isotonic regression, by pooling adjacent violators).
    """
    stacked = [sum(sizes[:place]) + size / 2 for place, size in enumerate(sizes)]
    pools: list[list[float]] = []
    for want, place in zip(wanted, stacked, strict=True):
        pools.append([want - place])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    shifts = (fmean(pool) for pool in pools for _ in pool)
    most = max(room - sum(sizes), 0.0)
    return [place + min(max(shift, 0.0), most) for place, shift in zip(stacked, shifts, strict=True)]
