"""A row of a cost table: what one event of a probe costs, what that rests on, and what comes to it on system calls
that nobody traces, and by factors such as threads.

A probe on one system call sends every system call of every task through a longer way into the kernel. The first one
that is attached sets a flag in all tasks (kernel/tracepoint.c, syscall_regfunc); for ptrace the flag is the traced
task's alone. Where that flag is set, kernel/entry/common.c takes the long way. The cost of an event in a loop includes
it for all calls of the loop. So an event costs more in a program that makes more calls for each event, and less in one
that makes fewer. A probe of the same kind that never fires tells how much that is.

A row of several machines is the range over them, from the least low end to the greatest high end, with the value of
the median machine. Machines of one name differ several times in what a probe costs.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeVar

from probe_effect.costs.evidence import CostKey, Evidence, PublishedCost
from probe_effect.model import Estimate
from probe_effect.numbers import estimates, index
from probe_effect.numbers.index import once
from probe_effect.numbers.names import quoted
from probe_effect.numbers.submission import Number, slowdown_at
from probe_effect.records import beside
from probe_effect.store.machine_file import is_hosted
from probe_effect.store.suite_file import Factor
from probe_effect.units import NS_PER_SECOND

PRINTED_CALL = "system-call"
"""A probe of this type prints system calls, one an event."""


@dataclass(frozen=True, slots=True)
class EntryPath:
    """`cost`: what each system call pays, ns, traced or not; `source` is what that is from, None if measured just now.

    `calls_per_event`: system calls, its own among them, that one event of the case came with where it was measured.
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


def calls_of_event(evidence: Evidence, case_id: str) -> int | None:
    """System calls of an iteration that the tool acts on for each event; None where an event is what the probe sees."""
    suite, case = evidence.of.get(case_id, (None, None))
    calls = suite.workload.system_calls if suite else None
    acts_on_all = case is not None and case.probe in {PRINTED_CALL, "silent-system-call"}
    return calls if acts_on_all and isinstance(calls, int) and calls > 1 else None


def entry_path(evidence: Evidence, key: CostKey) -> EntryPath | None:
    """What system calls pay while the probe of a case is attached; None where its suite does not tell."""
    machine, tracer, case_id = key
    suite, case = evidence.of[case_id]
    if case.silent is None or case.silent not in evidence.of:
        return None
    source = evidence.costs.get((machine, tracer, case.silent))
    calls = suite.workload.system_calls
    silent_calls = evidence.of[case.silent][0].workload.system_calls
    if source is None or not isinstance(calls, int) or not isinstance(silent_calls, int) or not silent_calls:
        return None
    paid = source.bounded_cost.times(1 / silent_calls).mapped(lambda ns: max(0.0, ns))
    return EntryPath(paid, source, calls / case.events_per_operation)


def event_cost(evidence: Evidence, key: CostKey, cost: Estimate) -> tuple[Estimate, EntryPath | None]:
    """What one event costs, ns, where an iteration of the loop costs `cost`; with what system calls pay, if known.

    strace stops at each system call of an iteration, so each costs an equal part; what a call costs that another tool
    passes over is taken off. A probe that never fires costs each call alike.
    """
    path, (suite, case) = entry_path(evidence, key), evidence.of[key[2]]
    calls = suite.workload.system_calls
    if case.probe == PRINTED_CALL:
        each_pays = key[1] == "strace"
        if path is not None:
            cost, path = cost if each_pays else path.moved(cost, 1.0), replace(path, calls_per_event=1.0)
    else:
        each_pays = any(case.id == other_case.silent for other_case in suite.cases)
    return (cost.times(1 / calls) if each_pays and isinstance(calls, int) and calls else cost), path


OF_RATES = ("work", "rate")
"""The factors of suites that vary the rate of events: by what a thread does between two, or by what a profiler asks."""


class Contention(NamedTuple):
    """With `threads` threads that fire the same probe an event costs `factor` times what it costs with one."""

    threads: int
    factor: Estimate


