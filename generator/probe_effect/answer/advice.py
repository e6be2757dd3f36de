"""May this run here? The probes of a script, with how often they fire in each thread, to what they do to the threads.

The rates are counted or given; the costs are those of one machine, nearest to the asker's, each on its own
basis. A probe without a cost or without a rate is kept, with the reason, because what is left out is never told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from probe_effect.answer.answers import forecast
from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.parts import with_calls
from probe_effect.answer.proof import program_spread
from probe_effect.answer.question import Question
from probe_effect.model import Estimate
from probe_effect.reduce.thresholds import threshold
from probe_effect.stats import mover
from probe_effect.tools.record import known_tool
from probe_effect.units import NS_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probe_effect.answer.answers import Forecast
    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.part import Part
    from probe_effect.answer.proof import Spread
    from probe_effect.numbers.likeness import Facts

LEAST_BUSY_RATIO = 1e-4
"""A thread that used less of the time that it was watched did nothing that could be slowed."""


FILTER = "filter"
FILTERED = "Every event is taken to pass the filter; the low end of the cost is that of one that does not."

SYSTEM_CALL, PRINTED = "system-call", "print"
AS_PRINTED = "Each call is taken to be printed, which costs more than to count it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeGroup:
    """Probes of one attach point that fire in one way and do the same at each event.

    `matched`: how many there are. `has_filter`: whether only some events come to the actions. `unknown`: parts of the
    script whose cost `actions` do not name. `rates_hz`: events per second of elapsed time in each thread; None where
    nobody counted. `rate_hz`: those of all threads together. `why`: what keeps them from being attached or counted.
    """

    attach: str
    kind: str
    mechanism: str | None
    matched: int
    first_bytes: str | None
    actions: tuple[str, ...]
    has_filter: bool = False
    unknown: tuple[str, ...] = ()
    rates_hz: Mapping[int, float] | None = None
    rate_hz: float | None = None
    rate_low_hz: float | None = None
    rate_high_hz: float | None = None
    busiest_hz: float | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A thread that was watched, and the share of that time in which it used a CPU; clocks may give above 1."""

    tid: int
    pid: int
    name: str
    busy_ratio: float


@dataclass(frozen=True, slots=True)
class Advised:
    """A group with what one of its events costs; None where nothing tells. The part's rate is that of all threads."""

    group: ProbeGroup
    part: Part | None

    @property
    def cpu_s_per_s(self) -> Estimate | None:
        """CPU seconds that its events take per second, over all threads."""
        if self.part is None or self.group.rate_hz is None:
            return None
        return self.part.cost.times(self.group.rate_hz / NS_PER_SECOND)

    def threshold(self, percent: int) -> Estimate | None:
        """The rate at which it alone slows a busy thread by so many per cent, events/s."""
        return None if self.part is None else threshold(self.part.cost, percent)


@dataclass(frozen=True, slots=True)
class Slowed:
    """A thread with what all probes together do to it."""

    thread: Thread
    forecast: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """`probes`: every group, that which takes most CPU time first. `threads`: those that probes take most time from.

    `cpu_s_per_s`: CPUs that all probes take, over all threads; None where nothing was counted.
    """

    facts: Facts
    tracer: str
    probes: tuple[Advised, ...]
    threads: tuple[Slowed, ...]
    cpu_s_per_s: Estimate | None
    spread: Spread | None
    budget_ratio: float

    @property
    def busiest(self) -> Slowed | None:
        """The thread from which the probes take most time."""
        return next(iter(self.threads), None)

    @property
    def slowdown(self) -> Estimate | None:
        """That of the busiest thread, as a ratio; 0 where everything was counted and nothing fired."""
        if self.busiest is not None:
            return self.busiest.forecast.prediction.slowdown
        counted = [one for one in self.probes if one.group.rate_hz is not None]
        return Estimate(0.0, 0.0, 0.0) if counted and not any(one.group.rate_hz for one in counted) else None

    @property
    def within_budget(self) -> bool | None:
        """Whether all of the interval is within the budget; None where a probe's rate or cost is not known."""
        slowdown = self.slowdown
        if slowdown is None or not self.is_whole:
            above = slowdown is not None and slowdown.value > self.budget_ratio
            return False if above else None
        return (slowdown.value if slowdown.high is None else slowdown.high) <= self.budget_ratio

    @property
    def is_whole(self) -> bool:
        """Whether every probe that fires has a rate and a cost."""
        return all(
            one.group.rate_hz is not None and (one.part is not None or one.group.rate_hz == 0) for one in self.probes
        )


