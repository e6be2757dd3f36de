"""What actions add to a probe: differences of cases that were measured on one place, with one tracer on one machine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from probe_effect.answer.part import PLAIN_ACTION
from probe_effect.model import Estimate
from probe_effect.stats import mover

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case

SAME_ACTION = dict.fromkeys(("filter-rejects", "filter-by-pid", "filter-by-name", "filter-by-cgroup"), "filter")
"""A suite's action to the word by which it is asked for: all look at one value, and do nothing more."""

MADE_OF = {
    "histogram-of-time": ("count-by-pid", "histogram"),
    "count-by-pid-and-name": ("count-by-pid", "count-by-name"),
}
"""Actions that are made of others where nobody measured them whole: what ends a timed pair, on one probe, looks the
beginning up under a key and puts the time into a histogram; two keys cost at most what each of them does."""


@dataclass(frozen=True, slots=True)
class Fired:
    """A case that fires, one probe with one action, and the number that it has: a time or a count."""

    suite: str
    case: Case
    number: Number
    mechanism: str | None

    @property
    def action(self) -> str:
        """In the word by which it is asked for."""
        return SAME_ACTION.get(self.case.action, self.case.action)

    @property
    def place(self) -> tuple[object, ...]:
        """Cases on one place differ in their action alone."""
        return self.suite, self.case.probe, self.case.functions


class Sum(NamedTuple):
    """Costs added, costs taken away, and what that comes to in ns an event; `suites` are those that they are of."""

    added: tuple[Number, ...] = ()
    less: tuple[Number, ...] = ()
    cost: Estimate = Estimate(0.0, 0.0, 0.0)
    suites: frozenset[str] = frozenset()

    def plus(self, other: Sum) -> Sum:
        """Both together."""
        cost = mover.total([self.cost, other.cost])
        return Sum(self.added + other.added, self.less + other.less, cost, self.suites | other.suites)

    def from_low(self, low: float | None) -> Sum:
        """The same with another low end, where both ends are known."""
        ends = (low, self.cost.high) if low is not None and self.cost.high is not None else (None, None)
        return self._replace(cost=Estimate(self.cost.value, *ends))

    @property
    def terms(self) -> tuple[int, int]:
        """Of how many measurements it is made, and of how many suites."""
        return len(self.added) + len(self.less), len(self.suites)

    @property
    def width_ns(self) -> float:
        """How wide the interval is; without bound where there is none."""
        low, high = self.cost.low, self.cost.high
        return float("inf") if low is None or high is None else high - low

    @property
    def order(self) -> tuple[tuple[int, int], float]:
        """The fewest terms come first, then the narrowest interval."""
        return self.terms, self.width_ns


Differences = dict[tuple[str, str], Sum]
"""Two actions to what the first costs more than the second, on one probe."""


def differences(fired: Sequence[Fired]) -> Differences:
    """The narrowest difference of each two actions that were measured on one place."""
    found: Differences = {}
    for one, other in permutations(fired, 2):
        if one.place == other.place and one.action != other.action:
            key = one.action, other.action
            cost = mover.difference(one.number.known_cost, other.number.known_cost)
            made = Sum((one.number,), (other.number,), cost, frozenset({one.suite}))
            found[key] = min(found.get(key, made), made, key=lambda one: one.order)
    return found


def difference(action: str, other: str, known: Differences) -> Sum | None:
    """What `action` costs more than `other`, over a third action where no place has both; None where none tells."""
    if action == other:
        return Sum()
    if (action, other) in known:
        return known[action, other]
    between = {third for first, third in known if first == action}
    over = (known[action, third].plus(known[third, other]) for third in between if (third, other) in known)
    return min(over, key=lambda one: one.order, default=None)


def dearest_action(known: Differences) -> tuple[str, Sum] | None:
    """The action that adds most to a probe, or else to another action, and how much."""
    plain = [(action, more) for (action, other), more in known.items() if other == PLAIN_ACTION]
    every = [(action, more) for (action, _), more in known.items()]
    over = [(action, more) for action, _ in known if (more := difference(action, PLAIN_ACTION, known))]
    return max(plain + over or every, key=lambda one: one[1].cost.value, default=None)


def sorted_out(
    actions: Sequence[str], own: Collection[str], known: Differences
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The actions whose cost something measured tells, in the words of the suites, and those of which nothing does.

    Args:
        own: actions that the probe was measured with.
    """
    told: list[str] = []
    untold: list[str] = []
    for asked in actions:
        action = SAME_ACTION.get(asked, asked)
        for part in (action,) if action in own else MADE_OF.get(action, (action,)):
            is_told = any(difference(part, other, known) for other in (PLAIN_ACTION, *own))
            (told if is_told else untold).append(part)
    return tuple(one for one in told if one != PLAIN_ACTION), tuple(untold)