class RatePoint(NamedTuple):
    """The slowdown measured at a rate of untraced running time beside rate x cost, and whether they overlap."""

    rate_hz: float
    measured: Estimate
    predicted: Estimate
    holds: bool


def contention(evidence: Evidence, machine: str, tracer: str, case: str) -> list[Contention]:
    """By number of threads, ascending from 2: by what factor the event of `case` costs more, and never less.

    Only factors that have an interval. More threads never make an event cost less, though two noisy runs may say so.
    """
    levels = at_levels(evidence, (machine, tracer, case), lambda factor: factor.occupies_cpus)
    by_threads = {int(level): number.known_cost for level, number in levels.items() if level.isdigit() and number.leads}
    single = by_threads.pop(1, None)
    if single is None:
        return []
    least, contentions = Estimate(1.0, 1.0, 1.0), []
    for threads, cost in sorted(by_threads.items()):
        factor = estimates.ratio(cost, single)
        if factor is not None and factor.low is not None:
            least = estimates.at_least(factor, least)
            contentions.append(Contention(threads, least))
    return contentions


def nearest(factors: list[Contention], threads: int) -> Contention | None:
    """The factor for the fewest measured threads that are no fewer than asked, else for the most; None for one."""
    if threads == 1 or not factors:
        return None
    return next((factor for factor in factors if factor.threads >= threads), factors[-1])


def line(evidence: Evidence, machine: str, tracer: str, case: str) -> list[RatePoint]:
    """Measured slowdown beside rate x cost, by rising rate; empty where no suite varied the rate of the event."""
    number = evidence.costs.get((machine, tracer, case))
    if number is None:
        return []
    levels = at_levels(evidence, (machine, tracer, case), lambda factor: factor.name in OF_RATES).values()
    points = (point(level, number.known_cost) for level in levels)
    return sorted(
        (rate_point for rate_point in points if rate_point is not None), key=lambda rate_point: rate_point.rate_hz
    )


def point(measured: Number, cost: Estimate) -> RatePoint | None:
    """The measured slowdown beside rate x `cost`; None where one of them has no interval."""
    baseline, slowdown = measured.baseline, measured.time.slowdown
    if baseline is None or not baseline.value or slowdown is None:
        return None
    rate_hz = NS_PER_SECOND / baseline.value
    predicted = slowdown_at(cost, rate_hz)
    holds = estimates.overlap(slowdown, predicted)
    return None if holds is None else RatePoint(rate_hz, slowdown, predicted, holds)


def at_levels(evidence: Evidence, key: CostKey, is_wanted: Callable[[Factor], bool]) -> dict[str, Number]:
    """Level to what was measured there for the event of a case, in the suites whose factor is wanted."""
    machine, tracer, case_id = key
    levels: dict[str, Number] = {}
    for factor, like in _likes(evidence).get(case_id, ()):
        if is_wanted(factor):
            levels |= evidence.by_level.get((machine, tracer, like), {})
    return levels


@once
def _likes(evidence: Evidence) -> dict[str, list[tuple[Factor, str]]]:
    """Case to the cases that have its event at levels of a factor, with that factor."""
    made: dict[str, list[tuple[Factor, str]]] = {}
    for suite, case in evidence.cases:
        if case.like is not None and suite.factor is not None:
            made.setdefault(case.like, []).append((suite.factor, case.id))
    return made


V = TypeVar("V")

PLAIN_ACTION = "nothing"
"""The action of cases whose cost is that of the probe alone."""

SAMPLED = "profile"
"""The probe of a profiler: a timer, whose events are samples."""

NOTES: dict[str, str] = beside(__file__)
"""What a row assumes, as sentences with named places, by key."""

Basis = Literal["calibrated", "measured", "composed", "estimated", "published"]
"""What a cost rests on: a calibration on this machine (`HereCosts`), one measurement of the data, several, counted
instructions, or others' figures.
"""


