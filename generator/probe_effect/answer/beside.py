"""What would cost less than an answer, in sentences."""

from probe_effect.answer import sentences
from probe_effect.answer.alternatives import Alternative, Way
from probe_effect.answer.words import WORDS


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
