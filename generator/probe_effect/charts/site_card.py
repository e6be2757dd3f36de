"""The picture of a link to a page without a chart: the site's name and its question."""

from __future__ import annotations

from probe_effect.charts.theme import INK, MUTED, NAME, SERIES, Chart, Spec, frame

QUESTION = "What does looking cost?"
ANSWER = "The overhead of tracing tools, measured on real machines, with intervals."

STEP = ((0, 0), (0.29, 0), (0.29, 1), (0.58, 1), (0.58, 0), (1, 0))
"""The site's sign: a line that goes up while somebody looks."""


def site_card() -> Chart:
    """A chart of nothing but words, drawn as the others are."""
    words = (_text(NAME, 0.1, 40, SERIES[0]), _text(QUESTION, 0.34, 76, INK), _text(ANSWER, 0.5, 30, MUTED))
    spec = frame("card", 0, {"layer": [*words, _sign()]})
    return Chart("site", NAME, f"{QUESTION} {ANSWER}", (), {"card": spec})


def _text(text: str, height: float, size: int, colour: str) -> Spec:
    look = {"type": "text", "text": text, "align": "left", "fontSize": size, "color": colour}
    place = {"x": {"value": 0}, "y": {"value": {"expr": f"{height} * height"}}}
    return {"data": {"values": [{}]}, "mark": look, "encoding": place}


def _sign() -> Spec:
    scale = {"domain": [-0.6, 3.2], "nice": False}
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"nice": False}}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": scale}
    points = [{"x": across, "y": up, "at": place} for place, (across, up) in enumerate(STEP)]
    look = {"type": "line", "strokeWidth": 10, "color": SERIES[0]}
    return {"data": {"values": points}, "mark": look, "encoding": {"x": x, "y": y, "order": {"field": "at"}}}
