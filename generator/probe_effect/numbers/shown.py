"""Which machines are like a given one, and which machines and numbers a page shows, however many there are.

Times of different tiers or instruction sets are never compared (/method/machines/). Among machines that are of one tier
and one instruction set, the CPU decides before the kernel: what a trap or an interrupt costs is the CPU's.

The home machine is the most typical one: of those that ran the first suite, that whose costs are nearest to the median
of all machines. A number is the current one of the home machine where that is sound. A suite that the home machine
lacks comes from the machine that has most of its numbers, so that a table is from one machine.

A kind is what times depend on most and readers look for: the tier, the instruction set and the family of the CPU.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from types import MappingProxyType
from typing import NamedTuple

from probe_effect.model import Metric, series_of
from probe_effect.numbers.index import Numbers, grouped_by, once
from probe_effect.numbers.names import BOOTED, architecture, cpu_family, machine_name, release_series, tier, tier_words
from probe_effect.numbers.submission import OF_SUBMISSION, WORST, Number, Submission
from probe_effect.store.machine_file import Machine, System, canonical_architecture, is_hosted


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts that decide likeness. `tier` is as `names.tier` calls it, `architecture` by its one name: `x86_64`.

    `branches`: how the kernel guards indirect branches, of which a probe makes several: `Retpolines`; None where nobody
    knows. Machines of one name that differ in it differ several times in the cost of a probe (content/findings).
    `name`: its short one; empty for a machine without submissions.
    """

    machine: str
    tier: str
    architecture: str
    cpu_model: str | None
    kernel_release: str
    branches: str | None = None
    name: str = ""

    @property
    def kind(self) -> str:
        """What kind of machine it is, in words: `physical, x86-64`."""
        return f"{tier_words(self.tier)}, {architecture(self.architecture)}"


@dataclass(frozen=True, slots=True)
class Likeness:
    """A machine, what it has in common with the given one, and whether their times may be compared."""

    machine: str
    reasons: tuple[str, ...]
    comparable: bool
    is_same: bool = False
    name: str = ""


def facts_of(
    machine: Machine,
    kernel_release: str,
    metric: Metric = "time",
    vulnerabilities: Mapping[str, str] = MappingProxyType({}),
) -> Facts:
    """The facts of a machine as `machine.json` has them."""
    spectre_v2 = vulnerabilities.get("spectre_v2")
    return Facts(
        machine=machine.id,
        tier=tier(machine, metric),
        architecture=canonical_architecture(machine.architecture),
        cpu_model=machine.cpu_model,
        kernel_release=kernel_release,
        # `Retpolines` of `Mitigation: Retpolines; STIBP: disabled`, as arch/x86/kernel/cpu/bugs.c writes it.
        branches=None if spectre_v2 is None else spectre_v2.partition(";")[0].removeprefix("Mitigation: ").strip(),
    )


def facts_of_machine(machine: Machine, system: System, metric: Metric = "time") -> Facts:
    return facts_of(machine, system.kernel_release, metric, system.vulnerabilities)


def facts_of_submission(submission: Submission) -> Facts:
    facts = facts_of_machine(submission.document.machine, submission.document.system, submission.metric)
    return replace(facts, name=machine_name(submission))


def by_likeness(given: Facts, others: Iterable[Facts]) -> list[Likeness]:
    """`others`, the most like `given` first; those that may not be compared come last."""
    return [likeness(given, other) for other in sorted(others, key=lambda other: _distance(given, other))]


def likeness(given: Facts, other: Facts) -> Likeness:
    """What `other` has in common with `given`, in words, and what keeps the two apart."""
    if given.machine == other.machine:
        return Likeness(other.machine, ("the same machine",), comparable=True, is_same=True, name=other.name)
    if apart := _apart(given, other):
        return Likeness(other.machine, apart, comparable=False, name=other.name)
    family, series = cpu_family(other.cpu_model or ""), release_series(other.kernel_release)
    if other.cpu_model is None or given.cpu_model is None:
        shared = ["CPU not known"]
    elif other.cpu_model == given.cpu_model:
        shared = [f"same CPU name, {other.cpu_model}"]
    elif family == cpu_family(given.cpu_model):
        shared = [f"same family name, {family}"]
    else:
        shared = [f"another CPU, {other.cpu_model}"]
    if given.branches is not None and other.branches is not None:
        same = "same" if given.branches == other.branches else "another"
        shared.append(f"{same} guard of indirect branches, {other.branches}")
    if other.kernel_release == given.kernel_release:
        shared.append(f"same kernel, {other.kernel_release}")
    elif series == release_series(given.kernel_release):
        shared.append(f"same kernel {series}")
    else:
        shared.append(f"another kernel, {series}")
    shared.append(f"{other.tier.removesuffix(' machine')} too")
    return Likeness(other.machine, tuple(shared), comparable=True, name=other.name)


