"""What traces now, with the cost of each event besides its BPF program, which is all that the kernel times."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from probe_effect.advising.calibrate import Calibrate, CalibrationTask, mechanism_at
from probe_effect.advising.moved import AskedProbe
from probe_effect.answer.spread import spreads
from probe_effect.costs.evidence import Evidence, Scope, evidence_of, whose
from probe_effect.costs.row import CostRow, RowKey
from probe_effect.costs.table import cost_table
from probe_effect.host import ROOT
from probe_effect.host.kernel import mechanism
from probe_effect.live.bpf_objects import OwnCost
from probe_effect.live.loaded import OF_PROBES, Active, RunStatistics, Sort
from probe_effect.live.places import Place
from probe_effect.model import Estimate, HostNotReady, UsageError, interval_json, unknown
from probe_effect.numbers import estimates
from probe_effect.numbers.catalogue import read_numbers
from probe_effect.numbers.estimates import multiplied
from probe_effect.numbers.shown import Facts
from probe_effect.records import plain_tools
from probe_effect.scripts.script import read_script
from probe_effect.store.places import DataFolder
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.units import NS_PER_SECOND

MEASURED_HERE = "measured here"
CALIBRATION_S = 3.0
WRITTEN_AS = {"tracepoint-entry": "tracepoint", "tracepoint-return": "tracepoint", "raw-tracepoint": "rawtracepoint"}
"""Kind of probe to how bpftrace writes it, where that differs."""


@dataclass(frozen=True, slots=True)
class TracingCost:
    """One thing that traces, with the CPU time that it takes.

    `probe`: the cost of one event besides the program, ns, from the low end of the least expensive place to the high
    end of the most expensive one. Its interval includes the spread of real programs. `machine`: where it was measured.
    `cpu_s_per_s`: program and probe together, in CPU seconds per second. `why`: what is missing, if anything is.
    """

    active: Active
    probe: Estimate | None = None
    machine: str | None = None
    why: str | None = None

    @property
    def probe_s_per_s(self) -> Estimate | None:
        if self.probe is None or self.active.events_hz is None:
            return None
        return self.probe.times(self.active.events_hz / NS_PER_SECOND)

    @property
    def cpu_s_per_s(self) -> Estimate | None:
        program_s = self.active.program_s_per_s
        return total([None if program_s is None else Estimate(program_s, program_s, program_s), self.probe_s_per_s])


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """All that traced in some `seconds`, the most expensive first, and what the statistics took beside it."""

    costs: Sequence[TracingCost]
    seconds: float
    statistics_s_per_s: float | None

    @property
    def program_s_per_s(self) -> float | None:
        """What the kernel's statistics see, in CPU seconds per second; None where they see nothing."""
        shares = [cost.active.program_s_per_s for cost in self.costs if cost.active.program_s_per_s is not None]
        return sum(shares) if shares else None

    @property
    def probe_s_per_s(self) -> Estimate | None:
        return total(cost.probe_s_per_s for cost in self.costs)

    @property
    def cpu_s_per_s(self) -> Estimate | None:
        return total(cost.cpu_s_per_s for cost in self.costs)


