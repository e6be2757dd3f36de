"""Does the number hold? What tracing does to real programs, beside what rate x cost predicts.

The rate of a program's events is known from the run itself: those that the tracer saw, over the untraced time of a
round. The cost of an event is from another suite, measured in a tight loop on the same machine with the same tracer.
Where the probe is on system calls, it is that of an event which comes with as many of them as in the program.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from probe_effect.costs.added import RatePoint, entry_path, point
from probe_effect.costs.depth import in_program
from probe_effect.costs.evidence import Evidence
from probe_effect.costs.row import SAMPLED
from probe_effect.model import Estimate
from probe_effect.numbers.index import once
from probe_effect.reduce.submission import Number
from probe_effect.stats.estimates import overlap, range_of_ratios
from probe_effect.store.suite_file import Case, Suite

VISIBLE_RATIO = 0.01
"""A slowdown from which on it is asked whether the prediction is near: below, noise is as large as the thing itself."""

NEAR_RATIO = 0.25
"""How far a measured slowdown may lie from the predicted one, as a share of the prediction, and be called near."""

LEAST_RATE_HZ = 10.0
"""A program at work makes more events than that; a tracer that saw fewer did not see the program."""

FEWEST_PAIRS = 10
"""Of fewer, how far programs differ among each other says too little."""

SPREAD_SHARE = 0.8
"""The share of programs that a spread is to contain."""


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """One program under one probe: what was measured, and both slowdowns.

    `point` has what the model predicts, `plain` what rate x cost alone would have.
    """

    measured: Number
    point: RatePoint
    plain: RatePoint

    @property
    def ratio(self) -> float | None:
        """Measured over predicted slowdown; None where nothing is predicted."""
        return self.point.measured.value / self.point.predicted.value if self.point.predicted.value > 0 else None

    @property
    def is_visible(self) -> bool:
        """Whether the measured slowdown is no noise, and large enough to ask how near the prediction is."""
        return self.measured.is_clear and self.point.measured.value > VISIBLE_RATIO

    @property
    def clear_ratio(self) -> Estimate | None:
        """Measured over predicted slowdown, with the interval of the measured one; None of what is not visible."""
        measured, predicted = self.point.measured, self.point.predicted.value
        is_clear = self.is_visible and predicted > 0 and measured.high is not None and (measured.low or 0) > 0
        return measured.times(1 / predicted) if is_clear else None

    @property
    def is_near(self) -> bool:
        """Whether the measured slowdown is near the predicted one."""
        return self.ratio is not None and abs(self.ratio - 1) <= NEAR_RATIO


@dataclass(frozen=True, slots=True)
class Agreed:
    """What some pairs come to: how many, how many are visible, and of these the share that is near.

    `meet_ratio` is the share of all pairs whose intervals overlap, `middle_ratio` the median of measured over predicted
    slowdown of the visible ones; None of nothing.
    """

    pairs: int
    visible: int
    near_ratio: float | None
    middle_ratio: float | None
    meet_ratio: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """Measured over predicted slowdown: the mean of programs, and ends between which those of four in five are.

    What the errors of the measurements explain is not in it. `pairs` is how many it is from, on how many `machines`.
    """

    pairs: int
    ratio: Estimate
    machines: int

    @property
    def factor(self) -> Estimate:
        """What to multiply a cost with, so that slowdowns predicted with it hold those of four in five programs."""
        value, low, high = self.ratio
        return Estimate(1.0, min(1.0, value if low is None else low), max(1.0, value if high is None else high))

    def contains(self, pair: ProgramPair) -> bool:
        """Whether the interval of a pair's measured slowdown has a part of the predicted one times the factor."""
        return pair.clear_ratio is not None and bool(overlap(pair.clear_ratio, self.factor))


