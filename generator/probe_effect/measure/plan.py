"""Every run of a suite, from what can be measured of it and a seed; and which of them the rows on disk have."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from probe_effect.errors import BadData, ProbeEffectError
from probe_effect.measure.one_run import PlannedRun
from probe_effect.model import FAILURES, Estimate, Key, Sample
from probe_effect.stats.robust import paired_estimate, ragged
from probe_effect.stats.run_order import blocks_in_order
from probe_effect.store.plan_file import PlanFile, PlannedSubject
from probe_effect.store.samples import read_samples


def plan(subjects: Sequence[PlannedSubject], blocks: int, seed: int) -> tuple[PlannedRun, ...]:
    """Every run of a suite, in order (`stats/run_order.py`). The same arguments give the same plan."""
    measured = [_subject(one) for one in subjects if one.operations is not None]
    left_out = [_subject(one) for one in subjects if one.operations is None]
    counted = [_subject(one) for one in subjects if one.is_counted_apart]
    return tuple(
        PlannedRun(block, place, subject, arm)
        for block, order in enumerate(blocks_in_order(measured, left_out, counted, blocks, seed))
        for place, (subject, arm) in enumerate(order)
    )


def _subject(planned: PlannedSubject) -> Key:
    return Key(planned.case, planned.tracer, planned.level)


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
        subject = Key(row.case, row.tracer, row.level)
        self.traced[subject][row.block] = amount / operations
        return self._cost(subject, row.events / operations / self.threads.get(row.level, 1.0))

    def _cost(self, subject: Key, events_per_operation: float) -> Estimate | None:
        differences = [
            [(traced - baseline) / events_per_operation for baseline in baselines]
            for block, traced in self.traced[subject].items()
            if (baselines := self.baselines.get((block, subject.level)))
        ]
        return paired_estimate(ragged(differences)) if differences else None


class Journal:
    """The rows of a run so far, and its plan."""

    def __init__(self, document: PlanFile, rows: Iterable[Sample]) -> None:
        self._document = document
        self._subjects = {Key(one.case, one.tracer, one.level): one for one in document.subjects}
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
        document = self._document
        baselines = {None: document.baseline_operations} | document.level_operations
        number = baselines[subject.level] if subject.is_baseline else self._subjects[subject].operations
        assert number is not None
        return number

    def left_out(self, subject: Key) -> PlannedSubject | None:
        """The plan's reason why a case is not run; None for a case that is run, and for the baseline."""
        found = self._subjects.get(subject)
        return found if found is not None and found.operations is None else None


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
