"""What an event of a script's probe costs, from the nearest basis that knows: for each probe by itself.

The order: measured here and now; of this machine, or of the one that was named; the range over all machines of its kind
(`part.py`); the range over those of another kind; printed by others. A cost of this machine whose interval is
too wide is passed over while there is a narrower one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from probe_effect.answer.added import EntryPath
from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.depth import STOPS, at_depth, stopped
from probe_effect.answer.evidence import Evidence
from probe_effect.answer.part import PLAIN_ACTION, Part, over_machines, published
from probe_effect.answer.question import SAMPLED, HereCosts
from probe_effect.answer.setup import ON_CALLS, STANDS_FOR, own_actions, setup, single_cases
from probe_effect.answer.words import WORDS
from probe_effect.model import Estimate
from probe_effect.numbers.likeness import Facts, Likeness, by_likeness, facts_of_submission
from probe_effect.numbers.names import tool_of
from probe_effect.scripts.form import ScriptProbe
from probe_effect.stats import estimates

WIDEST_RATIO, SMALL_NS = 10.0, 100.0
"""An interval whose high end is more than ten times its low end says too little, unless all of it is small."""

FILTER = "filter"

SYSTEM_CALL, PRINTED = "system-call", "print"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeGroup:
    """Probes of one attach point that fire in one way and do the same at each event.

    `matched`: how many there are; None where a wildcard may match any number. `has_filter`: whether only some events
    come to the actions. `unknown`: parts of the script whose cost `actions` do not name. `rates_hz`: events per second
    of elapsed time in each thread; None where nobody counted. `rate_hz`: those of all threads together; `rate_low_hz`
    and `rate_high_hz` are its interval, None of an exact one, and `busiest_hz` is the rate of its busiest time.
    `events_by_cpu`: where they fired. `why`: what keeps them from being attached or counted.
    `frames`: how deep the stack is that a sample finds; None where nobody says.
    """

    attach: str
    kind: str
    actions: tuple[str, ...] = ()
    mechanism: str | None = None
    matched: int | None = 1
    first_bytes: str | None = None
    has_filter: bool = False
    unknown: tuple[str, ...] = ()
    rates_hz: Mapping[int, float] | None = None
    rate_hz: float | None = None
    rate_low_hz: float | None = None
    rate_high_hz: float | None = None
    busiest_hz: float | None = None
    events_by_cpu: Mapping[int, int] = field(default_factory=dict)
    why: str | None = None
    frames: int | None = None

    @classmethod
    def of(cls, probe: ScriptProbe) -> "ProbeGroup":
        """That of one probe of a script, of which no more is known."""
        kind, actions, has_filter, unknown = probe.kind, probe.actions, probe.has_filter, probe.unknown
        return cls(attach=probe.attach, kind=kind, actions=actions, has_filter=has_filter, unknown=unknown)

    def at_its_rate(self, cost: Estimate) -> Estimate:
        """A cost of an event whose interval has that of the rate in it, so that their product is cost times rate."""
        if not self.rate_hz or self.rate_low_hz is None:
            return cost
        if self.rate_high_hz is None:  # a lower bound: nobody knows how much more it may be
            return Estimate(cost.value)
        return estimates.product(cost, Estimate(1.0, self.rate_low_hz / self.rate_hz, self.rate_high_hz / self.rate_hz))


KnownCost = tuple[Part, "Likeness | None"]
"""A cost, and the machine that it is from, of several the median one; None if measured here and now, or printed."""


def machines_for(found: Evidence, here: Facts, named: str | None) -> list[Likeness]:
    """The machines whose costs may be taken, the most like this one first; a named one alone, whatever it is like."""
    machines = dict.fromkeys(machine for machine, _, _ in reversed(found.keys))
    newest = (found.costs[found.keys_of(one)[0]].submission for one in machines)
    ordered = by_likeness(here, map(facts_of_submission, newest))
    return ordered if named is None else [replace(one, comparable=True) for one in ordered if one.machine == named]


def nearest_cost(
    found: Evidence, machines: Sequence[Likeness], tracer: str, group: ProbeGroup, here: HereCosts | None = None
) -> KnownCost | None:
    """The cost of one event of a group of probes, ns; None where no basis knows it.

    `machines`: those whose costs may be taken, in order; one that is not comparable only where no other basis knows.
    `here`: what was measured on this machine for the script.
    """
    own = [one for one in machines if one.is_same]
    alike = [one for one in machines if one.comparable and not one.is_same]
    others = [one for one in machines if not one.comparable]
    known: list[KnownCost] = [
        *(_measured_here(here, group) if here else ()),
        *(made for some in (own, alike) if (made := _over(found, some, tracer, group))),
    ]
    if known:
        return next((one for one in known if _tells(one[0], group)), known[0])
    elsewhere = _over(found, others, tracer, group)
    return _of_another_kind(*elsewhere) if elsewhere else _printed(found, tracer, group)


def part_of(found: Evidence, machine: str, tracer: str, group: ProbeGroup) -> Part | None:
    """A group's cost on a machine; behind a filter all events are taken to pass it, and at the low end none."""
    if (tracer, group.kind) == (STOPS, SAMPLED):
        return stopped(found, machine, "+".join(group.actions), group.frames, group.rate_hz or 0.0)
    part = _whole(found, machine, tracer, group)
    return part and at_depth(found, machine, tracer, _filtered(found, machine, tracer, group, part), group.frames)