def advise(
    found: Evidence,
    facts: Facts,
    tracer: str,
    groups: Sequence[ProbeGroup],
    threads: Sequence[Thread],
    *,
    calls_hz: Mapping[int, float],
    budget_ratio: float,
) -> Advice:
    """What the probes of a script do, at the costs of one machine.

    Args:
        found: every usable cost.
        facts: the machine whose costs are taken.
        tracer: the tool that runs the script.
        groups: its probes, with their rates.
        threads: those that were watched.
        calls_hz: system calls of each thread per second, traced or not: probes on some make all of them slower.
        budget_ratio: how much slower a thread may get.
    """
    advised = [Advised(group, part_of(found, facts.machine, tracer, group)) for group in groups]
    apart = program_spread(found)
    taken = [one.cpu_s_per_s for one in advised if one.cpu_s_per_s is not None]
    paying = ((thread, _paying(advised, thread, calls_hz.get(thread.tid))) for thread in threads)
    slowed = [
        Slowed(thread, forecast(known, facts, tracer, Question(busy_ratio=min(1.0, thread.busy_ratio)), apart))
        for thread, known in paying
        if known
    ]
    slowed.sort(key=lambda one: -one.forecast.prediction.cpu_s_per_s.value)
    return Advice(
        facts=facts,
        tracer=tracer,
        probes=tuple(sorted(advised, key=lambda one: -(one.cpu_s_per_s.value if one.cpu_s_per_s else -math.inf))),
        threads=tuple(slowed),
        cpu_s_per_s=mover.total(taken) if taken else None,
        spread=apart,
        budget_ratio=budget_ratio,
    )


def own_actions(tracer: str) -> tuple[str, ...]:
    """What a tracer does at each event anyway; empty for an unknown one."""
    tool = known_tool(tracer)
    return tool.own_actions if tool else ()


def part_of(found: Evidence, machine: str, tracer: str, group: ProbeGroup) -> Part | None:
    """A group's cost; behind a filter every event is taken to come to the actions, and at the low end none."""
    own = own_actions(tracer)
    actions = [action for action in group.actions if action not in own]
    filtered = [FILTER] if group.has_filter and FILTER not in actions else []
    wanted = [*filtered, *actions, *group.unknown]
    part = _cost(found, machine, tracer, group, wanted) or _as_printed(found, machine, tracer, group)
    if part is None or not group.has_filter or set(actions) <= {FILTER}:
        return part
    least = _cost(found, machine, tracer, group, [FILTER])
    if least is None or least.cost.low is None or part.cost.low is None:
        return part
    cost = part.cost._replace(low=min(part.cost.low, least.cost.low))
    return replace(part, cost=cost, note=" ".join(filter(None, [part.note, FILTERED])))


def _as_printed(found: Evidence, machine: str, tracer: str, group: ProbeGroup) -> Part | None:
    """Of a tool that stops a process at each system call, which costs most of it, whatever it does with the call."""
    if group.kind != SYSTEM_CALL:
        return None
    part = _cost(found, machine, tracer, group, [PRINTED])
    return part and replace(part, note=AS_PRINTED)


def _cost(found: Evidence, machine: str, tracer: str, group: ProbeGroup, actions: Sequence[str]) -> Part | None:
    return cost_of(
        found,
        machine,
        tracer,
        kind=group.kind,
        mechanism=group.mechanism,
        actions=actions,
        rate_hz=group.rate_hz or 0.0,
    )


def _paying(advised: Sequence[Advised], thread: Thread, calls_hz: float | None) -> list[Part]:
    """The probes that fire in a thread, at its own rates; none where it was not seen at work."""
    known = [
        replace(one.part, rate_hz=rate_hz)
        for one in advised
        if one.part is not None and (rate_hz := (one.group.rates_hz or {}).get(thread.tid, 0.0)) > 0
    ]
    return with_calls(known, calls_hz) if known and thread.busy_ratio >= LEAST_BUSY_RATIO else []
