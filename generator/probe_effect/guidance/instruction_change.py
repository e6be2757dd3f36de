"""Two counts of one case against each other: whether the second takes more instructions per event, or fewer.

Swapping the two turns `more` into `fewer` and inverts the ratio; nothing else changes. Times are compared elsewhere
(`guidance.comparison`), in types of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from probe_effect.guidance.rows import CaseKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.guidance.catalogue import CountedSubmission
    from probe_effect.model import InstructionCase, Spread

ChangeOutcome = Literal["more", "fewer", "no change", "not comparable"]
CHANGE_OUTCOMES: tuple[ChangeOutcome, ...] = ("more", "fewer", "no change", "not comparable")

REPEATABILITY_LIMIT_RATIO = 0.01
"""A smaller change of a cost is none. Our choice: no finer than what somebody would act on."""

UNTRACED_LIMIT_RATIO = 0.001
"""A smaller change, as a share of the untraced operation, is none.

Counts of one and the same operation spread by about 0.05 % of it, which each of the two sides may be off by. That is
much of a small cost: 1.5 % of one that adds 100 instructions to 1 500.
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one submission says about one case with a tracer."""

    submission: CountedSubmission
    case: InstructionCase

    @property
    def key(self) -> CaseKey:
        """Which case, tracer and level it is."""
        return CaseKey(self.case.case, self.case.tracer, self.case.level)


@dataclass(frozen=True, slots=True)
class Change:
    """The second count against the first.

    `ratio`: the second's median over the first's, less 1, so that 0.02 reads "2 % more"; None where one of them is not
    above 0, or where the two are not comparable. `is_clear`: whether the change is more than counts of one and the
    same thing differ by. `reason`: what keeps the two from being compared, None where nothing does.
    """

    first: Counted
    second: Counted
    ratio: float | None
    is_clear: bool
    reason: str | None = None

    @property
    def outcome(self) -> ChangeOutcome:
        """What the change comes to, of the second against the first."""
        if self.reason is not None:
            return "not comparable"
        if not self.is_clear:
            return "no change"
        return "more" if difference_instructions(self) > 0 else "fewer"


@dataclass(frozen=True, slots=True)
class CountedSide:
    """What stands on one side: a submission, or several of a machine, newest first."""

    name: str
    submissions: tuple[CountedSubmission, ...]

    def newest(self) -> dict[CaseKey, Counted]:
        """What the newest submission that has it says of each case, tracer and level, whatever its status."""
        found: dict[CaseKey, Counted] = {}
        for submission in self.submissions:
            for case in submission.summary.cases:
                one = Counted(submission, case)
                found.setdefault(one.key, one)
        return dict(sorted(found.items(), key=lambda item: item[0].order))

    def counts(self) -> dict[CaseKey, Counted]:
        """The newest count of each case, tracer and level that has a cost, in the order of cases."""
        return {key: one for key, one in self.newest().items() if one.case.cost_instructions is not None}


def change(first: Counted, second: Counted, limit_ratio: float = REPEATABILITY_LIMIT_RATIO) -> Change:
    """The second against the first; both must have a cost.

    A change is clear where the ranges of the two have no count in common, and the medians differ by more than
    `limit_ratio` of the smaller cost and by more than `UNTRACED_LIMIT_RATIO` of the larger untraced operation. The last
    decides for small costs: one of 100 instructions on top of 1 500 has to change by 1.5, not by 1. The ranges alone
    would say too much, because those of one block have no width, and those of one boot do not hold what the next does.
    """
    reason = "; ".join(sorted({*faults(first), *faults(second)})) or None
    if reason is not None:
        return Change(first, second, None, is_clear=False, reason=reason)
    before, after = cost(first), cost(second)
    known = min(before.median, after.median) > 0
    return Change(
        first,
        second,
        after.median / before.median - 1 if known else None,
        is_clear=_are_apart(before, after)
        and abs(after.median - before.median) > _least_instructions(first, second, limit_ratio),
    )


def difference_instructions(found: Change) -> float:
    """The second's median less the first's, instructions per event."""
    return cost(found.second).median - cost(found.first).median


def cost(one: Counted) -> Spread:
    """Instructions that an event adds. Raises: ValueError for a case that was not counted."""
    if one.case.cost_instructions is None:
        msg = f"{one.submission.summary.id}: {one.case.case} {one.case.tracer} has no cost"
        raise ValueError(msg)
    return one.case.cost_instructions


def changes(first: CountedSide, second: CountedSide, limit_ratio: float = REPEATABILITY_LIMIT_RATIO) -> list[Change]:
    """Every case, tracer and level that both have a cost of, by case id; a count is never set against itself."""
    ours, others = first.counts(), second.counts()
    pairs = ((one, others[key]) for key, one in ours.items() if key in others)
    return [change(one, other, limit_ratio) for one, other in pairs if one != other]


def changes_of_tracers(
    side: CountedSide, first: str, second: str, limit_ratio: float = REPEATABILITY_LIMIT_RATIO
) -> list[Change]:
    """Every case and level that `side` has with both tracers; from one submission where one has both."""
    pairs: dict[tuple[str, str | None], tuple[Counted, Counted]] = {}
    for known in [*(CountedSide(side.name, (one,)).counts() for one in side.submissions), side.counts()]:
        for key, one in known.items():
            other = known.get(key._replace(tracer=second))
            if key.tracer == first and other is not None:
                pairs.setdefault((key.case, key.level), (one, other))
    ordered = sorted(pairs.values(), key=lambda pair: pair[0].key.order)
    return [change(one, other, limit_ratio) for one, other in ordered]


def outcomes(found: Sequence[Change]) -> dict[ChangeOutcome, int]:
    """How often each outcome came out."""
    return {outcome: sum(one.outcome == outcome for one in found) for outcome in CHANGE_OUTCOMES}


def largest(found: Iterable[Change], most: int) -> list[Change]:
    """Up to `most` clear changes, the largest first: growth and shrinkage by the same factor are as large."""
    clear = [one for one in found if one.is_clear and one.ratio is not None]
    return sorted(clear, key=_factor, reverse=True)[:most]


def grown(found: Iterable[Change], limit_ratio: float) -> list[Change]:
    """The clear changes to more by more than `limit_ratio` of the first; all from a cost not above 0."""
    more = (one for one in found if one.outcome == "more")
    return [one for one in more if difference_instructions(one) > limit_ratio * cost(one.first).median]


def _factor(found: Change) -> float:
    """By what factor the larger of the two exceeds the smaller."""
    factor = 1 + (found.ratio or 0.0)
    return max(factor, 1 / factor)


def _are_apart(first: Spread, second: Spread) -> bool:
    return first.greatest < second.least or second.greatest < first.least


def _least_instructions(first: Counted, second: Counted, limit_ratio: float) -> float:
    """How much the medians have to differ by, the same whichever of the two comes first."""
    of_cost = limit_ratio * min(abs(cost(one).median) for one in (first, second))
    untraced = (one.case.baseline_instructions for one in (first, second))
    return max(of_cost, UNTRACED_LIMIT_RATIO * max(found.median for found in untraced if found is not None))


def faults(one: Counted) -> list[str]:
    """What keeps a count from being compared, each after the name of its submission and tracer."""
    return [f"{one.submission.summary.id}, {one.case.tracer}: {fault}" for fault in one.case.faults]
