"""Rows to numbers with their blocks: the one place for it, for times, counts and what a tracer takes itself.

Counts of an emulated machine hardly vary, so that the median of the blocks and their range say more than an interval
would (METHOD.md, "Instructions"). Times and instructions never share a table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate, Key, Sample, Status
from probe_effect.reduce.rows import (
    ADD_UP,
    NO_RUNS,
    Baseline,
    BlockTable,
    bad_runs,
    baselines,
    block_tables,
    by_case,
    event_bytes,
    highest_rate_hz,
    known,
    middle,
    over_runs,
    reconcile_events,
    tails,
    tracer_cpu_ns,
)
from probe_effect.reduce.submission import (
    MAX_LOSS_RATIO,
    OF_CASE,
    OF_SUBMISSION,
    GradeFacts,
    Number,
    Submission,
    grade,
    half_width,
    ratio,
    worst,
)
from probe_effect.stats.estimates import MIN_BLOCKS, estimate, excludes_0, fastest, outliers, paired_estimate, ragged
from probe_effect.store.machine_file import MachineFile, is_hosted
from probe_effect.store.places import SubmissionFolder


def judge(
    submission: Submission, document: MachineFile, levels: Mapping[str | None, Baseline], numbers: Sequence[Number]
) -> None:
    """Give a submission of times its noise floor, its grade and its numbers, none of them graded better than it."""
    first = next(iter(levels.values()), NO_RUNS)
    submission.noise_floor_ns = first.floor()
    submission.baseline = None if first.median is None else Estimate(first.median)
    letter, reasons = grade(OF_SUBMISSION, _submission_facts(document, levels, numbers))
    submission.grade, submission.grade_reasons = letter, reasons
    submission.numbers = tuple(
        one
        if one.grade is None
        else replace(
            one,
            grade=worst([one.grade, letter]),
            grade_reasons=tuple(dict.fromkeys([*one.grade_reasons, *reasons])),
        )
        for one in numbers
    )


def time_number(
    submission: Submission, key: Key, rows: Sequence[Sample], table: BlockTable, baseline: Baseline
) -> Number:
    """The cost of one case, tracer and level, and what is known of it.

    It is made of its traced and check rows, of the table of its blocks, of which one at least is usable, and of every
    untraced run of its level.
    """
    usable = table.usable()
    traced_event_ns = np.array([block.traced for block in usable], dtype=np.float64) / table.events
    baseline_event_ns = ragged(block.untraced for block in usable) / table.events
    floor_ns = baseline.floor()
    timed = [row for row in rows if row.arm == "traced"]
    reconciled, loss_ratio = reconcile_events(rows)
    middle_ns = baseline.means(block.number for block in usable) / table.events
    number = Number(
        submission=submission,
        **key._asdict(),
        blocks=len(usable),
        baseline=Estimate(float(np.median(baseline.all)) / table.events),
        noise_floor_ns=None if floor_ns is None else floor_ns / table.events,
        cost=paired_estimate(traced_event_ns[:, np.newaxis] - baseline_event_ns),
        fastest_ns=fastest(traced_event_ns, np.array(baseline.all) / table.events),
        slowdown=paired_estimate(traced_event_ns[:, np.newaxis] / baseline_event_ns - 1),
        attach=over_runs(row.attach_ns for row in timed),
        detach=over_runs(row.detach_ns for row in timed),
        cpu=over_runs(row.tracer_cpu_ns for row in timed),
        memory=over_runs(row.tracer_rss_bytes for row in timed),
        probes=middle(row.probes for row in timed),
        rate_hz=highest_rate_hz(timed),
        event_bytes=event_bytes(timed),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        faults=(ADD_UP,) if reconciled is False else (),
        outlier_blocks=tuple(usable[place].number for place in outliers(traced_event_ns - middle_ns)),
    )
    return graded(number, rows, _case_facts(number), _notes(number))


def _submission_facts(
    document: MachineFile, levels: Mapping[str | None, Baseline], numbers: Sequence[Number]
) -> GradeFacts:
    first = next(iter(levels.values()), NO_RUNS)
    machine, run = document.machine, document.run
    counted = [number.reconciled for number in numbers if number.reconciled is not None]
    floors = [ratio(level.floor(), level.median) for level in levels.values()]
    return {
        "blocks": len(first.by_block),
        "unreconciled_ratio": counted.count(False) / len(counted) if counted else None,
        "virtual": float(machine.virtualization is not None),
        "hosted": float(is_hosted(machine.id)),
        "nested": None if machine.nested is None else float(machine.nested),
        "floor_ratio": max((floor for floor in floors if floor is not None), default=None),
        "drift_ratio": _drift_ratio(first.drift()),
        "drift_within_ratio": _drift_ratio(first.drift_within()),
        "steal_ratio": run.steal_ratio,
        "load_ratio": None if run.load_before is None or not machine.threads else run.load_before / machine.threads,
    }


def _drift_ratio(found: Estimate | None) -> float | None:
    """How far the speed drifted, up or down; 0 where it may not have at all."""
    return None if found is None else abs(found.value) if excludes_0(found) else 0.0


def _case_facts(number: Number) -> GradeFacts:
    """What the rules look at; the width of an interval says nothing of a cost that is none."""
    cost_ns = abs(number.cost.value) if number.cost and number.distinguishable else None
    return {
        "unreconciled": float(number.reconciled is False),
        "uncounted": float(number.reconciled is None and bool(number.distinguishable)),
        "loss_ratio": number.loss_ratio,
        "width_ratio": ratio(half_width(number.cost), cost_ns),
        "floor_to_cost_ratio": ratio(number.noise_floor_ns, cost_ns),
    }


def _notes(number: Number) -> Iterator[str]:
    if number.blocks >= MIN_BLOCKS and number.noise_floor_ns is None:
        yield f"no noise floor: it needs {MIN_BLOCKS} blocks with two baselines"
    if number.reconciled is False:
        yield "events do not add up: excluded from guidance"


def graded(number: Number, rows: Sequence[Sample], facts: GradeFacts, notes: Iterable[str]) -> Number:
    """A number with its grade, by these facts and those of its runs, and what a reader must know before using it."""
    far = number.outlier_blocks
    of_runs = {
        "blocks": number.blocks,
        "bad_ratio": sum(row.status != "ok" for row in rows) / len(rows),
        "far_out_ratio": len(far) / number.blocks,
    }
    letter, reasons = grade(OF_CASE, of_runs | facts)
    said = [
        f"too few blocks: an interval needs {MIN_BLOCKS}" if number.blocks < MIN_BLOCKS else None,
        *notes,
        bad_runs(rows),
        f"{len(far)} of {number.blocks} blocks lie far from the others, and are kept: {', '.join(map(str, far))}"
        if far
        else None,
    ]
    return replace(number, grade=letter, grade_reasons=reasons, note="; ".join(filter(None, said)) or None)


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
