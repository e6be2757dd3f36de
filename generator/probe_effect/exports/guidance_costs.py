"""The costs of one machine for the calculator: measured ones, and what is composed, estimated or printed by others.

Each is the cost of a case. User probes are also offered by what the kernel does with the first instruction: with each
action that was measured with the tracer, on whatever probe. Those have a name and no case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from probe_effect.answer import sentences
from probe_effect.answer.alternatives import alternatives
from probe_effect.answer.answers import forecast, tried
from probe_effect.answer.cost_of import combinations, cost_of
from probe_effect.answer.entry_path import EntryPath, event_cost
from probe_effect.answer.evidence import CostKey, Evidence
from probe_effect.answer.first_instruction import is_in_red_zone, mechanism_of
from probe_effect.answer.grounds import grounds
from probe_effect.answer.hardware import of_number, said
from probe_effect.answer.levels import contention, line
from probe_effect.answer.part import Part
from probe_effect.answer.parts import parts, published
from probe_effect.answer.published import PublishedCost
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.words import WORDS
from probe_effect.exports.script_values import Values, ends, short
from probe_effect.numbers import names
from probe_effect.numbers.likeness import Facts
from probe_effect.numbers.names import quoted
from probe_effect.numbers.once import once
from probe_effect.reduce.submission import Number
from probe_effect.store.suite_file import Case

USER_PROBES = ("uprobe", "uretprobe")
"""Types of probe whose cost depends on the instruction that they replace."""

UNKNOWN_FIRST = "unknown"


def costs_of(found: Evidence, facts: Facts, notes: Sequence[str]) -> list[Values]:
    """The costs of a machine as JSON; alternatives of a measured cost are places in the list, with their notes."""
    costs = found.by_tracer(facts.machine)
    keys = [(facts.machine, tracer, case) for tracer, cases in costs.items() for case in cases]
    places = {key: place for place, key in enumerate(keys)}
    measured = [_measured(found, key, found.costs[key]) | {"ways": _ways(found, key, places, notes)} for key in keys]
    return [
        *measured,
        *(
            _derived(found, facts, tracer, part)
            for tracer in costs
            for part in _estimated(found, facts.machine, tracer)
        ),
        *(
            _derived(found, facts, tracer, part) | {"probe": kind, "action": action, "first": first or UNKNOWN_FIRST}
            for tracer in costs
            for kind in USER_PROBES
            for first, action, part in _composed(found, facts.machine, tracer, kind)
        ),
    ]


def printed_cost(found: Evidence, tracer: str, case: str, one: PublishedCost) -> Values:
    """A cost that others printed."""
    is_user_probe = case in found.case_of and found.case_of[case].probe in USER_PROBES
    first = {"first": UNKNOWN_FIRST} if is_user_probe else {}
    return _derived(found, one.facts, tracer, published(found, one, case)) | first


def _ways(
    found: Evidence, key: CostKey, places: dict[CostKey, int], notes: Sequence[str]
) -> list[tuple[int, int, int]]:
    return [
        (places[one.key], notes.index(one.but) if one.but else -1, int(one.comparison.is_paired))
        for one in alternatives(found, key)
    ]


def _estimated(found: Evidence, machine: str, tracer: str) -> Iterator[Part]:
    """The cases that were counted and could not be timed there."""
    for case in found.case_of:
        if (machine, tracer, case) not in found.costs:
            yield from parts(found, Question(probes=(ProbeQuestion(case, 0.0),)), machine, tracer)


def _composed(found: Evidence, machine: str, tracer: str, kind: str) -> Iterator[tuple[str | None, str, Part]]:
    """User probes by mechanism and action, where no case is just that."""
    for mechanism, action in combinations(found, machine, tracer, kind):
        part = cost_of(found, machine, tracer, kind=kind, mechanism=mechanism, actions=[action])
        if part is not None and part.basis == "composed":
            yield mechanism, action, part


def _first(found: Evidence, case: Case, one: Number) -> str:
    """What the kernel does with the first instruction of a user probe; where that was not recorded, as elsewhere."""
    return (mechanism_of(case, one) or _first_elsewhere(found, case)) if case.probe in USER_PROBES else ""


@once
def _first_elsewhere(found: Evidence, case: Case) -> str:
    numbers = (number for (_, _, other), number in found.costs.items() if other == case.id)
    return next((how for number in numbers if (how := mechanism_of(case, number))), UNKNOWN_FIRST)


def _path(path: EntryPath | None) -> list[Any] | None:
    """The cost to each system call with its ends, and the calls that the cost includes; None where unknown."""
    return None if path is None else [*(ends(path.cost) or []), short(path.calls_per_event)]


def _derived(found: Evidence, facts: Facts, tracer: str, part: Part) -> Values:
    """A cost that no single measurement is, with what it rests on; what it has not is left out, for it is many."""
    one = forecast([part], facts, tracer, Question())
    case = found.case_of.get(part.name)
    first = {"first": _first(found, case, part.counted)} if case and part.counted else {}
    return {
        "case": part.name,
        "tracer": tracer,
        "tool": sentences.tool(one),
        "basis": part.basis,
        "said": grounds(one, tried(found, one)),
        "cost": ends(part.cost),
        "clear": part.is_clear,
        "grade": sentences.grade(one),
        "date": sentences.dates(one),
        **first,
        **({"known": part.known_as} if part.known_as != part.basis else {}),
        **({"path": path} if (path := _path(part.path)) else {}),
        **({"hardware": (ends(part.hardware.cost), part.hardware.text)} if part.hardware is not None else {}),
    }


def _measured(found: Evidence, key: CostKey, one: Number) -> Values:
    """One cost and what is known of it; `rate` in events/s, `loss` as a ratio, both at the rate that was measured."""
    machine, tracer, case_id = key
    case = found.case_of[case_id]
    letter, reasons = one.trust
    factors = contention(found, machine, tracer, case_id)
    cost, path = event_cost(found, key, one.bounded_cost)
    outside = of_number(found, one)
    return {
        "case": case_id,
        "tracer": tracer,
        "tool": names.tool_with_version(one),
        "basis": "measured",
        "first": _first(found, case, one),
        "cost": ends(cost),
        "clear": one.is_clear,
        "rate": short(one.rate_hz),
        "loss": short(one.loss_ratio),
        "grade": sentences.graded(letter, reasons),
        "date": names.date_words(one.submission.date),
        "path": _path(path),
        "line": sentences.line_words(line(found, machine, tracer, case_id)),
        **(
            {"hardware": (ends(outside.cost), outside.text), "said": [said(quoted(one.title), outside)]}
            if outside
            else {}
        ),
        "contention": [(factor.threads, ends(factor.factor)) for factor in factors],
        **({"said": [WORDS["red-zone"].format(what=names.quoted(one.title))]} if is_in_red_zone(case, one) else {}),
    }
