"""What the calculator of the home page works with: costs that guide, machine by machine, and the words for an answer.

The words are those of the command `predict` (`answer.words`), so the page says what the terminal says. The page has
the costs of a few machines from the start; those of each machine are a file, which it loads when its reader asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial

from probe_effect.answer import asking, sentences
from probe_effect.answer.bands import BANDS
from probe_effect.answer.evidence import Evidence, evidence
from probe_effect.answer.from_counts import models
from probe_effect.answer.prediction import MAX_RATE_HZ, MAX_THREADS, MIN_RATE_HZ
from probe_effect.answer.proof import program_spread
from probe_effect.answer.words import WORDS
from probe_effect.exports.first_answer import first_answer, offers
from probe_effect.exports.guidance_costs import costs_of, printed_cost
from probe_effect.exports.script_values import Values, ends, kept_of_machine, script_json
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.home import FIRST_SUITE, in_order
from probe_effect.numbers.kinds import shown_machines
from probe_effect.numbers.likeness import facts_of_submission
from probe_effect.pages import addresses
from probe_effect.reduce.submission import Submission
from probe_effect.reduce.thresholds import THRESHOLDS

CALCULATOR = "guidance.json"

FIRST = "first-answer.json"
"""What the layout prints of the calculator before its scripts run."""

MOST_COSTS = 400
"""The page has as many of the machines that pages show as have so many costs together, and one at least."""

SOME_ALIKE = (
    "At {rate}, {what} with {tool} slows {whom} by {slowdown} on {count} machines of that kind ({kind}), of {all} that "
    "were measured, from the lowest end of their intervals to the highest."
)
"""Said of a kind of which the page has not loaded all machines; `predict` knows all."""


def guidance_files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """File name below `/data/` and its JSON: what the page begins with, then every machine."""
    found = evidence(catalogue)
    apart = program_spread(found)
    notes = list(dict.fromkeys(other.but for _, case in found.cases for other in case.instead))
    newest: dict[str, Submission] = {}
    for one in in_order(catalogue.numbers):
        newest.setdefault(one.machine, one)
    runs = catalogue.numbers.machines()
    # Estimates are of counts too, and their intervals of all machines; others' costs are beside some.
    counts = [f"{one.id} {one.digest}" for one in catalogue.counted]
    others = [
        *counts,
        repr(models(found).ratios),
        repr([(one.figure, one.source.document) for one in found.printed.values()]),
    ]
    machines = {
        machine: kept_of_machine(
            "guidance", catalogue, [one, *runs[machine]], partial(_machine, found, one, notes), *others
        )
        for machine, one in newest.items()
    }
    kinds = Counter(one["kind"] for one in machines.values() if one["costs"])
    whole = {
        "words": WORDS | {"some-alike": SOME_ALIKE},
        "programs": {"said": sentences.programs(apart), "ratio": ends(apart.factor)} if apart else None,
        "thresholds": THRESHOLDS,
        "bands": [asdict(band) for band in BANDS],
        "limits": {"rate_hz": [MIN_RATE_HZ, MAX_RATE_HZ], "threads": MAX_THREADS},
        "tracers": found.tracers,
        "suites": _suites(found),
        "questions": asking.questions({case.probe for _, case in found.cases}),
        "actions": asking.ACTIONS,
        "notes": notes,
        "kinds": kinds,
        "others": {machine: _other(found, machine) for machine in found.others},
        "machines": _at_once(machines, shown_machines(catalogue.numbers)),
        "all": kinds.total(),
    }
    yield CALCULATOR, script_json(whole)
    yield FIRST, script_json(first_answer(found, apart, offers(whole), kinds))
    for machine, values in machines.items():
        yield f"guidance/{machine}.json", script_json(values)


def _at_once(machines: Mapping[str, Values], shown: Sequence[str]) -> dict[str, Values]:
    """The machines that the page has from the start, of those that pages show; the home machine first."""
    found: dict[str, Values] = {}
    left = MOST_COSTS
    for machine, values in machines.items():
        number = sum(one["basis"] == "measured" for one in values["costs"])
        if number and machine in shown and (number <= left or not found):
            found[machine] = values
            left -= number
    return found


def _machine(found: Evidence, newest: Submission, notes: Sequence[str]) -> Values:
    """A machine in words, the kind that it is of, and its costs."""
    facts = facts_of_submission(newest)
    return {
        "where": facts.name,
        "kind": f"like.{facts.tier.replace(' ', '-')}.{facts.architecture}",
        "alike": facts.kind,
        "href": addresses.machine(newest.machine),
        "costs": costs_of(found, facts, notes),
    }


def _other(found: Evidence, machine: str) -> Values:
    """A machine of others, the same way: it is of a kind of its own."""
    costs = {key: one for key, one in found.printed.items() if key[0] == machine}
    first = next(iter(costs.values()))
    return {
        "where": sentences.printed_place(first),
        "kind": f"published.{machine}",
        "alike": first.hardware,
        "href": f"/sources/{first.source.id}/",
        "costs": [printed_cost(found, tracer, case, one) for (_, tracer, case), one in costs.items()],
    }


def _suites(found: Evidence) -> list[Values]:
    """Suites with the cases that have a cost, the first suite first; each case has the parts of its options."""
    known = {case for _, _, case in (*found.costs, *found.printed)} | {
        case for case, some in found.counts.items() if some
    }
    suites = [
        {
            "title": suite.title,
            "cases": [
                (case.id, found.titles[case.id], case.probe, case.action, addresses.case(case.id))
                for case in suite.cases
                if case.id in known
            ],
        }
        for suite in sorted(found.suites, key=lambda suite: suite.id != FIRST_SUITE)
    ]
    return [suite for suite in suites if suite["cases"]]
