"""What suites with a factor add to a cost: what it becomes when threads contend, and at which rates the line holds."""

from collections.abc import Callable
from dataclasses import dataclass

from probe_effect.answer.composition import meet
from probe_effect.answer.evidence import CostKey, Evidence
from probe_effect.model import Estimate
from probe_effect.numbers.once import once
from probe_effect.reduce.submission import Number
from probe_effect.reduce.thresholds import slowdown_at
from probe_effect.stats import estimates
from probe_effect.store.suite_file import Factor
from probe_effect.units import NS_PER_SECOND

OF_RATES = ("work", "rate")
"""The factors of suites that vary the rate of events: by what a thread does between two, or by what a profiler asks."""


@dataclass(frozen=True, slots=True)
class Contention:
    """With `threads` threads that fire the same probe an event costs `factor` times what it costs with one."""

    threads: int
    factor: Estimate


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The slowdown measured at a rate of untraced running time, events/s, beside rate x cost; both as ratios.

    `holds`: whether their intervals overlap.
    """

    rate_hz: float
    measured: Estimate
    predicted: Estimate
    holds: bool


def contention(found: Evidence, machine: str, tracer: str, case: str) -> list[Contention]:
    """By number of threads, ascending from 2: by what factor the event of `case` costs more.

    Only factors that have an interval; empty where nobody measured the event of `case` with several threads.
    """
    levels = at_levels(found, (machine, tracer, case), lambda factor: factor.occupies_cpus)
    by_threads = {int(level): one.known_cost for level, one in levels.items() if level.isdigit()}
    single = by_threads.pop(1, None)
    if single is None:
        return []
    factors = {threads: estimates.ratio(cost, single) for threads, cost in sorted(by_threads.items())}
    return [Contention(threads, factor) for threads, factor in factors.items() if factor and factor.low is not None]


def nearest(factors: list[Contention], threads: int) -> Contention | None:
    """The factor for the fewest measured threads that are no fewer than `threads`, or else for the most measured.

    None for one thread, and where nothing was measured.
    """
    if threads == 1 or not factors:
        return None
    return next((one for one in factors if one.threads >= threads), factors[-1])


def line(found: Evidence, machine: str, tracer: str, case: str) -> list[RatePoint]:
    """Measured slowdown beside rate x cost, by rising rate, where both have intervals.

    Empty where no suite varied the rate of the event of `case`.
    """
    known = found.costs.get((machine, tracer, case))
    if known is None:
        return []
    levels = at_levels(found, (machine, tracer, case), lambda factor: factor.name in OF_RATES).values()
    points = (point(one, known.known_cost) for one in levels)
    return sorted((one for one in points if one is not None), key=lambda one: one.rate_hz)


def point(measured: Number, cost: Estimate) -> RatePoint | None:
    """What was measured beside rate x `cost`; None where one of them has no interval."""
    baseline, slowdown = measured.baseline, measured.slowdown
    if baseline is None or not baseline.value or slowdown is None:
        return None
    rate_hz = NS_PER_SECOND / baseline.value
    predicted = slowdown_at(cost, rate_hz)
    holds = meet(slowdown, predicted)
    return None if holds is None else RatePoint(rate_hz, slowdown, predicted, holds)


def at_levels(found: Evidence, key: CostKey, is_wanted: Callable[[Factor], bool]) -> dict[str, Number]:
    """Level to what was measured there for the event of a case, in the suites whose factor is wanted."""
    machine, tracer, case_id = key
    levels: dict[str, Number] = {}
    for factor, like in _likes(found).get(case_id, ()):
        if is_wanted(factor):
            levels |= found.by_level.get((machine, tracer, like), {})
    return levels


@once
def _likes(found: Evidence) -> dict[str, list[tuple[Factor, str]]]:
    """Case to the cases that have its event at levels of a factor, with that factor."""
    made: dict[str, list[tuple[Factor, str]]] = {}
    for suite, case in found.cases:
        if case.like is not None and suite.factor is not None:
            made.setdefault(case.like, []).append((suite.factor, case.id))
    return made
