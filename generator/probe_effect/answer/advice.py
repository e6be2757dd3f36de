"""May this run here? The probes of a script, with how often they fire in each thread, to what they do to the threads.

The rates are counted or given; each probe has the cost of the nearest basis that knows it (`nearest.py`).
A probe without a cost or without a rate is kept, with the reason, because what is left out is never told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from probe_effect.answer.answers import forecast
from probe_effect.answer.nearest import ProbeGroup, machines_for, nearest_cost, what_to_run
from probe_effect.answer.parts import with_calls
from probe_effect.answer.prediction import ProbeLoad, multiplied, predict, together
from probe_effect.answer.proof import program_spread
from probe_effect.answer.question import Question
from probe_effect.model import Estimate
from probe_effect.reduce.thresholds import threshold
from probe_effect.stats import mover
from probe_effect.units import NS_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probe_effect.answer.answers import Forecast
    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.here import HereCosts
    from probe_effect.answer.part import Part
    from probe_effect.answer.proof import Spread
    from probe_effect.numbers.likeness import Facts, Likeness

    SpreadOf = Callable[[Part], Spread | None]
    """A part to how far real programs are from what loops predict of such a one."""

LEAST_BUSY_RATIO = 1e-4
"""A thread that used less of the time that it was watched did nothing that could be slowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A thread that was watched, and the share of that time in which it used a CPU; clocks may give above 1."""

    tid: int
    pid: int
    name: str
    busy_ratio: float


@dataclass(frozen=True, slots=True)
class Advised:
    """A group with what one of its events costs, or, where no basis knows it, with what to run (`remedy`).

    `likeness`: the measured machine that the cost is from; None where it was measured here and now, or by others.
    """

    group: ProbeGroup
    part: Part | None = None
    likeness: Likeness | None = None
    remedy: str | None = None

    @property
    def cpu_s_per_s(self) -> Estimate | None:
        """CPU seconds that its events take per second, over all threads."""
        if self.part is None or self.group.rate_hz is None:
            return None
        return self.group.at_its_rate(self.part.cost).times(self.group.rate_hz / NS_PER_SECOND)

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

    `cpu_s_per_s`: CPUs that all probes take, over all threads; None where nothing was counted. `spreads`: how far real
    programs are from loops, each that some probe's cost was multiplied with.
    """

    tracer: str
    probes: tuple[Advised, ...]
    threads: tuple[Slowed, ...]
    cpu_s_per_s: Estimate | None
    spreads: tuple[Spread, ...]
    budget_ratio: float

    @property
    def machine(self) -> str | None:
        """The measured machine that the cost of the most expensive probe is from; None where it is from none."""
        likeness = next((one.likeness for one in self.probes if one.part), None)
        return likeness.machine if likeness else None

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
        """Whether all of the interval is within the budget; None where a rate, a cost or an interval is not known."""
        slowdown = self.slowdown
        if slowdown is not None and slowdown.value > self.budget_ratio:
            return False
        if slowdown is None or slowdown.high is None or not self.is_whole:
            return None
        return slowdown.high <= self.budget_ratio

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
    here: HereCosts | None = None,
    machine: str | None = None,
    spread_of: SpreadOf | None = None,
) -> Advice:
    """What the probes of a script do, each at the cost of the nearest basis that knows it.

    Args:
        found: every usable cost.
        facts: the machine that asks.
        tracer: the tool that runs the script.
        groups: its probes, with their rates.
        threads: those that were watched.
        calls_hz: system calls of each thread per second, traced or not: probes on some make all of them slower.
        budget_ratio: how much slower a thread may get.
        here: what was measured on the machine that asks.
        machine: the only measured machine whose costs are taken.
        spread_of: how far real programs are from loops, for each part; by default all programs that were measured.
    """
    machines, spread_of = machines_for(found, facts, machine), spread_of or (lambda _: program_spread(found))
    advised = []
    for group in groups:
        nearest = nearest_cost(found, machines, tracer, group, here)
        advised.append(
            Advised(group, *nearest) if nearest else Advised(group, remedy=what_to_run(found, tracer, group))
        )
    taken = [one.cpu_s_per_s for one in advised if one.cpu_s_per_s is not None]
    paying = ((thread, _paying(advised, thread, calls_hz.get(thread.tid))) for thread in threads)
    slowed = [Slowed(thread, _forecast(known, facts, tracer, thread, spread_of)) for thread, known in paying if known]
    slowed.sort(key=lambda one: -one.forecast.prediction.cpu_s_per_s.value)
    spreads = dict.fromkeys(spread_of(one.part) for one in advised if one.part is not None)
    return Advice(
        tracer=tracer,
        probes=tuple(sorted(advised, key=lambda one: -(one.cpu_s_per_s.value if one.cpu_s_per_s else -math.inf))),
        threads=tuple(slowed),
        cpu_s_per_s=mover.total(taken) if taken else None,
        spreads=tuple(one for one in spreads if one is not None),
        budget_ratio=budget_ratio,
    )


def _forecast(known: Sequence[Part], facts: Facts, tracer: str, thread: Thread, spread_of: SpreadOf) -> Forecast:
    """What probes do to a thread, where the spread of real programs is that of each part."""
    plain = forecast(known, facts, tracer, Question(busy_ratio=min(1.0, thread.busy_ratio)))
    costs = [multiplied(part.cost, apart.factor) if (apart := spread_of(part)) else part.cost for part in known]
    loads = [ProbeLoad(cost, part.rate_hz) for cost, part in zip(costs, known, strict=True)]
    return replace(plain, prediction=predict(together(loads).cost, plain.load))


def _paying(advised: Sequence[Advised], thread: Thread, calls_hz: float | None) -> list[Part]:
    """The probes that fire in a thread, at its own rates; none where it was not seen at work."""
    known = [
        replace(one.part, rate_hz=rate_hz, cost=one.group.at_its_rate(one.part.cost))
        for one in advised
        if one.part is not None and (rate_hz := (one.group.rates_hz or {}).get(thread.tid, 0.0)) > 0
    ]
    return with_calls(known, calls_hz) if known and thread.busy_ratio >= LEAST_BUSY_RATIO else []
