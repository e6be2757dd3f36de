"""Where a measurement stands, as values; `cli` decides how they look."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from probe_effect.model import Key
from probe_effect.stats.paired import paired_estimate, ragged

if TYPE_CHECKING:
    from probe_effect.measure.planned import PlannedRun
    from probe_effect.model import Estimate, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What is about to run, and what is known so far."""

    phase: Literal["calibrating", "measuring", "done"]
    planned: PlannedRun
    blocks: int
    done: int
    total: int
    left_s: float | None = None
    """Time left, from the pace so far; None before the first run has ended."""
    finished: Sample | None = None
    """The row of the run that has just ended."""
    cost: Estimate | None = None
    """Cost so far of that row's case, ns or instructions per event."""
    clock_jumped_s: float = 0.0
    """By how much somebody set the time of day while the run went on; known when it is done."""


@dataclass(slots=True)
class Tally:
    """Costs so far, estimated as the summary will: differences inside each block."""

    baselines: dict[tuple[int, str | None], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Block and level to ns, or instructions, per operation of its baselines so far."""
    threads: dict[str | None, float] = field(default_factory=dict)
    """Level to how many threads perform the operations at once: all their events over the operations of one."""
    traced: dict[Key, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, row: Sample) -> Estimate | None:
        """Take in a row; the cost so far of its case, None where it has none yet."""
        amount = row.wall_ns or row.instructions
        if row.status != "ok" or not amount or not row.events:
            return None
        per_operation = amount / (row.operations or row.events)
        if row.arm == "baseline":
            self.baselines[row.block, row.level].append(per_operation)
            self.threads[row.level] = row.events / (row.operations or row.events)
            return None
        subject = Key(row.case, row.tracer, row.level)
        self.traced[subject][row.block] = per_operation
        return self._cost(subject, row.events / (row.operations or row.events) / self.threads.get(row.level, 1.0))

    def _cost(self, subject: Key, events_per_operation: float) -> Estimate | None:
        differences = [
            [(traced - baseline) / events_per_operation for baseline in baselines]
            for block, traced in self.traced[subject].items()
            if (baselines := self.baselines.get((block, subject.level)))
        ]
        return paired_estimate(ragged(differences)) if differences else None
