"""What a probe costs with what it does, put together of what was measured on one machine with one tracer.

The probe is a measured case of its kind, the base, whose own action is exchanged where another is asked for. An action
is the difference of two cases of one suite, on one and the same probe. So a user probe on an instruction that is
stepped can be asked for with an action that was measured on a system call. A kind that the machine could not time is
estimated from its instructions, and its actions are measured ones all the same, where that says more.

An example: `uprobe` with `count-by-user-stack`, where a uprobe was measured with `count` (800 ns), and a tracepoint
with `count` (260 ns) and with `count-by-user-stack` (1000 ns). The base is the uprobe, its correction 1000 - 260 ns,
the cost 1540 ns. Every measured case of the kind is such a base, and each gives a candidate. Of those of one mechanism
the median one of the fewest terms is typical, and of several mechanisms the highest stands for the kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from probe_effect.answer.actions import SAME_ACTION, Differences, Fired, Sum, sorted_out
from probe_effect.answer.added import event_cost
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.from_counts import counted_as, models
from probe_effect.answer.part import PLAIN_ACTION, Part
from probe_effect.answer.printed_times import on_hardware
from probe_effect.answer.setup import AWAY_FROM_CALLS, Setup, setup
from probe_effect.answer.words import WORDS
from probe_effect.model import Estimate
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.names import quoted
from probe_effect.stats.estimates import is_above_0


class Request(NamedTuple):
    """A probe with what it does, as `cost_of` takes it."""

    kind: str
    mechanism: str | None
    actions: tuple[str, ...]

    @property
    def name(self) -> str:
        """`uprobe (stepped) with count and print`."""
        probe = self.kind if self.mechanism is None else f"{self.kind} ({self.mechanism})"
        return f"{probe} with {' and '.join(self.actions or [PLAIN_ACTION])}"


class Candidate(NamedTuple):
    """A case of the kind with the actions that were asked for, and what was assumed, in sentences.

    `is_bounded`: whether one of the actions is taken for the most expensive one.
    """

    base: Fired
    sum: Sum
    notes: tuple[str, ...] = ()
    is_bounded: bool = False


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

    An action that nobody measured is taken for the most expensive one that was, and `Part.note` says so.
    The note says too where `mechanism` is None and the measured cases of the kind differ in it. Kind and actions are
    as suites have them, `tracepoint` being one that is not on system calls. The mechanism is `emulated`, `stepped` or
    `called` of user probes; `ftrace`, `jump` or `trap` of kprobes. `rate_hz`: such events of each thread per second.
    """
    on = setup(found, machine, tracer)
    wanted = Request(kind, mechanism, tuple(SAME_ACTION.get(one, one) for one in actions if one != PLAIN_ACTION))
    part = _with_one_action(on, wanted) if len(wanted.actions) < 2 else None
    if part is None or part.is_bounded:
        part = _with_several(on, wanted)
    return part and replace(part, rate_hz=rate_hz)


def _with_one_action(on: Setup, wanted: Request) -> Part | None:
    """The probe with the only action that is asked for, or with none."""
    each = (_candidates(on, wanted, bases(wanted.kind, wanted.mechanism)) for bases in (on.bases, on.counted_bases))
    candidates = next(filter(None, each), None)
    return _no_less(on, wanted, _part(on, wanted, _highest_mechanism(candidates))) if candidates else None


def _no_less(on: Setup, wanted: Request, part: Part) -> Part:
    """No action makes a probe cost less than it does alone; differences of noisy costs of several suites may say so."""
    if part.basis != "composed" or not wanted.actions:
        return part
    plain = _with_one_action(on, wanted._replace(actions=()))
    return replace(part, cost=_at_least(part.cost, plain.cost)) if plain and plain.basis != "estimated" else part


