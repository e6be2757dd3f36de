"""What the home page says of all machines together, and of user probes, whose cost their first instruction decides."""

from __future__ import annotations

from collections import Counter

from probe_effect.answer.entry_path import calls_of_event
from probe_effect.answer.evidence import evidence
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.words import WORDS
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.grouping import grouped_by
from probe_effect.numbers.home import home_machine
from probe_effect.numbers.likeness import facts_of_submission
from probe_effect.reduce.submission import Number

USER_PROBE = "uprobe"
ACTION = "count"
"""The action of the rows for user probes: one for all, so that only the instruction differs."""

MECHANISMS = ("emulated", "stepped", "called")


def machines_said(catalogue: Catalogue) -> str:
    """How many machines were timed, and of which kinds: `3 virtual machines (2 of AMD EPYC, 1 of Intel Xeon)`."""
    newest = [facts_of_submission(found[0]) for found in catalogue.numbers.machines().values()]
    counted = len(catalogue.numbers.machines("instructions"))
    kinds = []
    for tier, number in Counter(one.tier for one in newest).most_common():
        families = Counter(
            names.cpu_family(one.cpu_model or names.architecture(one.architecture))
            for one in newest
            if one.tier == tier
        ).most_common()
        of = ", ".join(f"{count} of {family}" for family, count in families)
        kinds.append(f"{'1 ' if number == 1 else ''}{names.tier_words(tier, number)} ({of})")
    if counted:
        kinds.append(f"{counted} emulated, where instructions are counted and nothing is timed")
    return "; ".join(kinds)


def named(catalogue: Catalogue, number: Number) -> str:
    """A case by its name; a user probe with what the kernel does with the first instruction, where that is known.

    One whose event is an iteration of several system calls says so.
    """
    case = next((one for one in catalogue.cases() if one.id == number.case), None)
    title = catalogue.titles.get(number.case, number.case)
    how = mechanism_of(case, number) if case and USER_PROBE in case.needs and number.is_time else None
    calls = calls_of_event(evidence(catalogue), number.case)
    says = how if how in MECHANISMS else calls and f"per iteration of {calls} system calls"
    return f"{title}, {says}" if says else title


def user_probes(catalogue: Catalogue) -> list[tuple[str, Number]]:
    """Each way in which the kernel handles a first instruction, in words, and its cost on the home machine.

    Of several the one that costs most stands for all. Empty where not two of them were measured there.
    """
    home = home_machine(catalogue.numbers)
    if home is None:
        return []
    own = catalogue.numbers.of_machine(home).values()
    cases = {case.id: case for case in catalogue.cases() if (case.probe, case.action) == (USER_PROBE, ACTION)}
    sound = (one for one in own if one.case in cases and one.level is None and one.is_sound)
    probes = (one for one in sound if names.tool_of(one.tracer) == "bpftrace")
    ways = grouped_by(probes, lambda one: mechanism_of(cases[one.case], one))
    highest = {how: max(some, key=lambda one: one.known_cost.value) for how, some in ways.items()}
    found = [(WORDS[f"first-{how}"], highest[how]) for how in MECHANISMS if how in highest]
    return found if len(found) > 1 else []