class ProbeCosts:
    """The costs of plain probes, of the measured machines that may be compared with this one, the nearest first.

    `named`: the only machine whose costs are taken, whatever it is like. `calibrate` measures what a probe costs on
    this machine, before any other machine is asked.
    """

    def __init__(self, costs: Evidence, here: Facts, named: str | None, calibrate: Calibrate | None = None) -> None:
        self._evidence, self._here = costs, here
        self._calibrate = None if named else calibrate
        self._apart = spreads(costs).get("plain")
        scope = whose(costs, here, named)
        self._scope, self.machines = Scope(scope.own, scope.alike), [*scope.own, *scope.alike]
        self._parts: dict[tuple[Sort, str, str | None], CostRow | None] = {}

    def of(self, active: Active) -> TracingCost:
        loaded = active.loaded
        if loaded.sort == "bpf" and loaded.kind not in OF_PROBES:
            return TracingCost(active, why="not run by a probe")
        if active.events_hz is None:
            return TracingCost(active, why="its events are not counted")
        if not loaded.places:
            return TracingCost(active, why="no place is told")
        kinds = Counter((probe_site.kind, self._mechanism(probe_site)) for probe_site in loaded.places)
        firsts = {(probe_site.kind, self._mechanism(probe_site)): probe_site for probe_site in reversed(loaded.places)}
        rows = {kind: self._part(loaded.sort, *kind, firsts[kind]) for kind in kinds}
        if missing := sorted({f"{kind} ({how})" if how else kind for (kind, how), row in rows.items() if row is None}):
            return TracingCost(active, why=f"not measured: {' and '.join(missing)}")
        parts = [row for row in rows.values() if row is not None]
        # an event may have been at any of several places; nobody counts each by itself
        cost = estimates.spanning([part.cost for part in parts], list(kinds.values()))
        probe = multiplied(cost, self._apart.factor) if self._apart else cost
        machines = [
            f"{len(part.machines)} machines" if len(part.machines) > 1 else next(iter(part.machines), MEASURED_HERE)
            for part in parts
        ]
        notes = [part.note for part in parts if part.note]
        return TracingCost(active, probe, ", ".join(dict.fromkeys(machines)), "; ".join(dict.fromkeys(notes)) or None)

    def looks(self, watch: RunStatistics, seconds: float) -> Iterator[Watched]:
        """What traced in each stretch of so many seconds, without end. Raises: HostNotReady."""
        before = watch.look()
        while True:
            time.sleep(seconds)
            now = watch.look()
            asked = len(self._parts)
            costs = sorted(map(self.of, watch.between(before, now)), key=_order)
            yield Watched(
                costs=costs,
                seconds=(now.at_ns - before.at_ns) / NS_PER_SECOND,
                statistics_s_per_s=watch.added_s_per_s(cost.active for cost in costs),
            )
            # what was timed meanwhile fired their probes too
            before = now if len(self._parts) == asked else watch.look()

    def _mechanism(self, probe_site: Place) -> str | None:
        if probe_site.kind in {"kprobe", "kretprobe"}:
            how = mechanism(ROOT)
            return how if how in {"ftrace", "jump", "trap"} else None
        return mechanism_at(probe_site, self._here.architecture, self._here.kernel_release)

    def _part(self, sort: Sort, kind: str, how: str | None, probe_site: Place) -> CostRow | None:
        key = sort, kind, how
        if key not in self._parts:
            self._parts[key] = (self._timed_here(how, probe_site) if sort == "bpf" else None) or self._look_up(*key)
        return self._parts[key]

    def _timed_here(self, how: str | None, probe_site: Place) -> CostRow | None:
        """What a probe of this kind costs here with a program of bpftrace that does nothing; None where it refuses."""
        if self._calibrate is None:
            return None
        name = f"{probe_site.path}:{probe_site.name}" if probe_site.path else probe_site.name
        attach = f"{WRITTEN_AS.get(probe_site.kind, probe_site.kind)}:{name}"
        task = CalibrationTask(
            script=read_script(f"{attach} {{ }}"),
            probes=[AskedProbe(0, (attach, how), probe_site.kind, (probe_site,))],
            tool=Bpftrace(),
            frames=0,
            seconds=CALIBRATION_S,
        )
        try:
            cost = self._calibrate(task).costs.get((attach, how))
        except (HostNotReady, UsageError):
            return None
        if cost is None:
            return None
        return CostRow(name=attach, basis="calibrated", cost=cost.on({}), is_clear=True, note=cost.note)

    def _look_up(self, sort: Sort, kind: str, how: str | None) -> CostRow | None:
        """The row of a probe on machines like this one, by the plainest tracer that has it there.

        Where it is known how a probe fires, only of machines that are known to have measured such: the one way takes
        many times as long as the other.
        """
        names = sorted(self._evidence.tracers)
        plain = [
            tracer for word in plain_tools(sort) for tracer in names if tracer == word or tracer.startswith(f"{word}-")
        ]
        tables = (cost_table(self._evidence, self._scope, tracer) for tracer in plain)
        rows = (table.row(RowKey(kind, how)) for table in tables if how is None or how in table.mechanisms(kind))
        return next((row for row in rows if row is not None), None)


def probe_costs(data: DataFolder, here: Facts, named: str | None, calibrate: Calibrate | None = None) -> ProbeCosts:
    """The costs of plain probes in `data`, for this machine. Raises: UsageError for an unknown machine's name."""
    costs = evidence_of(read_numbers(data))
    unknown(filter(None, [named]), costs.machines, "machine")
    return ProbeCosts(costs, here, named, calibrate)


def total(ones: Iterable[Estimate | None]) -> Estimate | None:
    """The sum of those that are known; their costs are from one machine and err together, so the ends add."""
    costs = [cost for cost in ones if cost is not None]
    return estimates.total(costs) if costs else None


def _order(cost: TracingCost) -> tuple[float, float, str]:
    cpu = cost.cpu_s_per_s
    return -(cpu.value if cpu else -1.0), -(cost.active.events_hz or 0.0), cost.active.loaded.name


def watch_json(watched: Watched, machines: Sequence[str], own: OwnCost) -> dict[str, Any]:
    return {
        "seconds": watched.seconds,
        "machines": machines,
        **interval_json(watched.cpu_s_per_s, "cpu", "s_per_s"),
        "program_s_per_s": watched.program_s_per_s,
        **interval_json(watched.probe_s_per_s, "probe", "s_per_s"),
        "statistics_s_per_s": watched.statistics_s_per_s,
        "statistics_ns": own.added_ns,
        "statistics_counted_ns": own.counted_ns,
        "found": [_cost_json(cost) for cost in watched.costs],
    }


def _cost_json(cost: TracingCost) -> dict[str, Any]:
    loaded = cost.active.loaded
    return {
        "sort": loaded.sort,
        "id": loaded.id,
        "type": loaded.kind,
        "name": loaded.name,
        "owners": [asdict(owner) for owner in loaded.owners],
        "places": [
            {
                "kind": probe_site.kind,
                "name": probe_site.name,
                "path": None if probe_site.path is None else str(probe_site.path),
                "offset_bytes": probe_site.offset,
            }
            for probe_site in loaded.places
        ],
        "other_places": loaded.others,
        "events_hz": cost.active.events_hz,
        "program_s_per_s": cost.active.program_s_per_s,
        **interval_json(cost.probe, "probe", "ns"),
        **interval_json(cost.probe_s_per_s, "probe", "s_per_s"),
        **interval_json(cost.cpu_s_per_s, "cpu", "s_per_s"),
        "machine": cost.machine,
        "why": cost.why,
    }