def _with_several(on: Setup, wanted: Request) -> Part | None:
    """The probe with one of its actions as that was measured, and with what each other one adds to a plain probe.

    An action of which nothing tells is taken for the most expensive one. The page adds the same
    (`site/assets/js/script-cost.js`), from the costs with one action each.
    """
    known = [one for one in wanted.actions if one in on.actions]
    each = {one: _with_one_action(on, wanted._replace(actions=(one,))) for one in known}
    alone = {one: part for one, part in each.items() if part and not part.is_bounded}
    adds = {one: more for one in alone if (more := on.differences.added(one))}
    order = sorted(alone, key=lambda one: (one in adds, alone[one].basis != "measured"))
    first, rest = next(iter(order), None), list(wanted.actions)
    if first is not None:
        rest.remove(first)
    part = alone[first] if first else _with_one_action(on, wanted._replace(actions=()))
    bound, is_bounded = on.differences.highest, not adds.keys() >= set(rest)
    if part is None or (bound is None and is_bounded):
        return None
    whole, notes = Sum(part.added, part.less, part.cost), [part.note] if part.note else []
    for action in rest:
        if action in adds:
            whole = whole.plus(adds[action])
        else:
            whole, note = _bounded(whole, action, bound)
            notes.append(note)
    made = replace(
        part,
        name=wanted.name,
        title=None,
        basis="estimated" if part.basis == "estimated" else "composed",
        added=whole.added,
        less=whole.less,
        cost=whole.cost,
        is_clear=is_above_0(whole.cost),
        note=" ".join(dict.fromkeys(notes)) or None,
        is_bounded=is_bounded,
    )
    return _no_less(on, wanted, made)


def _at_least(cost: Estimate, plain: Estimate) -> Estimate:
    """A cost, or the plain one where that is more."""
    if cost.value >= plain.value:
        return cost
    if cost.low is None or cost.high is None or plain.low is None or plain.high is None:
        return Estimate(plain.value)
    return Estimate(plain.value, max(cost.low, plain.low), max(cost.high, plain.high))


def combinations(found: Evidence, machine: str, tracer: str, kind: str) -> Iterator[tuple[str | None, str]]:
    """Every mechanism that a kind of probe was measured with, None where they are several, with every known action."""
    on = setup(found, machine, tracer)
    bases = [one for one in on.fired if one.case.probe == kind]
    mechanisms = sorted({one.mechanism for one in bases if one.mechanism})
    asked: list[str | None] = [*mechanisms, *([None] if len(mechanisms) > 1 else [])]
    for action in dict.fromkeys(one.action for one in on.fired):
        told, _ = sorted_out([action], {one.action for one in bases}, on.differences)
        if told or action == PLAIN_ACTION:
            yield from ((mechanism, action) for mechanism in asked)


def _candidates(on: Setup, wanted: Request, bases: Sequence[Fired]) -> list[Candidate]:
    """Every base with the actions, and with what stands for those that nobody measured."""
    if not bases:
        return []
    told, untold = sorted_out(wanted.actions, {one.action for one in bases}, on.differences)
    bound = on.differences.highest
    if untold and bound is None:
        return []
    alone = [one for base in bases if (one := _alone(on, base, wanted))]
    candidates = [one for base in alone if (one := _with_actions(base, told, on.differences))]
    if not candidates and not told:  # nobody can tell the probe without its own action
        own = [WORDS["own-action"].format(case=quoted(one.base.number.title), action=one.base.action) for one in alone]
        candidates = [one._replace(notes=(*one.notes, note)) for one, note in zip(alone, own, strict=True)]
    for action in untold:
        candidates = [_bounded_candidate(one, action, bound) for one in candidates]
    return candidates


def _alone(on: Setup, base: Fired, wanted: Request) -> Candidate | None:
    """A case as it was measured, or estimated from its count; on no system call where the kind is on none."""
    number = base.number
    if not number.is_time:
        return _from_count(on, base, wanted.mechanism)
    cost, path = event_cost(on.found, (on.machine, number.tracer, number.case), number.bounded_cost)
    suites = frozenset({base.suite})
    if wanted.kind not in AWAY_FROM_CALLS or base.case.silent is None:
        return Candidate(base, Sum((number,), (), cost, suites))
    # The longer way into the kernel, which every system call takes while it is traced, is no part of such a probe.
    if path is None:
        note = WORDS["at-most"].format(case=quoted(number.title))
        return Candidate(base, Sum((number,), (), cost, suites).from_low(min(0.0, cost.low or 0.0)), (note,))
    assert path.source
    return Candidate(base, Sum((number,), (path.source,), path.moved(cost, 0), suites))


