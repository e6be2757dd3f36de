"""What the runs of a trial say: slowdowns with intervals, which script costs less, and what looks wrong.

A slowdown is that of pairs: the Hodges-Lehmann estimate of the logarithms of each pair's ratio, with its exact 95 %
interval (`stats/signed_rank.py`). Logarithms, because what disturbs a run makes it longer by a factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.stats.signed_rank import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from probe_effect.trial.runs import TrialRun, TrialSettings

    Time = Literal["cpu_ns", "wall_ns"]

UNEVEN = 2.0
"""Runs of one kind that differ by this factor are no repetitions of each other."""
SHORTEST_NS = 20_000_000
"""A run of less CPU time is mostly the start of a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """What `advise` said of a script before the pairs: a slowdown and what it is from, or why there is none."""

    slowdown: Estimate | None = None
    basis: str | None = None
    why: str | None = None


@dataclass(slots=True)
class TrialResult:
    """All that was found so far; `predicted` by label of a script, `way`: how all processes were found."""

    settings: TrialSettings
    way: str = ""
    runs: list[TrialRun] = field(default_factory=list)
    predicted: dict[str, Predicted] = field(default_factory=dict)

    @property
    def timed(self) -> list[TrialRun]:
        """The runs of the pairs."""
        return [run for run in self.runs if run.pair]

    def ratio(self, script: str, than: str | None = None, time: Time = "cpu_ns") -> Estimate | None:
        """How much longer a run takes with `script` than with another, or with none, as a ratio; None without a pair.

        It has no interval below six pairs.
        """
        taken = {(run.pair, run.script): max(1, getattr(run, time)) for run in self.timed}
        pairs = [pair for pair, label in taken if label == script and (pair, than) in taken]
        if not pairs:
            return None
        found = estimate(np.log([taken[pair, script] / taken[pair, than] for pair in pairs]))
        return Estimate(*(None if one is None else float(np.expm1(one)) for one in found))  # type: ignore[arg-type]

    def pairs(self, script: str) -> int:
        """How many pairs of a script are complete."""
        made = {(run.pair, run.script) for run in self.timed}
        return sum((pair, None) in made for pair, label in made if label == script)

    def of(self, script: str | None, name: str) -> list[int]:
        """The known values of a field in all runs of a kind."""
        return [value for run in self.runs if run.script == script and (value := getattr(run, name)) is not None]

    def typical_ns(self, script: str | None, name: str) -> float | None:
        """The median of a time over the timed runs of a kind; None without one."""
        values = [getattr(run, name) for run in self.timed if run.script == script]
        known = [value for value in values if value is not None]
        return median(known) if known else None

    def warnings(self) -> Iterator[str]:
        """What looks wrong, in sentences, and what to do about it."""
        for label in (None, *(script.label for script in self.settings.scripts)):
            kind = f"Runs with {label}" if label else "Runs without a script"
            times = [run.cpu_ns for run in self.timed if run.script == label]
            if times and max(times) >= UNEVEN * max(1, min(times)):
                yield (
                    f"{kind} took {units.duration(min(times))} to {units.duration(max(times))} of CPU time: look for "
                    "caches that are cold at first, and for other work on this machine. --prepare brings about the "
                    "same state before each run; more --pairs make the interval narrower."
                )
            if label and self.of(label, "events") == [0]:
                yield f"No probe of {label} fired in the run that counted: the command may end before it gets there."
        if (times := [run.cpu_ns for run in self.timed]) and min(times) < SHORTEST_NS:
            yield "A run takes less than 20 ms of CPU time, mostly to start a process: have it do more work."
        if failed := sum(run.exit_status != 0 for run in self.timed):
            yield f"{failed} of {len(self.timed)} runs failed, and are counted as the others."
