"""What is shown beside an answer, in sentences: other machines of its kind, and what would cost less.

The script of the calculator says the same (site/assets/js/answer.js).
"""

from __future__ import annotations

from collections.abc import Sequence

from probe_effect import units
from probe_effect.answer import sentences
from probe_effect.answer.alternatives import Alternative, Way
from probe_effect.answer.answers import Forecast
from probe_effect.answer.words import WORDS


def alike(found: Sequence[Forecast]) -> str:
    """The same probes on several machines of one kind, as one range: none of its figures is that of one machine."""
    first = found[0]
    return WORDS["alike"].format(
        rate=sentences.rate(first),
        what=WORDS["with"].join(map(sentences.named, first.parts)),
        tool=first.tracer,
        whom=sentences.whom(first),
        slowdown=sentences.while_running(first, _range(found)),
        count=len(found),
        kind=first.facts.kind,
    )


def _range(found: Sequence[Forecast]) -> str:
    """From the lowest end of all intervals to the highest; a value stands for an end that it has not."""
    ends = [one.prediction.slowdown for one in found]
    least = min(one.value if one.low is None else one.low for one in ends)
    greatest = max(one.value if one.high is None else one.high for one in ends)
    key = "alike-range" if all(one.is_clear for one in found) else "alike-most"
    return WORDS[key].format(least=units.percent(least), greatest=units.percent(greatest))


def way(found: Way) -> tuple[str, str, str]:
    """An alternative by name, its slowdown and cost, and what it needs or does not tell."""
    one = found.forecast
    name = WORDS["way"].format(what=one.parts[0].called, tool=one.tracer)
    figures = WORDS["way-figures"].format(slowdown=sentences.slowdown(one), cost=sentences.cost(one))
    losing = [WORDS["way-loss"].format(loss=sentences.loss(one))] if one.loss_ratio else []
    return name, figures, " ".join([remarks(found.alternative), *losing])


def remarks(found: Alternative) -> str:
    """What an alternative needs or does not tell, and whether it ran apart."""
    apart = [] if found.comparison.is_paired else [WORDS["way-run"]]
    return " ".join([found.but or WORDS["way-tracer"], *apart])