def _apart(given: Facts, other: Facts) -> tuple[str, ...]:
    pairs = ((other.tier, given.tier), (architecture(other.architecture), architecture(given.architecture)))
    return tuple(f"{its}, not {own}" for its, own in pairs if its != own)


def _distance(given: Facts, other: Facts) -> tuple[object, ...]:
    """Smaller is nearer; the id decides between equals, so that the order is stable."""
    family, own_family = (cpu_family(facts.cpu_model or "") for facts in (other, given))
    return (
        other.machine != given.machine,
        bool(_apart(given, other)),
        other.cpu_model != given.cpu_model,
        family != own_family,
        None not in (given.branches, other.branches) and other.branches != given.branches,
        release_distance(given.kernel_release, other.kernel_release),
        other.machine,
    )


def release_distance(given: str, other: str) -> tuple[bool, int, int]:
    """Another release, then how far apart the first two numbers of two kernel releases are."""
    (own_major, own_minor), (major, minor) = series_of(given), series_of(other)
    return given != other, abs(major - own_major), abs(minor - own_minor)


FIRST_SUITE = "per-event"
"""The suite that the home page shows: one event, probe by probe."""

FEWEST_MACHINES = 3  # a median over fewer machines is no measure of what is typical


class Distance(NamedTuple):
    """How far the costs of a machine are from the median of all machines.

    `mean`: of |ln(cost / median)| over so many `cases` of the first suite; 0.69 is a factor of two.
    """

    mean: float
    cases: int

    @property
    def factor(self) -> float:
        return math.exp(self.mean)


@once
def distances(numbers: Numbers) -> dict[str, Distance]:
    """Machine to its distance, the least first. A case is shared if three machines or more have a clear cost of it."""
    suite = [
        number
        for number in numbers.current()
        if number.submission.suite == FIRST_SUITE and number.leads and number.is_clear
    ]
    logs: dict[str, list[float]] = {}
    for same in grouped_by(suite, lambda number: number.key).values():
        if len(same) >= FEWEST_MACHINES:
            costs = {number.submission.machine: math.log(number.known_cost.value) for number in same}
            middle = median(costs.values())
            for machine, cost in costs.items():
                logs.setdefault(machine, []).append(abs(cost - middle))
    ordered = sorted(logs.items(), key=lambda item: mean(item[1]))
    return {machine: Distance(mean(own), len(own)) for machine, own in ordered}


@once
def reference_submission(numbers: Numbers) -> Submission | None:
    """The submission of times that the home page shows; None without any.

    It is of the first suite, has intervals, its events add up, and its machine was idle before it and is no hosted
    runner. Of such machines, if they have half of the shared cases or more, it is of the one with the least distance.
    """
    every = (submission for runs in numbers.machines().values() for submission in runs)
    measured = [submission for submission in every if any(number.cost for number in submission.numbers)]
    if not measured:
        return None
    each = distances(numbers)
    most = max((distance.cases for distance in each.values()), default=0)
    far = {machine: distance.mean for machine, distance in each.items() if 2 * distance.cases >= most}

    def order(submission: Submission) -> tuple[tuple[bool, bool, bool, bool], float]:
        return _disturbed(submission), far.get(submission.machine, math.inf)

    least = min(map(order, measured))
    return representative([submission for submission in measured if order(submission) == least])


def home_machine(numbers: Numbers) -> str | None:
    reference = reference_submission(numbers)
    return reference.machine if reference else None