def _from_count(on: Setup, base: Fired, mechanism: str | None) -> Candidate | None:
    """A case whose instructions were counted, as `mechanism` would make its probe; None without a model there."""
    number = base.number
    cost = models(on.found).cost(on.machine, counted_as(on.found, base.case, number, mechanism))
    if cost is None:
        return None
    other = number.mechanism is not None and mechanism not in (None, number.mechanism)
    note = WORDS["other-way"].format(case=quoted(number.title), counted=number.mechanism, wanted=mechanism)
    return Candidate(base, Sum(cost=cost, suites=frozenset({base.suite})), (note,) if other else ())


def _with_actions(alone: Candidate, actions: Sequence[str], known: Differences) -> Candidate | None:
    """The case with the actions wanted for its own; None where nothing tells what the first of them takes there.

    An action beside another one adds what it adds to a plain probe. Where no plain probe was measured nothing tells
    that: two actions that were measured apart say which costs more, not what one adds to the other.
    """
    (base, whole, notes, _), others = alone, list(actions)
    if base.action in others:
        others.remove(base.action)
        own: Sum | None = Sum()
    else:
        own = known.of(others.pop(0) if others else PLAIN_ACTION, base.action)
    if own is None or (others and known.highest is None):
        return None
    made = Candidate(base, whole.plus(own), notes)
    for action in others:
        more = known.of(action, PLAIN_ACTION)
        made = made._replace(sum=made.sum.plus(more)) if more else _bounded_candidate(made, action, known.highest)
    return made


def _bounded_candidate(one: Candidate, action: str, bound: tuple[str, Sum] | None) -> Candidate:
    whole, note = _bounded(one.sum, action, bound)
    return Candidate(one.base, whole, (*one.notes, note), is_bounded=True)


def _bounded(whole: Sum, action: str, bound: tuple[str, Sum] | None) -> tuple[Sum, str]:
    """With an action that nobody measured: as expensive as the highest measured one, and at the low end for nothing."""
    assert bound
    highest, more = bound
    note = WORDS["unknown-action"].format(action=action, tracer=more.added[0].tracer, highest=highest)
    return whole.plus(more).from_low(whole.cost.low), note


def _highest_mechanism(candidates: Sequence[Candidate]) -> Candidate:
    """The typical one of the most expensive mechanism; of several, its low end is that of the least expensive one.

    A kind whose mechanism is not known must not be taken for one that costs little.
    """
    groups = grouped_by(candidates, lambda one: one.base.mechanism)
    *others, highest = sorted(map(_typical, groups.values()), key=lambda one: one.sum.cost.value)
    if not others:
        return highest
    note = WORDS["unknown-first"].format(highest=highest.base.mechanism, lowest=others[0].base.mechanism)
    return highest._replace(sum=highest.sum.from_low(others[0].sum.cost.low), notes=(*highest.notes, note))


def _typical(candidates: Sequence[Candidate]) -> Candidate:
    """Of several candidates for one cost the median of those with the fewest terms; of estimates the narrowest."""
    if not candidates[0].base.number.is_time:
        return min(candidates, key=lambda one: one.sum.width_ns)
    fewest = min(one.sum.terms for one in candidates)
    direct = sorted((one for one in candidates if one.sum.terms == fewest), key=lambda one: one.sum.cost.value)
    return direct[(len(direct) - 1) // 2]


def _part(on: Setup, wanted: Request, chosen: Candidate) -> Part:
    base, whole, notes, is_bounded = chosen
    is_estimated = not base.number.is_time
    is_measured = not is_estimated and len(whole.added) == 1 and not whole.less
    key = (on.machine, on.tracer, base.case.id)
    return Part(
        name=base.case.id if is_measured else wanted.name,
        title=base.number.title if is_measured else None,
        basis="estimated" if is_estimated else "measured" if is_measured and not notes else "composed",
        added=whole.added,
        less=whole.less,
        counted=base.number if is_estimated else None,
        calibrated=on.calibrated if is_estimated else (),
        cost=whole.cost,
        is_clear=base.number.is_clear if is_measured else is_above_0(whole.cost),
        path=None if wanted.kind in AWAY_FROM_CALLS else event_cost(on.found, key, whole.cost)[1],
        hardware=on_hardware(on.found, wanted.kind, base.mechanism, next(iter(on.costs.values())).submission),
        note=" ".join(notes) or None,
        is_bounded=is_bounded,
    )
