"""Which machine, and which numbers, are shown wherever a page names one number and no machine.

The home machine is that of the reference submission: the run of the first suite that was least disturbed. A number is
the current one of the home machine where that is sound. A suite that the home machine lacks comes from the machine that
has most of its numbers, so that a table is from one machine.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from probe_effect.model import Estimate
from probe_effect.numbers.index import Numbers
from probe_effect.numbers.names import BOOTED, several, tier
from probe_effect.numbers.once import once
from probe_effect.reduce.grades import HOSTED, NESTED, UNDER_LOAD, VIRTUAL, WORST
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
    nested, not virtual. Then: its noise floor is lower, in ns; it has more blocks. The floor is not divided by the
    untraced time, which would favour slow machines: a cost that hides in the noise is in ns.
    """
    least = min(map(_disturbed, submissions))
    return max((one for one in submissions if _disturbed(one) == least), key=_blocks)


def _disturbed(one: Submission) -> tuple[bool, bool, list[bool], float]:
    reasons = [rule.words in one.grade_reasons for rule in (UNDER_LOAD, HOSTED, NESTED, VIRTUAL)]
    reasons[0] |= tier(one.document.machine) == BOOTED  # whose host has other work to do
    floor_ns = math.inf if one.noise_floor_ns is None else one.noise_floor_ns
    return one.suite != FIRST_SUITE, one.grade == WORST, reasons, floor_ns


def _blocks(one: Submission) -> int:
    return max((number.blocks for number in one.numbers), default=0)


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
