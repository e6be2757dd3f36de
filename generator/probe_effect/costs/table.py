"""The cost table of a scope and a tracer, and what one event of a script's probe costs by it: a sum over rows.

A scope says whose costs they are (`evidence.py`). Each basis yields rows of a key (`host.py`, `actions.py`, and
below), and `best` (`row.py`) is all that chooses. The page /method/answers/ has the order.

The page adds the same (`site/assets/js/script-cost.js`) over the same rows, which are in `data/costs/` of the site.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from probe_effect.costs.actions import SAME_ACTION
from probe_effect.costs.evidence import Evidence, PublishedCost, Scope
from probe_effect.costs.machine import ON_CALLS, MachineCosts, machine_costs, own_actions
from probe_effect.costs.map_memory import TracerMemory
from probe_effect.costs.row import (
    NOTES,
    PLAIN_ACTION,
    PRINTED_CALL,
    CostRow,
    EntryPath,
    RowKey,
    best,
    for_next_run,
    median_range,
    no_less,
    of_any,
    over_machines,
    upper_median,
)
from probe_effect.model import Estimate
from probe_effect.numbers import estimates, index
from probe_effect.numbers.index import once
from probe_effect.numbers.names import tool_of
from probe_effect.scripts.form import FILTER, PRINT, ScriptProbe
from probe_effect.store.suite_file import Case


class CostTable:
    """What is known of a tracer in a scope. Rows are made when somebody asks for them, each once."""

    def __init__(self, evidence: Evidence, scope: Scope, tracer: str) -> None:
        self.found, self.scope, self.tracer = evidence, scope, tracer

    @cache  # noqa: B019 (a table lives as long as the evidence that it is of)
    def row(self, key: RowKey) -> CostRow | None:
        """What one event costs; None where no basis knows it.

        Without a mechanism it is that of any with which the kind was measured; None where one of them has none: that
        one may cost the most. A return probe of a user function is on the instruction of one at its entry.
        """
        if key.mechanism is not None:
            return self._made(key)
        at_entry = self.mechanisms("uprobe") if key.kind == "uretprobe" else []
        ways = sorted({*self.mechanisms(key.kind), *filter(None, at_entry)}, key=str)
        rows = [self._made(key._replace(mechanism=how), is_any=True) for how in ways]
        return None if None in rows else of_any([row for row in rows if row is not None])

    @cache  # noqa: B019 (likewise)
    def adds(self, action: str) -> Estimate | None:
        """What a further action adds to a probe, ns an event; None where no machine tells it."""
        for machines in self.scope.adding:
            each = (self._on(machine).differences.added(action) for machine in machines)
            costs = sorted((more.cost for more in each if more is not None), key=lambda cost: cost.value)
            if costs:
                # Nothing that a probe does besides makes it cost less, though noisy costs may differ so.
                return median_range(costs, upper_median(costs)).mapped(lambda ns: max(0.0, ns))
        return None

    @cached_property
    def highest(self) -> tuple[str, Estimate] | None:
        """The action that adds most to a probe, which stands for a part of a script that nobody knows."""
        additions = [(action, added) for action in self.actions if (added := self.adds(action)) is not None]
        return max(additions, key=lambda addition: addition[1].value, default=None)

    @cached_property
    def actions(self) -> tuple[str, ...]:
        evidence = (self._on(machine) for machines in (*self.scope.levels, self.scope.lending) for machine in machines)
        printed = (case.action for _, case in self._printed)
        return tuple(
            dict.fromkeys([PLAIN_ACTION, *(action for costs in evidence for action in costs.actions), *printed])
        )

    def mechanisms(self, kind: str) -> list[str | None]:
        """Every mechanism that a kind was measured with on a machine of the scope."""
        own, alike, others = (
            {how for machine in some for how in self._on(machine).mechanisms(kind)} for some in self.scope.levels
        )
        return sorted((own | alike) or others or {None}, key=str)

    def knows(self, kind: str) -> bool:
        """Whether anything is known of a kind of probe."""
        measured = (self._on(machine).mechanisms(kind) for level in self.scope.levels for machine in level)
        return any(measured) or any(case.probe == kind for _, case in self._printed)

    def case(self, case: str, threads: int = 1) -> CostRow | None:
        """What one event of a case costs; None where no machine of the scope measured or estimates it."""

        def over(machines: Sequence[str]) -> CostRow | None:
            return self._over(machines, lambda costs: costs.case(case, threads))

        own, alike, others = self.scope.levels
        printed = (published(self.found, cost, case) for cost, its in self._printed if its.id == case)
        row = best([over(own), over(alike)]) or best([_far(over(others))])
        return row or (next(printed, None) if self.scope.printed else None)

    @cache  # noqa: B019 (likewise)
    def _made(self, key: RowKey, *, is_any: bool = False) -> CostRow | None:
        """The row of a mechanism, which is never below that of less work: what others printed is left out there.

        `is_any`: whether it is one of several, each taken of those machines alone that measured the kind in that way.
        """
        plain = None if key.action == PLAIN_ACTION else self._made(key._replace(action=PLAIN_ACTION), is_any=is_any)
        levels: list[CostRow | None] = []
        for machines in self.scope.levels:
            if not any(levels) or machines is self.scope.alike:
                row = self._over(machines, lambda costs: costs.row(key, is_any=is_any))
                row = row or self._lent(key, machines, is_any=is_any)
                levels.append(_far(row) if machines is self.scope.others else row)
        row = best(levels) or self._published(key)
        if row is None or (row.basis == "published" and plain is not None and row.cost.value < plain.cost.value):
            return None
        return no_less(row, plain)

    def _lent(self, key: RowKey, machines: Sequence[str], *, is_any: bool) -> CostRow | None:
        """A plain probe with what its action adds on other machines, where these machines know the probe alone."""
        added = None if key.action == PLAIN_ACTION else self.adds(key.action)
        plain = self._over(machines, lambda costs: costs.row(key._replace(action=PLAIN_ACTION), is_any=is_any))
        if added is None or plain is None:
            return None
        basis, cost = "composed" if plain.is_measured else plain.basis, estimates.total([plain.cost, added])
        row = replace(plain, name=key.name, title=None, basis=basis, cost=cost)
        return row.noted(NOTES["lent"].format(action=key.action))

    def _published(self, key: RowKey) -> CostRow | None:
        """The greatest cost that others printed of a probe with the very action."""
        every = ((cost, case) for cost, case in self._printed if case.probe == key.kind)
        own = ((cost, case.id) for cost, case in every if SAME_ACTION.get(case.action, case.action) == key.action)
        rows = (published(self.found, cost, case) for cost, case in own)
        return max(rows, key=lambda row: row.cost.value, default=None)

    def _over(self, machines: Sequence[str], of: Callable[[MachineCosts], CostRow | None]) -> CostRow | None:
        """One row for all of some machines that know it; None where none does."""
        rows = ((machine, of(machine_costs(self.found, machine, self.tracer))) for machine in machines)
        return over_machines([(machine, for_next_run(row, self.found.spread)) for machine, row in rows if row])

    def _on(self, machine: str) -> MachineCosts:
        return machine_costs(self.found, machine, self.tracer)

    @cached_property
    def _printed(self) -> list[tuple[PublishedCost, Case]]:
        """What others printed of the tool, with its cases."""
        return [
            (printed, case)
            for (machine, tracer, case_id), printed in sorted(self.found.printed.items())
            if tool_of(tracer) == tool_of(self.tracer)
            and self.scope.printed in (None, machine)
            and (case := self.found.case_of.get(case_id)) is not None
        ]


def published(evidence: Evidence, printed: PublishedCost, case: str) -> CostRow:
    title = evidence.titles.get(case)
    return CostRow(name=case, title=title, basis="published", printed=printed, cost=printed.cost, is_clear=True)


def _far(row: CostRow | None) -> CostRow | None:
    """A range over machines of another kind, marked as such."""
    return row and row.noted(NOTES["another-kind"].format(machines=f"{len(row.machines)} of them"))


@once
def cost_table(evidence: Evidence, scope: Scope, tracer: str) -> CostTable:
    """The table of a tracer in a scope, made once of the same evidence."""
    return CostTable(evidence, scope, tracer)


def of_machine(evidence: Evidence, machine: str, tracer: str) -> CostTable:
    return cost_table(evidence, Scope((machine,)), tracer)


STARTS = "starts of programs"
"""The name of starts among the probes: a breakpoint is written into each process that maps its file."""

ProbeKey = tuple[str, str | None]
"""A probe's attach point as the script has it, and the mechanism by which it fires, None where there is but one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCost:
    """What one event of a probe costs here, by the CPU on which it fires, in ns.

    `note`: what differed between our loop and the script, in a sentence; None where nothing did.
    """

    by_cpu: Mapping[int, Estimate]
    note: str | None = None

    def on(self, events: Mapping[int, float]) -> Estimate:
        """The cost of an event of which so many happened on each CPU; where none of those was timed, of any CPU.

        The same probe may cost twice as much on one CPU as on another, and what fires it may be on any of them the next
        time: the interval holds the costs of all.
        """
        own = {cpu: self.by_cpu[cpu] for cpu, number in events.items() if number and cpu in self.by_cpu}
        if not own:
            return estimates.spanning(list(self.by_cpu.values()))
        whole = sum(events[cpu] for cpu in own)
        parts = estimates.total([cost.times(events[cpu] / whole) for cpu, cost in own.items()])
        values = [cost.value for cost in self.by_cpu.values()]
        return parts._replace(
            low=min(filter(None, [parts.low, *values]), default=None),
            high=max(filter(None, [parts.high, *values]), default=None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCosts:
    """Everything that was measured here for one script with one tracer, in `seconds`.

    `calls`: what each other system call pays while the script's probes are attached; None where they are on none.
    `missing`: probes that were not measured, with the reason. `others`: what others did meanwhile, in words.
    `is_kept`: whether it is from an earlier time since the machine started. `memory`: what the tracer took meanwhile;
    None where it had not all probes of the script.
    """

    costs: Mapping[ProbeKey, HereCost]
    calls: HereCost | None = None
    seconds: float
    missing: Mapping[ProbeKey, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_kept: bool = False
    memory: TracerMemory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeGroup:
    """Probes of one attach point that fire in one way and do the same at each event.

    `matched`: how many there are; None where a wildcard may match any number. `has_filter`: whether only some events
    come to the actions. `unknown`: parts of the script whose cost `actions` do not name. `rates_hz`: events per second
    of elapsed time in each thread; None where nobody counted. `rate_hz`: those of all threads together, with the
    interval `rate_low_hz` to `rate_high_hz`: both None of an exact one, the second alone of a lower bound; `busiest_hz`
    is that of the busiest time. `events_by_cpu`: where they fired. `why`: what keeps them from being attached or
    counted. `frames`: how deep the stack is that a sample finds. `every`: of so many events one has the actions.
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
    every: int = 1

    @classmethod
    def of(cls, probe: ScriptProbe) -> "ProbeGroup":
        """The group of one probe of a script, of which no more is known."""
        names = ("attach", "kind", "actions", "has_filter", "unknown", "every")
        return cls(**{name: getattr(probe, name) for name in names})

    def at_its_rate(self, cost: Estimate) -> Estimate:
        """A cost of an event whose interval has that of the rate in it, so that their product is cost times rate.

        Of a lower bound the high end is that of the bound, which `bounded` takes off what is computed from it.
        """
        if not self.rate_hz or self.rate_low_hz is None:
            return cost
        high_hz = self.rate_hz if self.rate_high_hz is None else self.rate_high_hz
        return estimates.product(cost, Estimate(1.0, self.rate_low_hz / self.rate_hz, high_hz / self.rate_hz))

    @property
    def is_lower_bound(self) -> bool:
        """Whether its probes fire at least as often as `rate_hz` says, and nobody knows how much more often."""
        return bool(self.rate_hz) and self.rate_low_hz is not None and self.rate_high_hz is None


def bounded(value: Estimate, groups: Iterable[ProbeGroup]) -> Estimate:
    """What grows with the rates of probes, without a high end where one of these is a lower bound."""
    return value._replace(high=None) if any(group.is_lower_bound for group in groups) else value


def event(table: CostTable, group: ProbeGroup, here: HereCosts | None = None, threads: int = 1) -> CostRow | None:
    """What one event of a group of probes costs; None where no basis knows it.

    `here`: what was measured on this machine for the script, whose note says what it is of. A tool that stops a process
    at each system call spends most of the cost on that, whatever it does with the call.
    """
    row = _summed(table, group, threads)
    if row is None and group.kind == PRINTED_CALL:
        printed = table.row(RowKey(PRINTED_CALL, group.mechanism, PRINT, threads=threads))
        row = printed and replace(printed, note=NOTES["as-printed"])
    own = _calibrated(group, here, table.found.spread) if here else None
    if own is not None:  # one that was measured here may be wide because of a filter: nobody knows better
        row = own if group.has_filter else best([own, row])
    if row and group.every > 1:
        row = replace(row, cost=row.cost.times(1 / group.every))
    return row and replace(row, rate_hz=group.rate_hz or 0.0)


def _summed(table: CostTable, group: ProbeGroup, threads: int) -> CostRow | None:
    """The probe with one of its actions, and what each other one adds; of all these sums the greatest.

    So the order of actions does not matter, and no further action makes it less. An action that is known with this
    probe alone adds at most what all of that costs; a part of the script that nobody knows, what the most expensive
    action adds.
    """
    own = (PLAIN_ACTION, *own_actions(table.tracer))
    done = [SAME_ACTION.get(action, action) for action in group.actions if action not in own]
    wanted = [FILTER, *done] if group.has_filter and FILTER not in done else done
    keys = {term: RowKey(group.kind, group.mechanism, term, group.frames, threads) for term in (PLAIN_ACTION, *wanted)}
    rows = {action: row for action in dict.fromkeys(wanted) if (row := table.row(keys[action])) is not None}
    plain = None if rows else table.row(keys[PLAIN_ACTION])
    bases = rows or ({PLAIN_ACTION: plain} if plain else {})
    adds = {term: table.adds(term) or (rows[term].cost._replace(low=0.0) if term in rows else None) for term in wanted}
    sums: list[tuple[Estimate, CostRow]] = []
    for action, base in bases.items():
        first = wanted.index(action) if action in wanted else len(wanted)
        rest = [*wanted[:first], *wanted[first + 1 :]]
        more = [added for term in rest if (added := adds[term]) is not None]
        if len(more) == len(rest):
            sums.append((estimates.total([base.cost, *more]), base))
    if not sums or (group.unknown and table.highest is None):
        return None
    cost, base = max(sums, key=lambda pair: pair[0].value)
    for other, _ in sums:
        cost = estimates.at_least(cost, other)
    whole = [term for term in rows if len(wanted) > 1 and table.adds(term) is None and rows[term] is not base]
    notes = [NOTES["whole-action"].format(action=term) for term in whole]
    for part in group.unknown:
        assert table.highest
        action, added = table.highest
        cost = estimates.total([cost, added._replace(low=0.0) if added.low is not None else added])
        notes.append(NOTES["unknown-action"].format(action=part, tracer=table.tracer, highest=action))
    low = rows[FILTER].cost.low if FILTER in rows and group.has_filter and set(done) - {FILTER} else None
    if low is not None and cost.low is not None:  # where events are filtered, none may pass
        cost = cost._replace(low=min(cost.low, low))
        notes.append(NOTES["filtered"])
    is_whole = (len(wanted) + len(group.unknown) < 2 and bases is rows) or not wanted + list(group.unknown)
    if not is_whole:
        probe = RowKey(group.kind, group.mechanism, " and ".join([*wanted, *group.unknown])).name
        composed = "composed" if base.is_measured else base.basis
        base = replace(base, name=probe, title=None, basis=composed, is_clear=estimates.is_above_0(cost))
    return replace(base, cost=cost).noted(*notes)


def _calibrated(group: ProbeGroup, here: HereCosts, share: float | None) -> CostRow | None:
    """The cost on the CPUs on which the group fired; an event of the loop that was timed is one system call.

    It is of one run, and what it is asked for is another: `share` is the standard deviation between runs.
    """
    own = here.costs.get((group.attach, group.mechanism))
    if own is None:
        return None
    cost = index.for_next_run(own.on(group.events_by_cpu), share)
    calls = here.calls if group.kind in ON_CALLS else None
    return CostRow(
        name=group.attach,
        basis="calibrated",
        cost=cost,
        is_clear=estimates.is_above_0(cost),
        path=EntryPath(calls.on(group.events_by_cpu), None, 1.0) if calls else None,
        note=own.note,
    )


def with_calls(rows: Sequence[CostRow], calls_hz: float | None) -> list[CostRow]:
    """Probes at their rates with what the system calls of the program pay, once for all probes on them.

    Where nobody says how many calls there are, they are as many as in the loop of the probe that has most.
    """
    on_calls = [(row, row.path) for row in rows if row.path is not None]
    events_hz = sum(row.rate_hz for row, _ in on_calls)
    if not events_hz or (calls_hz is None and len(on_calls) == 1):
        return list(rows)
    if calls_hz is None:
        calls_hz = max(row.rate_hz * path.calls_per_event for row, path in on_calls)
    ratio = calls_hz / events_hz
    return [
        replace(row, cost=row.path.moved(row.cost, ratio), path=replace(row.path, calls_per_event=ratio))
        if row.path
        else row
        for row in rows
    ]
