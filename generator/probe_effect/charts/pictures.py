"""Pictures without a chart: a machine's badge, and what links to pages show."""

import math
import textwrap
from collections.abc import Sequence

from probe_effect.charts.svg import drawing
from probe_effect.charts.theme import INK, MUTED, NAME, PADDING, SERIES, WIDTHS, Chart, Spec, frame
from probe_effect.toml import beside

SIZE, PAD = 13, 8
"""Of letters, and beside words; px."""

EM_THOUSANDTHS: list[int] = beside(__file__, "badge")["em_thousandths"]

WIDEST, SPARE = 900, 1.02
"""The width of any other character; and how much wider than the typeface a stand-in for it may be."""

MOST = 2
"""Costs that it has room for."""

MEASURED = "measured"
"""What it says of a machine without a cost that is distinguishable from 0."""


def badge(costs: Sequence[tuple[str, str]]) -> str:
    """The costs of an event by kind of probe: SVG without style or script, whose own text says all that is seen."""
    said = " · ".join(f"{probe} {cost}" for probe, cost in costs[:MOST]) or MEASURED
    left, right = (math.ceil(_width_px(text)) + 2 * PAD for text in (NAME, said))
    return drawing("badge", said=said, left=left, right=right, size=SIZE, pad=PAD)


def _width_px(text: str) -> float:
    """How wide a line of text is, and never less than a browser makes it."""
    places = (ord(one) - ord(" ") for one in text.replace("\u00a0", " ").replace("\u202f", " "))
    em = sum(EM_THOUSANDTHS[place] if place < len(EM_THOUSANDTHS) else WIDEST for place in places)
    return em / 1000 * SIZE * SPARE


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
    words = (_line(NAME, 0.1, 40, SERIES[0]), _line(QUESTION, 0.34, 76, INK), _line(ANSWER, 0.5, 30, MUTED))
    spec = frame("card", 0, {"layer": [*words, _sign()]})
    return Chart("site", NAME, f"{QUESTION} {ANSWER}", (), {"card": spec})


def machine_card(machine: str, name: str, kind: str, costs: Sequence[tuple[str, str]]) -> Chart:
    """What an event costs on a machine of a tier, `kind`, in words: kinds of probes, as many as there is room for."""
    title = textwrap.shorten(name, MAX_TITLE, placeholder=" …") or name[:MAX_TITLE]
    words = [_line(NAME, 0.1, 40, SERIES[0]), _line(title, 0.25, 36, INK), _line(f"A {kind}. {ASKED}", 0.35, 28, MUTED)]
    for place, (probe, cost) in enumerate(costs[:MAX_COSTS]):
        height = 0.49 + 0.125 * place
        words += [_line(cost, height, 54, INK), _line(probe, height, 40, MUTED, across=0.28)]
    sentence = f"{ASKED} {', '.join(f'{probe}: {cost}' for probe, cost in costs)}"
    return Chart(
        f"machine-{machine}", name, sentence, (), {"card": frame("card", 0, {"layer": [*words, _sign(SMALL)]})}
    )


def _line(text: str, height: float, size: int, colour: str, across: float = 0) -> Spec:
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
