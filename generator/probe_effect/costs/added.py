"""What comes to a cost: on system calls that nobody traces, and by factors such as threads or the depth of a stack.

A probe on one system call sends every system call of every task through a longer way into the kernel. The first one
that is attached sets a flag in all tasks (kernel/tracepoint.c, syscall_regfunc); for ptrace the flag is the traced
task's alone. Where that flag is set, kernel/entry/common.c takes the long way. The cost of an event in a loop includes
it for all calls of the loop. So an event costs more in a program that makes more calls for each event, and less in one
that makes fewer. A probe of the same kind that never fires tells how much that is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from probe_effect.costs.evidence import CostKey, Evidence
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.reduce.grades import slowdown_at
from probe_effect.reduce.submission import Number
from probe_effect.stats import estimates
from probe_effect.store.suite_file import Factor
from probe_effect.units import NS_PER_SECOND

PRINTED_CALL, STRACE = "system-call", "strace"
"""A probe of this type prints system calls, one an event; this tracer stops at each call, printed or not."""

ALL_CALLS = (PRINTED_CALL, "silent-system-call")
"""The probes of tools that act on every system call of a thread, shown or not."""


@dataclass(frozen=True, slots=True)
class EntryPath:
    """`cost`: what each system call pays, ns, traced or not; `source` is what that is from, None if measured just now.

    `calls_per_event`: system calls that one event of the case came with where its cost was measured, its own among
    them: its cost holds so many of these.
    """

    cost: Estimate
    source: Number | None
    calls_per_event: float

    def moved(self, cost: Estimate, calls_per_event: float) -> Estimate:
        """What an event costs, ns, where it comes with another number of system calls than where `cost` is from."""
        more = calls_per_event - self.calls_per_event
        if more < 0:
            return estimates.difference(cost, self.cost.times(-more))
        return estimates.total([cost, self.cost.times(more)])


def calls_of_event(found: Evidence, case_id: str) -> int | None:
    """System calls of an iteration that the tool acts on for each event; None where an event is what the probe sees."""
    suite, case = found.of.get(case_id, (None, None))
    calls = suite.workload.system_calls if suite else None
    return calls if case and case.probe in ALL_CALLS and isinstance(calls, int) and calls > 1 else None


def entry_path(found: Evidence, key: CostKey) -> EntryPath | None:
    """What system calls pay while the probe of a case is attached; None where its suite does not tell."""
    machine, tracer, case_id = key
    suite, case = found.of[case_id]
    if case.silent is None:
        return None
    source = found.costs.get((machine, tracer, case.silent))
    calls = suite.workload.system_calls
    silent_calls = found.of[case.silent][0].workload.system_calls
    if source is None or not isinstance(calls, int) or not isinstance(silent_calls, int) or not silent_calls:
        return None
    paid = source.bounded_cost.times(1 / silent_calls).mapped(lambda ns: max(0.0, ns))
    return EntryPath(paid, source, calls / case.events_per_operation)


def event_cost(found: Evidence, key: CostKey, cost: Estimate) -> tuple[Estimate, EntryPath | None]:
    """What one event costs, ns, where an iteration of the loop costs `cost`; with what system calls pay, if known.

    An iteration makes several system calls, and prints one. strace stops at each of them alike, so each costs an equal
    part; what a call costs that another tool passes over is taken off. A probe that never fires costs each call alike.
    """
    path, (suite, case) = entry_path(found, key), found.of[key[2]]
    calls = suite.workload.system_calls
    each_pays = key[1] == STRACE if case.probe == PRINTED_CALL else any(case.id == one.silent for one in suite.cases)
    if path is not None and case.probe == PRINTED_CALL:
        cost, path = cost if each_pays else path.moved(cost, 1.0), replace(path, calls_per_event=1.0)
    return (cost.times(1 / calls) if each_pays and isinstance(calls, int) and calls else cost), path


LEAST = Estimate(1.0, 1.0, 1.0)
"""More threads never make an event cost less, though two noisy runs may say so."""

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
    """By number of threads, ascending from 2: by what factor the event of `case` costs more, and never less.

    Only factors that have an interval; empty where nobody measured the event of `case` with several threads.
    """
    levels = at_levels(found, (machine, tracer, case), lambda factor: factor.occupies_cpus)
    by_threads = {int(level): one.known_cost for level, one in levels.items() if level.isdigit() and one.leads}
    single = by_threads.pop(1, None)
    if single is None:
        return []
    known: list[Contention] = []
    for threads, cost in sorted(by_threads.items()):
        factor = estimates.ratio(cost, single)
        if factor is not None and factor.low is not None:
            known.append(Contention(threads, estimates.at_least(factor, known[-1].factor if known else LEAST)))
    return known


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
    holds = estimates.overlap(slowdown, predicted)
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
