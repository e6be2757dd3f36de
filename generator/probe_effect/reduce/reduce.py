"""Rows to numbers with their blocks: the one place where it is done, for a submission of times or of counts."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from probe_effect.model import Key, Sample, Status
from probe_effect.reduce.blocks import BlockTable, block_tables
from probe_effect.reduce.counts import count_number, median_and_range
from probe_effect.reduce.rows import NO_RUNS, Baseline, baselines, by_case
from probe_effect.reduce.submission import Number, Submission
from probe_effect.reduce.tails import tails
from probe_effect.reduce.times import judge, time_number
from probe_effect.reduce.tracer_use import tracer_number
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.places import SubmissionFolder


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
