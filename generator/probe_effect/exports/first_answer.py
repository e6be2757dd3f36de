"""The calculator as it is sent: what its fields offer and what it answers before any script runs.

The page's scripts (`calculator.js`, `calculator-answer.js`) make the same of the same costs, which a browser test
holds the two to. So nothing waits for them, and a reader without scripts has an answer too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, get_args

from probe_effect import units
from probe_effect.answer import asking, bands, beside, hardware, sentences
from probe_effect.answer.alternatives import ways
from probe_effect.answer.answers import Forecast, forecast, tried
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.part import Basis
from probe_effect.answer.parts import parts
from probe_effect.answer.proof import Spread
from probe_effect.answer.question import ProbeQuestion, Question
from probe_effect.answer.words import WORDS
from probe_effect.charts.calculator import calculator_chart
from probe_effect.exports.script_values import Values
from probe_effect.numbers.likeness import facts_of_submission
from probe_effect.numbers.published import PUBLISHED_MARK

RATE_HZ = 50_000.0
"""The rate that the form has at first."""

BASES = get_args(Basis)
FIRSTS = ("", "emulated", "stepped", "called", "unknown")
PRINTED = ("date", "title", "href_of_case", "where", "href")
"""The fields of the chosen cost that the layout prints."""

Option = tuple[str, str]
OptionGroup = tuple[str, list[Option]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedCost:
    """A cost that the fields offer, with its case, if it is one, and its machine in words.

    `order`: the place of its case among all; `known`: what the words for its basis are known by, where that is not the
    basis.
    """

    case: str
    title: str = ""
    order: int
    probe: str
    action: str
    href_of_case: str = ""
    tracer: str
    basis: Basis
    known: str | None = None
    first: str = ""
    clear: bool
    date: str
    machine: str
    where: str
    kind: str
    alike: str
    href: str


NAMES = frozenset(one.name for one in fields(OfferedCost))


def offers(whole: Mapping[str, Any]) -> list[OfferedCost]:
    """The costs that the page's scripts offer: by tracer, then measured ones first, then by suite."""
    cases = {
        case: {"order": order, "title": title, "probe": probe, "action": action, "href_of_case": href}
        for order, (case, title, probe, action, href) in enumerate(
            case for suite in whole["suites"] for case in suite["cases"]
        )
    }
    tracers = [*whole["tracers"], *(one["tracer"] for other in whole["others"].values() for one in other["costs"])]
    every = [
        {"order": len(cases), "machine": id_} | machine | one | cases.get(one["case"], {})
        for id_, machine in (whole["machines"] | whole["others"]).items()
        for one in machine["costs"]
    ]
    found = [OfferedCost(**{name: value for name, value in one.items() if name in NAMES}) for one in every]
    return sorted(found, key=lambda one: (tracers.index(one.tracer), BASES.index(one.basis), one.order))


def first_answer(
    found: Evidence, apart: Spread | None, offered: Sequence[OfferedCost], kinds: Mapping[str, int]
) -> Values:
    """What the fields offer, which of it is chosen, and the answer; empty where no cost guides.

    Args:
        apart: how far real programs lie from the loops.
        offered: the costs that the page has from the start.
        kinds: how many machines of each kind there are, with those that the page has not.
    """
    chosen = next((one for one in offered if one.clear and one.basis == "measured"), None)
    if chosen is None:
        return {}
    same = attrgetter("case", "tracer", "kind", "basis")
    others = [one for one in offered if one is not chosen and same(one) == same(chosen)]
    answer, alike = _forecast(found, apart, chosen), [_forecast(found, apart, one) for one in others]
    return {
        "chosen": {name: getattr(chosen, name) for name in PRINTED},
        "fields": _fields(offered, chosen, kinds),
        **_answer(found, answer),
        "comparable": _comparable([answer, *alike]) if alike else None,
    }


