"""Which submissions and numbers pages show: what stands for a machine, and what has a page of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from probe_effect.model import CaseSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.guidance.catalogue import Catalogue, CountedSubmission, MeasuredSubmission
    from probe_effect.model import InstructionCase, SubmissionSummary

AnySubmission = TypeVar("AnySubmission", "MeasuredSubmission", "CountedSubmission")

FIRST_SUITE = "per-event"
"""The suite that the home page shows: one event, probe by probe."""


def has_number(case: CaseSummary | InstructionCase) -> bool:
    """Whether the runs of a case gave a number, which then has a page."""
    return (case.cost if isinstance(case, CaseSummary) else case.cost_instructions) is not None


def measured_cases(submission: MeasuredSubmission) -> list[CaseSummary]:
    """The cases with a cost, in the order of their ids."""
    return [case for case in submission.summary.cases if has_number(case)]


def counted_cases(submission: CountedSubmission) -> list[InstructionCase]:
    """The cases with a count, in the order of their ids."""
    return [case for case in submission.summary.cases if has_number(case)]


def skipped_cases(submission: MeasuredSubmission | CountedSubmission) -> dict[str, list[str]]:
    """How the runs of cases ended, and why, to the cases that have no number for that."""
    reasons: dict[str, list[str]] = {}
    without: Iterable[CaseSummary | InstructionCase] = (one for one in submission.summary.cases if not has_number(one))
    for case in without:
        cases = reasons.setdefault(f"{case.status}: {case.note}", [])
        if case.case not in cases:  # with several tracers
            cases.append(case.case)
    return reasons


def runs(suite: str, submissions: Iterable[AnySubmission]) -> list[AnySubmission]:
    """The submissions of a suite, newest first."""
    own = (one for one in submissions if one.summary.suite == suite)
    return sorted(own, key=lambda one: one.document.run.started, reverse=True)


def reference_submission(catalogue: Catalogue) -> MeasuredSubmission | None:
    """The submission that stands for the whole on the home page."""
    newest_first = [one for submissions in catalogue.machines().values() for one in submissions]
    measured = [one for one in newest_first if one.summary.metric == "time" and measured_cases(one)]
    return representative(measured) if measured else None


def representative(submissions: Sequence[MeasuredSubmission]) -> MeasuredSubmission:
    """Of submissions, newest first, the one to show: of the first suite, best grade, least noise, newest."""
    return min(  # of equals the first
        submissions,
        key=lambda one: (one.summary.suite != FIRST_SUITE, one.summary.grade, _noise_ratio(one.summary)),
    )


def _noise_ratio(summary: SubmissionSummary) -> float:
    if summary.noise_floor_ns is None or not summary.baseline_ns:
        return math.inf
    return summary.noise_floor_ns / summary.baseline_ns
