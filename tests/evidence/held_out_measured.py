"""The three figures of a script on a program: measured by `try`, predicted by `advise`, and found by hand."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probe_effect.host import ROOT
from probe_effect.live.places import places
from probe_effect.numbers import estimates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evidence.held_out import HeldOut

PROGRAM = str(Path(sys.executable).with_name("probe-effect"))
KNOWS_NO = 3
"""Exit status of `advise` where a rate or a cost is not known; 1 is above the budget."""

GUIDE_CASES = {
    "tracepoint": "04-tracepoint-entry",
    "tracepoint-entry": "04-tracepoint-entry",
    "tracepoint-return": "05-tracepoint-return",
    "uprobe": "06-uprobe",
    "uretprobe": "07-uretprobe",
}
"""Kind of probe to the case whose cost the guide's chapter on probes has. It has none for what a script does then."""

GUIDE_HZ = 1000.0
PERF_GROUP = "held_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the commands are asked: with which options and where."""

    options: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path)

    def at(self, folder: Path) -> Asked:
        """The same in another folder."""
        return replace(self, folder=folder)

    def json(self, *words: str, statuses: Sequence[int] = (0,)) -> dict[str, Any]:
        """What one of our commands prints. Raises: CalledProcessError when it ends with another status."""
        ran = self.run(PROGRAM, *words)
        if ran.returncode not in statuses:
            raise subprocess.CalledProcessError(ran.returncode, ran.args, ran.stdout, ran.stderr)
        # A command that `advise` runs may print before the answer.
        found: dict[str, Any] = json.loads(ran.stdout[re.search(r"(?m)^\{$", ran.stdout).start() :])  # type: ignore[union-attr]
        return found

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A program in the folder, with what it printed."""
        return subprocess.run(
            words,
            cwd=self.folder,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},  # as `try` has it: sort takes half the time then
        )


def measured(asked: Asked, one: HeldOut, pairs: int) -> dict[str, Any]:
    """The slowdown of the CPU time over its pairs with its 95 % interval, events, lost ones, and the untraced times."""
    words = ("try", "-e", one.script, "--pairs", str(pairs), "--format", "json", "--", *one.command)
    found = asked.json(*words)
    untraced = {run["pair"]: run for run in found["runs"] if run["script"] is None}
    ratios = [
        run["cpu_ns"] / untraced[run["pair"]]["cpu_ns"] - 1
        for run in found["runs"]
        if run["script"] is not None and run["pair"] in untraced
    ]
    slowdown = estimates.estimate(np.array(ratios))
    return {
        "slowdown_ratio": slowdown.value,
        "slowdown_low_ratio": slowdown.low,
        "slowdown_high_ratio": slowdown.high,
        "pairs": len(ratios),
        "events": found["events"],
        "lost": found["lost"],
        **{f"{time}_ns": statistics.median(run[f"{time}_ns"] for run in untraced.values()) for time in ("cpu", "wall")},
    }


def predicted(asked: Asked, one: HeldOut, pid: int | None = None) -> dict[str, Any]:
    """The answer of `advise`, in all processes of the command or of the service together, with its parts."""
    began_s = time.monotonic()
    target = ("--", *one.command) if pid is None else ("--pid", str(pid))
    words = ("advise", "-e", one.script, *asked.options, "--format", "json", *target)
    answer = asked.json(*words, statuses=(0, 1, KNOWS_NO))
    answer_s = time.monotonic() - began_s
    keys = ("", "_low", "_high")
    whole = answer["whole"] or answer["busiest_thread"]
    return {
        "predicted": [whole[f"slowdown{end}_ratio"] for end in keys],
        "probes": [
            {key: probe[key] for key in ("probe", "kind", "basis", "rate_hz", "cost_ns")} for probe in answer["probes"]
        ],
        "within_budget": answer["within_budget"],
        "machine": answer["machine"],
        "answer_s": answer_s,
    }


def by_hand(asked: Asked, one: HeldOut, probes: Sequence[dict[str, Any]], found: dict[str, Any]) -> float | None:
    """The slowdown by the counts of perf stat and the costs of the guide; None where one of them is not to be had."""
    costs_ns = [_guide_cost_ns(asked, probe["kind"]) for probe in probes]
    if shutil.which("perf") is None or not probes or None in costs_ns:
        return None
    with _perf_events(asked, [probe["probe"] for probe in probes]) as events:
        counts = _perf_counts(asked, events, one.command) if events else None
    if counts is None:
        return None
    cpu_ns: float = found["cpu_ns"]
    return sum(count * cost for count, cost in zip(counts, costs_ns, strict=True) if cost) / cpu_ns


def _guide_cost_ns(asked: Asked, kind: str) -> float | None:
    if kind not in GUIDE_CASES:
        return None
    words = ("predict", "--case", GUIDE_CASES[kind], "--rate", str(GUIDE_HZ), "--tracer", "bpftrace")
    try:
        slowdown: float = asked.json(*words, *asked.options, "--format", "json")["slowdown_ratio"]
    except subprocess.CalledProcessError:
        return None
    return slowdown / GUIDE_HZ * 1e9


@contextmanager
def _perf_events(asked: Asked, probes: Sequence[str]) -> Iterator[list[str] | None]:
    """perf's names of the probes, defined for as long as that takes; None where perf cannot count one of them."""
    events: list[str] = []
    try:
        for number, probe in enumerate(probes):
            provider, _, rest = probe.partition(":")
            if provider == "tracepoint":
                events.append(rest)
                continue
            (place,) = places(probe, provider, ROOT)
            at = f"{PERF_GROUP}:e{number}={place.name}{'%return' * (provider == 'uretprobe')}"
            if asked.run("perf", "probe", "-q", "-x", str(place.path), "--add", at).returncode != 0:
                yield None
                return
            events.append(f"{PERF_GROUP}:e{number}{'__return' * (provider == 'uretprobe')}")
        yield events
    finally:
        if any(event.startswith(PERF_GROUP) for event in events):
            asked.run("perf", "probe", "-q", "--del", f"{PERF_GROUP}:*")


def _perf_counts(asked: Asked, events: Sequence[str], command: Sequence[str]) -> list[int] | None:
    """How often each fired in the command's processes."""
    file = asked.folder / "perf-stat.csv"
    ran = asked.run("perf", "stat", "-x", ",", "-o", str(file), *(w for e in events for w in ("-e", e)), "--", *command)
    lines = [line.split(",") for line in file.read_text().splitlines() if "," in line] if file.exists() else []
    counts = [int(words[0]) for words in lines if words[0].isdigit()]
    return counts if ran.returncode == 0 and len(counts) == len(events) else None
