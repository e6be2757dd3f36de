"""A picture of a trial's runs, as a Vega-Lite spec: the CPU time of each, and the slowdown in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.charts.theme import INK, SERIES, Chart, frame
from probe_effect.trial.words import said
from probe_effect.units import NS_PER_SECOND

if TYPE_CHECKING:
    from probe_effect.trial.effect import TrialResult

HEIGHT = 340


def trial_chart(result: TrialResult) -> Chart:
    """A point for each timed run, pair by pair, and a line at the median of each kind."""
    points = [
        {"pair": run.pair, "cpu_s": run.cpu_ns / NS_PER_SECOND, "runs": run.script or "no script"}
        for run in result.timed
    ]
    labels = [script.label for script in result.settings.scripts]
    title = [said(result.ratio(label), f"CPU time with {label}") for label in labels]
    colour = {"field": "runs", "type": "nominal", "scale": {"domain": ["no script", *labels], "range": [INK, *SERIES]}}
    y = {"type": "quantitative", "title": "CPU time of all processes, s", "scale": {"zero": False}}
    x = {"field": "pair", "type": "ordinal", "title": "pair"}
    layers = [
        {
            "mark": {"type": "point", "filled": True, "size": 60},
            "encoding": {"x": x, "y": y | {"field": "cpu_s"}, "color": colour, "shape": {"field": "runs"}},
        },
        {"mark": "rule", "encoding": {"y": y | {"field": "cpu_s", "aggregate": "median"}, "color": colour}},
    ]
    spec = frame("wide", HEIGHT, {"title": title, "data": {"values": points}, "layer": layers})
    return Chart("try", title[0], title[0], (), {"wide": spec})
