"""What a probe costs with what it does, put together of what was measured on one machine with one tracer.

The probe is a measured case of its kind, with its own action exchanged where another is asked for; an action is the
difference of two cases of one suite, on one and the same probe. So a user probe on an instruction that is stepped can
be asked for with an action that was measured on a system call. A kind that the machine could not time is estimated
from its instructions, and its actions are measured ones all the same, where that says more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from probe_effect.answer.actions import Fired, Sum, dearest_action, difference, differences, sorted_out
from probe_effect.answer.entry_path import entry_path
from probe_effect.answer.first_instruction import mechanism_of
from probe_effect.answer.from_counts import counted, counted_as
from probe_effect.answer.part import PLAIN_ACTION, Part
from probe_effect.model import Estimate
from probe_effect.numbers.names import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probe_effect.answer.actions import Differences
    from probe_effect.answer.evidence import Evidence
    from probe_effect.store.suite_file import Case, Suite

AWAY_FROM_CALLS = ("tracepoint", "software", "profile", "hardware")
"""Kinds that are on no system call: like the tracepoints that are, without the longer way into the kernel."""

SAMPLED = ("profile", "hardware")
"""Kinds that an interrupt fires."""

STANDS_FOR = {kind: (kind, "tracepoint", "tracepoint-entry") for kind in AWAY_FROM_CALLS} | {"usdt": ("usdt", "uprobe")}
"""A kind to those whose cases stand for it, the first that was measured; any other kind stands for itself."""

INTERRUPT = "The interrupt that takes a sample is not in the cost: nobody measured it apart."
UNKNOWN_ACTION = (
    "Nobody measured the action {action} with {tracer} here: it is taken for {highest}, the dearest one measured, and "
    "the low end of the cost is that of the probe without it."
)
UNKNOWN_FIRST = (
    "What the kernel does with the first instruction decides the cost: it is that of one that is {dearest}, and its "
    "low end that of one that is {cheapest}."
)
AT_MOST = "{case} is on a system call, and its cost holds what that pays for its longer way: at most that much."
OWN_ACTION = "The cost of {case} holds its action too, {action}, which nobody measured apart."
OTHER_WAY = "{case} was counted with probes made by {counted}, and not by {wanted}."


class Wanted(NamedTuple):
    """What is asked for, as `cost_of` takes it."""

    kind: str
    mechanism: str | None
    actions: tuple[str, ...]

    @property
    def name(self) -> str:
        """`uprobe (stepped) with count and print`."""
        probe = self.kind if self.mechanism is None else f"{self.kind} ({self.mechanism})"
        return f"{probe} with {' and '.join(self.actions or [PLAIN_ACTION])}"


class Way(NamedTuple):
    """A case of the kind with the actions that were asked for, and what was assumed, in sentences."""

    base: Fired
    sum: Sum
    notes: tuple[str, ...]


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
    """The cost of a kind of probe that does all of `actions` at each event; None where no time and no count tells it.

    An action that nobody measured is never left out: it is taken for the dearest that was, and `Part.note` says so.
    The note says too where `mechanism` is None and the measured cases of the kind differ in it.

    Args:
        kind: as suites' `probe` has it, or `tracepoint` for one that is not on system calls.
        mechanism: `emulated`, `stepped` or `called` for user probes; `ftrace`, `jump` or `trap` for kprobes.
        actions: as suites' `action` has them; none for a probe that does nothing.
        rate_hz: how many such events each thread makes per second.
    """
    wanted = Wanted(kind, mechanism, tuple(actions))
    fired = list(firing(found, machine, tracer))
    known = differences(fired)
    ways = _ways(found, machine, wanted, bases_of(fired, kind, mechanism), known)
    if not ways and tracer in found.by_tracer(machine):
        by_count = list(_counted(found, machine, tracer, mechanism))
        ways = _ways(found, machine, wanted, bases_of(by_count, kind, mechanism), known)
    if not ways:
        return None
    part = _part(found, (machine, tracer), wanted, _dearest_mechanism(ways), rate_hz)
    if part.basis != "composed" or set(actions) <= {PLAIN_ACTION}:
        return part
    plain = cost_of(found, machine, tracer, kind=kind, mechanism=mechanism)
    return replace(part, cost=_at_least(part.cost, plain.cost)) if plain and plain.basis != "estimated" else part


def _at_least(cost: Estimate, plain: Estimate) -> Estimate:
    """No action makes a probe cost less; differences of noisy costs of several suites may say so."""
    if cost.value >= plain.value:
        return cost
    if cost.low is None or cost.high is None or plain.low is None or plain.high is None:
        return Estimate(plain.value)
    return Estimate(plain.value, max(cost.low, plain.low), max(cost.high, plain.high))


def combinations(found: Evidence, machine: str, tracer: str, kind: str) -> Iterator[tuple[str | None, str]]:
    """Every mechanism that a kind of probe was measured with, None where they are several, with every known action."""
    fired = list(firing(found, machine, tracer))
    bases = [one for one in fired if one.case.probe == kind]
    mechanisms = sorted({one.mechanism for one in bases if one.mechanism})
    asked: list[str | None] = [*mechanisms, *([None] if len(mechanisms) > 1 else [])]
    known = differences(fired)
    for action in dict.fromkeys(one.action for one in fired):
        told, _ = sorted_out([action], {one.action for one in bases}, known)
        if told or action == PLAIN_ACTION:
            yield from ((mechanism, action) for mechanism in asked)


def firing(found: Evidence, machine: str, tracer: str) -> Iterator[Fired]:
    """The cases with a cost on the machine that are one probe each and fire, in the order of their suites."""
    costs = found.by_tracer(machine).get(tracer, {})
    for suite, case in _single(found):
        if case.id in costs:
            yield Fired(suite.id, case, costs[case.id], mechanism_of(case, costs[case.id]))


def _counted(found: Evidence, machine: str, tracer: str, mechanism: str | None) -> Iterator[Fired]:
    """The cases with a count that can be made a time of there."""
    for suite, case in _single(found):
        one = counted(found, machine, tracer, case)
        if one is not None:
            made = mechanism_of(case, one)
            yield Fired(suite.id, case, one, mechanism if made and mechanism and "kprobe" in case.needs else made)


def _single(found: Evidence) -> Iterator[tuple[Suite, Case]]:
    return (
        (suite, case)
        for suite, case in found.cases
        if suite.factor is None and not case.like and not case.parts and case.counted_by != "nothing"
    )


def bases_of(fired: Sequence[Fired], kind: str, mechanism: str | None) -> list[Fired]:
    """The cases that stand for a kind of probe; where the mechanism is asked for, of that mechanism alone.

    A user probe of which nobody recorded how it fires stands for none: one way costs many times what another does.
    """
    for probe in STANDS_FOR.get(kind, (kind,)):
        of_kind = [one for one in fired if one.case.probe == probe]
        fitting = [
            one
            for one in of_kind
            if mechanism in (None, one.mechanism) or (one.mechanism is None and "uprobe" not in one.case.needs)
        ]
        if fitting:
            return fitting
    return []


def _ways(found: Evidence, machine: str, wanted: Wanted, bases: Sequence[Fired], known: Differences) -> list[Way]:
    """Every base with the actions, and with what stands for those that nobody measured."""
    told, untold = sorted_out(wanted.actions, {one.action for one in bases}, known)
    bound = dearest_action(known)
    if untold and bound is None:
        return []
    alone = [way for base in bases if (way := _alone(found, machine, base, wanted))]
    ways = [way for one in alone if (way := _way(one, told, known))]
    if not ways and not told:
        ways = [_with_its_own(one) for one in alone]
    for action in untold:
        ways = [_bounded(way, action, bound) for way in ways]
    return ways


def _alone(found: Evidence, machine: str, base: Fired, wanted: Wanted) -> Way | None:
    """A case as it was measured, or estimated from its count; on no system call where the kind is on none."""
    number, suites = base.number, frozenset({base.suite})
    if not number.is_time:
        cost = found.models.cost(machine, counted_as(base.case, number, wanted.mechanism))
        other = number.mechanism is not None and wanted.mechanism not in (None, number.mechanism)
        note = OTHER_WAY.format(case=quoted(base.number.title), counted=number.mechanism, wanted=wanted.mechanism)
        return None if cost is None else Way(base, Sum(cost=cost, suites=suites), (note,) if other else ())
    cost = number.bounded_cost
    notes = (INTERRUPT,) if wanted.kind in SAMPLED and base.case.probe not in SAMPLED else ()
    if wanted.kind not in AWAY_FROM_CALLS or base.case.silent is None:
        return Way(base, Sum((number,), (), cost, suites), notes)
    path = entry_path(found, (machine, number.tracer, number.case))
    if path is None:
        note = AT_MOST.format(case=quoted(number.title))
        return Way(base, Sum((number,), (), cost, suites).from_low(min(0.0, cost.low or 0.0)), (*notes, note))
    return Way(base, Sum((number,), (path.source,), path.moved(cost, 0), suites), notes)


def _way(alone: Way, actions: Sequence[str], known: Differences) -> Way | None:
    """The case with the actions wanted for its own; None where nothing tells what one of them adds."""
    base, whole, notes = alone
    others = list(actions)
    if base.action in others:
        others.remove(base.action)
        more: list[Sum | None] = [Sum()]
    else:
        more = [difference(others.pop(0) if others else PLAIN_ACTION, base.action, known)]
    more += [difference(action, PLAIN_ACTION, known) or difference(action, base.action, known) for action in others]
    for one in more:
        if one is None:
            return None
        whole = whole.plus(one)
    return Way(base, whole, notes)


def _with_its_own(alone: Way) -> Way:
    """The case with its own action, where nobody can tell the probe without one."""
    base = alone.base
    return alone._replace(notes=(*alone.notes, OWN_ACTION.format(case=quoted(base.number.title), action=base.action)))


def _bounded(way: Way, action: str, bound: tuple[str, Sum] | None) -> Way:
    """With an action that nobody measured: as dear as the dearest, and at the low end for nothing."""
    assert bound is not None
    highest, more = bound
    note = UNKNOWN_ACTION.format(action=action, tracer=more.added[0].tracer, highest=highest)
    return Way(way.base, way.sum.plus(more).from_low(way.sum.cost.low), (*way.notes, note))


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
    """Of several ways to the same cost the middle one of those with the fewest terms; of estimates the narrowest."""
    if not ways[0].base.number.is_time:
        return min(ways, key=lambda one: one.sum.width_ns)
    fewest = min(one.sum.terms for one in ways)
    direct = sorted((one for one in ways if one.sum.terms == fewest), key=_value)
    return direct[(len(direct) - 1) // 2]


def _value(way: Way) -> float:
    return way.sum.cost.value


def _part(found: Evidence, place: tuple[str, str], wanted: Wanted, way: Way, rate_hz: float) -> Part:
    machine, tracer = place
    base, whole, notes = way
    is_estimated = not base.number.is_time
    is_measured = not is_estimated and len(whole.added) == 1 and not whole.less
    is_apart = whole.cost.value > 0 and (whole.cost.low is None or whole.cost.low > 0)
    return Part(
        name=base.case.id if is_measured else wanted.name,
        title=base.number.title if is_measured else None,
        rate_hz=rate_hz,
        basis="estimated" if is_estimated else "measured" if is_measured and not notes else "composed",
        added=whole.added,
        less=whole.less,
        counted=base.number if is_estimated else None,
        calibrated=found.models.calibrated(machine, tracer) if is_estimated else (),
        cost=whole.cost,
        is_clear=base.number.is_clear if is_measured else is_apart,
        path=None if wanted.kind in AWAY_FROM_CALLS else entry_path(found, (machine, tracer, base.case.id)),
        note=" ".join(notes) or None,
    )
