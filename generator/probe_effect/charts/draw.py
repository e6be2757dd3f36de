"""Specs to SVG, at build time, without a browser or the network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import vl_convert

if TYPE_CHECKING:
    from probe_effect.charts.theme import Chart, Layout

VEGA_LITE_VERSION = "6.4"
"""The version that vl-convert 1.9 draws with; the live chart uses the same one, from the same package."""


def draw_svg(chart: Chart, layout: Layout) -> str:
    """The chart as one SVG element that may stand in a page beside others.

    Ids get the chart's name in front, because two charts in one page may not share one.
    """
    svg: str = vl_convert.vegalite_to_svg(chart.specs[layout], vl_version=VEGA_LITE_VERSION, allowed_base_urls=[])
    prefix = f"{chart.name}-{layout}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    return re.sub(r"url\(#", f"url(#{prefix}", svg)


def live_script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that sets `window.vegaEmbed`; same versions as `draw_svg`."""
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # 1.9's stub forgets the default
    return bundle
