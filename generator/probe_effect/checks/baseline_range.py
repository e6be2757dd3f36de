"""An untraced operation of the loop of system calls takes as long as that takes on machines that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.checks.rule import Fault, JudgedSubmission, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL_LOOPS = frozenset({"dd-loop.c"})
"""Workloads of which an operation is two system calls and nothing else."""

LEAST_NS, MOST_NS = 30, 2000


def _faults(judged: JudgedSubmission) -> Iterator[Fault]:
    suite, baseline_ns = judged.checked.suite, judged.baseline_ns
    if suite is None or baseline_ns is None or suite.workload.program not in CALL_LOOPS:
        return
    if not LEAST_NS <= baseline_ns <= MOST_NS:
        found = f"an untraced operation takes {units.duration(baseline_ns)}, expected {LEAST_NS} to {MOST_NS} ns"
        first = next((line for line, row in judged.checked.lines() if row.arm == "baseline"), None)
        hint = "look whether `events` and `wall_ns` are of the same run, and whether the machine was emulated"
        yield Fault("samples.csv", first, found, hint, "warning")


RULE = Rule(
    "baseline-range",
    "Two system calls, untraced, take 30 to 2000 ns.",
    _faults,
    good="baseline of 350 ns per operation",
    bad="baseline of 12 ns per operation",
)
