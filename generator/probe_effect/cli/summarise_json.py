"""The JSON of `probe-effect summarise`: one form for times and counts, null where there is no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probe_effect.cli import output
from probe_effect.model import CaseSummary, InstructionSummary

if TYPE_CHECKING:
    from probe_effect.model import InstructionCase, SubmissionSummary


def as_json(summary: SubmissionSummary | InstructionSummary) -> dict[str, Any]:
    """What one submission says; what is counted and not timed has null for each time, and keys of its own."""
    return _counts_json(summary) if isinstance(summary, InstructionSummary) else _times_json(summary)


def _times_json(summary: SubmissionSummary) -> dict[str, Any]:
    return {
        "id": summary.id,
        "machine": summary.machine,
        "suite": summary.suite,
        "metric": summary.metric,
        "grade": summary.grade,
        "grade_reasons": list(summary.grade_reasons),
        "noise_floor_ns": summary.noise_floor_ns,
        "baseline_ns": summary.baseline_ns,
        "cases": [_timed_json(case) for case in summary.cases],
    }


def _timed_json(case: CaseSummary) -> dict[str, Any]:
    return {
        "case": case.case,
        "tracer": case.tracer,
        "level": case.level,
        "status": case.status,
        "blocks": case.blocks,
        "baseline_ns": case.baseline_ns,
        **output.interval_json(case.cost, "cost", "ns"),
        "fastest_ns": case.fastest_ns,
        "noise_floor_ns": case.noise_floor_ns,
        **output.interval_json(case.slowdown, "slowdown", "ratio"),
        **output.interval_json(case.threshold_1, "threshold_1", "hz"),
        **output.interval_json(case.threshold_5, "threshold_5", "hz"),
        **output.interval_json(case.threshold_30, "threshold_30", "hz"),
        **output.interval_json(case.attach, "attach", "ns"),
        **output.interval_json(case.detach, "detach", "ns"),
        "loss_ratio": case.loss_ratio,
        "reconciled": case.reconciled,
        "distinguishable": case.distinguishable,
        "grade": case.grade,
        "grade_reasons": list(case.grade_reasons),
        "rate_hz": case.rate_hz,
        "far_out_blocks": list(case.far_out_blocks),
        "note": case.note,
    }


def _counts_json(summary: InstructionSummary) -> dict[str, Any]:
    return {
        "id": summary.id,
        "machine": summary.machine,
        "suite": summary.suite,
        "metric": "instructions",
        "grade": None,
        "grade_reasons": [],
        "noise_floor_ns": None,
        "baseline_ns": None,
        **output.spread_json(summary.baseline_instructions, "baseline", "instructions"),
        "cases": [_counted_json(case) for case in summary.cases],
    }


def _counted_json(case: InstructionCase) -> dict[str, Any]:
    untimed = CaseSummary(
        case=case.case,
        tracer=case.tracer,
        level=case.level,
        status=case.status,
        blocks=case.blocks,
        loss_ratio=case.loss_ratio,
        reconciled=case.reconciled,
        note=case.note,
    )
    return {
        **_timed_json(untimed),
        **output.spread_json(case.baseline_instructions, "baseline", "instructions"),
        **output.spread_json(case.cost_instructions, "cost", "instructions"),
        "mechanism": case.mechanism,
        "faults": list(case.faults),
    }
