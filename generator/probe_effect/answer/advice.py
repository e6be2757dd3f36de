"""May this run here? The probes of a script, with how often they fire in each thread, to what they do to the threads.

The rates are counted or given, and the costs those of the asker's scope.
A probe without a cost or without a rate is kept, with the reason, because what is left out is never told.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from probe_effect.answer.answers import Forecast, forecast
from probe_effect.answer.prediction import WORDS
from probe_effect.answer.question import Question
from probe_effect.answer.spread import Spread, spread_of
from probe_effect.costs.actions import may_pay_at_switches
from probe_effect.costs.evidence import Evidence, machines_for, whose
from probe_effect.costs.machine import STANDS_FOR, single_cases
from probe_effect.costs.row import CostRow
from probe_effect.costs.table import STARTS, HereCosts, ProbeGroup, bounded, cost_table, event, with_calls
from probe_effect.model import Estimate
from probe_effect.numbers import estimates
from probe_effect.numbers.shown import Facts, Likeness
from probe_effect.numbers.submission import threshold
from probe_effect.units import NS_PER_SECOND

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
    part: CostRow | None = None
    likeness: Likeness | None = None
    remedy: str | None = None
    cpus: float = math.inf
    """Those that there are, of which events take no more."""

    @property
    def cpu_s_per_s(self) -> Estimate | None:
        if self.part is None or self.group.rate_hz is None:
            return None
        taken = self.group.at_its_rate(self.part.cost).times(self.group.rate_hz / NS_PER_SECOND)
        return bounded(taken.mapped(lambda used: min(used, self.cpus)), [self.group])

    def threshold(self, percent: int) -> Estimate | None:
        return None if self.part is None else threshold(self.part.cost, percent, stops=self.part.stops)


@dataclass(frozen=True, slots=True)
class Slowed:
    """A thread with what all probes together do to it."""

    thread: Thread
    forecast: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """`probes`: every group, that which takes most CPU time first. `threads`: those that probes take most time from.

    `one_event`: what one event of each probe costs together, ns, as slowdowns are predicted; None without some cost.
    `whole`: the same of all threads together, those that ended too; None where nobody knows their CPU time.
    `cpu_s_per_s`: CPUs that all probes take, over all threads; None where nothing was counted. `spreads`: how far real
    programs are from loops, each that some probe's cost was multiplied with. `is_switched`: whether each context switch
    of what is sampled takes time too, of which nobody knows how many there are.
    """

    tracer: str
    probes: tuple[Advised, ...]
    threads: tuple[Slowed, ...]
    whole: Slowed | None = None
    cpu_s_per_s: Estimate | None
    spreads: tuple[Spread, ...]
    budget_ratio: float
    one_event: Estimate | None = None
    is_switched: bool = False

    @property
    def machine(self) -> str | None:
        """The measured machine that the cost of the most expensive probe is from; None where it is from none."""
        likeness = next((probe.likeness for probe in self.probes if probe.part), None)
        return likeness.machine if likeness else None

    @property
    def busiest(self) -> Slowed | None:
        return next(iter(self.threads), None)

    @property
    def headline(self) -> Slowed | None:
        """Whose slowdown is the answer: all threads of a command, or else the busiest thread."""
        return self.whole or self.busiest

    @property
    def slowdown(self) -> Estimate | None:
        return self.slowdown_of(self.headline)

    def slowdown_of(self, thread: Slowed | None) -> Estimate | None:
        """The slowdown of a thread, as a ratio; of None 0 where everything was counted and nothing fired."""
        if thread is not None:
            return thread.forecast.prediction.slowdown
        counted = [probe for probe in self.probes if probe.group.rate_hz is not None]
        return Estimate(0.0, 0.0, 0.0) if counted and not any(probe.group.rate_hz for probe in counted) else None

    @property
    def within_budget(self) -> bool | None:
        """Whether all of the interval is within the budget; None where a rate, a cost or an interval is not known."""
        slowdown = self.slowdown
        if slowdown is not None and slowdown.value > self.budget_ratio:
            return False
        if slowdown is None or slowdown.high is None or not self.is_whole or not self.has_high_end(slowdown):
            return None
        return slowdown.high <= self.budget_ratio

    def has_high_end(self, slowdown: Estimate) -> bool:
        """Whether it is known how large a slowdown may be: a verdict by a lower bound would be none."""
        return slowdown.high is not None and not (self.is_lower_bound or self.is_switched or self.not_understood)

    @property
    def is_printed(self) -> bool:
        """Whether the cost of some probe is what others printed, which has no interval."""
        return any(probe.part is not None and probe.part.printed is not None for probe in self.probes)

    @property
    def not_understood(self) -> tuple[str, ...]:
        """Parts of the script whose cost nobody knows, of probes that fire and were not measured here."""
        probes = (
            probe
            for probe in self.probes
            if probe.group.rate_hz != 0 and not (probe.part and probe.part.basis == "calibrated")
        )
        return tuple(dict.fromkeys(part for probe in probes for part in probe.group.unknown))

    def on_cpus(self, cpus: int) -> "Advice":
        """The same where so many CPUs are: probes take no more of them together, and happen less often instead."""
        taken = self.cpu_s_per_s and self.cpu_s_per_s.mapped(lambda used: min(used, float(cpus)))
        return replace(self, cpu_s_per_s=taken, probes=tuple(replace(probe, cpus=cpus) for probe in self.probes))

    @property
    def is_lower_bound(self) -> bool:
        """Whether some probe fires at least so often and nobody knows how much more, so that nothing has a high end."""
        return any(probe.group.is_lower_bound for probe in self.probes)

    @property
    def is_whole(self) -> bool:
        """Whether every probe that fires has a rate and a cost, and it is known how many there are."""
        return all(
            probe.group.matched is not None
            and probe.group.rate_hz is not None
            and (probe.part is not None or probe.group.rate_hz == 0)
            for probe in self.probes
        )


def advise(
    evidence: Evidence,
    facts: Facts,
    tracer: str,
    groups: Sequence[ProbeGroup],
    threads: Sequence[Thread],
    *,
    calls_hz: Mapping[int, float],
    budget_ratio: float,
    here: HereCosts | None = None,
    machine: str | None = None,
    whole: Thread | None = None,
    options: Sequence[str] = (),
) -> Advice:
    """What the probes of a script do on the machine of `facts`, each at the cost of the nearest basis that knows it.

    `calls_hz`: system calls of each thread per second, traced or not: probes on some make all of them slower. `here`:
    what was measured on that machine. `machine`: the only measured one whose costs are taken. `whole`: all threads of
    a command together, as one that is busy for as long as they are. `options`: of the command line that samples.
    """
    likenesses = {
        machine_likeness.machine: machine_likeness for machine_likeness in machines_for(evidence, facts, machine)
    }
    table = cost_table(evidence, whose(evidence, facts, machine), tracer)
    advised = []
    for group in groups:
        row = event(table, group, here)
        likeness = likenesses.get(row.machines[0]) if row and row.machines else None
        advised.append(Advised(group, row, likeness, None if row else what_to_run(evidence, tracer, group)))

    def slowed(thread: Thread, rates_hz: Sequence[float], thread_calls_hz: float | None) -> list[Slowed]:
        """The thread in which the probes fire at these rates; none where nothing of known cost fires."""
        firing = _at_rates(advised, rates_hz, thread_calls_hz)
        return [Slowed(thread, _forecast(evidence, firing, facts, tracer, thread.busy_ratio))] if firing else []

    slowed_threads: list[Slowed] = []
    slowed_whole: list[Slowed] = []
    for thread in threads:
        if thread.busy_ratio >= LEAST_BUSY_RATIO:
            rates_hz = [(probe.group.rates_hz or {}).get(thread.tid, 0.0) for probe in advised]
            slowed_threads += slowed(thread, rates_hz, calls_hz.get(thread.tid))
    if whole:
        # All threads together may use several CPUs, and count as one of them, so rates are those of their CPU time.
        busy = max(1.0, whole.busy_ratio)
        rates_hz = [(probe.group.rate_hz or 0.0) / busy for probe in advised]
        slowed_whole = slowed(whole, rates_hz, sum(calls_hz.values()) / busy if calls_hz else None)
    events = [probe for probe in advised if probe.group.attach != STARTS]
    each_once = _at_rates(events, [1.0] * len(events), None)
    is_priced = each_once and len(each_once) == len(events)
    at_1_hz = _forecast(evidence, each_once, facts, tracer, 1.0).prediction.slowdown if is_priced else None
    taken = [probe.cpu_s_per_s for probe in advised if probe.cpu_s_per_s is not None]
    spreads = dict.fromkeys(
        spread_of(evidence, tracer, probe.group.kind, probe.group.actions)
        for probe in advised
        if probe.part is not None
    )
    return Advice(
        tracer=tracer,
        probes=tuple(sorted(advised, key=lambda probe: -(probe.cpu_s_per_s.value if probe.cpu_s_per_s else -math.inf))),
        threads=tuple(
            sorted(slowed_threads, key=lambda slowed_thread: -slowed_thread.forecast.prediction.cpu_s_per_s.value)
        ),
        whole=next(iter(slowed_whole), None),
        cpu_s_per_s=_together(taken) if taken else None,
        spreads=tuple(spread for spread in spreads if spread is not None),
        budget_ratio=budget_ratio,
        one_event=at_1_hz and at_1_hz.times(NS_PER_SECOND),
        is_switched=may_pay_at_switches(tracer, options),
    )


def _forecast(
    evidence: Evidence, firing: Sequence[tuple[ProbeGroup, CostRow]], facts: Facts, tracer: str, busy_ratio: float
) -> Forecast:
    groups, parts = zip(*firing, strict=True)
    question = Question(busy_ratio=min(1.0, busy_ratio))
    apart = [spread_of(evidence, tracer, group.kind, group.actions) for group in groups]
    made = forecast(parts, facts, tracer, question, apart)
    told = made.prediction
    within = replace(
        told,
        slowdown=bounded(told.slowdown, groups),
        delay=bounded(told.delay, groups),
        cpu_s_per_s=bounded(told.cpu_s_per_s, groups),
        event_hz=bounded(told.event_hz, groups),
    )
    return replace(made, prediction=within)


def _together(taken: Sequence[Estimate]) -> Estimate:
    """The sum of what probes take; without a high end where one has none, and then still with the low one."""
    whole = estimates.total(
        [
            estimate if estimate.high is not None or estimate.low is None else estimate._replace(high=estimate.value)
            for estimate in taken
        ]
    )
    return whole if all(estimate.high is not None for estimate in taken) else whole._replace(high=None)


def _at_rates(
    advised: Sequence[Advised], rates_hz: Sequence[float], calls_hz: float | None
) -> list[tuple[ProbeGroup, CostRow]]:
    firing = [
        (probe.group, replace(probe.part, rate_hz=rate_hz, cost=probe.group.at_its_rate(probe.part.cost)))
        for probe, rate_hz in zip(advised, rates_hz, strict=True)
        if probe.part is not None and rate_hz > 0
    ]
    parts = with_calls([part for _, part in firing], calls_hz) if firing else []
    return [(group, part) for (group, _), part in zip(firing, parts, strict=True)]


def what_to_run(evidence: Evidence, tracer: str, group: ProbeGroup) -> str:
    """What measures the cost of a probe that no basis knows, as the end of a sentence."""
    kinds = STANDS_FOR.get(group.kind, (group.kind,))
    suites = (
        f" {suite.id}" for suite, case in single_cases(evidence) if suite.result_type.guides and case.probe in kinds
    )
    or_here = WORDS["calibrate"] if tracer.startswith("bpftrace") else ""
    return f"measure it with `probe-effect measure{next(suites, '')}`{or_here}"
