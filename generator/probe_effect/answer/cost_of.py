"""What a probe costs with what it does, put together of what was measured on one machine with one tracer.

The probe is a measured case of its kind, with its own action exchanged where another is asked for; an action is the
difference of two cases of one suite, on one and the same probe. So a user probe on an instruction that is stepped can
be asked for with an action that was measured on a system call.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from probe_effect.answer.entry_path import entry_path
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.part import PLAIN_ACTION, Part
from probe_effect.model import Estimate
from probe_effect.stats import mover

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.answer.evidence import Evidence
    from probe_effect.reduce.submission import Number
    from probe_effect.store.suite_file import Case

AWAY_FROM_CALLS = "tracepoint"
"""The kind of every tracepoint that is not on system calls: like those, without the longer way into the kernel."""

STANDS_FOR = {AWAY_FROM_CALLS: ("tracepoint", "tracepoint-entry"), "usdt": ("usdt", "uprobe")}
"""A kind to those whose cases stand for it, the first that was measured; any other kind stands for itself."""

SAME_ACTION = {"filter-rejects": "filter"}
"""A suite's action to the word by which it is asked for: both look at an argument, and do nothing more."""

MADE_OF = {"histogram-of-time": ("count-by-pid", "histogram")}
"""What ends a timed pair, on one probe: the beginning is looked up under a key, and the time goes into a histogram."""

UNKNOWN_ACTION = (
    "Nobody measured the action {action} with {tracer} here: it is taken for {highest}, the dearest one measured, and "
    "the low end of the cost is that of the probe without it."
)
UNKNOWN_FIRST = (
    "What the kernel does with the first instruction decides the cost: it is that of one that is {dearest}, and its "
    "low end that of one that is {cheapest}."
)
AT_MOST = "{case} is on a system call, and its cost holds what that pays for its longer way: at most that much."


@dataclass(frozen=True, slots=True)
class Fired:
    """A case that fires, one probe with one action, with its cost on a machine."""

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

    added: tuple[Number, ...]
    less: tuple[Number, ...]
    cost: Estimate
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
    def order(self) -> tuple[tuple[int, int], float]:
        """The fewest terms come first, then the narrowest interval."""
        low, high = self.cost.low, self.cost.high
        return self.terms, float("inf") if low is None or high is None else high - low


Differences = dict[tuple[str, str], Sum]
"""Two actions to what the first costs more than the second, on one probe."""


def cost_of(
    found: Evidence,
    machine: str,
    tracer: str,
    *,
    kind: str,
    mechanism: str | None = None,
    actions: Sequence[str] = (),
    rate_hz: float = 0.0,
) -> Part | None:
    """The cost of a kind of probe that does all of `actions` at each event; None where nothing measured tells it.

    An action that nobody measured is never left out: it is taken for the dearest that was, and `Part.note` says so.
    The note says too where `mechanism` is None and the measured cases of the kind differ in it.

    Args:
        kind: as suites' `probe` has it, or `tracepoint` for one that is not on system calls.
        mechanism: `emulated`, `stepped` or `called` for user probes; `ftrace`, `jump` or `trap` for kprobes.
        actions: as suites' `action` has them; none for a probe that does nothing.
        rate_hz: how many such events each thread makes per second.
    """
    fired = firing(found, machine, tracer)
    bases = bases_of(fired, kind, mechanism)
    differences = _differences(fired)
    wanted, unknown = _sorted_out(actions, {one.action for one in bases}, differences)
    ways = [way for base in bases if (way := _way(found, base, kind, wanted, differences))]
    bound = _dearest_action(differences)
    if not ways or (unknown and bound is None):
        return None
    way = _dearest_mechanism(ways)
    for action in unknown:
        way = _bounded(way, action, bound)
    base, whole, notes = way
    key = (machine, tracer, base.case.id)
    is_measured = len(whole.added) == 1 and not whole.less
    return Part(
        name=base.case.id if is_measured else named(kind, mechanism, actions),
        rate_hz=rate_hz,
        basis="measured" if is_measured and not notes else "composed",
        added=whole.added,
        less=whole.less,
        cost=whole.cost,
        is_clear=base.number.is_clear
        if is_measured
        else whole.cost.value > 0 and (whole.cost.low is None or whole.cost.low > 0),
        path=None if kind == AWAY_FROM_CALLS else entry_path(found, key),
        note=" ".join(notes) or None,
    )


def named(kind: str, mechanism: str | None, actions: Sequence[str]) -> str:
    """`uprobe (stepped) with count and print`."""
    probe = kind if mechanism is None else f"{kind} ({mechanism})"
    return f"{probe} with {' and '.join(actions or [PLAIN_ACTION])}"


class Way(NamedTuple):
    """A measured case with the actions that were asked for, and what its cost holds besides."""

    base: Fired
    sum: Sum
    notes: tuple[str, ...]


def firing(found: Evidence, machine: str, tracer: str) -> list[Fired]:
    """The cases with a cost on the machine that are one probe each and fire, in the order of their suites."""
    costs = found.by_tracer(machine).get(tracer, {})
    return [
        Fired(suite.id, case, costs[case.id], mechanism_of(case, costs[case.id]))
        for suite, case in found.cases
        if case.id in costs and not case.parts and case.counted_by != "nothing"
    ]