class RowKey(NamedTuple):
    """What a row is of. `frames`: how deep the stack is that a sample finds; `threads`: how many fire it at once."""

    kind: str
    mechanism: str | None = None
    action: str = PLAIN_ACTION
    frames: int | None = None
    threads: int = 1

    @property
    def name(self) -> str:
        """`uprobe (stepped) with count`."""
        return f"{self.kind if self.mechanism is None else f'{self.kind} ({self.mechanism})'} with {self.action}"


WIDEST_RATIO, SMALL_NS = 10.0, 100.0
"""An interval whose high end is more than ten times its low end says too little, unless all of it is small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One probe with one action; in an answer with all its actions, and at its rate.

    `name`: its case, or its probe and action in words; `title` is what the case is called. `cost`: ns an event, with
    contention in it and with what the system calls pay that one event comes with; `path` tells how many those are. It
    is that of the measurements `added`, less those of `less`. Where it is `estimated`, the estimate by instructions of
    `counted` is added, by the model of the cases `calibrated`. Where it is `published`, it is what others `printed`.
    `hardware`: what others measured without the hypervisor that the cost includes. `note`: what was assumed, in
    sentences. `machines`: those whose range the cost is, the median one first, whose row it is otherwise. `stops`:
    whether the tool stops the program by its own clock. `mechanism`: what the kernel does at the probe. `order`: of how
    many measurements it is made, or how wide an estimate is.
    """

    name: str
    title: str | None = None
    rate_hz: float = 0.0
    basis: Basis
    added: tuple[Number, ...] = ()
    less: tuple[Number, ...] = ()
    counted: Number | None = None
    calibrated: tuple[Number, ...] = ()
    printed: PublishedCost | None = None
    cost: Estimate
    is_clear: bool
    contention: Contention | None = None
    path: EntryPath | None = None
    hardware: PublishedCost | None = None
    note: str | None = None
    machines: tuple[str, ...] = ()
    stops: bool = False
    mechanism: str | None = None
    order: tuple[float, ...] = ()

    @property
    def called(self) -> str:
        return self.name if self.title is None else quoted(self.title)

    @property
    def known_as(self) -> str:
        """The basis of the row; `derived` if it was worked out from published figures."""
        return "derived" if self.printed is not None and self.printed.is_derived else self.basis

    @property
    def sources(self) -> tuple[Number, ...]:
        """Every measurement of time that its cost is from."""
        return self.added + self.less + self.calibrated

    @property
    def cases(self) -> list[str]:
        """Ids of the cases that its cost is from; of an estimate the counted one first, and none that calibrate."""
        if self.printed is not None:
            return [self.name]
        return [number.case for number in (self.counted, *self.added, *self.less) if number is not None]

    @property
    def is_measured(self) -> bool:
        """Whether it is from measured times of the data, and from nothing else."""
        return self.basis in ("measured", "composed")

    @property
    def leads(self) -> bool:
        """Whether no measurement that it is from lost events, which would make it too low."""
        return not any(number.has_losses for number in self.sources)

    @property
    def highest_hz(self) -> float | None:
        """The highest rate of events at which all that it consists of was measured; None of an estimate."""
        if not self.is_measured:
            return None
        rates = [number.time.rate_hz for number in self.sources if number.time.rate_hz is not None]
        return min(rates) if len(rates) == len(self.sources) else None

    @property
    def is_wide(self) -> bool:
        """Whether the interval says too little, or there is none."""
        low, high = self.cost.low, self.cost.high
        return low is None or high is None or (high > SMALL_NS and high > WIDEST_RATIO * low)

    def noted(self, *notes: str | None) -> "CostRow":
        """The row with more notes, each once."""
        return replace(self, note=" ".join(dict.fromkeys(filter(None, (self.note, *notes)))) or None)


def typical(rows: Iterable[CostRow]) -> CostRow | None:
    """Of the rows of one key that are made of fewest measurements the median; None without any."""
    ordered_rows = sorted(rows, key=lambda row: (row.order, row.cost.value))
    direct = [row for row in ordered_rows if row.order == ordered_rows[0].order]
    return upper_median(direct) if direct else None