@once
def pairs(found: Evidence) -> Sequence[ProgramPair]:
    """Every program, probe and tracer that was measured on a machine which has the cost that predicts it."""
    return [
        pair
        for suite, case in found.cases
        if case.like is not None and suite.has_programs
        for one in in_programs(found, case)
        if (cost := found.costs.get((one.submission.machine, one.tracer, case.like))) is not None
        and (pair := pair_of(one, _predicted(found, suite, case, one, cost), cost.known_cost)) is not None
    ]


def in_programs(found: Evidence, case: Case) -> Iterator[Number]:
    """A case of a suite of programs in each of them, machine by machine and tracer by tracer."""
    for by_tracer in found.levels_of(case.id).values():
        for levels in by_tracer.values():
            yield from levels.values()


@once
def of_events(found: Evidence) -> Sequence[ProgramPair]:
    """The pairs without those of samples: a process that is sampled pays at each context switch too."""
    return [one for one in pairs(found) if found.case_of[one.measured.case].probe != SAMPLED]


@once
def of_samples(found: Evidence) -> Sequence[ProgramPair]:
    """The others."""
    return [one for one in pairs(found) if found.case_of[one.measured.case].probe == SAMPLED]


@once
def program_spread(found: Evidence) -> Spread | None:
    """How far real programs lie from what is predicted of events; None of fewer than ten visible pairs."""
    return spread(of_events(found))


def pair_of(measured: Number, predicted: Estimate, plain: Estimate) -> ProgramPair | None:
    """The pair, by two costs of an event; None where a slowdown has no interval, or the tracer missed the program."""
    by_model, by_cost = point(measured, predicted), point(measured, plain)
    if by_model is None or by_cost is None or by_cost.rate_hz < LEAST_RATE_HZ:
        return None
    return ProgramPair(measured, by_model, by_cost)


def _predicted(found: Evidence, suite: Suite, case: Case, measured: Number, cost: Number) -> Estimate:
    """What an event should cost in a program: a sample by its depth; of probes on system calls, all calls pay."""
    if case.probe == SAMPLED:
        return in_program(found, measured, cost)
    path = entry_path(found, (measured.submission.machine, measured.tracer, cost.case))
    calls = calls_per_event(found, suite, measured) if case.silent else 0.0
    return cost.known_cost if path is None or calls is None else path.moved(cost.known_cost, calls)


def calls_per_event(found: Evidence, suite: Suite, measured: Number) -> float | None:
    """System calls that a program makes for each of its events; None where nobody counted them."""
    calls = suite.workload.system_calls
    by_tracer = found.levels_of(calls).get(measured.submission.machine, {}) if isinstance(calls, str) else {}
    one = next((levels[level] for levels in by_tracer.values() if (level := measured.level or "") in levels), None)
    if one is None or one.baseline is None or measured.baseline is None or not one.baseline.value:
        return None
    return measured.baseline.value / one.baseline.value  # both are the untraced time of a round, over its events


def verdict(some: Sequence[ProgramPair]) -> Agreed:
    """What the pairs come to."""
    visible = [one for one in some if one.is_visible]
    ratios = [one.ratio for one in visible if one.ratio is not None]
    return Agreed(
        pairs=len(some),
        visible=len(visible),
        near_ratio=_share(one.is_near for one in visible),
        middle_ratio=median(ratios) if ratios else None,
        meet_ratio=_share(one.point.holds for one in some),
    )


def spread(some: Sequence[ProgramPair], fewest: int = FEWEST_PAIRS, alike: Sequence[ProgramPair] = ()) -> Spread | None:
    """How far real programs are from what is predicted of them; None of fewer than ten clear pairs, or `fewest`.

    `alike`: pairs of other kinds, whose programs are taken to differ as much among each other.
    """
    ratios, others = ([ratio for one in each if (ratio := one.clear_ratio) is not None] for each in (some, alike))
    machines = {one.measured.submission.machine for one in some if one.clear_ratio is not None}
    known = len(ratios) >= fewest
    return Spread(len(ratios), range_of_ratios(ratios, SPREAD_SHARE, others), len(machines)) if known else None


def _share(answers: Iterable[bool]) -> float | None:
    known = list(answers)
    return sum(known) / len(known) if known else None
