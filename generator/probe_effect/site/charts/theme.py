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
from functools import cache, partial
from itertools import chain
from statistics import fmean
from string import Template
from typing import Any, Literal, NamedTuple
from zlib import crc32

from probe_effect import units
from probe_effect.records import TOOLS, beside

Spec = dict[str, Any]
Datum = dict[str, str | float | bool | None]
Layout = Literal["wide", "narrow", "card"]

# The layouts in a page; the card is the picture that a link to it shows elsewhere.
LAYOUTS: tuple[Layout, ...] = ("wide", "narrow")

INK, MUTED, AXIS, GRID, PAPER = "#1a1a1a", "#5c5c5c", "#8a8a8a", "#e3e3e3", "#fffffe"
SERIES = ("#0c97c6", "#b17243", "#115431", "#3f3c70", "#9c8a0a", "#c94d73", "#4c61cc", "#554f0a")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [3, 6], [4, 2, 1, 2], [9, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""As many dashes and shapes as have no common divisor with the colours: a pair comes again only after all pairs."""

WIDTHS: dict[Layout, int] = {"wide": 760, "narrow": 350, "card": 1200}
CARD_HEIGHT = 630  # 1.91 to 1, as Open Graph has it
TEXT_SIZE: dict[Layout, int] = {"wide": 12, "narrow": 12, "card": 20}
PADDING: dict[Layout, int] = {"wide": 4, "narrow": 4, "card": 48}
# The mean width of a letter, and the height of a line of text, as ratios to the size of the text.
LETTER_WIDTH, LEADING = 0.55, 1.25
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
    page: str = ""  # the address of the page that it belongs to; empty where that is not known
    edition: str = ""  # the one submission that it is of, which never changes; empty where it changes with the data


def source(version: str, edition: str = "") -> str:
    """The line that says where a picture is from, with its edition or else the version of the data, if there is one."""
    return ", ".join(filter(None, (NAME, edition or (version and f"data version {version}"), LICENCE)))


def left_out(number: int) -> str | None:
    lines = "line is" if number == 1 else "lines are"
    return f"{number} more {lines} not drawn; the table has them all." if number else None


# The words that every file of specs may have, `$AXIS` and so on.
WORDS = {"AXIS": AXIS, "GRID": GRID, "INK": INK, "MUTED": MUTED, "PAPER": PAPER, "group": units.GROUP, "none": None}
_read = cache(partial(beside, __file__))


def _filled(part: Any, words: Mapping[str, object]) -> Any:  # noqa: ANN401 (whatever a spec nests)
    """A part of a file with the value of each `$word`; where that is the whole text, whatever type the value has."""
    if isinstance(part, dict):
        return {key: _filled(value, words) for key, value in part.items()}
    if isinstance(part, list):
        return [_filled(value, words) for value in part]
    if not isinstance(part, str) or "$" not in part:
        return part
    return words[part[1:]] if part[1:] in words else Template(part).substitute(words)


def sizes(name: str, layout: Layout, /, **words: object) -> dict[str, Any]:
    own = _filled(_read(name).get("sizes", {}), WORDS | words)
    return {word: by_layout[layout] for word, by_layout in own.items()}


def read(name: str, layout: Layout, /, **words: object) -> dict[str, Spec]:
    """The parts of a file by their names, with `words`: its `axes`, what the whole `spec` has, and its layers."""
    parts: dict[str, Spec] = _filled(_read(name), WORDS | sizes(name, layout, **words) | words)
    return parts


def layers(name: str, layout: Layout, channels: Mapping[str, Spec], /, **words: object) -> dict[str, Spec]:
    """The layers of a file by their names, with `words`; what they encode also has what axes and `channels` have."""
    parts = read(name, layout, **words)
    shared = {**parts.get("axes", {}), **channels}
    drawn = {part: layer for part, layer in parts.items() if part not in {"axes", "sizes", "spec"}}
    for layer in drawn.values():
        own = layer["encoding"]
        layer["encoding"] = own | {channel: shared[channel] | own[channel] for channel in own if channel in shared}
    return drawn


def config(layout: Layout = "wide") -> Spec:
    look_of_all: Spec = _filled(_read("config"), WORDS | {"size": TEXT_SIZE[layout]})
    return look_of_all


def folded(text: str, width: int) -> str:
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


OTHER = 0  # the series number of what is no tracer beside tracers: grey


class TracerLook(NamedTuple):
    """Places in `SERIES` (from 1, as the style sheet counts), `SHAPES` and `DASHES` (from 0)."""

    series: int
    form: int

    @property
    def colour(self) -> str:
        return MUTED if self.series == OTHER else SERIES[self.series - 1]

    @property
    def shape(self) -> str:
        return SHAPES[self.form % len(SHAPES)]

    @property
    def dash(self) -> list[int]:
        """Lengths of strokes and gaps; `[1, 0]` is a full line."""
        return DASHES[self.form % len(DASHES)]


# By tool, and of perf where others published a figure without the name of its subcommand.
LOOKS = {"perf": TracerLook(4, 3)} | {tool.name: TracerLook(*tool.look) for tool in TOOLS.values()}


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


def channels(seen: Mapping[str, TracerLook], legend: Spec | None = None, **field: object) -> dict[str, Spec]:
    """The channels by which series differ, with one legend for all of them, if any."""
    shared = {"field": "series", "type": "nominal", **field, "legend": legend}
    ranges = {
        "color": [tracer_look.colour for tracer_look in seen.values()],
        "shape": [tracer_look.shape for tracer_look in seen.values()],
        "strokeDash": [tracer_look.dash for tracer_look in seen.values()],
    }
    return {name: shared | {"scale": {"domain": list(seen), "range": own}} for name, own in ranges.items()}


def looks(series: Mapping[str, str | None]) -> dict[str, TracerLook]:
    """The looks of the series of a chart, each of which shows a tracer or, None, something else.

    Without any tracer the colours come in their order. Two series of one look, such as one tracer on two machines,
    differ by their forms: the later by name takes the next free one.
    """
    if not any(series.values()):
        return {name: TracerLook(1 + index % len(SERIES), index % len(SHAPES)) for index, name in enumerate(series)}
    given: dict[str, TracerLook] = {}
    for name, tracer in sorted(series.items(), key=lambda item: item[1] or ""):
        own = look(tracer) if tracer else TracerLook(OTHER, 0)
        used = {tracer_look.form for tracer_look in given.values() if tracer_look.series == own.series}
        after = chain(range(own.form, len(SHAPES)), range(own.form))
        given[name] = TracerLook(own.series, next((form for form in after if form not in used), own.form))
    return {name: given[name] for name in series}


STROKE_PX, GAP_PX = 14, 4  # the stroke beside the axes that leads to a name, and what is between the two


def line_spec(
    file: str,
    seen: Mapping[str, TracerLook],
    values: Sequence[Datum],
    layout: Layout,
    *,
    lines: Sequence[Datum],
    without: Sequence[str] = (),
    **words: object,
) -> Spec:
    """The spec of the layers in `file` over `values`, with the name of each series beside the last row of its line.

    Both axes are logarithmic, and as high as all names need at least.

    Args:
        lines: the rows that the lines are drawn of, in their order.
        without: the layers that are not drawn.
    """
    own, around = sizes(file, layout, **words), sizes("names", layout)
    axes = read(file, layout, **words)["axes"]
    drawn = layers(file, layout, channels(seen, sort=list(seen)), **words)
    x, y = axes["x"], axes["y"]
    low, high = y["scale"]["domain"]
    ends = {
        str(row["series"]): (float(row[x["field"]] or 0), min(max(float(row[y["field"]] or 0), low), high))
        for row in lines
    }
    line_px = LEADING * around["text"]
    names = {name: folded(name, around["name"]) for name in sorted(ends, key=lambda name: -ends[name][1])}
    heights = [line_px * (text.count("\n") + 1) + GAP_PX for text in names.values()]
    whole_px = CARD_HEIGHT if layout == "card" else max(own["height"], round(sum(heights)) + around["furniture"])
    room_px = whole_px - around["furniture"]
    least, greatest = math.log(low), math.log(high)
    wanted = [(greatest - math.log(ends[name][1])) / (greatest - least) * room_px for name in names]

    def at(place_px: float) -> float:
        return math.exp(greatest - place_px / room_px * (greatest - least))

    placed = [
        {
            "series": name,
            "name": text,
            "at": ends[name][0],
            "end": ends[name][1],
            "beside": at(middle_px),
            "first": at(middle_px - (size - GAP_PX - line_px) / 2),
        }
        for (name, text), middle_px, size in zip(names.items(), dodged(wanted, heights, room_px), heights, strict=True)
    ]
    places = {"stroke": STROKE_PX, "gap": STROKE_PX + GAP_PX, "leading": line_px}
    named = layers("names", layout, {**axes, **channels(seen)}, names=placed, **places)
    shown = [layer for name, layer in drawn.items() if name not in without]
    return frame(layout, whole_px, {"data": {"values": list(values)}, "layer": [*shown, *named.values()]})


def dodged(wanted: Sequence[float], sizes: Sequence[float], room: float) -> list[float]:
    """Middles of things of `sizes` that do not overlap, in the order of and as near as can be to those wanted.

    Neighbours that would overlap are moved together (isotonic regression, by pooling adjacent violators).
    """
    stacked = [sum(sizes[:index]) + size / 2 for index, size in enumerate(sizes)]
    pools: list[list[float]] = []
    for want, middle in zip(wanted, stacked, strict=True):
        pools.append([want - middle])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    shifts = (fmean(pool) for pool in pools for _ in pool)
    most = max(room - sum(sizes), 0.0)
    return [middle + min(max(shift, 0.0), most) for middle, shift in zip(stacked, shifts, strict=True)]
