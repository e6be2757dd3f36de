"""Specs to SVG, and cards to PNG, without a browser or the network; and pictures without a chart: the badge of a
machine, and what links to pages show.
"""

import functools
import json
import math
import os
import re
import struct
import textwrap
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import vl_convert

from probe_effect.records import beside
from probe_effect.site.charts.svg import FACE, SVG, Inscription, drawing, framed, slim
from probe_effect.site.charts.theme import INK, MUTED, NAME, PADDING, SERIES, WIDTHS, Chart, Layout, Spec, frame, source
from probe_effect.store.kept import Kept, code_version, library_version

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER, PALETTE, PIXELS, END = b"IHDR", b"PLTE", b"IDAT", b"IEND"
FRAME = struct.Struct(">I4s")
SUM = struct.Struct(">I")

RGBA, INDEXED = [8, 6, 0, 0, 0], (8, 3, 0, 0, 0)  # bits of a sample, colour type, compression, filters, interlacing
FILTER_SUB, OPAQUE, MOST_COLOURS = 1, 255, 256

LEVEL = 6  # 9 takes five times as long for a hundredth of the bytes


def packed(picture: bytes) -> bytes:
    """The same pixels in a sixth of the bytes (PNG, third edition, section 5): as a palette where colours are few."""
    chunks: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while at < len(picture):
        length, kind = FRAME.unpack_from(picture, at)
        start = at + FRAME.size
        chunks[kind] = chunks.get(kind, b"") + picture[start : start + length]
        at = start + length + SUM.size
    pixels = zlib.decompress(chunks.pop(PIXELS))
    if indexed := _indexed(pixels, chunks[HEADER]):
        chunks[HEADER], chunks[PALETTE], pixels = indexed
    del chunks[END]
    chunks |= {PIXELS: zlib.compress(pixels, LEVEL), END: b""}
    written = (FRAME.pack(len(body), kind) + body + SUM.pack(zlib.crc32(kind + body)) for kind, body in chunks.items())
    return b"".join([SIGNATURE, *written])


