"""Which machines and which numbers a page shows, however many there are: the home machine, and one of each kind.

The home machine is that of the reference submission: the run of the first suite that was least disturbed. A number is
the current one of the home machine where that is sound. A suite that the home machine lacks comes from the machine that
has most of its numbers, so that a table is from one machine.

A kind is what times depend on most and readers look for: the tier, the instruction set and the family of the CPU.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from probe_effect.model import Estimate
from probe_effect.numbers.index import Numbers, grouped_by, once
from probe_effect.numbers.likeness import Facts, facts_of_submission
from probe_effect.numbers.names import BOOTED, cpu_family, several, tier
from probe_effect.reduce.grades import OF_SUBMISSION, WORST
from probe_effect.reduce.submission import Number, Submission

FIRST_SUITE = "per-event"
"""The suite that the home page shows: one event, probe by probe."""


@once
def reference_submission(numbers: Numbers) -> Submission | None:
    """The submission of times that the home page shows; None without any."""
    every = [one for found in numbers.machines().values() for one in found]
    measured = [one for one in every if any(number.cost for number in one.numbers)]
    return representative(measured) if measured else None


def home_machine(numbers: Numbers) -> str | None:
    """The id of the machine of that submission."""
    reference = reference_submission(numbers)
    return reference.machine if reference else None


def representative(submissions: Sequence[Submission]) -> Submission:
    """Of submissions, newest first, the one to show: of the first suite, and of these the least disturbed.

    In this order: it has intervals and its events add up; its machine was idle before it; it is no hosted runner, not
    nested, not virtual. Then: its noise floor is lower, in ns (METHOD.md says why); it has more blocks.
    """
    least = min(map(_disturbed, submissions))
    equal = (one for one in submissions if _disturbed(one) == least)
    return max(equal, key=lambda one: max((number.blocks for number in one.numbers), default=0))


def _disturbed(one: Submission) -> tuple[bool, bool, list[bool], float]:
    words = {rule.fact: rule.words for rule in OF_SUBMISSION}
    reasons = [words[fact] in one.grade_reasons for fact in ("load_ratio", "hosted", "nested", "virtual")]
    reasons[0] |= tier(one.document.machine) == BOOTED  # whose host has other work to do
    floor_ns = math.inf if one.noise_floor_ns is None else one.noise_floor_ns
    return one.suite != FIRST_SUITE, one.grade == WORST, reasons, floor_ns


def in_order(numbers: Numbers) -> list[Submission]:
    """The submissions of times, those of the home machine first, newest first."""
    home = home_machine(numbers)
    machines = sorted(numbers.machines().items(), key=lambda item: item[0] != home)
    return [one for _, found in machines for one in found]


@once
def home_numbers(numbers: Numbers) -> dict[str, Number]:
    """By `<tracer>.<case>[@<level>]`, the sound number to show: the home machine's, else as its suite has most."""
    sound = [one for one in numbers.current() if one.is_sound or one.tracer_cpu is not None]
    of_suites = Counter((one.submission.machine, one.submission.suite) for one in sound)
    home = home_machine(numbers)

    def comes_first(one: Number) -> tuple[bool, int]:
        machine = one.submission.machine
        return machine == home, of_suites[machine, one.submission.suite]

    found: dict[str, Number] = {}
    for one in sorted(sound, key=comes_first, reverse=True):
        found.setdefault(one.name, one)
    return found


class MachineRange(NamedTuple):
    """What one thing costs, ns, between the least and the greatest of so many machines; in words what they are."""

    cost: Estimate
    machines: int
    words: str = ""


def on_all_machines(numbers: Numbers, number: Number) -> MachineRange | None:
    """The cost of a number on all machines where it is clear; None if only one has it."""
    same = [one for one in numbers.of_case(number.case) if (one.tracer, one.level) == (number.tracer, number.level)]
    clear = [run for one in same if one.is_sound for run in numbers.of_hosts(one) if run.is_clear]
    runs = {one.submission.machine: one.submission for one in clear}
    if len(runs) < 2:
        return None
    costs = sorted(one.known_cost.value for one in clear)
    return MachineRange(Estimate(number.known_cost.value, costs[0], costs[-1]), len(runs), several(list(runs.values())))


MOST_MACHINES = 12
"""On one page: as many as a table can hold that somebody still reads from end to end."""


def shown_machines(numbers: Numbers, most: int = MOST_MACHINES) -> list[str]:
    """Of all machines whose times were measured, those that a page shows."""
    return select(numbers.machines(), home_machine(numbers), most)


def shown(found: Sequence[Number], numbers: Numbers, most: int = MOST_MACHINES) -> tuple[list[Number], int]:
    """Of numbers of one case those that its page shows, machine by machine, and how many machines it excludes."""
    machines = grouped_by((one.submission for one in found), lambda one: one.machine)
    chosen = set(select(machines, home_machine(numbers), most))
    return [one for one in found if one.submission.machine in chosen], len(machines) - len(chosen)


def select(machines: Mapping[str, Iterable[Submission]], home: str | None, most: int = MOST_MACHINES) -> list[str]:
    """Up to `most` machines: `home`, then the best graded of each kind, then of the rest the best graded.

    Of equals the one that ran last comes first.
    """
    if len(machines) <= most:
        return sorted(machines, key=lambda machine: machine != home)
    best = {machine: _best(submissions) for machine, submissions in machines.items()}
    ordered = sorted(best, key=lambda machine: best[machine].started, reverse=True)
    ordered.sort(key=lambda machine: (machine != home, best[machine].grade or ""))
    first_of_kind = {machine_kind(best[machine]): machine for machine in reversed(ordered)}
    firsts = set(first_of_kind.values())
    return sorted(ordered, key=lambda machine: (machine != home, machine not in firsts))[:most]


def _best(submissions: Iterable[Submission]) -> Submission:
    newest_first = sorted(submissions, key=lambda one: one.started, reverse=True)
    return min(newest_first, key=lambda one: one.grade or "")


def machine_kind(one: Submission) -> tuple[str, str, str]:
    """What makes the machine of a submission one of a kind."""
    return kind_of(facts_of_submission(one))


def kind_of(facts: Facts) -> tuple[str, str, str]:
    """Tier, architecture and CPU family of a machine."""
    return facts.tier, facts.architecture, cpu_family(facts.cpu_model or "")


def one_of_each(numbers: Numbers, most: int) -> list[str]:
    """The home machine, and one of each other kind; of many kinds only `most`."""
    kinds = {machine_kind(submissions[0]) for submissions in numbers.machines().values()}
    return select(numbers.machines(), home_machine(numbers), min(len(kinds), most))
