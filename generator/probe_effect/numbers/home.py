"""Which machine, and which numbers, stand for the whole wherever a page names one number and no machine.

The home machine is that of the reference submission: of the first suite, best graded, with the least noise, newest. A
number is the current one of the home machine where that is sound, else that of the machine that ran last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from probe_effect.numbers.index import Numbers
from probe_effect.numbers.once import once
from probe_effect.reduce.submission import Number, Submission

FIRST_SUITE = "per-event"
"""The suite that the home page shows: one event, probe by probe."""


@once
def reference_submission(numbers: Numbers) -> Submission | None:
    """The submission of times that stands for the whole on the home page; None without any."""
    every = [one for found in numbers.machines().values() for one in found]
    measured = [one for one in every if any(number.cost for number in one.numbers)]
    return representative(measured) if measured else None


def home_machine(numbers: Numbers) -> str | None:
    """The id of the machine of that submission."""
    reference = reference_submission(numbers)
    return reference.machine if reference else None


def representative(submissions: Sequence[Submission]) -> Submission:
    """Of submissions, newest first, the one to show: of the first suite, best grade, least noise, newest."""
    return min(submissions, key=lambda one: (one.suite != FIRST_SUITE, one.grade or "", _noise_ratio(one)))


def in_order(numbers: Numbers) -> list[Submission]:
    """The submissions of times, those of the home machine first, newest first."""
    home = home_machine(numbers)
    machines = sorted(numbers.machines().items(), key=lambda item: item[0] != home)
    return [one for _, found in machines for one in found]


def home_numbers(numbers: Numbers) -> dict[str, Number]:
    """By `<tracer>.<case>[@<level>]`, the sound number that stands for it."""
    found: dict[str, Number] = {}
    for machine in dict.fromkeys(one.machine for one in in_order(numbers)):
        for number in numbers.of_machine(machine).values():
            if number.is_sound or number.tracer_cpu is not None:
                found.setdefault(number.name, number)
    return found


def _noise_ratio(one: Submission) -> float:
    if one.noise_floor_ns is None or one.baseline is None or not one.baseline.value:
        return math.inf
    return one.noise_floor_ns / one.baseline.value