def what_to_run(found: Evidence, tracer: str, group: ProbeGroup) -> str:
    """What measures the cost of a probe that no basis knows, as the end of a sentence."""
    kinds = STANDS_FOR.get(group.kind, (group.kind,))
    known = (suite for suite, case in single_cases(found) if suite.result_type.guides and case.probe in kinds)
    suite = next((f" --suite {one.id}" for one in known), "")
    return f"measure it with `probe-effect measure{suite}`" + (
        WORDS["calibrate"] if tracer.startswith("bpftrace") else ""
    )


def _tells(part: Part, group: ProbeGroup) -> bool:
    """Whether a cost is an answer. One that was measured here may be wide because of a filter: nobody knows better."""
    return not _is_wide(part.cost) or (part.basis == "calibrated" and group.has_filter)


def _is_wide(cost: Estimate) -> bool:
    """Whether the interval says too little, or there is none."""
    if cost.low is None or cost.high is None:
        return True
    return cost.high > SMALL_NS and cost.high > WIDEST_RATIO * cost.low


def _measured_here(here: HereCosts, group: ProbeGroup) -> Iterator[tuple[Part, None]]:
    """The cost on the CPUs on which the group fired; an event of the loop that was timed is one system call."""
    own = here.costs.get((group.attach, group.mechanism))
    if own is None:
        return
    cost, calls = own.on(group.events_by_cpu), here.calls if group.kind in ON_CALLS else None
    part = Part(
        name=group.attach,
        rate_hz=group.rate_hz or 0.0,
        basis="calibrated",
        cost=cost,
        is_clear=estimates.is_above_0(cost),
        path=EntryPath(calls.on(group.events_by_cpu), None, 1.0) if calls else None,
        note=own.note,
    )
    yield part, None


def _over(
    found: Evidence, machines: Sequence[Likeness], tracer: str, group: ProbeGroup
) -> tuple[Part, Likeness] | None:
    """The group's cost over all machines that know it, with the median one; None where none does."""
    known = ((one.machine, part_of(found, one.machine, tracer, group)) for one in machines)
    part = over_machines((machine, made) for machine, made in known if made is not None)
    return (part, next(one for one in machines if one.machine == part.machines[0])) if part else None


def _of_another_kind(part: Part, likeness: Likeness) -> KnownCost:
    """A range over machines of another kind, marked as such."""
    note = WORDS["another-kind"].format(why="; ".join(likeness.reasons), machines=f"{len(part.machines)} of them")
    return replace(part, note=" ".join(filter(None, [note, part.note]))), likeness


def _printed(found: Evidence, tracer: str, group: ProbeGroup) -> KnownCost | None:
    """What others printed for such a probe, with the same action where they have it."""
    known = [
        (case.action not in (group.actions or (PLAIN_ACTION,)), key)
        for key in found.printed
        if tool_of(key[1]) == tool_of(tracer)
        and (case := found.case_of.get(key[2])) is not None
        and case.probe == group.kind
    ]
    if not known:
        return None
    key = min(known)[1]
    return published(found, found.printed[key], key[2], group.rate_hz or 0.0), None


def _filtered(found: Evidence, machine: str, tracer: str, group: ProbeGroup, part: Part) -> Part:
    """Behind a filter, with the low end of an event that does not pass it."""
    if not group.has_filter or set(_actions(tracer, group)) <= {FILTER}:
        return part
    if FILTER not in setup(found, machine, tracer).actions:
        return part
    least = _cost(found, machine, tracer, group, [FILTER])
    if least is None or least.cost.low is None or part.cost.low is None:
        return part
    cost = part.cost._replace(low=min(part.cost.low, least.cost.low))
    return replace(part, cost=cost, note=" ".join(filter(None, [part.note, WORDS["filtered"]])))


def _whole(found: Evidence, machine: str, tracer: str, group: ProbeGroup) -> Part | None:
    """The cost of an event that passes the filter, if there is one.

    A tool that stops a process at each system call spends most of the cost on that, whatever it does with the call.
    """
    actions = _actions(tracer, group)
    filtered = [FILTER] if group.has_filter and FILTER not in actions else []
    part = _cost(found, machine, tracer, group, [*filtered, *actions, *group.unknown])
    if part is None and group.kind == SYSTEM_CALL:
        part = _cost(found, machine, tracer, group, [PRINTED])
        return part and replace(part, note=WORDS["as-printed"])
    return part


def _actions(tracer: str, group: ProbeGroup) -> list[str]:
    own = own_actions(tracer)
    return [action for action in group.actions if action not in own and action != PLAIN_ACTION]


def _cost(found: Evidence, machine: str, tracer: str, group: ProbeGroup, actions: Sequence[str]) -> Part | None:
    rate_hz = group.rate_hz or 0.0
    return cost_of(found, machine, tracer, kind=group.kind, mechanism=group.mechanism, actions=actions, rate_hz=rate_hz)
