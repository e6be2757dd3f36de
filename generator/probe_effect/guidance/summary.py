"""From the rows of a submission to its summary: cost with interval, slowdown, thresholds, loss, grade."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.guidance.grades import OF_CASE, OF_SUBMISSION, Facts, grade, worst
from probe_effect.guidance.rows import (
    Baseline,
    CaseKey,
    baselines,
    by_case,
    events_per_operation,
    highest_rate_hz,
    traced_ns,
)
from probe_effect.guidance.slowdown import threshold
from probe_effect.model import CaseSummary, Interval, SubmissionSummary
from probe_effect.stats.fastest import fastest
from probe_effect.stats.outliers import far_out
from probe_effect.stats.paired import paired_estimate
from probe_effect.stats.signed_rank import MIN_BLOCKS, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from probe_effect.model import Sample, Status
    from probe_effect.stats.drift import Trend
    from probe_effect.store.machine_file import MachineFile

RECONCILE_TOLERANCE = 0.001
"""Events seen and lost must add up to those made within 0.1 %: more is another process, fewer is silent loss."""

NO_RUNS = Baseline({})


def summarise(identity: str, document: MachineFile, samples: Sequence[Sample]) -> SubmissionSummary:
    """Everything that the rows of one submission of times say; `guidance.instructions` has the other kind.

    Where its suite has a factor, its baseline and noise floor are those of the first level.

    Args:
        identity: `<machine>/<date>-<suite>`.
        samples: its rows in the order run; unsound ones already left out.
    """
    levels = baselines(samples)
    cases = [
        _case(key, rows, levels.get(key.level) or levels.get(None) or NO_RUNS) for key, rows in by_case(samples).items()
    ]
    letter, reasons = grade(OF_SUBMISSION, _submission_facts(document, levels, cases))
    first = next(iter(levels.values()), NO_RUNS)
    return SubmissionSummary(
        id=identity,
        machine=document.machine.id,
        suite=document.run.suite,
        metric=document.run.metric,
        grade=letter,
        grade_reasons=reasons,
        noise_floor_ns=first.floor_ns(),
        baseline_ns=first.median_ns,
        cases=tuple(_no_better(case, letter, reasons) for case in cases),
    )


def _submission_facts(
    document: MachineFile, levels: Mapping[str | None, Baseline], cases: Sequence[CaseSummary]
) -> Facts:
    first = next(iter(levels.values()), NO_RUNS)
    machine, run = document.machine, document.run
    counted = [case.reconciled for case in cases if case.reconciled is not None]
    floors = [_ratio(level.floor_ns(), level.median_ns) for level in levels.values()]
    return {
        "blocks": len(first.by_block),
        "unreconciled_ratio": counted.count(False) / len(counted) if counted else None,
        "virtual": float(machine.virtualization is not None),
        "nested": None if machine.nested is None else float(machine.nested),
        "floor_ratio": max((floor for floor in floors if floor is not None), default=None),
        "drift_ratio": _drift_ratio(first.drift()),
        "drift_within_ratio": _drift_ratio(first.drift_within()),
        "steal_ratio": run.steal_ratio,
        "load_ratio": None if run.load_before is None or not machine.threads else run.load_before / machine.threads,
    }


def _drift_ratio(found: Trend | None) -> float | None:
    """How far the speed drifted, up or down; 0 where it may not have at all."""
    return None if found is None else abs(found.ratio) if found.significant else 0.0


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _no_better(case: CaseSummary, letter: str, reasons: Sequence[str]) -> CaseSummary:
    """A measured case, graded no better than its submission."""
    if case.grade is None:
        return case
    return replace(
        case, grade=worst([case.grade, letter]), grade_reasons=tuple(dict.fromkeys([*case.grade_reasons, *reasons]))
    )


def _case(key: CaseKey, rows: Sequence[Sample], baseline: Baseline) -> CaseSummary:
    traced = traced_ns(rows)
    blocks = sorted(traced.keys() & baseline.by_block.keys())
    if not blocks:
        return _unmeasured(key, rows)
    events = events_per_operation(rows) / baseline.threads
    traced_event_ns = np.array([traced[block] for block in blocks]) / events
    baseline_event_ns = baseline.each_ns(blocks) / events
    floor_ns = baseline.floor_ns()
    timed = [row for row in rows if row.arm == "traced"]
    reconciled, loss_ratio = account(rows)
    case = CaseSummary(
        case=key.case,
        tracer=key.tracer,
        level=key.level,
        status="ok",
        blocks=len(blocks),
        baseline_ns=float(np.median(baseline.all_ns)) / events,
        noise_floor_ns=None if floor_ns is None else floor_ns / events,
        cost=paired_estimate(traced_event_ns[:, np.newaxis] - baseline_event_ns),
        fastest_ns=fastest(traced_event_ns, np.array(baseline.all_ns) / events),
        slowdown=paired_estimate(traced_event_ns[:, np.newaxis] / baseline_event_ns - 1),
        attach=_own_time([row.attach_ns for row in timed]),
        detach=_own_time([row.detach_ns for row in timed]),
        rate_hz=highest_rate_hz(timed),
        loss_ratio=loss_ratio,
        reconciled=reconciled,
        far_out_blocks=tuple(blocks[place] for place in far_out(traced_event_ns - baseline.means_ns(blocks) / events)),
    )
    return _judged(case, rows)


def _judged(case: CaseSummary, rows: Sequence[Sample]) -> CaseSummary:
    """The case with what follows from its figures: whether it is a difference, what it guides to, its grade."""
    clear = _is_distinguishable(case)
    cost = case.cost if clear and case.reconciled is not False else None
    letter, reasons = grade(OF_CASE, _case_facts(case, rows, is_clear=bool(clear)))
    return replace(
        case,
        threshold_1=cost and threshold(cost, 1),
        threshold_5=cost and threshold(cost, 5),
        threshold_30=cost and threshold(cost, 30),
        distinguishable=clear,
        grade=letter,
        grade_reasons=reasons,
        note="; ".join(_notes(case, rows)) or None,
    )


def _case_facts(case: CaseSummary, rows: Sequence[Sample], *, is_clear: bool) -> Facts:
    """What the rules look at; the width of an interval says nothing of a cost that is none."""
    cost_ns = abs(case.cost.value) if case.cost and is_clear else None
    return {
        "blocks": case.blocks,
        "unreconciled": float(case.reconciled is False),
        "uncounted": float(case.reconciled is None and is_clear),
        "loss_ratio": case.loss_ratio,
        "width_ratio": _ratio(_half_width(case.cost), cost_ns),
        "floor_to_cost_ratio": _ratio(case.noise_floor_ns, cost_ns),
        "bad_ratio": sum(row.status != "ok" for row in rows) / len(rows),
        "far_out_ratio": len(case.far_out_blocks) / case.blocks,
    }


def _half_width(found: Interval | None) -> float | None:
    return None if found is None or found.low is None or found.high is None else (found.high - found.low) / 2


def _own_time(times_ns: Iterable[int | None]) -> Interval | None:
    """The tracer's own start or stop over the runs, ns; None when no run has it."""
    known_ns = [time_ns for time_ns in times_ns if time_ns is not None]
    return estimate(np.array(known_ns, dtype=np.float64)) if known_ns else None


