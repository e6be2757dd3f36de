"""What one event of a script's probe costs, with all that is done at it: a sum over rows of a cost table.

The page adds the same (`site/assets/js/script-cost.js`) over the same rows, which are in `data/costs/` of the site.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from probe_effect.costs.actions import SAME_ACTION
from probe_effect.costs.added import EntryPath
from probe_effect.costs.machine import ON_CALLS, own_actions
from probe_effect.costs.row import NOTES, PLAIN_ACTION, CostRow, RowKey, best
from probe_effect.costs.table import CostTable
from probe_effect.model import Estimate
from probe_effect.scripts.form import FILTER, PRINT, ScriptProbe
from probe_effect.stats import estimates

SYSTEM_CALL = "system-call"

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

        The same probe may cost twice as much on one CPU as on another, so the interval holds the costs of all.
        """
        own = {cpu: self.by_cpu[cpu] for cpu, number in events.items() if number and cpu in self.by_cpu}
        if not own:
            return estimates.spanning(list(self.by_cpu.values()))
        whole = sum(events[cpu] for cpu in own)
        parts = estimates.total([cost.times(events[cpu] / whole) for cpu, cost in own.items()])
        return parts._replace(
            low=min(filter(None, [parts.low, *(cost.value for cost in own.values())]), default=None),
            high=max(filter(None, [parts.high, *(cost.value for cost in own.values())]), default=None),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HereCosts:
    """Everything that was measured here for one script with one tracer, in `seconds`.

    `calls`: what each other system call pays while the script's probes are attached; None where they are on none.
    `missing`: probes that were not measured, with the reason. `others`: what others did meanwhile, in words.
    `is_kept`: whether it is from an earlier time since the machine started.
    """

    costs: Mapping[ProbeKey, HereCost]
    calls: HereCost | None = None
    seconds: float
    missing: Mapping[ProbeKey, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_kept: bool = False


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


def event(table: CostTable, group: ProbeGroup, here: HereCosts | None = None, threads: int = 1) -> CostRow | None:
    """What one event of a group of probes costs; None where no basis knows it.

    `here`: what was measured on this machine for the script, whose note says what it is of. A tool that stops a process
    at each system call spends most of the cost on that, whatever it does with the call.
    """
    row = _summed(table, group, threads)
    if row is None and group.kind == SYSTEM_CALL:
        printed = table.row(RowKey(SYSTEM_CALL, group.mechanism, PRINT, threads=threads))
        row = printed and replace(printed, note=NOTES["as-printed"])
    own = _calibrated(group, here) if here else None
    if own is not None:  # one that was measured here may be wide because of a filter: nobody knows better
        row = own if group.has_filter else best([[own], [row] if row else []])
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
    keys = {one: RowKey(group.kind, group.mechanism, one, group.frames, threads) for one in (PLAIN_ACTION, *wanted)}
    rows = {action: row for action in dict.fromkeys(wanted) if (row := table.row(keys[action])) is not None}
    plain = None if rows else table.row(keys[PLAIN_ACTION])
    bases = rows or ({PLAIN_ACTION: plain} if plain else {})
    adds = {one: table.adds(one) or (rows[one].cost._replace(low=0.0) if one in rows else None) for one in wanted}
    sums: list[tuple[Estimate, CostRow]] = []
    for action, base in bases.items():
        rest = list(wanted)
        if action in rest:
            rest.remove(action)
        more = [added for one in rest if (added := adds[one]) is not None]
        if len(more) == len(rest):
            sums.append((estimates.total([base.cost, *more]), base))
    if not sums or (group.unknown and table.highest is None):
        return None
    cost, base = max(sums, key=lambda one: one[0].value)
    for other, _ in sums:
        cost = estimates.at_least(cost, other)
    added_whole = [one for one in rows if len(wanted) > 1 and table.adds(one) is None and rows[one] is not base]
    notes = [NOTES["whole-action"].format(action=one) for one in added_whole]
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


def _calibrated(group: ProbeGroup, here: HereCosts) -> CostRow | None:
    """The cost on the CPUs on which the group fired; an event of the loop that was timed is one system call."""
    own = here.costs.get((group.attach, group.mechanism))
    if own is None:
        return None
    cost, calls = own.on(group.events_by_cpu), here.calls if group.kind in ON_CALLS else None
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
    in_loops_hz = max(row.rate_hz * path.calls_per_event for row, path in on_calls)
    calls_per_event = (in_loops_hz if calls_hz is None else calls_hz) / events_hz
    return [
        row
        if row.path is None
        else replace(
            row,
            cost=row.path.moved(row.cost, calls_per_event),
            path=replace(row.path, calls_per_event=calls_per_event),
        )
        for row in rows
    ]
