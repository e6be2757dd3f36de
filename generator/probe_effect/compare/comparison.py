"""Two numbers of one case against each other: whether the second has higher overhead, and by how much.

Times differ by intervals and the noise floor, counts of instructions by ranges and the repeatability limit. A time and
a count are never compared, nor are counts of two architectures. Swapping the two turns `higher` into `lower`, negates
the difference and inverts the ratio; nothing else changes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np

from probe_effect.model import Estimate, Key
from probe_effect.numbers import estimates, index
from probe_effect.numbers.estimates import CONFIDENCE, Rank, estimate, ranks
from probe_effect.numbers.index import current, newest_first
from probe_effect.numbers.rows import BlockTable
from probe_effect.numbers.submission import Number, Submission
from probe_effect.store.machine_file import is_hosted

Outcome = Literal["higher", "lower", "no difference", "not comparable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

# The reason why two numbers of one submission do not compare, where there is no other; and why two counts never do.
TOO_FEW_COMMON = "too few blocks that both have for an interval"
ANOTHER_ARCHITECTURE = "counted on another architecture, whose instructions are not the same work"

BY_CHANCE_RATIO = 1 - CONFIDENCE  # the share of comparisons of equal costs that come out different

REPEATABILITY_LIMIT_RATIO = 0.01  # a smaller change of a count is none; no finer than what somebody would act on

UNTRACED_LIMIT_RATIO = 0.001
"""A smaller change of a count, as a share of the untraced operation, is none.

Counts of one and the same operation spread by about 0.05 % of it, which each of the two sides may be off by. That is
much of a small cost: 1.5 % of one that adds 100 instructions to 1 500.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second number against the first.

    `difference`: cost of the second less that of the first, ns or instructions per event; `ratio`: the second over the
    first, None where the first may be 0. Both have ends for times alone. `is_paired`: whether both were measured in the
    same blocks. `reason`: what keeps them from being compared, None where nothing does.
    """

    first: Number
    second: Number
    outcome: Outcome
    difference: Estimate
    ratio: Estimate | None
    is_paired: bool = False
    reason: str | None = None

    @property
    def is_clear(self) -> bool:
        return self.outcome in {"higher", "lower"}

    @property
    def change_ratio(self) -> float | None:
        """The ratio less 1, so that 0.02 reads "2 % more"; None where there is none, or the two do not compare."""
        return None if self.ratio is None or self.reason else self.ratio.value - 1


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a submission, or several of a machine."""

    name: str
    submissions: tuple[Submission, ...]

    @cached_property
    def current(self) -> dict[Key, Number]:
        """The side's current number of each case, tracer and level, whatever its status (`numbers.index`)."""
        return current(newest_first(self.submissions))

    @cached_property
    def numbers(self) -> dict[Key, Number]:
        """The current numbers that have a cost."""
        return {key: number for key, number in self.current.items() if number.cost is not None}


def compare(
    first: Number, second: Number, limit_ratio: float = REPEATABILITY_LIMIT_RATIO, spread: float | None = None
) -> Comparison:
    """The second against the first; two counts must differ by more than `limit_ratio` of the smaller.

    `spread`: the standard deviation between runs, as a share of a cost, which two runs must differ by more than; None
    where the costs have it in their intervals, or nobody knows it.

    Raises: ValueError for a time and a count, or where one has no cost.
    """
    if first.is_time != second.is_time:
        raise ValueError(f"{first.id} and {second.id}: a time and a count are never compared")
    reasons, paired = {*faults(first), *faults(second)}, None
    if first.is_time:
        paired = _block_difference(first, second)
        difference, ratio, is_clear = _between_times(first, second, paired, spread)
        if not reasons and difference.low is None:
            reasons.add(TOO_FEW_COMMON)
    else:
        difference, ratio, is_clear = _between_counts(first, second, limit_ratio)
        if first.submission.architecture != second.submission.architecture:
            reasons.add(ANOTHER_ARCHITECTURE)
    outcome: Outcome = "higher" if difference.value > 0 else "lower"
    if reasons:
        outcome = "not comparable"
    elif not is_clear:
        outcome = "no difference"
    return Comparison(
        first=first,
        second=second,
        outcome=outcome,
        difference=difference,
        ratio=ratio,
        is_paired=paired is not None,
        reason="; ".join(sorted(reasons)) or None,  # in the same words whichever comes first
    )


def _between_times(
    first: Number, second: Number, paired: Estimate | None, spread: float | None
) -> tuple[Estimate, Estimate | None, bool]:
    """The difference, the ratio, and whether the difference is clear.

    The interval of the difference is that of its blocks where both are from the same blocks. Otherwise it is that of
    two independent estimates, of two runs with the spread between runs in each. The ratio always takes them for
    independent, which is wider than need be where they share their baselines.
    """
    if first.submission is second.submission:
        spread = None
    cost, other = (
        index.over_runs(each.known_cost, None if is_hosted(each.submission.machine) else spread)
        for each in (first, second)
    )
    difference = paired or estimates.difference(other, cost)
    floor_ns = max(number.time.noise_floor_ns or 0.0 for number in (first, second))
    is_clear = estimates.excludes_0(difference) and abs(difference.value) > floor_ns
    return difference, estimates.ratio(other, cost), is_clear