def bases_of(fired: Sequence[Fired], kind: str, mechanism: str | None) -> list[Fired]:
    """The cases that stand for a kind of probe; where their mechanism is known, of that mechanism alone."""
    for probe in STANDS_FOR.get(kind, (kind,)):
        of_kind = [one for one in fired if one.case.probe == probe]
        fitting = [one for one in of_kind if mechanism is None or one.mechanism in (None, mechanism)]
        if fitting:
            return fitting
    return []


def _differences(fired: Sequence[Fired]) -> Differences:
    """The narrowest difference of each two actions that were measured on one place."""
    found: Differences = {}
    for one, other in permutations(fired, 2):
        if one.place == other.place and one.action != other.action:
            key = one.action, other.action
            cost = mover.difference(one.number.known_cost, other.number.known_cost)
            made = Sum((one.number,), (other.number,), cost, frozenset({one.suite}))
            found[key] = min(found.get(key, made), made, key=lambda one: one.order)
    return found


def _difference(action: str, other: str, known: Differences) -> Sum | None:
    """What `action` costs more than `other`, over a third action where no place has both; None where none tells."""
    if action == other:
        return Sum((), (), Estimate(0.0, 0.0, 0.0))
    if (action, other) in known:
        return known[action, other]
    between = {third for first, third in known if first == action}
    over = (known[action, third].plus(known[third, other]) for third in between if (third, other) in known)
    return min(over, key=lambda one: one.order, default=None)


def _sorted_out(
    actions: Sequence[str], own: set[str], differences: Differences
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The actions whose cost something measured tells, in the words of the suites, and those of which nothing does."""
    known: list[str] = []
    unknown: list[str] = []
    for asked in actions:
        action = SAME_ACTION.get(asked, asked)
        made_of = (action,) if action in own else MADE_OF.get(action, (action,))
        for part in made_of:
            tells = part in own or _difference(part, PLAIN_ACTION, differences)
            (known if tells else unknown).append(part)
    return tuple(one for one in known if one != PLAIN_ACTION), tuple(unknown)


def _way(found: Evidence, base: Fired, kind: str, wanted: Sequence[str], known: Differences) -> Way | None:
    """The case with the actions wanted for its own; None where nothing tells what one of them adds."""
    others = list(wanted)
    if base.action in others:
        others.remove(base.action)
        terms: list[Sum | None] = []
    else:
        terms = [_difference(others.pop(0) if others else PLAIN_ACTION, base.action, known)]
    terms += [_difference(action, PLAIN_ACTION, known) for action in others]
    whole, notes = _alone(found, base, kind)
    whole = whole._replace(suites=frozenset({base.suite}))
    for term in terms:
        if term is None:
            return None
        whole = whole.plus(term)
    return Way(base, whole, notes)


def _alone(found: Evidence, base: Fired, kind: str) -> tuple[Sum, tuple[str, ...]]:
    """The cost of a case; of a tracepoint on system calls that stands for one on none, without what they pay."""
    number = base.number
    if kind != AWAY_FROM_CALLS or base.case.silent is None:
        return Sum((number,), (), number.bounded_cost), ()
    path = entry_path(found, (number.submission.machine, number.tracer, number.case))
    if path is None:
        cost = number.bounded_cost
        at_most = cost if cost.low is None else cost._replace(low=min(0.0, cost.low))
        return Sum((number,), (), at_most), (AT_MOST.format(case=number.case),)
    return Sum((number,), (path.source,), path.moved(number.bounded_cost, 0)), ()


def _dearest_action(differences: Differences) -> tuple[str, Sum] | None:
    """The action that adds most to a probe, and how much."""
    every = {action for action, _ in differences} - {PLAIN_ACTION}
    known = [(action, more) for action in sorted(every) if (more := _difference(action, PLAIN_ACTION, differences))]
    return max(known, key=lambda one: one[1].cost.value, default=None)


def _bounded(way: Way, action: str, bound: tuple[str, Sum] | None) -> Way:
    """With an action that nobody measured: as dear as the dearest, and at the low end for nothing."""
    assert bound is not None
    dearest, more = bound
    whole = way.sum.plus(more)
    note = UNKNOWN_ACTION.format(action=action, tracer=way.base.number.tracer, highest=dearest)
    return Way(way.base, whole.from_low(way.sum.cost.low), (*way.notes, note))


def _dearest_mechanism(ways: Sequence[Way]) -> Way:
    """The typical way of the dearest mechanism; where there are several, its cost begins where the cheapest one's does.

    A kind whose mechanism is not known must not be taken for a cheap one.
    """
    groups: dict[str | None, list[Way]] = {}
    for way in ways:
        groups.setdefault(way.base.mechanism, []).append(way)
    *others, dearest = sorted(map(_typical, groups.values()), key=_value)
    if not others:
        return dearest
    note = UNKNOWN_FIRST.format(dearest=dearest.base.mechanism, cheapest=others[0].base.mechanism)
    return Way(dearest.base, dearest.sum.from_low(others[0].sum.cost.low), (*dearest.notes, note))


def _typical(ways: Sequence[Way]) -> Way:
    """Of several ways to the same cost the middle one of those with the fewest terms."""
    fewest = min(one.sum.terms for one in ways)
    direct = sorted((one for one in ways if one.sum.terms == fewest), key=_value)
    return direct[(len(direct) - 1) // 2]


def _value(way: Way) -> float:
    return way.sum.cost.value
