"""All numbers in force, which of them is *current*, and how far a repetition is from a run (/method/publishing/).

The interval of a run says how well that run knows its own cost. Another run of the same suite, by the same version of
the tool on the same machine, has another start, another layout of memory and other neighbours, and differs by more.
What it differs by is a share of the cost, estimated from all costs that were measured twice: the standard deviation
between runs for which 95 % of the pairs are within their intervals. (Random effects, as in DerSimonian and Laird,
Controlled Clinical Trials 7 (1986), 177-188, with the share chosen by what it holds and not by moments, since the
differences have long tails.)
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from itertools import chain, combinations, permutations
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from probe_effect.model import Estimate, Key, Metric, release_numbers
from probe_effect.numbers import estimates
from probe_effect.numbers.estimates import CONFIDENCE, INTERVAL_WIDTHS
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.submission import Number, Submission
from probe_effect.store.machine_file import is_hosted

FEWEST_PAIRS = 30
"""Pairs from which a spread is estimated: of 30 one or two are beyond an interval of 95 %."""


def repeated(submissions: Iterable[Submission]) -> dict[tuple[object, ...], list[Number]]:
    """The costs that were measured more than once on a machine of their own, with their intervals.

    By what repetitions have in common: machine, suite and its version, the key, the version of the tool.
    """
    timed = (
        submission for submission in submissions if submission.metric == "time" and not is_hosted(submission.machine)
    )
    suites = grouped_by(
        timed, lambda submission: (submission.machine, submission.suite, submission.document.run.suite_version)
    )
    costs: dict[tuple[object, ...], list[Number]] = {}
    for suite, runs in suites.items():
        for number in (candidate for run in runs if len(runs) > 1 for candidate in run.numbers):
            if number.leads and _error(number) is not None:
                costs.setdefault((*suite, number.key, number.tool_version), []).append(number)
    return {key: numbers for key, numbers in costs.items() if len(numbers) > 1}


def spread_between_runs(groups: Iterable[Sequence[Number]]) -> float | None:
    """The standard deviation between runs, as a share of the cost; None where too little was repeated."""
    shares = sorted(_share_that_holds(*pair) for numbers in groups for pair in combinations(numbers, 2))
    return None if len(shares) < FEWEST_PAIRS else shares[math.ceil(CONFIDENCE * len(shares)) - 1]


def _share_that_holds(number: Number, other: Number) -> float:
    """The least spread with which two runs are within the interval of their difference; 0 where their own is enough."""
    first, second = number.known_cost.value, other.known_cost.value
    own = (_error(number) or 0.0) ** 2 + (_error(other) or 0.0) ** 2
    between = max((2 / INTERVAL_WIDTHS * (first - second)) ** 2 - own, 0.0) / 2
    return math.sqrt(between) * 2 / (abs(first) + abs(second)) if between else 0.0


def over_runs(cost: Estimate, share: float | None) -> Estimate:
    """A cost with the interval of the machine's mean over all runs, from which its own run differs by the spread.

    Without both ends, or without a spread, nothing changes.
    """
    value, low, high = cost
    if low is None or high is None or share is None:
        return cost
    between = INTERVAL_WIDTHS / 2 * share * abs(value)
    return Estimate(value, value - math.hypot(value - low, between), value + math.hypot(value - high, between))


def for_next_run(cost: Estimate, share: float | None) -> Estimate:
    """A cost with the interval that holds the next run, which is as far from the mean over all runs as this one is."""
    value, low, high = over_runs(cost, share)
    if low is None or high is None or share is None:
        return cost
    return Estimate(value, value - math.sqrt(2) * (value - low), value + math.sqrt(2) * (high - value))


class Pair(NamedTuple):
    """A run, and another of the same thing that its interval should hold."""

    one: Number
    other: Number

    @property
    def distance_ratio(self) -> float:
        """How far the other's cost is from the first, as a share of that."""
        first, second = self.one.known_cost.value, self.other.known_cost.value
        return abs(second - first) / abs(first)

    def is_inside(self, share: float | None = None) -> bool:
        """Whether the other's cost is in the interval of the first for the next run; without a spread, in its own."""
        cost = self.one.known_cost
        _, low, high = cost if share is None else for_next_run(cost, share)
        return low is not None and high is not None and low <= self.other.known_cost.value <= high


def pairs_of(groups: Iterable[Sequence[Number]]) -> list[Pair]:
    """Every run of what was repeated with every other one."""
    return [Pair(*two) for runs in groups for two in permutations(runs, 2)]


def _error(number: Number) -> float | None:
    """The standard error of a run, ns; None where it has no interval."""
    cost = number.cost
    return None if cost is None or cost.low is None or cost.high is None else (cost.high - cost.low) / INTERVAL_WIDTHS


class _Remembering(Protocol):
    @property
    def worked_out(self) -> dict[object, Any]: ...


R = TypeVar("R", bound=_Remembering)
P = ParamSpec("P")
T = TypeVar("T")


