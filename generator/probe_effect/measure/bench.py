"""A suite on the bench: its trials, its plan, and its runs one after the other."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from probe_effect.errors import ProbeEffectError
from probe_effect.measure.calibrate import THOROUGH, Lengths, check_operations, operations_for
from probe_effect.measure.one_run import Limits, Watch, empty_row, run_once
from probe_effect.measure.plan import BASELINE, PlannedRun, Subject, plan
from probe_effect.measure.progress import Progress, Tally
from probe_effect.store.machine_file import Submitter
from probe_effect.store.samples import SampleWriter, as_note
from probe_effect.workloads.loop import Load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from probe_effect.measure.request import Work
    from probe_effect.measure.submission import Author
    from probe_effect.model import Sample
    from probe_effect.tracers.protocol import Counting
    from probe_effect.workloads.build import Program

GIVE_UP_AFTER = 2
"""Runs of a case that may end badly before the rest of them is left out: each can cost minutes. (Not the baseline.)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to measure."""

    results: Path
    blocks: int
    seed: int
    command: tuple[str, ...]
    lengths: Lengths = THOROUGH
    limits: Limits = field(default_factory=Limits)
    submitter: Submitter = field(default_factory=lambda: Submitter(name=None, url=None))
    author: Author = "third-party"
    cache: Path | None = None


@dataclass(slots=True)
class Bench:
    """One suite on the bench: what is known of it so far, and how to make its runs."""

    work: Work
    settings: Settings
    program: Program
    cpu: int
    tell: Callable[[Progress], None]
    operations: dict[Subject, int] = field(default_factory=dict)
    broken: dict[Subject, Sample] = field(default_factory=dict)
    """Cases whose trial did not end well, with its row."""
    tally: Tally = field(default_factory=Tally)

    def calibrate(self) -> None:
        """Find how many operations each run needs. Raises: ProbeEffectError when the baseline does not run."""
        subjects = (BASELINE, *self.work.measured)
        for done, subject in enumerate(subjects):
            trial = PlannedRun(0, 0, subject, "baseline" if subject == BASELINE else "traced")
            blocks = self.settings.blocks
            self.tell(Progress(phase="calibrating", planned=trial, blocks=blocks, done=done, total=len(subjects)))
            operations, row = operations_for(self._target_s(subject), partial(self._make, trial))
            if row.status == "ok":
                self.operations[subject] = operations
            elif subject == BASELINE:
                raise ProbeEffectError(row.note)
            else:
                self.broken[subject] = row

    def run(self, samples: Path) -> None:
        """Make every planned run, and write its row before the next."""
        runs = self._plan()
        failures: Counter[Subject] = Counter()
        progress = Progress(
            phase="measuring", planned=runs[0], blocks=self.settings.blocks, done=0, total=len(runs), left_s=None
        )
        start_s = time.monotonic()
        with SampleWriter(samples) as writer:
            for done, planned in enumerate(runs):
                if failures[planned.subject] >= GIVE_UP_AFTER:
                    continue
                left_s = (time.monotonic() - start_s) / done * (len(runs) - done) if done else None
                progress = replace(progress, planned=planned, done=done, left_s=left_s)
                self.tell(progress)
                row = self._row(planned)
                writer.write(row)
                failures[planned.subject] += planned.subject != BASELINE and row.status in {"failed", "timeout"}
                progress = replace(progress, finished=row, cost_ns=self.tally.add(row))
        self.tell(replace(progress, phase="done", done=len(runs), left_s=0.0))

    def _plan(self) -> tuple[PlannedRun, ...]:
        sound = [subject for subject in self.work.measured if subject not in self.broken]
        counted = [subject for subject in self.work.twins() if subject not in self.broken]
        left_out = [*self.work.skipped, *self.broken]
        return plan(sound, left_out, counted, self.settings.blocks, self.settings.seed)

    def _row(self, planned: PlannedRun) -> Sample:
        """The row of a planned run: made now, or the reason why it is not."""
        row = empty_row(planned)
        if why := self.work.skipped.get(planned.subject):
            return replace(row, status="skipped", note=as_note(why))
        if trial := self.broken.get(planned.subject):
            return replace(row, status=trial.status, note=trial.note)
        operations = self.operations[planned.subject]
        if planned.arm == "check":
            operations = check_operations(operations, self._target_s(planned.subject))
        return self._make(planned, operations)

    def _make(self, planned: PlannedRun, operations: int) -> Sample:
        subject = planned.subject
        variant = None if subject == BASELINE else self.work.case(subject).variant
        load = Load(program=self.program.path, operations=operations, cpu=self.cpu, variant=variant)
        return run_once(planned, load, self._watch(planned), self.settings.limits)

    def _watch(self, planned: PlannedRun) -> Watch | None:
        subject = planned.subject
        if subject == BASELINE:
            return None
        is_check = planned.arm == "check"
        script = self.work.script(subject, check=is_check)
        counting = self._counting(subject, is_check=is_check)
        events = self.work.case(subject).events_per_operation
        return Watch(self.work.tracers[subject.tracer], script, counting, events)

    def _counting(self, subject: Subject, *, is_check: bool) -> Counting:
        counted_by = self.work.case(subject).counted_by
        if counted_by == "twin":
            return "maps" if is_check else "nothing"
        return counted_by

    def _target_s(self, subject: Subject) -> float:
        lengths = self.settings.lengths
        if (seconds := self.work.suite.workload.seconds) is not None:
            return min(seconds, lengths.traced_s)
        return lengths.baseline_s if subject == BASELINE else lengths.traced_s
