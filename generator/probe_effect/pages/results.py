"""Which numbers pages show: what has a page of its own, and why others have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probe_effect.reduce.submission import Number, Submission


def has_number(one: Number) -> bool:
    """Whether the runs of a case gave a number, which then has a page."""
    return one.cost is not None


def with_numbers(submission: Submission) -> list[Number]:
    """The cases with a number, in the order of their ids."""
    return [one for one in submission.numbers if has_number(one)]


def skipped_cases(submission: Submission) -> dict[str, list[str]]:
    """How the runs of cases ended, and why, to the cases that have no number for that."""
    reasons: dict[str, dict[str, None]] = {}
    for one in submission.numbers:
        if not has_number(one):
            reasons.setdefault(f"{one.status}: {one.note}", {})[one.case] = None
    return {reason: list(cases) for reason, cases in reasons.items()}
