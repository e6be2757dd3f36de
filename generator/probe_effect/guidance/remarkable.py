"""What somebody should look at before a new submission is published: named in words, and never left out.

A cost is out of range where its whole interval lies beyond `RANGE_FACTOR` times the highest, or below the lowest by as
much, of what like machines have for the same case, tool and level. With few machines a range is all that can be said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.guidance.catalogue import MeasuredSubmission
from probe_effect.guidance.likeness import likeness
from probe_effect.guidance.names import tool_of
from probe_effect.guidance.nearest import facts, of_kind
from probe_effect.guidance.rows import CaseKey
from probe_effect.model import CaseSummary, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from probe_effect.guidance.nearest import AnySubmission
    from probe_effect.model import InstructionCase

RANGE_FACTOR = 2.0
"""Our choice: CPUs of one instruction set differ by as much, and a wrong unit or a wrong probe by far more."""

NEGATIVE = "less than no tracing, beyond the noise floor: nothing that a tracer does explains that"


@dataclass(frozen=True, slots=True)
class Remark:
    """All that is to be looked at in one case; what is of the whole submission is in the reasons of its grade."""

    key: CaseKey
    words: str


def remarks(new: AnySubmission, known: Iterable[AnySubmission]) -> list[Remark]:
    """All that is remarkable about a submission, among those already published."""
    like = _like_machines(new, known)
    return [
        Remark(CaseKey(case.case, case.tracer, case.level), words)
        for case in new.summary.cases
        if (words := "; ".join([*_out_of_range(case, like), *_of_case(new, case)]))
    ]


def _of_submission(new: AnySubmission) -> tuple[str, ...]:
    return new.summary.grade_reasons if isinstance(new, MeasuredSubmission) else ()


def _of_case(new: AnySubmission, case: CaseSummary | InstructionCase) -> Iterator[str]:
    """What its own rows say; the reasons of the whole submission are told once, with its grade."""
    if isinstance(case, CaseSummary):
        yield from (reason for reason in case.grade_reasons if reason not in _of_submission(new))
        if case.distinguishable and case.cost is not None and case.cost.value < 0:
            yield NEGATIVE
    else:
        yield from case.faults
    if case.note and case.blocks:
        yield case.note


def _like_machines(new: AnySubmission, known: Iterable[AnySubmission]) -> list[Sequence[AnySubmission]]:
    """The submissions of each machine whose numbers may be compared with these, newest first."""
    machines = of_kind(new, known).values()
    return [some for some in machines if likeness(facts(new), facts(some[0])).comparable]


def _out_of_range(case: CaseSummary | InstructionCase, machines: Iterable[Sequence[AnySubmission]]) -> Iterator[str]:
    own = extent(case)
    others = [found for one in machines if (found := _newest(case, one)) is not None]
    if own is None or own.low is None or own.high is None or not others:
        return
    lowest, highest = min(one.value for one in others), max(one.value for one in others)
    if own.low <= RANGE_FACTOR * highest and own.high >= lowest / RANGE_FACTOR:
        return
    where = "above the highest" if own.low > RANGE_FACTOR * highest else "below the lowest"
    scale = units.DURATION if isinstance(case, CaseSummary) else units.INSTRUCTIONS
    known = units.quantity(highest if where.startswith("above") else lowest, scale)
    among = f"{units.count(len(others))} like machine{'s' if len(others) > 1 else ''}"
    factor = units.trimmed(RANGE_FACTOR)
    yield f"{units.interval(own, scale)} is by more than {factor} times {where} of {among}, {known}"


def extent(case: CaseSummary | InstructionCase) -> Interval | None:
    """The cost with its interval, or the count with its range; None where it is none to compare with."""
    if isinstance(case, CaseSummary):
        return case.cost if case.distinguishable and case.reconciled is not False else None
    found = case.cost_instructions
    return None if found is None or case.faults else Interval(found.median, found.least, found.greatest)


def _newest(case: CaseSummary | InstructionCase, submissions: Sequence[AnySubmission]) -> Interval | None:
    """What a machine has for the same case, tool and level."""
    wanted = case.case, tool_of(case.tracer), case.level
    cases = (one for submission in submissions for one in submission.summary.cases)
    same = (one for one in cases if (one.case, tool_of(one.tracer), one.level) == wanted)
    return next((found for one in same if (found := extent(one)) is not None), None)
