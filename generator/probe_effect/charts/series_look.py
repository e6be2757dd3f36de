"""A colour, a shape and a dash for each tracer, the same in every chart, and the names at the ends of lines.

Tools of one family share a colour, and versions of one tool do; shape and dash tell them apart.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from zlib import crc32

from probe_effect.charts import theme
from probe_effect.charts.theme import (
    CARD_HEIGHT,
    DASHES,
    MUTED,
    SERIES,
    SHAPES,
    TEXT_SIZE,
    Datum,
    Layout,
    Spec,
    folded,
    frame,
)
from probe_effect.tools.record import TOOLS

OTHER = 0
"""The series number of what is no tracer beside tracers: grey."""


@dataclass(frozen=True, slots=True)
class TracerLook:
    """Places in `SERIES` (from 1, as the style sheet counts), `SHAPES` and `DASHES` (from 0)."""

    series: int
    form: int

    @property
    def colour(self) -> str:
        """The sentinel that the style sheet maps to its variable."""
        return MUTED if self.series == OTHER else SERIES[self.series - 1]

    @property
    def shape(self) -> str:
        """As Vega calls it."""
        return SHAPES[self.form % len(SHAPES)]

    @property
    def dash(self) -> list[int]:
        """Lengths of strokes and gaps; `[1, 0]` is a full line."""
        return DASHES[self.form % len(DASHES)]


LOOKS = {"perf": TracerLook(4, 3)} | {tool.name: TracerLook(*tool.look) for tool in TOOLS.values()}
"""By tool, and of perf where others published a figure without the name of its subcommand."""


def look(tracer: str) -> TracerLook:
    """The look of a tracer by its id alone; an unknown one has it from its name, never from its place.

    A version, `bpftrace-0-23-2`, has the colour of its tool and a form from its number.
    """
    tool = max((name for name in LOOKS if f"{tracer}-".startswith(f"{name}-")), key=len, default=None)
    if tool is None:
        return TracerLook(1 + crc32(tracer.encode()) % len(SERIES), crc32(tracer[::-1].encode()) % len(SHAPES))
    own, version = LOOKS[tool], tracer.removeprefix(tool)
    forms = [form for form in range(len(SHAPES)) if form != own.form]
    return TracerLook(own.series, forms[crc32(version.encode()) % len(forms)]) if version else own


CHANNELS = {"color": "colour", "shape": "shape", "strokeDash": "dash"}
"""Channels of Vega-Lite by which series differ, to what a look has for them."""


def channels(field: Spec, seen: Mapping[str, TracerLook]) -> dict[str, Spec]:
    """The channels by which the series in `field` differ, each with the part that it has in their looks."""
    ranges = {channel: [getattr(one, part) for one in seen.values()] for channel, part in CHANNELS.items()}
    return {channel: field | {"scale": {"domain": list(seen), "range": own}} for channel, own in ranges.items()}


def looks(tracers: Sequence[str | None]) -> list[TracerLook]:
    """The looks of the series of a chart, each of which shows a tracer or, None, something else.

    Without any tracer the colours come in their order. Two series of one look, such as one tracer on two machines,
    differ by their forms: the later by name takes the next free one.
    """
    if not any(tracers):
        return [TracerLook(1 + place % len(SERIES), place % len(SHAPES)) for place in range(len(tracers))]
    found: dict[int, TracerLook] = {}
    for place in sorted(range(len(tracers)), key=lambda place: (tracers[place] or "", place)):
        tracer = tracers[place]
        wish = look(tracer) if tracer else TracerLook(OTHER, 0)
        used = {one.form for one in found.values() if one.series == wish.series}
        after = chain(range(wish.form, len(SHAPES)), range(wish.form))
        found[place] = TracerLook(wish.series, next((form for form in after if form not in used), wish.form))
    return [found[place] for place in range(len(tracers))]


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
    layers: Mapping[str, Spec],
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
    line = channels({"field": "series", "type": "nominal", "legend": None}, seen)
    places = {"stroke": STROKE_PX, "gap": STROKE_PX + GAP_PX, "text": TEXT_SIZE[layout], "leading": line_px}
    more = theme.layers("names", {"x": x, "y": y, **line}, names=drawn, **places)
    return frame(layout, whole_px, {"data": {"values": list(values)}, "layer": [*layers.values(), *more.values()]})


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
