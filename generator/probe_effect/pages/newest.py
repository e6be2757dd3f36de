"""Which measurement stands for a case, tracer and level wherever a page names one number and no machine.

That of the reference submission where it has one, else the newest of the same machine, else another machine's. What
has no cost, and what does not add up, stands for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.guidance.evidence import Measured
from probe_effect.pages.results import reference_submission

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission
    from probe_effect.model import CaseSummary, InstructionCase


def in_order(catalogue: Catalogue) -> list[MeasuredSubmission]:
    """The submissions in the order in which a number is sought."""
    reference = reference_submission(catalogue)
    if reference is None:
        return []
    newest_first = [one for submissions in catalogue.machines().values() for one in submissions]
    home = reference.summary.machine
    return sorted(newest_first, key=lambda one: (one is not reference, one.summary.machine != home))


def usable(submission: MeasuredSubmission) -> Iterator[Measured]:
    """The measurements of a submission that have a cost and whose events add up."""
    for case in submission.summary.cases:
        if case.cost is not None and case.reconciled is not False:
            yield Measured(submission, case, case.cost)


def current(submissions: Iterable[MeasuredSubmission]) -> dict[str, Measured]:
    """By name, the first measurement that `submissions` have of each case, tracer and level."""
    found: dict[str, Measured] = {}
    for submission in submissions:
        for one in usable(submission):
            found.setdefault(name(one.case), one)
    return found


def name(case: CaseSummary | InstructionCase) -> str:
    """`<tracer>.<case>`, with `@<level>` where it has one."""
    return f"{case.tracer}.{case.case}" + (f"@{case.level}" if case.level is not None else "")
