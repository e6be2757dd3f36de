"""A suite on the bench: its trials, its plan from a seed, and its runs one after the other."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from probe_effect.host.compilers import CompiledProgram
from probe_effect.host.load import slept_s
from probe_effect.host.this_machine import MachineWarning
from probe_effect.measure import request
from probe_effect.measure.diagnosis import Company, UntracedRun
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, empty_row
from probe_effect.measure.request import Work
from probe_effect.measure.testbed import Testbed
from probe_effect.model import (
    FAILURES,
    GIVE_UP_AFTER,
    BadData,
    Estimate,
    HostNotReady,
    Key,
    ProbeEffectError,
    Sample,
    Status,
)
from probe_effect.numbers.estimates import paired_estimate, ragged
from probe_effect.store.machine_file import Author, PlanFile, PlannedSubject, Submitter
from probe_effect.store.result_tables import ProbeCalibration, RunWriter, as_note, read_samples
from probe_effect.tracers.protocol import Counting, Tracer


def plan(subjects: Sequence[PlannedSubject], blocks: int, seed: int) -> tuple[PlannedRun, ...]:
    """Every run of a suite, in order (`measure/request.py`). The same arguments give the same plan."""
    measured = [subject.key for subject in subjects if subject.operations is not None]
    left_out = [subject.key for subject in subjects if subject.operations is None]
    counted = [subject.key for subject in subjects if subject.is_counted_apart]
    return tuple(
        PlannedRun(block, index, subject, arm)
        for block, order in enumerate(request.blocks_in_order(measured, left_out, counted, blocks, seed))
        for index, (subject, arm) in enumerate(order)
    )


@dataclass(slots=True)
class Tally:
    """The costs so far, estimated as in the summary: from differences inside each block."""

    baselines: dict[tuple[int, str | None], list[float]] = field(default_factory=lambda: defaultdict(list))
    """The ns, or instructions, per operation of the baselines so far, by block and level."""
    threads: dict[str | None, float] = field(default_factory=dict)
    """How many threads perform the operations at once, by level: all events over the operations of one thread."""
    traced: dict[Key, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, row: Sample) -> Estimate | None:
        """The cost so far of a row's case, with this row; None if it has none yet."""
        amount = row.wall_ns or row.instructions
        if row.status != "ok" or not amount or not row.events:
            return None
        operations = row.operations or row.events
        if row.arm == "baseline":
            self.baselines[row.block, row.level].append(amount / operations)
            self.threads[row.level] = row.events / operations
            return None
        traced_by_block = self.traced[Key(row.case, row.tracer, row.level)]
        traced_by_block[row.block] = amount / operations
        events_per_operation = row.events / operations / self.threads.get(row.level, 1.0)
        differences = [
            [(traced - untraced) / events_per_operation for untraced in baselines]
            for block, traced in traced_by_block.items()
            if (baselines := self.baselines.get((block, row.level)))
        ]
        return paired_estimate(ragged(differences)) if differences else None


class Journal:
    """The rows of a run so far, and its plan."""

    def __init__(self, document: PlanFile, rows: Iterable[Sample]) -> None:
        self._document = document
        self._subjects = {Key(subject.case, subject.tracer, subject.level): subject for subject in document.subjects}
        self._places: set[tuple[int, int]] = set()
        self._tally = Tally()
        self.failures: Counter[Key] = Counter()
        for row in rows:
            self.add(row)

    def add(self, row: Sample) -> Estimate | None:
        """The cost so far of the case of a row on disk, with this row; None if it has none yet."""
        subject = Key(row.case, row.tracer, row.level)
        self._places.add((row.block, row.position))
        self.failures[subject] += not subject.is_baseline and row.status in FAILURES
        return self._tally.add(row)

    def has(self, run: PlannedRun) -> bool:
        """Whether a planned run has its row."""
        return (run.block, run.position) in self._places

    def operations(self, subject: Key) -> int:
        """Operations of a run of `subject`, which is not left out."""
        baselines = {None: self._document.baseline_operations} | self._document.level_operations
        number = baselines[subject.level] if subject.is_baseline else self._subjects[subject].operations
        assert number is not None
        return number

    def left_out(self, subject: Key) -> PlannedSubject | None:
        """The plan's reason why a case is not run; None for a case that is run, and for the baseline."""
        planned = self._subjects.get(subject)
        return planned if planned is not None and planned.operations is None else None


