"""What traces now, with what each of its events costs before a program runs: the half that no statistics see."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.answer.cost_of import cost_of
from probe_effect.answer.first_instruction import mechanism
from probe_effect.answer.prediction import multiplied
from probe_effect.answer.proof import program_spread
from probe_effect.answer.setup import setup
from probe_effect.cli.this_machine import measured_machines
from probe_effect.host import ROOT
from probe_effect.host.kernel import mechanism as mechanism_of_kprobes
from probe_effect.model import Estimate
from probe_effect.numbers.likeness import by_likeness
from probe_effect.stats import mover
from probe_effect.units import NS_PER_SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.part import Part
    from probe_effect.live.loaded import Active, Sort
    from probe_effect.live.places import Place
    from probe_effect.numbers.likeness import Facts

PLAIN_TRACERS: dict[Sort, tuple[str, ...]] = {"bpf": ("libbpf", "bpftrace"), "ftrace": ("ftrace", "trace-cmd")}
"""How a thing traces to the tools whose plain probe stands for it, the one that adds least to the probe first."""

NO_PROBE = "not run by a probe"
NOT_TOLD = "no place is told"
NOT_COUNTED = "its events are not counted"
NOT_MEASURED = "not measured: {kind}"

OF_PROBES = {"kprobe", "tracepoint", "raw_tracepoint", "raw_tracepoint_writable", "perf_event", "tracing"}
"""Types of BPF programs that probes run; others are run by the network, by cgroups and so on."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One thing that traces with what it takes.

    `probe`: what one event costs beside the program, ns; the low end is that of the cheapest place, the high end that
    of the dearest, and both hold how far real programs lie from the loops that were measured. `machine`: where that
    was. `cpu_s_per_s`: program and probe together, in CPU seconds per second. `why`: what is missing, where something
    is.
    """

    active: Active
    probe: Estimate | None = None
    machine: str | None = None
    why: str | None = None

    @property
    def probe_s_per_s(self) -> Estimate | None:
        """What the probe takes beside its program, in CPU seconds per second."""
        if self.probe is None or self.active.events_hz is None:
            return None
        return self.probe.times(self.active.events_hz / NS_PER_SECOND)

    @property
    def cpu_s_per_s(self) -> Estimate | None:
        """Both together; None where neither is known."""
        return total(one for one in (_exact(self.active.program_s_per_s), self.probe_s_per_s) if one is not None)


class Costs:
    """The costs of plain probes, of the measured machines that may be compared with this one, the nearest first.

    Args:
        found: every usable cost.
        here: this machine.
        named: the only machine whose costs are taken, whatever it is like.
    """

    def __init__(self, found: Evidence, here: Facts, named: str | None) -> None:
        self._found, self._here = found, here
        self._apart = program_spread(found)
        alike = by_likeness(here, measured_machines(found).values())
        self.machines = [named] if named else [one.machine for one in alike if one.comparable]
        self._known: dict[tuple[Sort, str, str | None], Part | None] = {}

    def taken(self, active: Active) -> Taken:
        """What one thing takes."""
        loaded = active.loaded
        if loaded.sort == "bpf" and loaded.kind not in OF_PROBES:
            return Taken(active, why=NO_PROBE)
        if active.events_hz is None:
            return Taken(active, why=NOT_COUNTED)
        if not loaded.places:
            return Taken(active, why=NOT_TOLD)
        kinds = Counter((place.kind, self._mechanism(place)) for place in loaded.places)
        known = {kind: self._part(loaded.sort, *kind) for kind in kinds}
        missing = sorted({f"{kind} ({how})" if how else kind for (kind, how), part in known.items() if part is None})
        if missing:
            return Taken(active, why=NOT_MEASURED.format(kind=" and ".join(missing)))
        costs = [(part.cost, kinds[kind]) for kind, part in known.items() if part is not None]
        machines = dict.fromkeys(part.sources[0].submission.machine for part in known.values() if part is not None)
        cost = _between(costs)
        probe = multiplied(cost, self._apart.factor) if self._apart else cost
        return Taken(active, probe, ", ".join(machines), "; ".join(_notes(known.values())) or None)

    def _mechanism(self, place: Place) -> str | None:
        if place.kind in {"kprobe", "kretprobe"}:
            how = mechanism_of_kprobes(ROOT)
            return how if how in {"ftrace", "jump", "trap"} else None
        if place.first_bytes is None:
            return None
        return mechanism(place.first_bytes.hex(" "), self._here.architecture, self._here.kernel_release)

    def _part(self, sort: Sort, kind: str, how: str | None) -> Part | None:
        key = sort, kind, how
        if key not in self._known:
            self._known[key] = self._look_up(sort, kind, how)
        return self._known[key]

    def _look_up(self, sort: Sort, kind: str, how: str | None) -> Part | None:
        """Of the nearest machine that has it, by the plainest tracer that has it there.

        Where it is known how a probe fires, only of a machine that is known to have measured such: the one way takes
        many times as long as the other.
        """
        for machine in self.machines:
            for tracer in self._plain(sort, machine):
                bases = setup(self._found, machine, tracer).bases(kind, how)
                if how is None or any(base.mechanism == how for base in bases):
                    part = cost_of(self._found, machine, tracer, kind=kind, mechanism=how)
                    if part is not None:
                        return part
        return None

    def _plain(self, sort: Sort, machine: str) -> list[str]:
        """The tracers of a machine whose plain probe stands for this sort."""
        known = sorted(self._found.by_tracer(machine))
        return [
            one for word in PLAIN_TRACERS.get(sort, ()) for one in known if one == word or one.startswith(f"{word}-")
        ]


def total(ones: Iterable[Estimate]) -> Estimate | None:
    """The sum; their costs are of one machine and err together, so the ends add. None without any."""
    known = list(ones)
    return mover.total(known) if known else None


def _between(costs: Sequence[tuple[Estimate, int]]) -> Estimate:
    """The cost of an event that may have been at any of several places; nobody counts each place by itself."""
    weight = sum(number for _, number in costs)
    lows = [cost.low for cost, _ in costs]
    highs = [cost.high for cost, _ in costs]
    return Estimate(
        sum(cost.value * number for cost, number in costs) / weight,
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def _notes(known: Iterable[Part | None]) -> list[str]:
    return list(dict.fromkeys(part.note for part in known if part is not None and part.note))


def _exact(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value, value, value)
