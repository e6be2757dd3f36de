"""Sizes, type and colours of every chart; colour, shape and dash of each tracer, and the names at the ends of lines.

Colours are sentinels: the site's style sheet maps each hex value to a variable for light and dark, so one SVG serves
both themes. The eight colours are hues whose lightness differs too, at least 3:1 on paper in either theme. A search
made them as different as possible in four kinds of sight (Machado, Oliveira and Fernandes, 2009). Shape or dash always
says the same beside them.

Tools of one family share a colour, and versions of one tool do; shape and dash tell them apart.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from statistics import fmean
from string import Template
from typing import Any, Literal
from zlib import crc32

from probe_effect import units
from probe_effect.toml import beside
from probe_effect.tools import TOOLS

Spec = dict[str, Any]
Datum = dict[str, str | float | bool | None]
"""The values of a mark, by field."""
Layout = Literal["wide", "narrow", "card"]

LAYOUTS: tuple[Layout, ...] = ("wide", "narrow")
"""The layouts in a page; the card is the picture that a link to it shows elsewhere."""

INK, MUTED, AXIS, GRID, PAPER = "#1a1a1a", "#5c5c5c", "#8a8a8a", "#e3e3e3", "#fffffe"
SERIES = ("#0c97c6", "#b17243", "#115431", "#3f3c70", "#9c8a0a", "#c94d73", "#4c61cc", "#554f0a")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [3, 6], [4, 2, 1, 2], [9, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""As many dashes and shapes as have no common divisor with the colours: a pair comes again only after all pairs."""

WIDTHS: dict[Layout, int] = {"wide": 760, "narrow": 350, "card": 1200}
CARD_HEIGHT = 630
"""1.91 to 1, as Open Graph has it."""
TEXT_SIZE: dict[Layout, int] = {"wide": 12, "narrow": 12, "card": 20}
PADDING: dict[Layout, int] = {"wide": 4, "narrow": 4, "card": 48}

STROKE: dict[Layout, float] = {"wide": 2.5, "narrow": 2.5, "card": 4}
"""The width of the lines of series, in pixels."""

LETTER_WIDTH = 0.55
"""The mean width of a letter, as a ratio to its size."""

NAME, LICENCE = "Probe Effect", "CC BY 4.0"

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


@dataclass(frozen=True, slots=True)
class TextForm:
    """What a chart shows as a table of words, for readers who cannot see it or want the numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart ready to be drawn: its file name, what it says in words, its rows, and one spec per layout."""

    name: str
    title: str
    sentence: str
    rows: tuple[Datum, ...]
    specs: dict[Layout, Spec]
    note: str | None = None
    table: TextForm = TextForm((), ())
    page: str = ""
    """The address of the page that it belongs to; empty where that is not known."""
    edition: str = ""
    """The one submission that it is of, which never changes; empty where it changes with the data."""


def source(version: str, edition: str = "") -> str:
    """The line that says where a picture is from, with its edition or else the version of the data, if there is one."""
    return ", ".join(filter(None, (NAME, edition or (version and f"data version {version}"), LICENCE)))


def left_out(number: int) -> str | None:
    """The note that so many lines have no room; None where all are drawn."""
    lines = "line is" if number == 1 else "lines are"
    return f"{number} more {lines} not drawn; the table has them all." if number else None


WORDS = {"AXIS": AXIS, "GRID": GRID, "INK": INK, "MUTED": MUTED, "PAPER": PAPER, "group": units.GROUP, "none": None}
"""The words that every file of specs may have, `$AXIS` and so on."""


@cache
def _read(name: str) -> Any:  # noqa: ANN401 (of TOML)
    return beside(__file__, name)


def _filled(part: Any, words: Mapping[str, object]) -> Any:  # noqa: ANN401 (whatever a spec nests)
    """A part of a file with the value of each `$word`; where that is the whole text, whatever type the value has."""
    if isinstance(part, dict):
        return {key: _filled(one, words) for key, one in part.items()}
    if isinstance(part, list):
        return [_filled(one, words) for one in part]
    if not isinstance(part, str) or "$" not in part:
        return part
    return words[part[1:]] if part[1:] in words else Template(part).substitute(words)


def layers(name: str, channels: Mapping[str, Spec], **words: object) -> dict[str, Spec]:
    """The layers of a file by their names, with `words`; what they encode also has what `channels` say of it."""
    found: dict[str, Spec] = _filled(_read(name), WORDS | words)
    for layer in found.values():
        own = layer["encoding"]
        layer["encoding"] = own | {one: channels[one] | own[one] for one in own if one in channels}
    return found


def config(layout: Layout = "wide") -> Spec:
    """The look shared by all charts."""
    found: Spec = _filled(_read("config"), WORDS | {"size": TEXT_SIZE[layout]})
    return found


def folded(text: str, width: int) -> str:
    """`text` in lines of at most `width` characters, where its words allow."""
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) or text


def width_px(text: str, size: float) -> float:
    """About how wide the longest line of `text` is."""
    return LETTER_WIDTH * size * max(map(len, text.split("\n")))


def frame(layout: Layout, height: int, body: Spec) -> Spec:
    """`body` as a whole spec of exactly the layout's width, so that still and live chart fill the same box."""
    sides = dict.fromkeys(("left", "right"), PADDING[layout])
    return {
        "$schema": SCHEMA,
        "width": WIDTHS[layout],
        "height": CARD_HEIGHT if layout == "card" else height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"top": PADDING["wide"], "bottom": PADDING["wide"], **sides},
        "config": config(layout),
        **body,
    }


def channel(field: str, title: str, scale: Spec, axis: Spec) -> Spec:
    """A quantity along an axis of Vega-Lite."""
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": title}


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
        """The shape of its marks, as Vega calls it."""
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
    own_layers: Mapping[str, Spec],
    values: Sequence[Datum],
) -> Spec:
    """The spec of `own_layers` over `values`, with the name of each series beside its last point (`ends`).

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
    more = layers("names", {"x": x, "y": y, **line}, names=drawn, **places)
    return frame(layout, whole_px, {"data": {"values": list(values)}, "layer": [*own_layers.values(), *more.values()]})


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
