"""The calculator as it is sent: what its fields offer and what it answers before any script runs.

The page's scripts (`calculator.js`, `calculator-answer.js`) make the same of the same costs, which a browser test
holds the two to. So nothing waits for them, and a reader without scripts has an answer too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from probe_effect import units
from probe_effect.answer import asking, bands, beside, sentences
from probe_effect.answer.alternatives import ways
from probe_effect.answer.answers import forecast, tried
from probe_effect.answer.part import Basis
from probe_effect.answer.parts import parts
from probe_effect.answer.question import Asked, Question
from probe_effect.answer.words import WORDS
from probe_effect.charts.calculator import calculator_chart
from probe_effect.numbers.likeness import facts_of_submission
from probe_effect.numbers.published import PUBLISHED_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probe_effect.answer.answers import Forecast
    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.proof import Spread

RATE_HZ = 50_000.0
"""The rate that the form has at first."""

BASES = get_args(Basis)
FIRSTS = ("", "emulated", "stepped", "called", "unknown")

Values = dict[str, Any]
Option = tuple[str, str]


def first_answer(found: Evidence, apart: Spread | None, whole: Mapping[str, Any]) -> Values:
    """What the fields offer, which of it is chosen, and the answer; empty where no cost guides.

    Args:
        apart: how far real programs lie from the loops.
        whole: what the page's scripts work with.
    """
    costs = in_order(whole)
    chosen = next((one for one in costs if one["clear"] and one["basis"] == "measured"), None)
    if chosen is None:
        return {}
    same = ("case", "tracer", "kind", "basis")
    others = [one for one in costs if one is not chosen and all(one[name] == chosen[name] for name in same)]
    return {
        "chosen": chosen,
        "fields": _fields(costs, chosen, whole),
        **_answer(found, _forecast(found, apart, chosen)),
        "comparable": [(one["machine"], sentences.slowdown(_forecast(found, apart, one))) for one in others],
    }


def in_order(whole: Mapping[str, Any]) -> list[Values]:
    """All costs, in the order in which they are offered: by tracer, then what was measured first, then by suite."""
    cases = {
        case: {"order": order, "title": title, "probe": probe, "action": action, "href_of_case": href}
        for order, (case, title, probe, action, href) in enumerate(
            case for suite in whole["suites"] for case in suite["cases"]
        )
    }
    machines = whole["machines"] | whole["others"]
    tracers = [*whole["tracers"], *(one["tracer"] for other in whole["others"].values() for one in other["costs"])]
    costs = [
        {"first": "", "title": "", "order": len(cases)} | one | cases.get(one["case"], {}) | _place(id_, machine)
        for id_, machine in machines.items()
        for one in machine["costs"]
    ]
    return sorted(costs, key=lambda one: (tracers.index(one["tracer"]), BASES.index(one["basis"]), one["order"]))


def _place(id_: str, machine: Mapping[str, Any]) -> Values:
    return {"machine": id_, **{name: machine[name] for name in ("where", "kind", "alike", "href")}}


def _fields(costs: Sequence[Values], chosen: Values, whole: Mapping[str, Any]) -> dict[str, Values]:
    """For each field what was measured with the choices before it, in groups."""
    offers = {"probe": _probes, "first": _firsts, "case": _cases, "tracer": _tracers}
    own, fields = list(costs), {}
    for name, offer in offers.items():
        fields[name] = {"chosen": chosen[name], "groups": offer(own)}
        own = [one for one in own if one[name] == chosen[name]]
    return fields | {"machine": {"chosen": chosen["machine"], "groups": _machines(own, whole)}}


def _distinct(costs: Iterable[Values], name: str) -> list[str]:
    return list(dict.fromkeys(one[name] for one in costs))


def _probes(costs: Sequence[Values]) -> list[tuple[str, list[Option]]]:
    return asking.questions(_distinct(costs, "probe"))


def _firsts(costs: Sequence[Values]) -> list[tuple[str, list[Option]]]:
    known = sorted(_distinct(costs, "first"), key=FIRSTS.index)
    return [("", [(first, WORDS.get(f"first-{first}", units.MISSING)) for first in known])]


def _cases(costs: Sequence[Values]) -> list[tuple[str, list[Option]]]:
    """Equal actions together, in the order of their first case; others that do the same have their names."""
    options: list[Option] = []
    for action in _distinct(costs, "action"):
        own = [one for one in costs if one["action"] == action]
        cases = _distinct(own, "case")
        for case in cases:
            alike = [one for one in own if one["case"] == case]
            named = f": {alike[0]['title']}" if case != cases[0] and alike[0]["title"] else ""
            best = min(alike, key=lambda one: BASES.index(one["basis"]))
            known = WORDS[f"is-{best.get('known') or best['basis']}"]
            options.append((case, known.format(what=asking.action_words(action) + named)))
    return [("", options)]


def _tracers(costs: Sequence[Values]) -> list[tuple[str, list[Option]]]:
    return [("", [(tracer, tracer) for tracer in _distinct(costs, "tracer")])]


def _machines(costs: Sequence[Values], whole: Mapping[str, Any]) -> list[tuple[str, list[Option]]]:
    own = [one for one in costs if one["basis"] != "published"]
    printed = [one for one in costs if one["basis"] == "published"]
    groups = [
        ("A machine that was measured", [(one["machine"], one["where"]) for one in own]),
        ("A machine like yours", [_kind(kind, own, whole) for kind in _distinct(own, "kind")]),
        (f"Printed by others{PUBLISHED_MARK}", [(one["machine"], one["where"]) for one in printed]),
    ]
    return [(group, options) for group, options in groups if options]


def _kind(kind: str, costs: Sequence[Values], whole: Mapping[str, Any]) -> Option:
    alike = [one for one in costs if one["kind"] == kind]
    loaded = sum(machine["kind"] == kind for machine in whole["machines"].values())
    number = f"{len(alike)} of {whole['kinds'][kind]}" if loaded < whole["kinds"][kind] else len(alike)
    return kind, f"Any {alike[0]['alike']} ({number} machines)"


def _forecast(found: Evidence, apart: Spread | None, one: Values) -> Forecast:
    """What a measured cost does at the rate that the form has at first."""
    question = Question(probes=(Asked(one["case"], RATE_HZ),))
    known = parts(found, question, one["machine"], one["tracer"])
    return forecast(known, facts_of_submission(known[0].sources[0].submission), one["tracer"], question, apart)


def _answer(found: Evidence, one: Forecast) -> Values:
    slowdown = one.prediction.slowdown
    figures = [("CPU", sentences.cpu(one)), ("Events lost", sentences.loss(one)), *sentences.thresholds(one)]
    return {
        "sentence": sentences.headline(one),
        "recommendation": bands.recommendation(slowdown),
        "figures": [*figures, ("Grade", sentences.grade(one))],
        "ways": [
            {
                "said": beside.way(way),
                "tracer": way.forecast.tracer,
                "case": way.forecast.parts[0].name,
                "machine": one.facts.machine,
            }
            for way in ways(found, one)
        ],
        "no_way": WORDS["no-way"],
        "assumptions": sentences.assumptions(one, tried(found, one)),
        "chart": calculator_chart(
            slowdown, RATE_HZ, WORDS["chart"].format(slowdown=sentences.slowdown(one), rate=sentences.rate(one))
        ),
    }