def _unmeasured(key: CaseKey, rows: Sequence[Sample]) -> CaseSummary:
    """A case without one usable block: skipped, failed or timed out, with the first reason given."""
    status: Status = next((row.status for row in rows if row.status != "ok"), "failed")
    note = next((row.note for row in rows if row.note), "no block has both a traced run and a baseline")
    return CaseSummary(case=key.case, tracer=key.tracer, level=key.level, status=status, blocks=0, note=note)


def account(rows: Sequence[Sample]) -> tuple[bool | None, float | None]:
    """Whether the events of every counted run of a case add up, and the share of all events that was lost.

    A run is counted where the tracer said how many events it saw; lost are those that it said it dropped. Both are
    None where no run was counted.

    Args:
        rows: traced and check runs of one case, tracer and level.
    """
    counted = [(row.events, row.seen, row.lost or 0) for row in rows if row.events and row.seen is not None]
    if not counted:
        return None, None
    whole = all(abs(seen + lost - events) <= RECONCILE_TOLERANCE * events for events, seen, lost in counted)
    return whole, sum(lost for _, _, lost in counted) / sum(events for events, _, _ in counted)


def _is_distinguishable(case: CaseSummary) -> bool | None:
    """Whether the cost is a difference at all: its interval leaves out 0 and it exceeds the noise floor."""
    cost, floor_ns = case.cost, case.noise_floor_ns
    if cost is None or cost.low is None or cost.high is None or floor_ns is None:
        return None
    return (cost.low > 0 or cost.high < 0) and abs(cost.value) > floor_ns


def _notes(case: CaseSummary, rows: Sequence[Sample]) -> Iterator[str]:
    """What a reader must know before using the number."""
    if case.blocks < MIN_BLOCKS:
        yield f"too few blocks: an interval needs {MIN_BLOCKS}"
    elif case.noise_floor_ns is None:
        yield f"no noise floor: it needs {MIN_BLOCKS} blocks with two baselines"
    if case.reconciled is False:
        yield "events do not add up: left out of guidance"
    if bad := [row for row in rows if row.status != "ok"]:
        yield f"{len(bad)} of {len(rows)} runs did not end well: {bad[0].note}"
    if case.far_out_blocks:
        numbers = ", ".join(str(block) for block in case.far_out_blocks)
        yield f"{len(case.far_out_blocks)} of {case.blocks} blocks lie far from the others, and are kept: {numbers}"
