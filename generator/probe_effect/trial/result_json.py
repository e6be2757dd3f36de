"""The JSON and CSV of `probe-effect try`, which other programs rely on.

It has these keys, null where there is no value; further ones may follow. `_ratio` figures are ratios (0.05 is 5 %).
Of the first script: `slowdown_ratio` with `slowdown_low_ratio` and `slowdown_high_ratio` (95 % interval), of the CPU
time of all processes of the command; `wall_ratio`, `wall_low_ratio`, `wall_high_ratio`, of the time until it ended;
`pairs` (complete ones); `predicted` (what `advise` said: `slowdown_ratio`, `slowdown_low_ratio`, `slowdown_high_ratio`,
`basis` and `why`, of which `why` alone is not null where it could not say); `events` (how often its probes fired, for
any process, in a run of its own that was not timed); `lost` (by the tracer, in the run that lost most); `tracer_cpu_ns`
(median). `scripts`: the same of each, with `label` (A, B) and `name`. `difference_ratio`, `difference_low_ratio`,
`difference_high_ratio`: how much more CPU time the command takes with B than with A. `runs`, in their order: `pair`,
`script` (A, B or null), `wall_ns`, `cpu_ns`, `exit_status`, `tracer_cpu_ns`, `lost`. `command`, `prepare`, `seed` (of
the order), `cpu_time_by` (how all processes were found), `warnings`, `journal` (the file with every run). CSV has a
line for each run, with the same columns.
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from probe_effect.model import interval_json

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.trial.effect import TrialResult
    from probe_effect.trial.runs import TrialRun

COLUMNS = ("pair", "script", "wall_ns", "cpu_ns", "exit_status", "tracer_cpu_ns", "lost")


def trial_json(result: TrialResult, journal: Path) -> dict[str, Any]:
    """A result as JSON values."""
    settings = result.settings
    scripts = [{"label": one.label, "name": one.name, **_script_json(result, one.label)} for one in settings.scripts]
    difference = result.ratio("B", "A") if len(scripts) > 1 else None
    return {
        **_script_json(result, settings.scripts[0].label),
        "scripts": scripts,
        **interval_json(difference, "difference", "ratio"),
        "runs": [run_json(run) for run in result.timed],
        "command": list(settings.command),
        "prepare": settings.prepare,
        "seed": settings.seed,
        "cpu_time_by": result.way,
        "warnings": list(result.warnings()),
        "journal": str(journal),
    }


def trial_csv(result: TrialResult) -> str:
    """The timed runs, a line each, below the names of the columns."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(run_json(run) for run in result.timed)
    return text.getvalue()


def run_json(run: TrialRun) -> dict[str, Any]:
    """A run as JSON values."""
    values = asdict(run)
    return {column: values[column] for column in COLUMNS}


def _script_json(result: TrialResult, label: str) -> dict[str, Any]:
    predicted = result.predicted.get(label)
    said = {
        **interval_json(predicted.slowdown if predicted else None, "slowdown", "ratio"),
        "basis": predicted.basis if predicted else None,
        "why": predicted.why if predicted else "it was not asked",
    }
    return {
        **interval_json(result.ratio(label), "slowdown", "ratio"),
        **interval_json(result.ratio(label, time="wall_ns"), "wall", "ratio"),
        "pairs": result.pairs(label),
        "predicted": said,
        "events": next(iter(result.of(label, "events")), None),
        "lost": max(result.of(label, "lost"), default=None),
        "tracer_cpu_ns": result.typical_ns(label, "tracer_cpu_ns"),
    }
