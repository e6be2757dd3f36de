"""The JSON and CSV of `probe-effect try`, which other programs rely on, and a Vega-Lite spec of its runs.

It has these keys, null where there is no value; further ones may follow. `_ratio` figures are ratios (0.05 is 5 %).
Those of the first script come first. `slowdown_ratio`, `slowdown_low_ratio`, `slowdown_high_ratio` (95 % interval): of
the CPU time of all processes of the command. `wall_ratio`, `wall_low_ratio`, `wall_high_ratio`: of the time until it
ended. `pairs`: complete ones. `predicted`: `slowdown_ratio`, `slowdown_low_ratio`, `slowdown_high_ratio` and `basis` of
what `advise` said, or `why` it could not. `events`: how often its probes fired, for any process, in a run before the
pairs. `lost`: by the tracer, in the run that lost most. `tracer_cpu_ns`: median. `scripts`: the same of each, with
`label` (A, B) and `name`. `difference_ratio`, `difference_low_ratio`, `difference_high_ratio`: how much more CPU time
the command takes with B than with A. `runs`, in their order: `pair`, `script` (A, B or null), `wall_ns`, `cpu_ns`,
`exit_status`, `tracer_cpu_ns`, `lost`. CSV has a line of these for each run. `command`, `prepare`, `seed` (of the
order), `cpu_time_by` (how all processes were found), `warnings`, `journal` (the file with every run).
"""

import csv
import io
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from probe_effect.charts.theme import INK, SERIES, Spec, frame
from probe_effect.model import interval_json
from probe_effect.trial.result import TrialResult, said

COLUMNS = ("pair", "script", "wall_ns", "cpu_ns", "exit_status", "tracer_cpu_ns", "lost")
HEIGHT = 340


def trial_json(result: TrialResult, journal: Path) -> dict[str, Any]:
    """A result as JSON values."""
    settings = result.settings
    found = {script.label: _script_json(result, script.label) for script in settings.scripts}
    return {
        **found["A"],
        "scripts": [{"label": one.label, "name": one.name, **found[one.label]} for one in settings.scripts],
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
    """The timed runs as JSON values."""
    return [{name: asdict(run)[name] for name in COLUMNS} for run in result.timed]


def trial_csv(result: TrialResult) -> str:
    """The timed runs, a line each, below the names of the columns."""
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
