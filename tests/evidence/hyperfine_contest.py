"""Either method of `against_hyperfine`, on one case and in a given time."""

from __future__ import annotations

import json
import math
import os
import secrets
import shlex
import statistics
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.host.processes import Child
from probe_effect.host.workloads import build
from probe_effect.measure.bench import Settings
from probe_effect.measure.one_run import Limits
from probe_effect.measure.request import rounded
from probe_effect.measure.run import measure
from probe_effect.measure.testbed import Testbed, measurement_lock
from probe_effect.model import BadData, Estimate, ProbeEffectError
from probe_effect.numbers.catalogue import read_submission
from probe_effect.numbers.estimates import MIN_BLOCKS
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.measure.bench import Progress
    from probe_effect.measure.request import Lengths, Work
    from probe_effect.model import Problem

DATA = DataFolder(Path(__file__).resolve().parents[2] / "data")

STANDARD_ERRORS = 1.96
"""Half-width of the usual 95 % interval of a normal estimate, in standard errors."""

MIN_RUNS = 3
"""Runs of an arm below which its standard deviation says nothing."""

HYPERFINE_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One repetition of one method."""

    cost: Estimate
    """ns per event: our Hodges-Lehmann estimate, or the difference of hyperfine's means."""
    fastest_ns: float
    """Fastest traced less fastest untraced, ns per event."""
    operation_ns: float
    """Time of a traced operation."""
    rounds: int
    """Our blocks, or hyperfine's runs of each arm."""
    seconds: float
    fixed_s: float
    """Part of `seconds` that does not grow with the rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Seconds, by hyperfine's own names."""

    mean: float
    stddev: float
    min: float


Outcomes = dict[str, list[Outcome]]
"""Method to its repetitions."""


@dataclass(slots=True)
class Contest:
    """One case, measured by either method."""

    work: Work
    lengths: Lengths
    folder: Path
    cpus: tuple[int, int | None]
    operations: int = 0
    """Of hyperfine's runs, both arms: as many as take our traced runs their usual time."""
    trials: dict[str, Outcome] = field(default_factory=dict)

    @property
    def case(self) -> str:
        """The case's id."""
        return self.work.measured[0].case

    def try_out(self) -> None:
        """Find how long the rounds of either method take; these figures are not used."""
        self.trials["ours"] = self.ours(MIN_BLOCKS)
        self.operations = rounded(self.lengths.traced_s * 1e9 / self.trials["ours"].operation_ns)
        self.trials["hyperfine"] = self.hyperfine(MIN_RUNS)

    def repeat(self, method: str, seconds: float, earlier: Sequence[Outcome]) -> Outcome:
        """One repetition in about `seconds`, by the pace of the `earlier` ones."""
        known = [self.trials[method], *earlier]
        fixed_s = statistics.fmean(one.fixed_s for one in known)
        round_s = sum(one.seconds - one.fixed_s for one in known) / sum(one.rounds for one in known)
        rounds = round((seconds - fixed_s) / round_s)
        return self.ours(max(rounds, MIN_BLOCKS)) if method == "ours" else self.hyperfine(max(rounds, MIN_RUNS))

    def ours(self, blocks: int) -> Outcome:
        """The harness, whole."""
        begun_s: list[float] = []

        def tell(progress: Progress) -> None:
            if progress.phase == "measuring" and not begun_s:
                begun_s.append(time.monotonic())

        settings = Settings(
            results=self.folder,
            blocks=blocks,
            seed=secrets.randbits(32),
            command=("against_hyperfine",),
            lengths=self.lengths,
        )
        start_s = time.monotonic()
        place = measure(self.work, settings, Testbed(), tell)
        seconds = time.monotonic() - start_s
        problems: list[Problem] = []
        submission = read_submission(place, DATA, problems)
        if submission is None:
            raise BadData(problems)
        (case,) = submission.numbers
        if case.cost is None or case.cost.low is None or case.baseline is None or case.time.fastest_ns is None:
            msg = f"{self.case}: {case.status}, {case.blocks} blocks of {blocks}: {case.note}"
            raise ProbeEffectError(msg)
        events = self.work.case(self.work.measured[0]).events_per_operation
        return Outcome(
            cost=case.cost,
            fastest_ns=case.time.fastest_ns,
            operation_ns=(case.baseline.value + case.cost.value) * events,
            rounds=blocks,
            seconds=seconds,
            fixed_s=begun_s[0] - start_s,
        )

    def hyperfine(self, runs: int) -> Outcome:
        """All untraced runs, then all traced ones with one bpftrace beside them."""
        (subject,) = self.work.measured
        start_s = time.monotonic()
        with ExitStack() as leftovers:
            leftovers.enter_context(measurement_lock())
            if self.cpus[1] is not None:
                leftovers.callback(os.sched_setaffinity, 0, os.sched_getaffinity(0))
                os.sched_setaffinity(0, {self.cpus[1]})
            program = build(self.work.source(), libraries=self.work.suite.workload.libraries).path
            untraced = self._arm(program, runs)
            session = self.work.tracers[subject.tracer].session(self.work.script(subject), "nothing", program)
            leftovers.callback(session.end)
            session.attach(os.getpid())
            session.ready(Limits().start_s)
            traced = self._arm(program, runs)
            session.stop(Limits().stop_s)
        seconds = time.monotonic() - start_s
        per_event_ns = 1e9 / self.operations / self.work.case(subject).events_per_operation
        mean_ns = (traced.mean - untraced.mean) * per_event_ns
        error_ns = math.hypot(traced.stddev, untraced.stddev) / math.sqrt(runs) * per_event_ns
        return Outcome(
            cost=Estimate(mean_ns, mean_ns - STANDARD_ERRORS * error_ns, mean_ns + STANDARD_ERRORS * error_ns),
            fastest_ns=(traced.min - untraced.min) * per_event_ns,
            operation_ns=traced.mean * 1e9 / self.operations,
            rounds=runs,
            seconds=seconds,
            fixed_s=seconds - (traced.mean + untraced.mean) * runs,
        )

    def _arm(self, program: Path, runs: int) -> Arm:
        """What hyperfine says of `runs` runs of the workload. Raises: ProbeEffectError with its words."""
        go, report = self.folder / "go", self.folder / "hyperfine.json"
        go.write_text("g", encoding="utf-8")
        # hyperfine has --input since 1.16 only; a shell that makes way for the workload does the same for all.
        workload = shlex.join([str(program), str(self.operations), str(self.cpus[0])])
        shell = shlex.join(["sh", "-c", f"exec {workload} <{shlex.quote(str(go))}"])
        command = ["hyperfine", "--shell=none", "--style=none", "--warmup=1", f"--runs={runs}"]
        child = Child(
            [*command, f"--export-json={report}", shell],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            ended = child.wait(HYPERFINE_TIMEOUT_S)
            if ended is None or ended.exit_status != 0:
                said = f"ended with {ended.exit_status}: {child.output()[1].strip()}" if ended else "did not end"
                msg = f"`{shlex.join(command)} ... {shlex.quote(shell)}` {said}"
                raise ProbeEffectError(msg)
        finally:
            child.end()
        (result,) = json.loads(report.read_text(encoding="utf-8"))["results"]
        return Arm(mean=result["mean"], stddev=result["stddev"], min=result["min"])
