"""What the runs of a trial say: slowdowns with intervals, which script costs less, and what looks wrong.

A slowdown is that of pairs: the Hodges-Lehmann estimate of the logarithms of each pair's ratio, with its exact 95 %
interval (`stats/robust.py`). Logarithms, because what disturbs a run makes it longer by a factor.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate
from probe_effect.stats.robust import MIN_BLOCKS, estimate
from probe_effect.trial.runs import TrialRun, TrialSettings

UNEVEN = 2.0
"""Runs of one kind that differ by this factor do not repeat each other."""
SHORTEST_NS = 20e6
"""A run of less CPU time is mostly the start of a process."""


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """What `advise` said of a script before the pairs: a slowdown and what it is from, or why there is none."""

    slowdown: Estimate | None
    basis: str | None
    why: str | None = None


@dataclass(slots=True)
class TrialResult:
    """All that was found so far; `predicted` by label of a script, `way`: how all processes were found."""

    settings: TrialSettings
    way: str
    runs: list[TrialRun] = field(default_factory=list)
    predicted: dict[str, SaidBefore] = field(default_factory=dict)

    @property
    def labels(self) -> list[str]:
        """Those of the scripts."""
        return [script.label for script in self.settings.scripts]

    @property
    def timed(self) -> list[TrialRun]:
        """The runs of the pairs."""
        return [run for run in self.runs if run.pair]

    def ratios(self, script: str, than: str | None = None, time: str = "cpu_ns") -> list[float]:
        """Of each complete pair how many times longer the run with `script` is than that with another, or with none."""
        taken = {(run.pair, run.script): max(1, getattr(run, time)) for run in self.timed}
        return [
            value / taken[pair, than]
            for (pair, label), value in taken.items()
            if label == script and (pair, than) in taken
        ]

    def more(self, script: str, than: str | None = None, time: str = "cpu_ns") -> Estimate | None:
        """How much longer a run takes, as a ratio; None without a pair, and without an interval below six."""
        ratios = self.ratios(script, than, time)
        if not ratios:
            return None
        value, *ends = estimate(np.log(ratios))
        low, high = (None if end is None else float(np.expm1(end)) for end in ends)
        return Estimate(float(np.expm1(value)), low, high)

    def known(self, script: str | None, name: str) -> list[int]:
        """The known values of a field in the runs of a kind; events are those of runs before the pairs."""
        runs = self.runs if name == "events" else self.timed
        return [value for run in runs if run.script == script and (value := getattr(run, name)) is not None]

    def warnings(self) -> Iterator[str]:
        """What looks wrong, and what to do about it."""
        for label in (None, *self.labels):
            times = self.known(label, "cpu_ns")
            if times and max(times) >= UNEVEN * max(1, min(times)):
                least, most = map(units.duration, (min(times), max(times)))
                yield (
                    f"runs with {label or 'no'} script took {least} to {most} of CPU time. Look for cold caches and "
                    "other work on this machine; --prepare makes runs alike, more --pairs the interval narrower."
                )
            if times and max(times) < SHORTEST_NS:
                yield "a run takes less than 20 ms of CPU time, mostly to start a process: have it do more work."
            if label and self.known(label, "events") == [0]:
                yield f"no probe of {label} fired: the command may end before, or never get there."
        if failed := sum(run.exit_status != 0 for run in self.timed):
            yield f"{failed} of {len(self.timed)} runs failed, and count as the others."

    def sentences(self) -> Iterator[str]:
        """What each script does to the command, and which of two costs less."""
        for script in self.settings.scripts:
            label = script.label
            yield f"{label} is {script.name.strip()}"
            yield said(self.more(label), f"CPU time with {label}, {len(self.ratios(label))} pairs")
            yield said(self.more(label, time="wall_ns"), f"wall time with {label}")
            if before := self.predicted.get(label):
                value = f"{units.interval(before.slowdown, units.SHARE)} more; {before.basis or 'no probe fired'}"
                yield f"advise said: {value if before.slowdown else before.why}"
        if len(self.labels) > 1:
            yield said(self.more("B", "A"), "CPU time with B, compared with A")

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Of each kind of run: medians of CPU, wall and the tracer's CPU time; events, and the most lost."""
        for label in (None, *self.labels):
            times = (self.known(label, name) for name in ("cpu_ns", "wall_ns", "tracer_cpu_ns"))
            counts = (max(self.known(label, name), default=None) for name in ("events", "lost"))
            medians = (units.duration(median(some) if some else None) for some in times)
            yield (label or "no script", *medians, *map(units.count, counts))


def said(more: Estimate | None, what: str) -> str:
    """By how much a time differs, or that no difference was seen and how large one could be."""
    if more is None:
        return f"{what}: no pair is complete."
    value = f"{units.interval(more, units.SHARE)} more"
    if more.low is None or more.high is None:
        return f"{what}: {value} so far; an interval needs {MIN_BLOCKS} pairs."
    if more.low <= 0 <= more.high:
        return f"{what}: no difference was seen; up to {units.percent(more.high)} more could hide, {value}."
    return f"{what}: {value}."
