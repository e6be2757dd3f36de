"""Pictures of links to pages without a chart: the site's name and its question; what probes cost on a machine."""

import textwrap
from collections.abc import Sequence

from probe_effect.charts.theme import INK, MUTED, NAME, PADDING, SERIES, WIDTHS, Chart, Spec, frame

QUESTION = "What does looking cost?"
ANSWER = "The overhead of tracing tools, measured, with the raw data of every run."

ROOM = WIDTHS["card"] - 2 * PADDING["card"]
"""px for a line of text; what is longer is cut, and a sign says so."""

LARGE, SMALL = (-0.6, 3.2), (-0.5, 8.5)
"""The picture's height in steps of the sign: from its foot to its head."""

ASKED = "What one traced event costs:"
MAX_TITLE, MAX_COSTS = 62, 3

STEP = ((0, 0), (0.29, 0), (0.29, 1), (0.58, 1), (0.58, 0), (1, 0))
"""The site's sign: a line that goes up while somebody looks."""


def site_card() -> Chart:
    """A chart of nothing but words, drawn as the others are."""
    words = (_text(NAME, 0.1, 40, SERIES[0]), _text(QUESTION, 0.34, 76, INK), _text(ANSWER, 0.5, 30, MUTED))
    spec = frame("card", 0, {"layer": [*words, _sign()]})
    return Chart("site", NAME, f"{QUESTION} {ANSWER}", (), {"card": spec})


def machine_card(machine: str, name: str, kind: str, costs: Sequence[tuple[str, str]]) -> Chart:
    """What an event costs on a machine of a tier, `kind`, in words: kinds of probes, as many as there is room for."""
    title = textwrap.shorten(name, MAX_TITLE, placeholder=" …") or name[:MAX_TITLE]
    words = [_text(NAME, 0.1, 40, SERIES[0]), _text(title, 0.25, 36, INK), _text(f"A {kind}. {ASKED}", 0.35, 28, MUTED)]
    for place, (probe, cost) in enumerate(costs[:MAX_COSTS]):
        height = 0.49 + 0.125 * place
        words += [_text(cost, height, 54, INK), _text(probe, height, 40, MUTED, across=0.28)]
    sentence = f"{ASKED} {', '.join(f'{probe}: {cost}' for probe, cost in costs)}"
    return Chart(
        f"machine-{machine}", name, sentence, (), {"card": frame("card", 0, {"layer": [*words, _sign(SMALL)]})}
    )


def _text(text: str, height: float, size: int, colour: str, across: float = 0) -> Spec:
    look = {"type": "text", "text": text, "align": "left", "fontSize": size, "color": colour, "limit": ROOM}
    place = {"x": {"value": {"expr": f"{across} * width"}}, "y": {"value": {"expr": f"{height} * height"}}}
    return {"data": {"values": [{}]}, "mark": look, "encoding": place}


def _sign(domain: tuple[float, float] = LARGE) -> Spec:
    scale = {"domain": list(domain), "nice": False}
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"nice": False}}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": scale}
    points = [{"x": across, "y": up, "at": place} for place, (across, up) in enumerate(STEP)]
    look = {"type": "line", "strokeWidth": 10, "color": SERIES[0]}
    return {"data": {"values": points}, "mark": look, "encoding": {"x": x, "y": y, "order": {"field": "at"}}}