def representative(submissions: Sequence[Submission]) -> Submission:
    """Of submissions, newest first, the least disturbed; of equals that of the lowest noise floor, then most blocks."""

    def noise(submission: Submission) -> tuple[tuple[bool, bool, bool, bool], float]:
        return _disturbed(submission), math.inf if submission.noise_floor_ns is None else submission.noise_floor_ns

    least = min(map(noise, submissions))
    equal = (submission for submission in submissions if noise(submission) == least)
    return max(equal, key=lambda submission: max((number.blocks for number in submission.numbers), default=0))


def _disturbed(submission: Submission) -> tuple[bool, bool, bool, bool]:
    """Whether it is of another suite, has no intervals or faults, was under load, and is of a hosted runner."""
    words = {rule.fact: rule.words for rule in OF_SUBMISSION}
    was_under_load = words["load_ratio"] in submission.grade_reasons or tier(submission.document.machine) == BOOTED
    return submission.suite != FIRST_SUITE, submission.grade == WORST, was_under_load, is_hosted(submission.machine)


def in_order(numbers: Numbers) -> list[Submission]:
    """The submissions of times, those of the home machine first, newest first."""
    home = home_machine(numbers)
    machines = sorted(numbers.machines().items(), key=lambda item: item[0] != home)
    return [submission for _, runs in machines for submission in runs]


@once
def home_numbers(numbers: Numbers) -> dict[str, Number]:
    """By `<tracer>.<case>[@<level>]`, the sound number to show: the home machine's, else as its suite has most."""
    sound = [number for number in numbers.current() if number.is_sound or number.own_use.cpu is not None]
    of_suites = Counter((number.submission.machine, number.submission.suite) for number in sound)
    home = home_machine(numbers)

    def comes_first(number: Number) -> tuple[bool, int]:
        machine = number.submission.machine
        return machine == home, of_suites[machine, number.submission.suite]

    by_name: dict[str, Number] = {}
    for number in sorted(sound, key=comes_first, reverse=True):
        by_name.setdefault(number.name, number)
    return by_name


MOST_MACHINES = 12
"""The most machines on one page: as many as a table can hold that somebody still reads from end to end."""


def shown_machines(numbers: Numbers, most: int = MOST_MACHINES) -> list[str]:
    """Of all machines whose times were measured, those that a page shows."""
    return select(numbers.machines(), home_machine(numbers), most)


def shown(of_case: Sequence[Number], numbers: Numbers, most: int = MOST_MACHINES) -> tuple[list[Number], int]:
    """Of numbers of one case those that its page shows, machine by machine, and how many machines it excludes."""
    machines = grouped_by((number.submission for number in of_case), lambda submission: submission.machine)
    chosen = set(select(machines, home_machine(numbers), most))
    return [number for number in of_case if number.submission.machine in chosen], len(machines) - len(chosen)


def select(machines: Mapping[str, Iterable[Submission]], home: str | None, most: int = MOST_MACHINES) -> list[str]:
    """Up to `most` machines: `home`, the best graded of each kind, and of the rest; of equals the one that ran last."""
    if len(machines) <= most:
        return sorted(machines, key=lambda machine: machine != home)
    newest_first = {
        machine: sorted(runs, key=lambda submission: submission.started, reverse=True)
        for machine, runs in machines.items()
    }
    best = {machine: min(runs, key=lambda submission: submission.grade or "") for machine, runs in newest_first.items()}
    ordered = sorted(best, key=lambda machine: best[machine].started, reverse=True)
    ordered.sort(key=lambda machine: (machine != home, best[machine].grade or ""))
    first_of_kind = {machine_kind(best[machine]): machine for machine in reversed(ordered)}
    firsts = set(first_of_kind.values())
    return sorted(ordered, key=lambda machine: (machine != home, machine not in firsts))[:most]


def machine_kind(submission: Submission) -> tuple[str, str, str]:
    return kind_of(facts_of_submission(submission))


def kind_of(facts: Facts) -> tuple[str, str, str]:
    """Tier, architecture and CPU family of a machine."""
    return facts.tier, facts.architecture, cpu_family(facts.cpu_model or "")


def one_of_each(numbers: Numbers, most: int) -> list[str]:
    """The home machine, and one of each other kind; of many kinds only `most`."""
    kinds = {machine_kind(submissions[0]) for submissions in numbers.machines().values()}
    return select(numbers.machines(), home_machine(numbers), min(len(kinds), most))
