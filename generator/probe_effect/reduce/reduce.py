"""Rows to numbers with their blocks: the one place for it, for times, counts and what a tracer takes itself.

Counts of an emulated machine hardly vary, so that the median of the blocks and their range say more than an interval
would (METHOD.md, "Instructions"). Times and instructions never share a table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate, Key, Sample, Status
from probe_effect.reduce.blocks import BlockTable, block_tables
from probe_effect.reduce.grades import GradeFacts, half_width, ratio
from probe_effect.reduce.rows import (
    ADD_UP,
    NO_RUNS,
    Baseline,
    bad_runs,
    baselines,
    by_case,
    known,
    middle,
    over_runs,
    reconcile_events,
    tails,
    tracer_cpu_ns,
)
from probe_effect.reduce.submission import MAX_LOSS_RATIO, Number, Submission
from probe_effect.reduce.times import graded, judge, time_number
from probe_effect.stats.robust import estimate, outliers
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import SubmissionFolder


def count_number(
    submission: Submission, key: Key, rows: Sequence[Sample], table: BlockTable, mechanism: str | None
) -> Number:
    """Instructions of one case, tracer and level, and what is known of them.

    It is made of its traced and check rows, and of the table of its blocks, of which one at least is usable.
    `mechanism` is how the kernel made its kprobes.
    """
    counts = [(block.traced, float(np.mean(block.untraced))) for block in table.usable() if block.traced is not None]
    reconciled, loss_ratio = reconcile_events(rows)
    traced = [row for row in rows if row.arm == "traced"]
    return Number(
        submission=submission,
        **key._asdict(),
        blocks=len(counts),
        baseline=median_and_range(untraced / table.events for _, untraced in counts),
        cost=median_and_range((traced - untraced) / table.events for traced, untraced in counts),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        mechanism=mechanism,
        attach=median_and_range(known(row.attach_instructions for row in traced)),
        detach=median_and_range(known(row.detach_instructions for row in traced)),
        probes=middle(row.probes for row in traced),
        faults=tuple(_faults(loss_ratio, reconciled=reconciled)),
        note=bad_runs(rows),
    )


def median_and_range(counts: Iterable[float]) -> Estimate | None:
    """The middle of repeated counts with the least and the greatest of them; None of nothing."""
    known = list(counts)
    return Estimate(float(np.median(known)), min(known), max(known)) if known else None


def _faults(loss_ratio: float | None, *, reconciled: bool | None) -> Iterator[str]:
    if loss_ratio is not None and loss_ratio > MAX_LOSS_RATIO:
        yield f"it lost {units.percent(loss_ratio)} of its events, and a lost event takes fewer instructions"
    if reconciled is False:
        yield ADD_UP


def tracer_number(submission: Submission, key: Key, rows: Sequence[Sample], table: BlockTable) -> Number:
    """What the tracer itself takes for an operation, of one case, tracer and level.

    It is made of its traced and check rows, and of the table of its blocks, of which one at least says what the tracer
    took.
    """
    own = table.own()
    own_ns = np.array(list(own.values()), dtype=np.float64)
    blocks = list(own)
    cpu, calls = estimate(own_ns), _calls(rows)
    number = Number(
        submission=submission,
        **key._asdict(),
        blocks=len(own),
        tracer_cpu=cpu,
        memory=over_runs(row.tracer_rss_bytes or None for row in rows if tracer_cpu_ns(row) is not None),
        tracer_calls=calls,
        outlier_blocks=tuple(blocks[place] for place in outliers(own_ns)),
    )
    # There is no baseline, so there is no noise floor and no loss.
    facts: GradeFacts = {"uncounted": float(calls is None), "width_ratio": ratio(half_width(cpu), cpu.value)}
    return graded(number, rows, facts, ["its system calls were not counted"] if calls is None else [])


def _calls(rows: Sequence[Sample]) -> float | None:
    """System calls for an operation, in the runs that counted them; None without any."""
    counted = [(row.seen, row.operations) for row in rows if row.status == "ok" and row.seen and row.operations]
    return sum(seen for seen, _ in counted) / sum(operations for _, operations in counted) if counted else None


def reduce(files: SubmissionFolder, document: MachineFile, samples: Sequence[Sample]) -> Submission:
    """Everything that the rows of one submission say: those in the order run, unsound ones already left out."""
    run = document.run
    submission = Submission(
        files=files,
        machine=document.machine.id,
        suite=run.suite,
        metric=run.metric,
        started=run.started,
        rows=len(samples),
    )
    levels = baselines(samples, run.metric)
    tables = block_tables(samples, levels, run.metric)
    submission.document = document
    submission.read_blocks = lambda: tables
    numbers = list(_numbers(submission, samples, levels, tables))
    if run.metric == "time":
        submission.tails = tails(samples)
        judge(submission, document, levels, numbers)
    else:
        first = next(iter(levels.values()), NO_RUNS)
        submission.baseline = median_and_range(float(np.mean(values)) for values in first.by_block.values())
        submission.numbers = tuple(numbers)
    return submission


def _numbers(
    submission: Submission,
    samples: Sequence[Sample],
    levels: Mapping[str | None, Baseline],
    tables: Mapping[Key, BlockTable],
) -> Iterator[Number]:
    mechanisms = submission.document.run.mechanisms
    for key, rows in by_case(samples).items():
        table = tables[key]
        if table.own():
            yield tracer_number(submission, key, rows, table)
        elif not table.usable():
            yield _without_number(submission, key, rows)
        elif submission.metric == "time":
            baseline = levels.get(key.level) or levels.get(None) or NO_RUNS
            yield time_number(submission, key, rows, table, baseline)
        else:
            yield count_number(submission, key, rows, table, mechanisms.get(f"{key.case} {key.tracer}"))


def _without_number(submission: Submission, key: Key, rows: Sequence[Sample]) -> Number:
    """A case without one usable block: skipped, failed or timed out, with the first reason given."""
    status: Status = next((row.status for row in rows if row.status != "ok"), "failed")
    note = next((row.note for row in rows if row.note), "no block has both a traced run and a baseline")
    return Number(submission=submission, **key._asdict(), status=status, blocks=0, note=note)
