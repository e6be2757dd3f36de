"""How each tracer looks, for the charts that scripts draw: `data/tracer-looks.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from probe_effect.charts.tracer_look import LOOKS, look

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue


def tracer_looks(catalogue: Catalogue) -> str:
    """Tracer id to its look, for every tracer that the data or the program knows.

    `series` is the number of the variable `--series-1` and so on, `colour` the sentinel of specs, `shape` and `dash`
    are as Vega takes them.
    """
    measured = {case.tracer for one in catalogue.everything for case in one.numbers}
    published = {figure.tracer for source in catalogue.sources for figure in source.figures if figure.tracer}
    return json.dumps({tracer: _plain(tracer) for tracer in sorted({*LOOKS, *measured, *published})})


def _plain(tracer: str) -> dict[str, object]:
    found = look(tracer)
    return {"series": found.series, "colour": found.colour, "shape": found.shape, "dash": found.dash}
