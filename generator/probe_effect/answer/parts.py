"""The probes that a question asks about, each with its cost on one machine: measured, or composed of measured ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from probe_effect.answer.composition import composed
from probe_effect.answer.entry_path import entry_path
from probe_effect.answer.levels import contention, nearest
from probe_effect.answer.prediction import multiplied
from probe_effect.answer.question import Asked
from probe_effect.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.entry_path import EntryPath
    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.levels import Contention
    from probe_effect.answer.question import Combination, Question
    from probe_effect.model import Estimate
    from probe_effect.reduce.submission import Number

PLAIN_ACTION = "nothing"
"""The action of cases whose cost is that of the probe alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One probe of a question on one machine.

    `name`: its case, or its probe and action in words. `sources`: what its `cost` is from: the case, or for a composed
    cost the cases of the probe, of the action, and of the plain probe. `cost`: ns an event, with contention in it and
    with what the system calls pay that one event comes with; `path` tells how many those are, where it is known.
    """

    name: str
    rate_hz: float
    sources: tuple[Number, ...]
    cost: Estimate
    is_clear: bool
    contention: Contention | None
    path: EntryPath | None = None

    @property
    def is_composed(self) -> bool:
        """Whether nobody measured it whole."""
        return len(self.sources) > 1

    @property
    def highest_hz(self) -> float | None:
        """The highest rate of events at which all that it consists of was measured."""
        rates = [one.rate_hz for one in self.sources if one.rate_hz is not None]
        return min(rates) if len(rates) == len(self.sources) else None


def parts(found: Evidence, question: Question, machine: str, tracer: str) -> list[Part]:
    """The question's probes as measured on a machine with a tracer; empty where one is missing.

    Raises: UsageError for a combination that several cases measure there.
    """
    wanted = [_measured(found, one, machine, tracer, question.threads) for one in question.probes]
    if question.combination is not None:
        wanted.append(_combined(found, question.combination, machine, tracer, question.threads))
    known = [part for part in wanted if part is not None]
    return _with_calls(known, question.calls_hz) if len(known) == len(wanted) else []


def _with_calls(known: Sequence[Part], calls_hz: float | None) -> list[Part]:
    """The parts with what the system calls of the program pay, once for all probes that stand on them.

    Where nobody says how many calls there are, they are as many as in the loop of the part that has most.
    """
    on_calls = [(part, part.path) for part in known if part.path is not None]
    events_hz = sum(part.rate_hz for part, _ in on_calls)
    if not events_hz or (calls_hz is None and len(on_calls) == 1):
        return list(known)
    in_loops_hz = max(part.rate_hz * path.calls_per_event for part, path in on_calls)
    calls_per_event = (in_loops_hz if calls_hz is None else calls_hz) / events_hz
    return [
        part
        if part.path is None
        else replace(
            part,
            cost=part.path.moved(part.cost, calls_per_event),
            path=replace(part.path, calls_per_event=calls_per_event),
        )
        for part in known
    ]


def _measured(found: Evidence, asked: Asked, machine: str, tracer: str, threads: int) -> Part | None:
    one = found.costs.get((machine, tracer, asked.case))
    if one is None:
        return None
    several = nearest(contention(found, machine, tracer, asked.case), threads)
    return Part(
        name=asked.case,
        rate_hz=asked.rate_hz,
        sources=(one,),
        cost=multiplied(one.bounded_cost, several.factor) if several else one.bounded_cost,
        is_clear=one.is_clear,
        contention=several,
        path=entry_path(found, (machine, tracer, asked.case)),
    )


def _combined(found: Evidence, wanted: Combination, machine: str, tracer: str, threads: int) -> Part | None:
    """The one case that has the probe with the action, or else their composition."""
    cases = [case for _, case in found.cases if (case.probe, case.action) == (wanted.probe, wanted.action)]
    whole = [case.id for case in cases if not case.parts and (machine, tracer, case.id) in found.costs]
    if len(whole) > 1:
        msg = f"{wanted.probe} with {wanted.action}: measured by several cases; name one: --case {' or '.join(whole)}"
        raise UsageError(msg)
    if whole:
        return _measured(found, Asked(whole[0], wanted.rate_hz), machine, tracer, threads)
    sources = _composition(found, wanted, machine, tracer)
    if sources is None:
        return None
    probe, action, plain = sources
    cost = composed(probe.known_cost, action.known_cost, plain.known_cost)
    return Part(
        name=f"{wanted.probe} with {wanted.action}",
        rate_hz=wanted.rate_hz,
        sources=sources,
        cost=cost,
        is_clear=cost.value > 0 and (cost.low is None or cost.low > 0),
        contention=None,
    )


def _composition(
    found: Evidence, wanted: Combination, machine: str, tracer: str
) -> tuple[Number, Number, Number] | None:
    """Measurements of the probe, of the action on another probe, and of that probe alone.

    The latter two are of one suite, because only there the other probe is on the same place; the best of several are
    those whose suite has the probe too. What never fires is no part of anything.
    """
    costs = found.by_tracer(machine).get(tracer, {})
    firing = [(suite, case) for suite, case in found.cases if not case.parts and case.counted_by != "nothing"]
    known = [(suite.id, case) for suite, case in firing if case.id in costs]
    plain = [(suite, case) for suite, case in known if case.action == PLAIN_ACTION]
    probes = [(suite, case) for suite, case in plain if case.probe == wanted.probe]
    actions = [(suite, case) for suite, case in known if case.action == wanted.action]
    triples = [
        (suite != home, costs[probe.id], costs[action.id], costs[other.id])
        for home, probe in probes
        for suite, action in actions
        for its_suite, other in plain
        if its_suite == suite and other.probe == action.probe
    ]
    best = min(triples, key=lambda one: one[0], default=None)
    return None if best is None else best[1:]
