"""All numbers in force, which of them is *current*, and what is worked out once for each catalogue or evidence.

Every table, chart, export, script and command means by *current* what METHOD.md says, "Which number is current".
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from itertools import chain
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from probe_effect.model import Key, Metric, release_numbers
from probe_effect.numbers.names import tool_of
from probe_effect.reduce.submission import Number, Submission
from probe_effect.stats import estimates
from probe_effect.store.machine_file import is_hosted


class Remembering(Protocol):
    """What keeps in `worked_out` what was made of it."""

    @property
    def worked_out(self) -> dict[object, Any]:
        """The work and its arguments, to what it returned."""


R = TypeVar("R", bound=Remembering)
P = ParamSpec("P")
T = TypeVar("T")


def once(work: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """The same function, which remembers in its first argument what it returned for each set of the others.

    So what remembers must be complete when it is first asked, and nobody may change what is returned.
    """

    @wraps(work)
    def remembered(found: R, /, *asked: P.args, **named: P.kwargs) -> T:
        key = (work, asked, tuple(named.items()))
        if key not in found.worked_out:
            found.worked_out[key] = work(found, *asked, **named)
        made: T = found.worked_out[key]
        return made

    return remembered


K = TypeVar("K")
V = TypeVar("V")


class OnDemand(MutableMapping[K, V]):
    """A dictionary; before it says whether it has a key, `look` puts that into it, or everything where that is None."""

    def __init__(self, look: Callable[[K | None], None] = lambda _: None) -> None:
        self.look = look
        self.known: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        self.look(key)
        return self.known[key]

    def __setitem__(self, key: K, value: V) -> None:
        self.known[key] = value

    def __delitem__(self, key: K) -> None:
        self.look(key)
        del self.known[key]

    def __iter__(self) -> Iterator[K]:
        self.look(None)
        return iter(self.known)

    def __len__(self) -> int:
        self.look(None)
        return len(self.known)


def grouped_by(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Each value of `key` to the items that have it; values by their first item, items in the order given."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


class Numbers:
    """The numbers of some submissions, none of them withdrawn; the newest submission first, of all or of a machine."""

    def __init__(self, submissions: Iterable[Submission]) -> None:
        self.submissions = newest_first(submissions)
        self.worked_out: dict[object, Any] = {}

    @cached_property
    def _machines(self) -> dict[tuple[Metric, str], list[Submission]]:
        return grouped_by(self.submissions, lambda one: (one.metric, one.machine))

    @cached_property
    def _by_machine(self) -> dict[tuple[Metric, str], dict[Key, Number]]:
        return {place: current(submissions) for place, submissions in self._machines.items()}

    def machines(self, metric: Metric = "time") -> dict[str, list[Submission]]:
        """Machine id to its submissions of times, or of counts; the machine that ran last comes first."""
        return {machine: found for (kind, machine), found in self._machines.items() if kind == metric}

    @once
    def of_case(self, case: str, metric: Metric = "time") -> list[Number]:
        """The current numbers of a case, machine by machine, whatever their status."""
        return [one for runs in self.machines(metric).values() for one in current(runs, case).values()]

    def of_machine_and_case(self, machine: str, case: str) -> dict[Key, Number]:
        """The current times of a case on a machine, whatever their status."""
        return current(self._machines.get(("time", machine), ()), case)

    def of_machine(self, machine: str, metric: Metric = "time") -> dict[Key, Number]:
        """The current numbers of a machine, by case, whatever their status."""
        return self._by_machine.get((metric, machine), {})

    def of_hosts(self, one: Number) -> list[Number]:
        """The number itself; of a hosted runner those of all its runs that lead, as each had a host of its own."""
        machine = one.submission.machine
        runs = self._machines[one.submission.metric, machine] if is_hosted(machine) else ()
        found = (own for run in runs for own in run.cases.get(one.case, ()) if own.key == one.key and own.leads)
        return list(found) or [one]

    def over_hosts(self, one: Number) -> Number:
        """The number as guidance takes it: with an interval that contains those of all hosts."""
        hosts = self.of_hosts(one)
        costs = [own.known_cost for own in hosts if len(hosts) > 1]
        spanned = estimates.spanning(costs)._replace(value=one.known_cost.value) if costs else None
        return replace(one, result=replace(one.event, cost=spanned)) if spanned else one

    def current(self, metric: Metric = "time") -> list[Number]:
        """Every current number, machine by machine."""
        return [one for (kind, _), found in self._by_machine.items() if kind == metric for one in found.values()]

    def is_current(self, number: Number) -> bool:
        """Whether it stands for its machine, case, tracer and level."""
        return self.of_machine(number.submission.machine, number.submission.metric).get(number.key) is number


def current(submissions: Sequence[Submission], case: str | None = None) -> dict[Key, Number]:
    """Of one machine's submissions, newest first: the current number of each case, or of `case`, tracer and level."""
    every = (one.numbers if case is None else one.cases.get(case, ()) for one in submissions)
    runs = grouped_by(chain.from_iterable(every), lambda number: number.key)
    return {key: best(runs[key]) for key in sorted(runs, key=lambda key: _place(key, runs[key][0]))}


def _place(key: Key, newest: Number) -> tuple[object, ...]:
    """By which numbers are sorted: of several versions of one tool the newest comes first."""
    version = [-part for part in release_numbers(newest.tool_version or "")]
    return key.case, tool_of(key.tracer), version, key.order


def newest_first(submissions: Iterable[Submission]) -> tuple[Submission, ...]:
    """Submissions by the moment at which they began; of one moment by id."""
    return tuple(sorted(submissions, key=lambda one: (one.started, one.id), reverse=True))


def best(newest_first: Sequence[Number]) -> Number:
    """Of several numbers of one thing the current one: it leads, else is sound, else has a cost, else is the newest."""
    leading = (one for one in newest_first if one.leads)
    sound = (one for one in newest_first if one.is_sound)
    known = (one for one in newest_first if one.is_known)
    return next(leading, None) or next(sound, None) or next(known, None) or newest_first[0]
