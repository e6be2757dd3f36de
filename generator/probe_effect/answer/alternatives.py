"""Other ways to the same answer that cost less: other probes and actions, and the sentences on them.

Only what a comparison finds lower on the same machine (`compare.comparison`), so an interval separates the two.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from probe_effect.answer import sentences
from probe_effect.answer.answers import Forecast, forecast, rows_of, spreads_of
from probe_effect.answer.prediction import WORDS
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.compare.comparison import Comparison, compare
from probe_effect.costs.evidence import CostKey, Evidence
from probe_effect.costs.table import of_machine
from probe_effect.numbers import names
from probe_effect.numbers.estimates import is_below
from probe_effect.numbers.submission import Number


@dataclass(frozen=True, slots=True)
class Alternative:
    """A measured cost that is lower than the one asked about.

    `comparison`: it against the one asked about. `but`: what it needs or does not tell; None for the same probe and
    action with another tracer.
    """

    measured: Number
    comparison: Comparison
    but: str | None

    @property
    def key(self) -> CostKey:
        return self.measured.submission.machine, self.measured.tracer, self.measured.case


Way = tuple[Alternative, Forecast]
"""An alternative, and what it does under the load that was asked about."""


def alternatives(found: Evidence, key: CostKey) -> list[Alternative]:
    """What costs less than the cost at `key` on its machine: with the same tool first, then by cost."""
    asked = found.costs.get(key)
    if asked is None or not asked.is_clear or not asked.leads:
        return []
    pairs = ((one, but, compare(asked, one)) for one, but in _candidates(found, key))
    lower = [Alternative(one, made, but) for one, but, made in pairs if made.outcome == "lower"]
    tool = names.tool_of(key[1])
    return sorted(lower, key=lambda one: (names.tool_of(one.key[1]) != tool, one.measured.known_cost.value))


def ways(found: Evidence, one: Forecast) -> list[Way]:
    """The alternatives to a forecast of one measured probe, under its load; empty for several probes.

    With several threads costs change by contention, so there only those whose slowdown stays apart.
    """
    (first, *more) = one.parts
    if more or first.basis != "measured":
        return []
    # Of several machines what each of them finds lower, whichever machine the asker's is most like.
    keys = [(machine, one.tracer, first.name) for machine in one.machines]
    lower = [{other.key[1:] for other in alternatives(found, key)} for key in keys if key in found.costs]
    made = []
    for other in alternatives(found, (one.facts.machine, one.tracer, first.name)):
        machine, tracer, case = other.key
        if all((tracer, case) in some for some in lower):
            asked = (ProbeQuestion(case, one.load.rate_hz),)
            question = Question(probes=asked, threads=one.load.threads, busy_ratio=one.load.busy_ratio)
            rows = rows_of(of_machine(found, machine, tracer), question)
            under_load = forecast(rows, one.facts, tracer, question, spreads_of(found, tracer, question, rows))
            made.append((other, under_load))
    return [way for way in made if one.load.threads == 1 or is_below(way[1].cost, one.cost)]


def _candidates(found: Evidence, key: CostKey) -> Iterator[tuple[Number, str | None]]:
    """What answers the same question on the same machine, with what is to be said of it.

    Of the same case each tool with the lowest cost of its versions. Of each other case one: with the tracer asked
    about, or else another version of that tool, or else the tracer that costs least.
    """
    machine, tracer, case_id = key

    def distance(one: Number) -> tuple[bool, bool, float]:
        return one.tracer != tracer, names.tool_of(one.tracer) != names.tool_of(tracer), one.known_cost.value

    same = [one for used, one in found.with_tracers(machine, case_id).items() if used != tracer and one.leads]
    for tool in dict.fromkeys(names.tool_of(one.tracer) for one in same):
        of_tool = (one for one in same if names.tool_of(one.tracer) == tool)
        yield min(of_tool, key=lambda one: one.known_cost.value), None
    for other in found.case_of[case_id].instead:
        with_tracers = found.with_tracers(machine, other.case)
        fitting = (one for used, one in with_tracers.items() if other.tracer in (None, names.tool_of(used)))
        measured = [one for one in fitting if one.leads]
        if measured:
            yield min(measured, key=distance), other.but


def way(found: Way) -> tuple[str, str, str]:
    """An alternative by name, its slowdown and cost, and what it needs or does not tell."""
    other, one = found
    name = WORDS["way"].format(what=one.parts[0].called, tool=one.tracer)
    figures = WORDS["way-figures"].format(slowdown=sentences.slowdown(one), cost=sentences.cost(one))
    losing = [WORDS["way-loss"].format(loss=sentences.loss(one))] if one.loss_ratio else []
    return name, figures, " ".join([remarks(other), *losing])


def remarks(found: Alternative) -> str:
    apart = [] if found.comparison.is_paired else [WORDS["way-run"]]
    return " ".join([found.but or WORDS["way-tracer"], *apart])
