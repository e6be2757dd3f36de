"""Where a measurement stands, as values; `cli` decides how they look."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from probe_effect.measure.plan import BASELINE, Subject

if TYPE_CHECKING:
    from probe_effect.measure.plan import PlannedRun
    from probe_effect.model import Sample


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
    cost_ns: float | None = None
    """Cost so far of that row's case, roughly: difference of medians."""


@dataclass(slots=True)
class Tally:
    """Times per operation so far. For the display only: the estimate proper pairs the runs of a block (`stats`)."""

    per_operation_ns: dict[Subject, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Sample) -> float | None:
        """Take in a row; the cost so far of its case, None where it has none yet."""
        if row.status == "ok" and row.wall_ns and row.events:
            self.per_operation_ns[Subject(row.case, row.tracer)].append(row.wall_ns / row.events)
        return self.cost_ns(Subject(row.case, row.tracer))

    def cost_ns(self, subject: Subject) -> float | None:
        """Median of the case less the median of the baselines."""
        traced, baseline = self.per_operation_ns.get(subject), self.per_operation_ns.get(BASELINE)
        if subject == BASELINE or not traced or not baseline:
            return None
        return statistics.median(traced) - statistics.median(baseline)