def _comparable(every: Sequence[Forecast]) -> Values:
    """The slowdown on each machine but the first, which the answer is of, and the range of all."""
    values = [one.prediction.slowdown.value for one in every]
    ends = {"least": units.percent(min(values)), "greatest": units.percent(max(values))}
    return {
        "title": WORDS["comparable"].format(count=len(every), **ends),
        "each": [(sentences.where(one), sentences.slowdown(one)) for one in every[1:]],
    }


def _fields(offered: Sequence[OfferedCost], chosen: OfferedCost, kinds: Mapping[str, int]) -> dict[str, Values]:
    """For each field what was measured with the choices before it, in groups."""
    choices: dict[str, Callable[[Sequence[OfferedCost]], list[OptionGroup]]] = {
        "probe": lambda own: asking.questions(_distinct(one.probe for one in own)),
        "first": _firsts,
        "case": _cases,
        "tracer": lambda own: [("", [(one, one) for one in _distinct(one.tracer for one in own)])],
    }
    own, found = list(offered), {}
    for name, groups in choices.items():
        value = attrgetter(name)
        found[name] = {"chosen": value(chosen), "groups": groups(own)}
        own = [one for one in own if value(one) == value(chosen)]
    machines = Counter(kind for _, kind in {(one.machine, one.kind) for one in offered})
    return found | {"machine": {"chosen": chosen.machine, "groups": _machines(own, machines, kinds)}}


def _firsts(own: Sequence[OfferedCost]) -> list[OptionGroup]:
    known = sorted(_distinct(one.first for one in own), key=FIRSTS.index)
    return [("", [(first, WORDS.get(f"first-{first}", units.MISSING)) for first in known])]


def _cases(own: Sequence[OfferedCost]) -> list[OptionGroup]:
    """Equal actions together, in the order of their first case; others that do the same have their names."""
    options: list[Option] = []
    for action in _distinct(one.action for one in own):
        cases = _distinct(one.case for one in own if one.action == action)
        for case in cases:
            alike = [one for one in own if (one.action, one.case) == (action, case)]
            named = f": {alike[0].title}" if case != cases[0] and alike[0].title else ""
            best = min(alike, key=lambda one: BASES.index(one.basis))
            known = WORDS[f"is-{best.known or best.basis}"]
            options.append((case, known.format(what=asking.action_words(action) + named)))
    return [("", options)]


def _machines(own: Sequence[OfferedCost], loaded: Mapping[str, int], kinds: Mapping[str, int]) -> list[OptionGroup]:
    ours = [one for one in own if one.basis != "published"]
    alike = {kind: [one for one in ours if one.kind == kind] for kind in _distinct(one.kind for one in ours)}
    groups = [
        ("A machine that was measured", [(one.machine, one.where) for one in ours]),
        ("A machine like yours", [_kind(kind, some, loaded[kind], kinds[kind]) for kind, some in alike.items()]),
        (f"Printed by others{PUBLISHED_MARK}", [(one.machine, one.where) for one in own if one.basis == "published"]),
    ]
    return [(group, options) for group, options in groups if options]


def _kind(kind: str, alike: Sequence[OfferedCost], loaded: int, every: int) -> Option:
    number = f"{len(alike)} of {every}" if loaded < every else len(alike)
    return kind, f"Any {alike[0].alike} ({number} machines)"


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _forecast(found: Evidence, apart: Spread | None, one: OfferedCost) -> Forecast:
    """The forecast of a measured cost at the rate that the form has at first."""
    question = Question(probes=(ProbeQuestion(one.case, RATE_HZ),))
    known = parts(found, question, one.machine, one.tracer)
    return forecast(known, facts_of_submission(known[0].sources[0].submission), one.tracer, question, apart)


def _answer(found: Evidence, one: Forecast) -> Values:
    slowdown = one.prediction.slowdown
    outside = [hardware.row(part.hardware, one.load) for part in one.parts if part.hardware is not None]
    figures = [("CPU", sentences.cpu(one)), ("Events lost", sentences.loss(one)), *outside, *sentences.thresholds(one)]
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
