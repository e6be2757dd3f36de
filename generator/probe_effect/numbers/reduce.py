"""Rows to numbers with their blocks: the one place for it, for times, counts and what a tracer takes itself.

Counts of an emulated machine hardly vary, so that the median of the blocks and their range say more than an interval
would (/method/instructions/). Times and instructions never share a table.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from probe_effect import units
from probe_effect.model import Estimate, Key, Sample, Status
from probe_effect.numbers import estimates, submission
from probe_effect.numbers import rows as by_rows
from probe_effect.numbers.index import grouped_by
from probe_effect.records import faults_of
from probe_effect.store.machine_file import MachineFile, canonical_architecture
from probe_effect.store.places import SubmissionFolder


class Measured(NamedTuple):
    """What the usable blocks of one case, tracer and level say."""

    result: submission.EventResult | submission.OwnUse
    blocks: int
    faults: tuple[str, ...] = ()
    outlier_blocks: tuple[int, ...] = ()
    facts: submission.GradeFacts | None = None
    """By which it is graded; counts are not."""
    notes: Sequence[str] = ()


def reduce(files: SubmissionFolder, document: MachineFile, samples: Sequence[Sample]) -> submission.Submission:
    """Everything that the rows of one submission say: those in the order run, unsound ones already left out."""
    machine, run = document.machine, document.run
    is_time = run.metric == "time"
    levels, rows = by_rows.baselines(samples, run.metric), by_rows.by_case(samples)
    disturbed = faults_of(run.warnings)
    tables = by_rows.block_tables(samples, levels, run.metric)
    measured = {key: _measured(key, of_key, tables[key], levels, document) for key, of_key in rows.items()}
    first = next(iter(levels.values()), by_rows.NO_RUNS)
    judged = (
        submission.grade(submission.OF_SUBMISSION, _submission_facts(document, first, measured.values()))
        if is_time
        else (None, ())
    )
    drafts = [_draft(key, of_key, measured[key], judged, disturbed) for key, of_key in rows.items()]
    sound: dict[str, list[str]] = {}
    for key, measurement in () if disturbed else measured.items():
        if (
            key.level is None
            and measurement
            and isinstance(measurement.result, submission.EventResult)
            and measurement.result.cost
            and not measurement.faults
        ):
            sound.setdefault(key.case, []).append(key.tracer)
    if is_time:
        untraced = Estimate(float(np.median(first.all))) if first.all else None
    else:
        untraced = median_and_range(float(np.mean(values)) for values in first.by_block.values())
    return submission.Submission(
        files=files,
        machine=machine.id,
        suite=run.suite,
        metric=run.metric,
        started=run.started,
        rows=len(samples),
        architecture=canonical_architecture(machine.architecture),
        microarchitecture=machine.microarchitecture,
        grade=judged[0],
        grade_reasons=judged[1],
        noise_floor_ns=estimates.noise_floor(np.subtract(*first.pairs())) if is_time else None,
        equal_runs_ns=estimates.equal_runs(np.subtract(*first.pairs())) if is_time else None,
        baseline=untraced,
        sound=sound,
        tails=by_rows.tails(samples) if is_time else {},
        make_cases=lambda own: grouped_by(
            (submission.Number(submission=own, **draft) for draft in drafts), lambda number: number.case
        ),
        read_document=lambda _: document,
        read_blocks=lambda: tables,
    )


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _half_width(estimate: Estimate | None) -> float | None:
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return (estimate.high - estimate.low) / 2


def _measured(
    key: Key,
    rows: Sequence[Sample],
    table: by_rows.BlockTable,
    levels: Mapping[str | None, by_rows.Baseline],
    document: MachineFile,
) -> Measured | None:
    """The result of one case, tracer and level; None without one usable block."""
    if table.own():
        return _own_use(rows, table)
    if not table.usable():
        return None
    if document.run.metric == "time":
        return _time_result(rows, table, levels.get(key.level) or levels.get(None) or by_rows.NO_RUNS)
    return _count_result(rows, table, document.run.mechanisms.get(f"{key.case} {key.tracer}"))


def _time_result(rows: Sequence[Sample], table: by_rows.BlockTable, baseline: by_rows.Baseline) -> Measured:
    """From traced and check rows, of whose blocks one at least is usable, and every untraced run of their level."""
    usable = table.usable()
    traced_event_ns = np.array([block.traced for block in usable], dtype=np.float64) / table.events
    baseline_event_ns = estimates.ragged(block.untraced for block in usable) / table.events
    floor_ns = estimates.noise_floor(np.subtract(*baseline.pairs()))
    timed = [row for row in rows if row.arm == "traced"]
    reconciled, loss_ratio = by_rows.reconcile_events(rows)
    middle_ns = np.array([np.mean(baseline.by_block[block.number]) for block in usable]) / table.events
    result = submission.TimeResult(
        baseline=Estimate(float(np.median(baseline.all)) / table.events),
        noise_floor_ns=None if floor_ns is None else floor_ns / table.events,
        cost=estimates.paired_estimate(traced_event_ns[:, np.newaxis] - baseline_event_ns),
        fastest_ns=estimates.fastest(traced_event_ns, np.array(baseline.all) / table.events),
        slowdown=estimates.paired_estimate(traced_event_ns[:, np.newaxis] / baseline_event_ns - 1),
        attach=by_rows.over_runs(row.attach_ns for row in timed),
        detach=by_rows.over_runs(row.detach_ns for row in timed),
        cpu=by_rows.over_runs(row.tracer_cpu_ns for row in timed),
        memory=by_rows.over_runs(row.tracer_rss_bytes for row in timed),
        probes=by_rows.middle(row.probes for row in timed),
        rate_hz=by_rows.highest_rate_hz(timed),
        event_bytes=by_rows.event_bytes(timed),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
    )
    far = tuple(usable[index].number for index in estimates.outliers(traced_event_ns - middle_ns))
    notes = (
        f"no noise floor: it needs {estimates.MIN_BLOCKS} blocks with two baselines"
        if len(usable) >= estimates.MIN_BLOCKS and floor_ns is None
        else None,
        "events do not add up: excluded from guidance" if reconciled is False else None,
    )
    faults = (by_rows.ADD_UP,) if reconciled is False else ()
    # The width of an interval says nothing of a cost that is none.
    cost_ns = abs(result.cost.value) if result.cost and result.distinguishable else None
    facts = {
        "unreconciled": float(reconciled is False),
        "uncounted": float(reconciled is None and bool(result.distinguishable)),
        "loss_ratio": loss_ratio,
        "width_ratio": _ratio(_half_width(result.cost), cost_ns),
        "floor_to_cost_ratio": _ratio(result.noise_floor_ns, cost_ns),
    }
    return Measured(result, len(usable), faults, far, facts, tuple(filter(None, notes)))


def _count_result(rows: Sequence[Sample], table: by_rows.BlockTable, mechanism: str | None) -> Measured:
    """From traced and check rows, of whose blocks one at least is usable. `mechanism`: how the kernel made kprobes."""
    counts = [(block.traced, float(np.mean(block.untraced))) for block in table.usable() if block.traced is not None]
    reconciled, loss_ratio = by_rows.reconcile_events(rows)
    traced = [row for row in rows if row.arm == "traced"]
    faults = () if reconciled is not False else (by_rows.ADD_UP,)
    if loss_ratio is not None and loss_ratio > submission.MAX_LOSS_RATIO:
        lost = f"it lost {units.percent(loss_ratio)} of its events, and a lost event takes fewer instructions"
        faults = (lost, *faults)
    result = submission.InstructionsResult(
        baseline=median_and_range(untraced / table.events for _, untraced in counts),
        cost=median_and_range((traced - untraced) / table.events for traced, untraced in counts),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        mechanism=mechanism,
        attach=median_and_range(row.attach_instructions for row in traced),
        detach=median_and_range(row.detach_instructions for row in traced),
        probes=by_rows.middle(row.probes for row in traced),
    )
    return Measured(result, len(counts), faults)


def median_and_range(counts: Iterable[float | None]) -> Estimate | None:
    """The median of repeated counts with the least and the greatest of them; None of nothing."""
    values = [count for count in counts if count is not None]
    return Estimate(float(np.median(values)), min(values), max(values)) if values else None


def _own_use(rows: Sequence[Sample], table: by_rows.BlockTable) -> Measured:
    """What the tracer itself takes for an operation, from rows of whose blocks one at least says that."""
    own = table.own()
    own_ns = np.array(list(own.values()), dtype=np.float64)
    blocks, cpu = list(own), estimates.estimate(own_ns)
    counted = [(row.seen, row.operations) for row in rows if row.status == "ok" and row.seen and row.operations]
    calls = sum(seen for seen, _ in counted) / sum(operations for _, operations in counted) if counted else None
    memory = by_rows.over_runs(row.tracer_rss_bytes or None for row in rows if by_rows.tracer_cpu_ns(row) is not None)
    return Measured(
        submission.OwnUse(cpu=cpu, memory=memory, calls=calls),
        len(own),
        outlier_blocks=tuple(blocks[index] for index in estimates.outliers(own_ns)),
        # There is no baseline, so there is no noise floor and no loss.
        facts={"uncounted": float(calls is None), "width_ratio": _ratio(_half_width(cpu), cpu.value)},
        notes=("its system calls were not counted",) if calls is None else (),
    )


def _draft(
    key: Key,
    rows: Sequence[Sample],
    measured: Measured | None,
    judged: tuple[str | None, tuple[str, ...]],
    disturbed: Sequence[str],
) -> dict[str, Any]:
    """The values of a number; none is graded better than its submission, whose grade and reasons are `judged`.

    `disturbed`: why no number of the submission may lead.
    """
    if measured is None:  # skipped, failed or timed out, with the first reason given
        status: Status = next((row.status for row in rows if row.status != "ok"), "failed")
        note = next((row.note for row in rows if row.note), "no block has both a traced run and a baseline")
        return {"key": key, "status": status, "blocks": 0, "note": note}
    result, blocks, faults, far, facts, notes = measured
    values = {
        "key": key,
        "result": result,
        "blocks": blocks,
        "faults": (*faults, *disturbed),
        "outlier_blocks": far,
    }
    if facts is None:
        return values | {"note": by_rows.bad_runs(rows)}
    bad_ratio = sum(row.status != "ok" for row in rows) / len(rows)
    letter, reasons = submission.grade(submission.OF_CASE, {"blocks": blocks, "bad_ratio": bad_ratio} | facts)
    remarks = [
        f"too few blocks: an interval needs {estimates.MIN_BLOCKS}" if blocks < estimates.MIN_BLOCKS else None,
        *notes,
        *(f"{why}: excluded from guidance" for why in disturbed),
        by_rows.bad_runs(rows),
        f"{len(far)} of {blocks} blocks lie far from the others, and are kept: {', '.join(map(str, far))}"
        if far
        else None,
    ]
    return values | {
        "grade": submission.worst([letter, judged[0] or letter]),
        "grade_reasons": tuple(dict.fromkeys([*reasons, *judged[1]])),
        "note": "; ".join(filter(None, remarks)) or None,
    }


def _submission_facts(
    document: MachineFile, first: by_rows.Baseline, measured: Iterable[Measured | None]
) -> submission.GradeFacts:
    machine, run, drift = document.machine, document.run, first.drift_within()
    events = [
        measurement.result
        for measurement in measured
        if measurement and isinstance(measurement.result, submission.EventResult)
    ]
    counted = [event.reconciled for event in events if event.reconciled is not None]
    return {
        "blocks": len(first.by_block),
        "unreconciled_ratio": counted.count(False) / len(counted) if counted else None,
        # How far the speed drifted, up or down; 0 where it may not have at all.
        "drift_within_ratio": None if drift is None else abs(drift.value) if estimates.excludes_0(drift) else 0.0,
        "steal_ratio": run.steal_ratio,
        "disturbed": float(bool(faults_of(run.warnings))),
        "load_ratio": None if run.load_before is None or not machine.threads else run.load_before / machine.threads,
    }