def _indexed(pixels: bytes, header: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Header, palette and rows of a picture in at most 256 opaque colours; None for any other.

    The drawing program filters each row by the pixel to its left, so the pixels are the running sums of the bytes.
    """
    width, height, *form = struct.unpack(">II5B", header)
    rows = np.frombuffer(pixels, np.uint8).reshape(height, -1)
    if form != RGBA or (rows[:, 0] != FILTER_SUB).any():
        return None
    image = np.cumsum(rows[:, 1:].reshape(height, width, 4), axis=1, dtype=np.uint8).view(np.uint32).ravel()
    # Of neighbours of one colour the first stands for all: a picture has far fewer of these runs than pixels.
    starts = np.flatnonzero(np.concatenate(([True], image[1:] != image[:-1])))
    colours, places = np.unique(image[starts], return_inverse=True)
    palette = colours.view(np.uint8).reshape(-1, 4)
    if len(colours) > MOST_COLOURS or (palette[:, 3] != OPAQUE).any():
        return None
    indices = np.zeros((height, width + 1), np.uint8)  # a row begins with its filter: none
    indices[:, 1:] = np.repeat(places.astype(np.uint8), np.diff(starts, append=len(image))).reshape(height, width)
    return struct.pack(">II5B", width, height, *INDEXED), palette[:, :3].tobytes(), indices.tobytes()


VEGA_LITE_VERSION = "6.4"  # what vl-convert 1.9 draws with; the live chart uses the same, from the same package

# Vega escapes < and > everywhere and quotes in attributes: none of these is found in a label.
TAG = re.compile(r"<[^>]*>")
ID = re.compile(r'(\sid=")([^"]*)')
REFERENCE = re.compile(r'(="url\(#)([^")]*)')


def draw_svg(chart: Chart, layout: Layout, cache: Kept) -> str:
    """The chart as one SVG element, which a page may have beside others.

    Ids get the chart's name in front, because two charts in one page may not share one. The same chart is the same
    text in every build.
    """
    return _with_own_ids(_kept_svg(chart.specs[layout], cache), f"{chart.name}-{layout}-")


def draw_framed(chart: Chart, layout: Layout, cache: Kept, version: str = "") -> str:
    """The chart as an SVG file on white, with its words and its source in it; one of nothing but words has no more."""
    words = Inscription(chart.title, chart.sentence, source(version, chart.edition))
    return framed(_kept_svg(chart.specs[layout], cache), words if chart.rows else None, layout)


def draw_card(chart: Chart, cache: Kept) -> bytes:
    """The picture of a link to the chart, as PNG. It names no version, so that it is not drawn again for each."""
    svg = draw_framed(chart, "card", cache)

    def png() -> bytes:
        # The drawing program looks for a font by each of several names in vain, at every text. What it clips, such as
        # an element in another, it draws twice; a drawing does not leave its place.
        plain = svg.replace(FACE, TYPEFACE).replace("><svg ", '><svg overflow="visible" ')
        drawn: bytes = _drawing_program().svg_to_png(plain, scale=1)
        return packed(drawn)

    return cache.made(png, *_made_from("png", svg, "site/charts/draw"))


def draw_all(chart: Chart, cache: Kept) -> None:
    for layout in chart.specs:
        draw_svg(chart, layout, cache)
    if "card" in chart.specs:
        draw_card(chart, cache)


def is_drawn(chart: Chart, cache: Kept) -> bool:
    """Whether the last drawing of a chart is kept, and so most likely all, which are made one after another."""
    return cache.get(*_svg_made_from(list(chart.specs.values())[-1])) is not None


TYPEFACE = "Liberation Sans"
"""The typeface that the drawing program takes for `sans-serif`, and brings with it."""


@functools.cache
def _drawing_program() -> ModuleType:
    """vl-convert with no fonts but its own, so that a drawing is the same on every Linux.

    It opens a font of the system again for each text that it measures, which takes as long as the drawing itself, but
    has its own in memory. It looks for fonts once, where this variable of fontconfig says; our children do not get it.
    """
    before = os.environ.get("FONTCONFIG_FILE")
    os.environ["FONTCONFIG_FILE"] = str(Path(__file__).with_name("fonts.conf"))
    try:
        vl_convert.svg_to_png(f'<svg xmlns="{SVG}" width="9" height="9"><text>0</text></svg>', scale=1)
    finally:
        os.environ.pop("FONTCONFIG_FILE")
        if before is not None:
            os.environ["FONTCONFIG_FILE"] = before
    return vl_convert


def _kept_svg(spec: Spec, cache: Kept) -> str:
    def svg() -> bytes:
        named = spec | {"config": spec["config"] | {"font": TYPEFACE}}
        drawn: str = _drawing_program().vegalite_to_svg(named, vl_version=VEGA_LITE_VERSION, allowed_base_urls=[])
        general = drawn.replace(f'font-family="{TYPEFACE}"', f'font-family="{spec["config"]["font"]}"')
        return _with_own_ids(slim(general), "id").encode()

    return cache.made(svg, *_svg_made_from(spec)).decode()


def _svg_made_from(spec: Spec) -> tuple[str, ...]:
    return _made_from("svg", json.dumps(spec, sort_keys=True), "site/charts/svg", "site/charts/draw")


def _made_from(kind: str, what: str, *ours: str) -> tuple[str, ...]:
    """The parts of a drawing's key; `ours` are the modules of this package that change it."""
    return kind, library_version("vl-convert-python"), VEGA_LITE_VERSION, what, code_version("site/charts/fonts", *ours)


def _with_own_ids(svg: str, prefix: str) -> str:
    """`svg` with its ids numbered behind `prefix`; Vega's own numbers go on from drawing to drawing of a process."""
    ids = ID.findall("".join(TAG.findall(svg)))
    names = {old: f"{prefix}{number}" for number, (_, old) in enumerate(ids, start=1)}

    def rename(tag: re.Match[str]) -> str:
        named = ID.sub(lambda match: f"{match[1]}{names[match[2]]}", tag[0])
        return REFERENCE.sub(lambda match: f"{match[1]}{names[match[2]]}", named)

    return TAG.sub(rename, svg)


def live_script(cache: Kept) -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `window.vegaEmbed`; same versions as `draw_svg`."""

    def bundle() -> bytes:
        script: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # 1.9's stub forgets the default
        return script.encode()

    return cache.made(bundle, *_made_from("script", "")).decode()


SIZE, PAD = 13, 8  # of letters, and beside words; px
EM_THOUSANDTHS: list[int] = beside(__file__, "badge")["em_thousandths"]

WIDEST = 900  # the width of any other character
SPARE = 1.02  # how much wider than the typeface a stand-in for it may be
MOST = 2  # costs that it has room for


def badge(costs: Sequence[tuple[str, str]]) -> str:
    """The costs of an event by kind of probe: SVG without style or script, whose own text says all that is seen.

    Without costs that are distinguishable from 0 it says `measured`.
    """
    words = " · ".join(f"{probe} {cost}" for probe, cost in costs[:MOST]) or "measured"
    left, right = (math.ceil(_width_px(text)) + 2 * PAD for text in (NAME, words))
    return drawing("badge", said=words, left=left, right=right, size=SIZE, pad=PAD)


def _width_px(text: str) -> float:
    """How wide a line of text is, and never less than a browser makes it."""
    places = (ord(letter) - ord(" ") for letter in text.replace("\u00a0", " ").replace("\u202f", " "))
    em = sum(EM_THOUSANDTHS[offset] if offset < len(EM_THOUSANDTHS) else WIDEST for offset in places)
    return em / 1000 * SIZE * SPARE


QUESTION = "What does looking cost?"
ANSWER = "The overhead of tracing tools, measured, with the raw data of every run."

ROOM = WIDTHS["card"] - 2 * PADDING["card"]  # px for a line of text; what is longer is cut, and a sign says so
LARGE, SMALL = (-0.6, 3.2), (-0.5, 8.5)  # the picture's height in steps of the sign: from its foot to its head
ASKED = "What one traced event costs:"
MAX_TITLE, MAX_COSTS = 62, 3

STEP = ((0, 0), (0.29, 0), (0.29, 1), (0.58, 1), (0.58, 0), (1, 0))
"""The site's sign: a line that goes up while somebody looks."""


def site_card() -> Chart:
    words = (_line(NAME, 0.1, 40, SERIES[0]), _line(QUESTION, 0.34, 76, INK), _line(ANSWER, 0.5, 30, MUTED))
    spec = frame("card", 0, {"layer": [*words, _sign()]})
    return Chart("site", NAME, f"{QUESTION} {ANSWER}", (), {"card": spec})


def machine_card(machine: str, name: str, kind: str, costs: Sequence[tuple[str, str]]) -> Chart:
    """What an event costs on a machine of a tier, `kind`, in words: kinds of probes, as many as there is room for."""
    title = textwrap.shorten(name, MAX_TITLE, placeholder=" …") or name[:MAX_TITLE]
    words = [_line(NAME, 0.1, 40, SERIES[0]), _line(title, 0.25, 36, INK), _line(f"A {kind}. {ASKED}", 0.35, 28, MUTED)]
    for index, (probe, cost) in enumerate(costs[:MAX_COSTS]):
        height = 0.49 + 0.125 * index
        words += [_line(cost, height, 54, INK), _line(probe, height, 40, MUTED, across=0.28)]
    sentence = f"{ASKED} {', '.join(f'{probe}: {cost}' for probe, cost in costs)}"
    spec = frame("card", 0, {"layer": [*words, _sign(SMALL)]})
    return Chart(f"machine-{machine}", name, sentence, (), {"card": spec})


def _line(text: str, height: float, size: int, colour: str, across: float = 0) -> Spec:
    look = {"type": "text", "text": text, "align": "left", "fontSize": size, "color": colour, "limit": ROOM}
    encoding = {"x": {"value": {"expr": f"{across} * width"}}, "y": {"value": {"expr": f"{height} * height"}}}
    return {"data": {"values": [{}]}, "mark": look, "encoding": encoding}


def _sign(domain: tuple[float, float] = LARGE) -> Spec:
    scale = {"domain": list(domain), "nice": False}
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"nice": False}}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": scale}
    points = [{"x": across, "y": up, "at": index} for index, (across, up) in enumerate(STEP)]
    look = {"type": "line", "strokeWidth": 10, "color": SERIES[0]}
    return {"data": {"values": points}, "mark": look, "encoding": {"x": x, "y": y, "order": {"field": "at"}}}
