"""What actions add to a probe: differences of cases that were measured on one place, with one tracer on one machine."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from probe_effect.costs.row import PLAIN_ACTION
from probe_effect.model import Estimate
from probe_effect.numbers.index import grouped_by
from probe_effect.reduce.submission import Number
from probe_effect.stats import estimates
from probe_effect.store.suite_file import Case

SAME_ACTION = dict.fromkeys(("filter-rejects", "filter-by-pid", "filter-by-name", "filter-by-cgroup"), "filter")
"""A suite's action to the word by which it is asked for: all look at one value, and do nothing more."""

MADE_OF = {
    "histogram-of-time": ("count-by-pid", "histogram"),
    "count-by-pid-and-name": ("count-by-pid", "count-by-name"),
}
"""Actions that are made of others where nobody measured them whole. What ends a timed pair, on one probe, looks the
beginning up under a key and puts the time into a histogram. Two keys cost at most what each of them does."""


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

    def plus(self, other: "Sum") -> "Sum":
        """Both together."""
        cost = estimates.total([self.cost, other.cost])
        return Sum(self.added + other.added, self.less + other.less, cost, self.suites | other.suites)

    def from_low(self, low: float | None) -> "Sum":
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


class Differences:
    """What each action costs more than each other on one probe, with one tracer on one machine."""

    def __init__(self, fired: Sequence[Fired]) -> None:
        places = grouped_by(fired, lambda one: one.place)
        self._measured: dict[str, dict[str, Sum]] = defaultdict(dict)
        for one in fired:
            for other in places[one.place]:
                if one.action != other.action:
                    cost = estimates.difference(one.number.known_cost, other.number.known_cost)
                    made = Sum((one.number,), (other.number,), cost, frozenset({one.suite}))
                    known = self._measured[one.action]
                    known[other.action] = min(known.get(other.action, made), made, key=lambda one: one.order)
        self._known: dict[tuple[str, str], Sum | None] = {}

    def of(self, action: str, other: str) -> Sum | None:
        """The narrowest measured difference of two actions, ns an event; None where nothing tells it.

        Over a third action where no place has both.
        """
        key = action, other
        if key not in self._known:
            self._known[key] = Sum() if action == other else self._worked_out(action, other)
        return self._known[key]

    def _worked_out(self, action: str, other: str) -> Sum | None:
        known = self._measured.get(action, {})
        if other in known:
            return known[other]
        rest = {third: self._measured[third].get(other) for third in known}
        over = (known[third].plus(more) for third, more in rest.items() if more is not None)
        return min(over, key=lambda one: one.order, default=None)

    def added(self, action: str) -> Sum | None:
        """What an action adds to a plain probe, ns an event; None where nothing tells it."""
        whole = Sum()
        for part in MADE_OF.get(action, (action,)):
            more = self.of(part, PLAIN_ACTION)
            if more is None:
                return None
            whole = whole.plus(more)
        return whole