def written_rows(samples: Path, runs: Iterable[PlannedRun]) -> list[Sample]:
    """The rows on disk, each of a planned run.

    Raises: BadData for rows that cannot be read; ProbeEffectError for rows from another plan.
    """
    rows, problems = read_samples(samples, str(samples))
    if problems:
        raise BadData(problems)
    planned = {(run.block, run.position): (run.subject, run.arm) for run in runs}
    for row in rows:
        if planned.get((row.block, row.position)) != (Key(row.case, row.tracer, row.level), row.arm):
            at = f" at level {row.level}" if row.level is not None else ""
            raise ProbeEffectError(
                f"{samples}: block {row.block}, position {row.position} is {row.case} with {row.tracer}{at}, which is "
                "not what its plan has there: it cannot be continued, and is kept; to measure again, omit --resume"
            )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to measure."""

    results: Path
    blocks: int
    seed: int
    command: tuple[str, ...]
    lengths: request.Lengths = request.THOROUGH
    limits: Limits = field(default_factory=Limits)
    submitter: Submitter = field(default_factory=lambda: Submitter(name=None, url=None))
    author: Author = "third-party"
    fleet_name: str | None = None
    anyway: bool = False
    """Whether to measure although something makes the times wrong, which is recorded."""
    continued_by: tuple[str, ...] = ()
    """Words of the command that continues this run if it is cut short, after the program's name."""
    calibrate: Callable[[Key, Path, Tracer, int], Sequence[ProbeCalibration]] | None = None
    """Times a script in a loop on a CPU, before it runs over programs; None: that is left out."""


LEAST_SLEEP_S = 0.1  # of a machine that was suspended; its two clocks differ by less otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The run that is about to begin, and what is known so far; `cli` decides how it looks."""

    phase: Literal["told", "calibrating", "scripts", "measuring", "slept", "traced", "done"]
    planned: PlannedRun
    blocks: int
    done: int
    total: int
    left_s: float | None = None
    """Time left, from the pace so far; None before the first run has ended."""
    finished: Sample | None = None
    """The row of the run that has just ended."""
    cost: Estimate | None = None
    """Cost so far of that row's case, ns or instructions per event."""
    clock_jumped_s: float = 0.0
    """Seconds by which the time of day was set during the run; known when it is done."""
    slept_s: float = 0.0
    """Seconds that the machine was suspended in the block, which is therefore dropped and measured again."""
    told: tuple[str, ...] = ()
    """What disturbs the times, in sentences; told before the first trial and after the last run."""


def tell_or_refuse(warnings: Sequence[MachineWarning], tell: Callable[[Progress], None], *, anyway: bool) -> None:
    """Say what disturbs the times. Raises: HostNotReady for what makes them wrong, unless they are wanted anyway."""
    refusing = [str(warning) for warning in warnings if warning.measure == "refuses"]
    if refusing and not anyway:
        advice = "with --anyway it is measured and recorded all the same, and the times lead nothing"
        raise HostNotReady("\n".join(["times that are taken here would be wrong:", *refusing, advice]))
    if told := tuple(str(warning) for warning in warnings if warning.measure != "records"):
        nothing = PlannedRun(0, 0, request.baseline(None), "baseline")
        tell(Progress(phase="told", planned=nothing, blocks=0, done=0, total=0, told=told))