def best(levels: Iterable[CostRow | None]) -> CostRow | None:
    """The row that answers, of those of one key level by level, the nearest level first; None without any.

    A level whose interval says too little, or whose events were lost, is passed over where a later one says more.
    """
    rows = [row for row in levels if row is not None]
    leading = [row for row in rows if row.leads] or rows
    row = next((row for row in leading if not row.is_wide), leading[0] if leading else None)
    return row if row is None or row.leads else row.noted(NOTES["with-losses"])


def no_less(row: CostRow, plain: CostRow | None) -> CostRow:
    """No action makes a probe cost less than it does alone, though costs of several suites may say so."""
    cost = row.cost if plain is None else estimates.at_least(row.cost, plain.cost)
    return row if cost == row.cost else replace(row, cost=cost)


def of_any(rows: Sequence[CostRow]) -> CostRow | None:
    """The row of a probe of any mechanism: the most expensive, and at the low end the least expensive one.

    A probe whose mechanism is not known must not be taken for one that costs little. Where nobody recorded how it fired
    it only makes the range wider.
    """
    if len(rows) < 2:
        return next(iter(rows), None)
    recorded = [row for row in rows if row.mechanism is not None] or rows
    lowest, highest = (choose(recorded, key=lambda row: row.cost.value) for choose in (min, max))
    cost = median_range([row.cost for row in rows], highest.cost)
    machines = dict.fromkeys([*highest.machines[:1], *sorted({machine for row in rows for machine in row.machines})])
    basis: Basis = "composed" if highest.basis == "measured" else highest.basis
    row = replace(highest, cost=cost, basis=basis, machines=tuple(machines))
    if lowest.mechanism == highest.mechanism:
        return row
    return row.noted(NOTES["unknown-first"].format(highest=highest.mechanism, lowest=lowest.mechanism))


def for_next_run(row: CostRow, share: float | None) -> CostRow:
    """A row of measurements with the interval of the next run; `share` is the standard deviation between runs."""
    is_lent = any(is_hosted(number.submission.machine) for number in row.sources)
    if share is None or is_lent or not row.is_measured:
        return row
    cost = index.for_next_run(row.cost, share)
    if row.basis == "composed" and row.cost.low == 0 and cost.low is not None:
        cost = cost._replace(low=0.0)  # a bound, and no end that another run would move: nothing makes an event cheaper
    return replace(row, cost=cost, is_clear=row.is_clear and (cost.low is None or cost.low > 0))


def over_machines(given: Sequence[tuple[str, CostRow]]) -> CostRow | None:
    """One row for those of several machines, each with its name; None without any.

    What was timed comes before what is estimated, and a cost with an interval before one without; one of which events
    were lost comes after all others. The rest of the row is that of the median machine, which is the first of its
    `machines`.
    """
    leading = [entry for entry in given if entry[1].leads] or given
    timed = [entry for entry in leading if entry[1].basis != "estimated"] or leading
    with_ends = [entry for entry in timed if None not in entry[1].cost] or timed
    ordered = sorted(with_ends, key=lambda entry: (entry[1].cost.value, entry[0]))
    if not ordered:
        return None
    machine, row = upper_median(ordered)
    rows = [cost_row for _, cost_row in ordered]
    paths = sorted((cost_row.path for cost_row in rows if cost_row.path is not None), key=lambda path: path.cost.value)
    path = row.path or (upper_median(paths) if paths else None)
    return replace(
        row,
        cost=median_range([cost_row.cost for cost_row in rows], row.cost),
        is_clear=all(cost_row.is_clear for cost_row in rows),
        path=path and replace(path, cost=median_range([measured_path.cost for measured_path in paths], path.cost)),
        machines=(machine, *sorted(name for name, _ in ordered if name != machine)),
    )


def upper_median(ordered: Sequence[V]) -> V:
    """The median of some that are in order; of an even number the greater of two: an answer must not be too low."""
    return ordered[len(ordered) // 2]


def median_range(costs: Sequence[Estimate], median: Estimate) -> Estimate:
    """The median value, with the least low end and the greatest high end."""
    return estimates.spanning(costs)._replace(value=median.value)
