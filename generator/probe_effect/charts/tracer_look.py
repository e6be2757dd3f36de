"""A colour, a shape and a dash for each tracer, the same in every chart, whatever else it shows.

Tools of one family share a colour, and versions of one tool do; shape and dash tell them apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal
from zlib import crc32

from probe_effect.charts.theme import DASHES, MUTED, SERIES, SHAPES, Spec
from probe_effect.tools.record import TOOLS

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
        """As Vega calls it."""
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


def scale(seen: Mapping[str, TracerLook], quality: Literal["colour", "shape", "dash"]) -> Spec:
    """The scale of a channel of Vega-Lite, which gives each series its colour, its shape or its dash."""
    return {"scale": {"domain": list(seen), "range": [getattr(one, quality) for one in seen.values()]}}


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
