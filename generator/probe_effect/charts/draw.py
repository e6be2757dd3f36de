"""Specs to SVG, at build time, without a browser or the network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import vl_convert

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart, Layout

VEGA_LITE_VERSION = "6.4"
"""The version that vl-convert 1.9 draws with; the live chart uses the same one, from the same package."""

# Vega escapes < and > everywhere and quotes in attributes: none of these is found in a label.
TAG = re.compile(r"<[^>]*>")
ID = re.compile(r'(\sid=")([^"]*)')
REFERENCE = re.compile(r'(="url\(#)([^")]*)')


def draw_svg(chart: Chart, layout: Layout) -> str:
    """The chart as one SVG element that may stand in a page beside others.

    Ids get the chart's name in front, because two charts in one page may not share one. The same chart is the same
    text in every build.
    """
    svg: str = vl_convert.vegalite_to_svg(chart.specs[layout], vl_version=VEGA_LITE_VERSION, allowed_base_urls=[])
    return _with_own_ids(svg, f"{chart.name}-{layout}-")


def _with_own_ids(svg: str, prefix: str) -> str:
    """`svg` with its ids numbered behind `prefix`; Vega's own numbers go on from drawing to drawing of a process."""
    ids = ID.findall("".join(TAG.findall(svg)))
    names = {old: f"{prefix}{number}" for number, (_, old) in enumerate(ids, start=1)}

    def rename(tag: re.Match[str]) -> str:
        named = ID.sub(lambda found: f"{found[1]}{names[found[2]]}", tag[0])
        return REFERENCE.sub(lambda found: f"{found[1]}{names[found[2]]}", named)

    return TAG.sub(rename, svg)


def live_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `window.vegaEmbed`; same versions as `draw_svg`."""
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # 1.9's stub forgets the default
    return bundle