@dataclass(frozen=True, slots=True)
class Bench:
    """One suite on the bench, and how to make its runs."""

    work: Work
    settings: Settings
    testbed: Testbed
    program: CompiledProgram
    cpu: int
    tell: Callable[[Progress], None]
    beside: Company = field(default_factory=Company)

    def look_beside(self) -> None:
        """Say what else traces, and have it recorded. Raises: HostNotReady if it traces what is to be measured."""
        if self.testbed.metric == "time":
            tell_or_refuse(self.beside.look(self._run_untraced), self.tell, anyway=self.settings.anyway)

    def _run_untraced(self) -> UntracedRun:
        """A short untraced run; none where the operation is a build."""
        if self.work.builds:
            return 0, 0.0
        level = self.work.levels[0]
        row = self._make(PlannedRun(0, 0, request.baseline(level), "baseline"), request.first_operations(level))
        return row.operations or row.events or 0, (row.wall_ns or 0) / 1e9

    def calibrate(self) -> PlanFile:
        """Find by trial runs how many operations each run needs. Raises: ProbeEffectError when a baseline fails."""
        levels = self.work.levels
        total = len(levels) + len(self.work.measured)
        untraced: dict[str | None, int] = {}
        for done, level in enumerate(levels):
            first = request.first_operations(level)
            untraced[level], row = self._try(request.baseline(level), done, total, first)
            if row.status != "ok":
                raise ProbeEffectError(row.note)
        trials = {
            subject: self._try(subject, done, total, request.first_operations(subject.level, untraced[subject.level]))
            for done, subject in enumerate(self.work.measured, start=len(levels))
        }
        twins = frozenset(self.work.twins())
        return PlanFile(
            schema_version=1,
            digest=self.work.digest(),
            baseline_operations=untraced.get(None),
            level_operations={level: number for level, number in untraced.items() if level is not None},
            subjects=(
                *(
                    PlannedSubject(**subject._asdict(), operations=number, is_counted_apart=subject in twins)
                    if trial.status == "ok"  # a case whose trial did not end well is not tried again
                    else _left_out(subject, trial.status, trial.note)
                    for subject, (number, trial) in trials.items()
                ),
                *(_left_out(subject, "skipped", as_note(reason)) for subject, reason in self.work.skipped.items()),
            ),
            programs=self.work.programs(),
            tree=str(self.work.tree.folder) if self.work.tree and self.work.tree.is_named else None,
            continued_by=self.settings.continued_by,
            is_quick=self._is_quick(),
        )

    def run(self, document: PlanFile, samples: Path) -> Progress:
        """The progress at the end. Every planned run without a row is made, and its row written before the next.

        A block in which the machine was suspended is dropped and made again: caches, clocks and heat were others then.

        Raises: HostNotReady when a row cannot be written; BadData when those on disk cannot be read, and
            ProbeEffectError when they are not from this plan. In each case the rows are kept.
        """
        runs = plan(document.subjects, self.settings.blocks, self.settings.seed)
        while True:
            with RunWriter(samples) as writer:  # opened before the rows are read: it cuts off a torn one
                progress = self._make_all(runs, Journal(document, written_rows(samples, runs)), writer)
                if progress.phase == "done":
                    return progress
                if progress.phase == "slept":
                    writer.drop_from(progress.planned.block)
                else:  # something has come that traces
                    try:
                        self.look_beside()
                    except HostNotReady:
                        writer.drop_from(progress.planned.block)
                        raise
            if progress.phase == "slept":
                self.tell(progress)

    def _make_all(self, runs: Sequence[PlannedRun], journal: Journal, writer: RunWriter) -> Progress:
        """The progress at the end, or when it was found that the machine had been suspended."""
        todo = [run for run in runs if not journal.has(run)]
        first = len(runs) - len(todo)
        progress = Progress(
            phase="measuring", planned=runs[-1], blocks=self.settings.blocks, done=first, total=len(runs)
        )
        start_s, before_s = time.monotonic(), slept_s()
        for done, planned in enumerate(todo, start=first):
            if self._has_company():  # since the run before this one
                return replace(progress, phase="traced")
            if journal.failures[planned.subject] >= GIVE_UP_AFTER:
                continue
            made = done - first
            left_s = (time.monotonic() - start_s) / made * (len(runs) - done) if made else None
            progress = replace(progress, planned=planned, done=done, left_s=left_s)
            self.tell(progress)
            row = self._row(planned, journal)
            if self.testbed.metric == "time" and (asleep_s := slept_s() - before_s) > LEAST_SLEEP_S:
                return replace(progress, phase="slept", slept_s=asleep_s)
            writer.write(row)
            progress = replace(progress, finished=row, cost=journal.add(row))
        if self._has_company():
            return replace(progress, phase="traced")
        return replace(progress, phase="done", done=len(runs), left_s=0.0)

    def _has_company(self) -> bool:
        return self.testbed.metric == "time" and self.beside.has_come()

    def _try(self, subject: Key, done: int, total: int, first: int) -> tuple[int, Sample]:
        """The operations of a run, and the trial's row."""
        trial = PlannedRun(0, 0, subject, "baseline" if subject.is_baseline else "traced")
        blocks = self.settings.blocks
        self.tell(Progress(phase="calibrating", planned=trial, blocks=blocks, done=done, total=total))
        fixed = request.ONE_BUILD if self.work.builds else self.work.suite.workload.operations
        if fixed is not None:
            return fixed, empty_row(trial)  # a run as long as that is not made to find out how long it is
        least = request.MIN_OPERATIONS if subject.level is None else request.FIRST_AT_A_LEVEL
        return request.operations_for(self._target_s(subject), partial(self._make, trial), first, least)

    def _row(self, planned: PlannedRun, journal: Journal) -> Sample:
        if left_out := journal.left_out(planned.subject):
            return replace(empty_row(planned), status=left_out.status, note=left_out.note)
        operations = journal.operations(planned.subject)
        if planned.arm == "check" and planned.subject.level is None:
            operations = request.check_operations(operations, self._target_s(planned.subject))
        row = self.testbed.recorded(self._make(planned, operations))
        if row.status == "ok" and row.events == 0:  # in a trial it does not matter
            note = "the tracer counted no event: the run was too short for one"
            return replace(row, events=None, operations=None, status="failed", note=note)
        return row

    def _make(self, planned: PlannedRun, operations: int) -> Sample:
        subject = planned.subject
        limits, patience_s = self.settings.limits, self.work.suite.patience_seconds or 0.0
        limits = replace(limits, start_s=max(limits.start_s, patience_s), stop_s=max(limits.stop_s, patience_s))
        if self.work.tree is not None:
            self.work.tree.renew()
            limits = replace(limits, run_s=limits.build_s)
        load = self.work.load(subject, self.program.path, operations, self.cpu)
        row = self.testbed.run(planned, load, self._watch(planned), limits)
        if not subject.is_baseline and self.work.case(subject).counted_by == "nothing":
            return replace(row, seen=None, lost=None)  # a tool's 0 where no event is expected is no loss
        if row.seen is not None and self.work.suite.workload.events == "counted":
            return replace(row, operations=row.operations or row.events, events=row.seen + (row.lost or 0))
        return row

    def _watch(self, planned: PlannedRun) -> TracerTask | None:
        subject = planned.subject
        if subject.is_baseline:
            return None
        is_check, case = planned.arm == "check", self.work.case(subject)
        counting: Counting
        if case.counted_by == "twin":
            counting = "maps" if is_check else "nothing"
        elif case.counted_by == "calls":
            counting = "calls" if is_check else "itself"
        else:
            counting = "nothing" if case.counted_by == "tool" else case.counted_by
        script = self.work.script(subject, check=is_check and case.counted_by == "twin")
        is_start = self.work.suite.result_type.of_starts
        return TracerTask(self.work.tracers[subject.tracer], script, counting, case.events_per_operation, is_start)

    def _target_s(self, subject: Key) -> float:
        lengths = self.settings.lengths
        if (seconds := self.work.suite.workload.seconds) is not None:
            return min(seconds, lengths.traced_s) if self._is_quick() else seconds
        return lengths.baseline_s if subject.is_baseline else lengths.traced_s

    def _is_quick(self) -> bool:
        return self.settings.lengths in {request.QUICK, request.COUNTED_QUICK}


def _left_out(subject: Key, status: Status, note: str | None) -> PlannedSubject:
    return PlannedSubject(**subject._asdict(), operations=None, is_counted_apart=False, status=status, note=note)
