"""Two measurements of one case against each other: what the second costs more than the first, if it does at all.

Swapping the two turns `dearer` into `cheaper`, negates the difference and inverts the ratio; nothing else changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from probe_effect.guidance.rows import CaseKey, by_case, events_per_operation, traced_ns
from probe_effect.stats import mover
from probe_effect.stats.ranking import ranks
from probe_effect.stats.signed_rank import CONFIDENCE, estimate
from probe_effect.store.samples import read_samples

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from probe_effect.guidance.catalogue import MeasuredSubmission
    from probe_effect.model import CaseSummary, Interval, Sample

Outcome = Literal["dearer", "cheaper", "no difference", "not comparable"]
OUTCOMES: tuple[Outcome, ...] = ("dearer", "cheaper", "no difference", "not comparable")

TOO_FEW_COMMON = "too few blocks that both have for an interval"
"""What keeps two from being compared that share a submission, and that nothing else keeps."""

BY_CHANCE_RATIO = 1 - CONFIDENCE
"""The share of comparisons of equal costs that come out different."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one submission says about one case with a tracer."""

    submission: MeasuredSubmission
    case: CaseSummary

    @property
    def key(self) -> CaseKey:
        """Which case, tracer and level it is."""
        return CaseKey(self.case.case, self.case.tracer, self.case.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second measurement against the first.

    `difference`: cost of the second less that of the first, ns per event; `ratio`: the second over the first, None
    where the first may be 0. `is_paired`: whether both were measured in the same blocks. `reason`: what keeps them
    from being compared, None where nothing does.
    """

    first: Measurement
    second: Measurement
    outcome: Outcome
    difference: Interval
    ratio: Interval | None
    is_paired: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A measurement and the places, from 1 for the cheapest, that it may hold among others: `first` to `last`."""

    measurement: Measurement
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Side:
    """What stands on one side: a submission, or several of a machine, newest first."""

    name: str
    submissions: tuple[MeasuredSubmission, ...]

    def measurements(self) -> dict[CaseKey, Measurement]:
        """The newest measurement of each case, tracer and level that has a cost."""
        newest: dict[CaseKey, Measurement] = {}
        for submission in self.submissions:
            for case in submission.summary.cases:
                newest.setdefault(CaseKey(case.case, case.tracer, case.level), Measurement(submission, case))
        return {key: found for key, found in newest.items() if found.case.cost is not None}


def compare(first: Measurement, second: Measurement) -> Comparison | None:
    """The second against the first; None where one has no cost.

    The interval of the difference is that of its blocks where both lie in the same ones (`stats.signed_rank`), and
    otherwise that of two independent estimates (`stats.mover`). The ratio always takes them for independent, which is
    wider than need be where they share their baselines.
    """
    a, b = first.case.cost, second.case.cost
    if a is None or b is None:
        return None
    paired = block_difference(first, second)
    difference = paired or mover.difference(b, a)
    reason = _obstacle(first, second, difference)
    return Comparison(
        first=first,
        second=second,
        outcome="not comparable" if reason else _outcome(difference, _floor_ns(first, second)),
        difference=difference,
        ratio=mover.ratio(b, a),
        is_paired=paired is not None,
        reason=reason,
    )


def block_difference(first: Measurement, second: Measurement) -> Interval | None:
    """The second's cost less the first's over the blocks of their one submission, ns per event; else None.

    A block's baselines cancel, so their noise does not widen the interval. Events must be as many for both.
    """
    if first.submission is not second.submission:
        return None
    samples = first.submission.files.samples
    rows = _rows(samples, samples.stat().st_mtime_ns)
    one, other = rows.get(first.key, []), rows.get(second.key, [])
    events = events_per_operation(one)
    if events != events_per_operation(other):
        return None
    one_ns, other_ns = traced_ns(one), traced_ns(other)
    blocks = sorted(one_ns.keys() & other_ns.keys())
    return estimate(np.array([(other_ns[block] - one_ns[block]) / events for block in blocks])) if blocks else None


def between(first: Side, second: Side) -> list[Comparison]:
    """Every case, tracer and level that both have a cost of, by case id; a measurement is never set against itself."""
    ours, others = first.measurements(), second.measurements()
    pairs = ((ours[key], others[key]) for key in sorted(ours.keys() & others.keys(), key=lambda key: key.order))
    return [found for one, other in pairs if one != other and (found := compare(one, other))]


def between_tracers(side: Side, first: str, second: str) -> list[Comparison]:
    """Every case and level that `side` has with both tracers; from one submission where one has both."""
    pairs: dict[tuple[str, str | None], tuple[Measurement, Measurement]] = {}
    for known in [*(Side(side.name, (one,)).measurements() for one in side.submissions), side.measurements()]:
        for key, one in known.items():
            other = known.get(key._replace(tracer=second))
            if key.tracer == first and other is not None:
                pairs.setdefault((key.case, key.level), (one, other))
    return [
        found
        for one, other in sorted(pairs.values(), key=lambda pair: pair[0].key.order)
        if (found := compare(one, other))
    ]


def without_counterpart(side: Side, compared: Collection[Measurement]) -> list[Measurement]:
    """What `side` has a cost of, and the other side has not."""
    taken = {one.key for one in compared}
    return [one for key, one in sorted(side.measurements().items(), key=lambda item: item[0].order) if key not in taken]


def since(submission: MeasuredSubmission, others: Iterable[MeasuredSubmission]) -> list[Comparison]:
    """Each cost of `submission` against the newest earlier one of the same machine and suite, by case id."""
    earlier = [one for one in others if _is_earlier(one, submission)]
    earlier.sort(key=lambda one: one.document.run.started, reverse=True)
    before = [Side(one.summary.id, (one,)).measurements() for one in earlier]
    pairs = (
        (next((found[key] for found in before if key in found), None), one)
        for key, one in Side(submission.summary.id, (submission,)).measurements().items()
    )
    return [found for old, new in pairs if old is not None and (found := compare(old, new))]


def ranked(measurements: Iterable[Measurement]) -> list[Ranked]:
    """The measurements that can be ranked, cheapest first.

    Left out are costs that are no difference from 0, and those whose events do not add up. The caller gives only what
    may be ranked together: one tier, one metric, one case.
    """
    clear = [one for one in measurements if one.case.distinguishable and one.case.reconciled is not False]
    places = ranks([one.case.cost for one in clear])
    found = [Ranked(one, rank.first, rank.last) for one, rank in zip(clear, places, strict=True)]
    return sorted(found, key=lambda one: one.measurement.case.cost.value if one.measurement.case.cost else 0.0)


def counted(comparisons: Sequence[Comparison]) -> dict[Outcome, int]:
    """How often each outcome came out."""
    return {outcome: sum(one.outcome == outcome for one in comparisons) for outcome in OUTCOMES}


def expected_by_chance(comparisons: Sequence[Comparison]) -> float:
    """How many would come out different on average if nothing differed and all were independent.

    At most: below the noise floor none does, however narrow its interval.
    """
    return BY_CHANCE_RATIO * sum(one.outcome != "not comparable" for one in comparisons)


def faults(one: Measurement) -> list[str]:
    """What keeps a measurement from being compared, each after the name of its submission and tracer."""
    return [f"{one.submission.summary.id}, {one.case.tracer}: {fault}" for fault in _faults(one)]


@lru_cache(maxsize=64)
def _rows(samples: Path, _changed_ns: int) -> Mapping[CaseKey, Sequence[Sample]]:
    """The rows of a submission by case, read once however many pairs of it are compared."""
    return by_case(read_samples(samples, "")[0])


def _is_earlier(one: MeasuredSubmission, than: MeasuredSubmission) -> bool:
    same = one.summary.machine == than.summary.machine and one.summary.suite == than.summary.suite
    return same and one.document.run.started < than.document.run.started


def _outcome(difference: Interval, floor_ns: float) -> Outcome:
    holds_zero = not ((difference.low or 0) > 0 or (difference.high or 0) < 0)
    if holds_zero or abs(difference.value) <= floor_ns:
        return "no difference"
    return "dearer" if difference.value > 0 else "cheaper"


def _floor_ns(first: Measurement, second: Measurement) -> float:
    """The larger noise floor of the two."""
    floors_ns = (one.case.noise_floor_ns for one in (first, second))
    return max(floor_ns for floor_ns in floors_ns if floor_ns is not None)


def _obstacle(first: Measurement, second: Measurement, difference: Interval) -> str | None:
    """What keeps the two from being compared, in the same words whichever comes first."""
    if first.submission.summary.metric != second.submission.summary.metric:
        return "one counts instructions, the other takes the time"
    found = {fault for one in (first, second) for fault in faults(one)}
    if not found and difference.low is None:
        return TOO_FEW_COMMON
    return "; ".join(sorted(found)) or None


def _faults(one: Measurement) -> Iterator[str]:
    if one.case.reconciled is False:
        yield "its events do not add up"
    if one.case.cost is None or one.case.cost.low is None or one.case.cost.high is None:
        yield "too few blocks for an interval"
    elif one.case.noise_floor_ns is None:
        yield "no noise floor"
