"""What the runs of a trial say, beside what `advise` said before, and its JSON and CSV.

`advising/json_keys.toml` describes the keys, on which others rely.

A slowdown is that of pairs: the Hodges-Lehmann estimate of the logarithms of each pair's ratio, with its exact 95 %
interval (`numbers/estimates.py`). Logarithms, because what disturbs a run makes it longer by a factor.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from probe_effect import units
from probe_effect.advising.calibrate import calibrated
from probe_effect.advising.runs import PID, TrialRun, TrialSettings
from probe_effect.advising.script_answer import COMMAND_S, RunningSystem, ScriptQuestion, answer_script
from probe_effect.advising.script_report import headline
from probe_effect.host import this_machine
from probe_effect.live.count import Target
from probe_effect.model import Estimate, HostNotReady, UsageError, interval_json
from probe_effect.numbers.estimates import MIN_BLOCKS, estimate
from probe_effect.numbers.shown import facts_of_machine
from probe_effect.site.charts.theme import INK, SERIES, Spec, frame
from probe_effect.store.places import DataFolder

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
    """All that was found so far; `predicted` by label of a script, `way`: how all processes were found, `disturbed`:
    what kept the runs from their CPU, and what to do about it.
    """

    settings: TrialSettings
    way: str
    runs: list[TrialRun] = field(default_factory=list)
    predicted: dict[str, SaidBefore] = field(default_factory=dict)
    disturbed: Sequence[str] = ()

    @property
    def labels(self) -> list[str]:
        return [script.label for script in self.settings.scripts]

    @property
    def timed(self) -> list[TrialRun]:
        return [run for run in self.runs if run.pair]

    def ratios(self, script: str, than: str | None = None, time: str = "cpu_ns") -> list[float]:
        """How many times longer the run with `script` is than that with `than`, or with none, in each complete pair."""
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
        yield from self.disturbed
        for label in (None, *self.labels):
            times = self.known(label, "cpu_ns")
            if times and max(times) >= UNEVEN * max(1, min(times)):
                least, most = map(units.duration, (min(times), max(times)))
                yield (
                    f"runs with {label or 'no'} script took {least} to {most} of CPU time. Look for cold caches and "
                    "other work on this machine; --prepare makes runs alike, more --pairs the interval narrower."
                )
            if label and self.known(label, "events") == [0]:
                yield f"no probe of {label} fired: the command may end before, or never get there."
        if any(0 < max(self.known(label, "cpu_ns"), default=0) < SHORTEST_NS for label in (None, *self.labels)):
            yield "a run takes less than 20 ms of CPU time, mostly to start a process: have it do more work."
        if failed := sum(run.exit_status != 0 for run in self.timed):
            yield f"{failed} of {len(self.timed)} runs failed, and count as the others."

    def sentences(self) -> Iterator[str]:
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
        """A row for each script: medians of CPU, wall and the tracer's CPU time; the most events, and the most lost."""
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


COLUMNS = ("pair", "script", "wall_ns", "cpu_ns", "exit_status", "tracer_cpu_ns", "lost")
HEIGHT = 340


def trial_json(result: TrialResult, journal: Path) -> dict[str, Any]:
    settings = result.settings
    script_by_label = {script.label: _script_json(result, script.label) for script in settings.scripts}
    return {
        **script_by_label["A"],
        "scripts": [
            {"label": trial_script.label, "name": trial_script.name, **script_by_label[trial_script.label]}
            for trial_script in settings.scripts
        ],
        **interval_json(result.more("B", "A"), "difference", "ratio"),
        "runs": runs_json(result),
        "command": list(settings.command),
        "prepare": settings.prepare,
        "seed": settings.seed,
        "cpu_time_by": result.way,
        "warnings": list(result.warnings()),
        "journal": str(journal),
    }


def runs_json(result: TrialResult) -> list[dict[str, Any]]:
    return [{name: asdict(run)[name] for name in COLUMNS} for run in result.timed]


def trial_csv(result: TrialResult) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(runs_json(result))
    return text.getvalue().rstrip()


def trial_spec(result: TrialResult) -> Spec:
    """A point for the CPU time of each run, pair by pair, a line at the median of each kind, and the slowdowns."""
    points = [{"pair": run.pair, "cpu_s": run.cpu_ns / 1e9, "runs": run.script or "no script"} for run in result.timed]
    kinds = {"domain": ["no script", *result.labels]}
    y = {"field": "cpu_s", "type": "quantitative", "title": "CPU time, s", "scale": {"zero": False}}
    look = {"y": y, "color": {"field": "runs", "type": "nominal", "scale": kinds | {"range": [INK, *SERIES]}}}
    dots = look | {"x": {"field": "pair", "type": "ordinal"}, "shape": {"field": "runs", "scale": kinds}}
    layers = [
        {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": dots},
        {"mark": "rule", "encoding": look | {"y": y | {"aggregate": "median"}}},
    ]
    title = [said(result.more(label), f"CPU time with {label}") for label in result.labels]
    return frame("wide", HEIGHT, {"title": title, "data": {"values": points}, "layer": layers})


def _script_json(result: TrialResult, label: str) -> dict[str, Any]:
    before, tracer_ns = result.predicted.get(label), result.known(label, "tracer_cpu_ns")
    return {
        **interval_json(result.more(label), "slowdown", "ratio"),
        **interval_json(result.more(label, time="wall_ns"), "wall", "ratio"),
        "pairs": len(result.ratios(label)),
        "predicted": {
            **interval_json(before.slowdown if before else None, "slowdown", "ratio"),
            "basis": before.basis if before else None,
            "why": before.why if before else "it was interrupted before",
        },
        "events": max(result.known(label, "events"), default=None),
        "lost": max(result.known(label, "lost"), default=None),
        "tracer_cpu_ns": median(tracer_ns) if tracer_ns else None,
    }


SILENT = ("/bin/sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh")


def predicted(text: str, command: tuple[str, ...], data: DataFolder) -> SaidBefore:
    """The slowdown of the command, or why there is none; the command is run for it, for a minute at most."""
    question = ScriptQuestion(
        text=text.replace(PID, "1"), target=Target(command=(*SILENT, *command)), seconds=COMMAND_S, budget_ratio=0.01
    )
    try:
        here = facts_of_machine(*this_machine.collect_named())
        answer = answer_script(question, data, RunningSystem(facts=here, calibrate=calibrated))
    except (UsageError, HostNotReady) as error:
        return SaidBefore(None, None, str(error))
    advice = answer.advice
    if advice.slowdown is None or not advice.is_whole:
        return SaidBefore(None, None, answer.not_counted or headline(answer))
    bases = dict.fromkeys(probe.part.basis for probe in advice.probes if probe.part is not None)
    return SaidBefore(advice.slowdown, ", ".join(bases) or None)
