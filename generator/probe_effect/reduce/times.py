"""From the blocks of a submission of times to its numbers: cost with interval, slowdown, loss, grade."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from probe_effect.model import Estimate, Key, Sample
from probe_effect.reduce.blocks import BlockTable
from probe_effect.reduce.grades import OF_CASE, OF_SUBMISSION, GradeFacts, grade, half_width, ratio, worst
from probe_effect.reduce.rows import (
    ADD_UP,
    NO_RUNS,
    Baseline,
    bad_runs,
    event_bytes,
    highest_rate_hz,
    middle,
    over_runs,
    reconcile_events,
)
from probe_effect.reduce.submission import Number, Submission
from probe_effect.stats.estimates import excludes_0
from probe_effect.stats.robust import MIN_BLOCKS, fastest, outliers, paired_estimate, ragged
from probe_effect.store.machine_file import MachineFile, is_hosted


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