def once(work: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """The same function, which keeps in `worked_out` of its first argument what it returned for each of the others.

    So that argument must be complete when it is first asked, and nobody may change what is returned.
    """

    @wraps(work)
    def remembered(of: R, /, *args: P.args, **named: P.kwargs) -> T:
        key = (work, args, tuple(named.items()))
        if key not in of.worked_out:
            of.worked_out[key] = work(of, *args, **named)
        made: T = of.worked_out[key]
        return made

    return remembered


K = TypeVar("K")
V = TypeVar("V")


def grouped_by(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Each value of `key` to the items that have it; values by their first item, items in the order given."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


class Numbers:
    """The numbers of some submissions, none of them withdrawn; the newest submission first, of all or of a machine."""

    def __init__(self, submissions: Iterable[Submission], *, is_for_next_run: bool = True) -> None:
        """`is_for_next_run`: whether current costs have the interval of the next run, or that of their own."""
        self.is_for_next_run = is_for_next_run
        self.submissions = newest_first(submissions)
        self.worked_out: dict[object, Any] = {}

    @cached_property
    def _machines(self) -> dict[tuple[Metric, str], list[Submission]]:
        return grouped_by(self.submissions, lambda submission: (submission.metric, submission.machine))

    @cached_property
    def _by_machine(self) -> dict[tuple[Metric, str], dict[Key, Number]]:
        return {key: self._current(submissions) for key, submissions in self._machines.items()}

    @cached_property
    def spread(self) -> float | None:
        """The standard deviation between runs, as a share of a cost; None where too little was repeated."""
        return spread_between_runs(repeated(self.submissions).values()) if self.is_for_next_run else None

    def spread_of(self, submission: Submission) -> float | None:
        """The spread of a submission's machine; None of a lent one, whose every run has another host."""
        return None if is_hosted(submission.machine) else self.spread

    def _current(self, submissions: Sequence[Submission], case: str | None = None) -> dict[Key, Number]:
        return {key: self.of_next_run(number) for key, number in current(submissions, case).items()}

    @once
    def of_next_run(self, number: Number) -> Number:
        """A number whose cost and slowdown have the intervals that hold the next run."""
        share = self.spread_of(number.submission) if number.is_time and number.leads else None
        if share is None:
            return number
        slowdown = number.time.slowdown and for_next_run(number.time.slowdown, share)
        return replace(
            number, result=replace(number.time, cost=for_next_run(number.known_cost, share), slowdown=slowdown)
        )

    def machines(self, metric: Metric = "time") -> dict[str, list[Submission]]:
        """Machine id to its submissions of times, or of counts; the machine that ran last comes first."""
        return {machine: runs for (kind, machine), runs in self._machines.items() if kind == metric}

    @once
    def of_case(self, case: str, metric: Metric = "time") -> list[Number]:
        """The current numbers of a case, machine by machine, whatever their status."""
        return [number for runs in self.machines(metric).values() for number in self._current(runs, case).values()]

    def of_machine_and_case(self, machine: str, case: str) -> dict[Key, Number]:
        """The current times of a case on a machine, whatever their status."""
        return self._current(self._machines.get(("time", machine), ()), case)

    def of_machine(self, machine: str, metric: Metric = "time") -> dict[Key, Number]:
        """The current numbers of a machine, by case, whatever their status."""
        return self._by_machine.get((metric, machine), {})

    def of_hosts(self, number: Number) -> list[Number]:
        """The number itself; of a hosted runner those of all its runs that lead, as each had a host of its own."""
        if not is_hosted(number.submission.machine):
            return [number]
        runs = self._machines[number.submission.metric, number.submission.machine]
        return [
            own for run in runs for own in run.cases.get(number.case, ()) if own.key == number.key and own.leads
        ] or [number]

    def over_hosts(self, number: Number) -> Number:
        """The number as guidance takes it: with an interval that contains those of all hosts."""
        hosts = self.of_hosts(number)
        if len(hosts) < 2:
            return number
        spanned = estimates.spanning([own.known_cost for own in hosts])
        return replace(number, result=replace(number.event, cost=spanned._replace(value=number.known_cost.value)))

    def current(self, metric: Metric = "time") -> list[Number]:
        return [
            number for (kind, _), by_key in self._by_machine.items() if kind == metric for number in by_key.values()
        ]

    def is_current(self, number: Number) -> bool:
        """Whether it stands for its machine, case, tracer and level."""
        own = number.submission
        in_force = self.of_machine(own.machine, own.metric).get(number.key)
        return in_force is not None and in_force.submission is own


def current(submissions: Sequence[Submission], case: str | None = None) -> dict[Key, Number]:
    """Of one machine's submissions, newest first: the current number of each case, or of `case`, tracer and level.

    It has the interval of its own run. Of several versions of one tool the newest comes first.
    """
    every = (submission.numbers if case is None else submission.cases.get(case, ()) for submission in submissions)
    runs = grouped_by(chain.from_iterable(every), lambda number: number.key)

    def order(key: Key) -> tuple[object, ...]:
        version = [-part for part in release_numbers(runs[key][0].tool_version or "")]
        return key.case, tool_of(key.tracer), version, key.order

    return {key: best(runs[key]) for key in sorted(runs, key=order)}


def newest_first(submissions: Iterable[Submission]) -> tuple[Submission, ...]:
    """Submissions by the moment at which they began; of one moment by id."""
    return tuple(sorted(submissions, key=lambda submission: (submission.started, submission.id), reverse=True))


def best(newest_first: Sequence[Number]) -> Number:
    """Of several numbers of one thing the current one: it leads, else is sound, else has a cost, else is the newest."""
    return max(newest_first, key=lambda number: (number.leads, number.is_sound, number.is_known))