def _between_counts(first: Number, second: Number, limit_ratio: float) -> tuple[Estimate, Estimate | None, bool]:
    """The difference, the ratio, and whether the difference is clear.

    Counts differ where their ranges have no count in common, and their medians differ by more than both limits:
    `limit_ratio` of the smaller cost and `UNTRACED_LIMIT_RATIO` of the larger untraced operation. The last decides for
    small costs: one of 100 instructions on top of 1 500 has to change by 1.5, not by 1. The ranges alone would say too
    much, because those of one block have no width, and those of one boot do not hold what the next does.
    """
    before, after = first.known_cost, second.known_cost
    are_apart = estimates.is_below(before, after) or estimates.is_below(after, before)
    untraced = max(number.baseline.value for number in (first, second) if number.baseline is not None)
    least = max(limit_ratio * min(abs(before.value), abs(after.value)), UNTRACED_LIMIT_RATIO * untraced)
    difference = after.value - before.value
    ratio = Estimate(after.value / before.value) if min(before.value, after.value) > 0 else None
    return Estimate(difference), ratio, are_apart and abs(difference) > least


def between(
    first: Side, second: Side, limit_ratio: float = REPEATABILITY_LIMIT_RATIO, spread: float | None = None
) -> list[Comparison]:
    """Every case, tracer and level that both have a cost of, by case; a number is never set against itself."""
    ours, others = first.numbers, second.numbers
    pairs = ((number, others[key]) for key, number in ours.items() if key in others)
    return [compare(number, other, limit_ratio, spread) for number, other in pairs if number is not other]


def between_tracers(
    side: Side, first: str, second: str, limit_ratio: float = REPEATABILITY_LIMIT_RATIO
) -> list[Comparison]:
    """Every case and level that `side` has with both tracers; from one submission where one has both."""
    pairs: dict[tuple[str, str | None], tuple[Number, Number]] = {}
    each = [Side(side.name, (submission,)).numbers for submission in newest_first(side.submissions)]
    for numbers in (*each, side.numbers):
        for key, number in numbers.items():
            other = numbers.get(key._replace(tracer=second))
            if key.tracer == first and other is not None:
                pairs.setdefault((key.case, key.level), (number, other))
    ordered = sorted(pairs.values(), key=lambda pair: pair[0].key.order)
    return [compare(number, other, limit_ratio) for number, other in ordered]


def since(submission: Submission, runs: Iterable[Submission], spread: float | None = None) -> list[Comparison]:
    """Each cost of `submission` against the newest earlier one of its suite, by case; `runs` are of its machine."""
    before = (
        other_run
        for other_run in runs
        if other_run.suite == submission.suite and other_run.started < submission.started
    )
    earlier: dict[Key, Number] = {}
    for run in newest_first(before):
        earlier = Side(run.id, (run,)).numbers | earlier
    own = Side(submission.id, (submission,)).numbers
    return [compare(earlier[key], number, spread=spread) for key, number in own.items() if key in earlier]


def ranked(numbers: Iterable[Number]) -> list[tuple[Number, Rank]]:
    """The times that can be ranked, each with the places that it may have, the least first.

    Left out are costs that are no difference from 0, and those that do not lead. The caller gives only what may be
    ranked together: one tier, one metric, one case.
    """
    clear = [number for number in numbers if number.distinguishable and number.leads]
    pairs = zip(clear, ranks([number.cost for number in clear]), strict=True)
    return sorted(pairs, key=lambda pair: pair[0].known_cost.value)


def outcomes(comparisons: Iterable[Comparison]) -> dict[Outcome, int]:
    """The number of comparisons of each outcome."""
    counts = Counter(comparison.outcome for comparison in comparisons)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def expected_by_chance(comparisons: Iterable[Comparison]) -> float:
    """How many times would come out different on average if nothing differed and all were independent, at most."""
    return BY_CHANCE_RATIO * sum(comparison.outcome != "not comparable" for comparison in comparisons)


def largest(comparisons: Iterable[Comparison], most: int) -> list[Comparison]:
    """Up to `most` clear changes, the largest first: growth and shrinkage by the same factor are as large."""
    factors = [
        (comparison.ratio.value, comparison)
        for comparison in comparisons
        if comparison.is_clear and comparison.ratio and comparison.ratio.value > 0
    ]
    ordered = sorted(factors, key=lambda pair: max(pair[0], 1 / pair[0]), reverse=True)
    return [comparison for _, comparison in ordered[:most]]


def grown(comparisons: Iterable[Comparison], limit_ratio: float) -> list[Comparison]:
    """The clear changes to more by more than `limit_ratio` of the first; all from a cost not above 0."""
    more = (comparison for comparison in comparisons if comparison.outcome == "higher")
    return [
        comparison
        for comparison in more
        if comparison.difference.value > limit_ratio * comparison.first.known_cost.value
    ]


def faults(number: Number) -> list[str]:
    """The reasons why a number does not compare, each after its submission and tracer."""
    reasons = list(number.faults)
    if number.is_time:
        if number.cost is None or number.cost.low is None or number.cost.high is None:
            reasons.append("too few blocks for an interval")
        elif number.time.noise_floor_ns is None:
            reasons.append("no noise floor")
        if number.has_losses:
            reasons.append(f"events were lost with {number.tracer}, and a lost event costs less")
    return [f"{number.submission.id}, {number.tracer}: {reason}" for reason in reasons]


def _block_difference(first: Number, second: Number) -> Estimate | None:
    """The second's cost less the first's over the blocks of their one submission, ns per event; else None.

    A block's baselines cancel, so their noise does not widen the interval. Events must be as many for both.
    """
    if first.submission is not second.submission:
        return None
    tables = _blocks_of(first.submission)
    table, other = tables[first.key], tables[second.key]
    if table.events != other.events:
        return None
    one_ns, other_ns = table.traced(), other.traced()
    blocks = sorted(one_ns.keys() & other_ns.keys())
    return estimate(np.array([other_ns[block] - one_ns[block] for block in blocks])) if blocks else None


@lru_cache(maxsize=64)  # however many pairs of a submission are compared
def _blocks_of(submission: Submission) -> Mapping[Key, BlockTable]:
    return submission.blocks
