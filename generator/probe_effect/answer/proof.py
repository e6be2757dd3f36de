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
from probe_effect.reduce.submission import Number
from probe_effect.stats.estimates import INTERVAL_WIDTHS
from probe_effect.stats.random_effects import MeasuredRatio
from probe_effect.store.suite_file import Case, Suite

VISIBLE_RATIO = 0.01
"""A slowdown from which on it is asked whether the prediction is near: below, noise is as large as the thing itself."""

NEAR_RATIO = 0.25
"""How far a measured slowdown may lie from the predicted one, as a share of the prediction, and be called near."""

LEAST_RATE_HZ = 10.0
"""A program at work makes more events than that; a tracer that saw fewer did not see the program."""


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
    def is_near(self) -> bool:
        """Whether the measured slowdown is near the predicted one."""
        return self.ratio is not None and abs(self.ratio - 1) <= NEAR_RATIO

    @property
    def measured_ratio(self) -> MeasuredRatio | None:
        """Measured over predicted slowdown with its standard error, clear or not; None where nothing is predicted.

        The error has that of the prediction in it, and no slowdown of a program is known to less than 1 %.
        """
        if self.ratio is None:
            return None
        predicted = self.point.predicted.value
        own, of_cost = _width(self.point.measured), _width(self.point.predicted)
        return MeasuredRatio(self.ratio, max(VISIBLE_RATIO, (own**2 + of_cost**2) ** 0.5 / INTERVAL_WIDTHS) / predicted)

    @property
    def is_telling(self) -> bool:
        """Whether the measured slowdown is known to within the predicted one on either side, whatever it is."""
        return max(VISIBLE_RATIO, _width(self.point.measured) / 2) <= self.point.predicted.value


@dataclass(frozen=True, slots=True)
class Agreed:
    """What some pairs come to: how many, how many are visible, and of these the share that is near.

    `middle_ratio` is the median of measured over predicted slowdown of the visible ones, and `meet_ratio` the share of
    them whose intervals overlap; None of nothing.
    """

    pairs: int
    visible: int
    near_ratio: float | None
    middle_ratio: float | None
    meet_ratio: float | None


def in_programs(found: Evidence, case: Case) -> Iterator[Number]:
    """A case of a suite of programs in each of them, machine by machine and tracer by tracer."""
    for by_tracer in found.levels_of(case.id).values():
        for levels in by_tracer.values():
            yield from levels.values()


def pair_of(measured: Number, predicted: Estimate, plain: Estimate) -> ProgramPair | None:
    """The pair, by two costs of an event; None where a slowdown has no interval, or the tracer missed the program."""
    by_model, by_cost = point(measured, predicted), point(measured, plain)
    if by_model is None or by_cost is None or by_cost.rate_hz < LEAST_RATE_HZ:
        return None
    return ProgramPair(measured, by_model, by_cost)


def of_like(found: Evidence, suite: Suite, case: Case, measured: Number) -> tuple[Estimate, Estimate] | None:
    """What an event should cost in a program by the case that it is like, ns, and in the loop; None without the cost.

    A sample is taken by its depth; of probes on system calls, all calls pay.
    """
    cost = found.costs.get((measured.submission.machine, measured.tracer, case.like or ""))
    if cost is None or cost.has_losses:
        return None
    if case.probe == SAMPLED:
        return in_program(found, measured, cost), cost.known_cost
    path = entry_path(found, (measured.submission.machine, measured.tracer, cost.case))
    calls = calls_per_event(found, suite, measured) if case.silent else 0.0
    moved = cost.known_cost if path is None or calls is None else path.moved(cost.known_cost, calls)
    return moved, cost.known_cost


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
        near_ratio=share(one.is_near for one in visible),
        middle_ratio=median(ratios) if ratios else None,
        meet_ratio=share(one.point.holds for one in visible),
    )


def share(answers: Iterable[bool]) -> float | None:
    """The share of yes among some answers; None without any."""
    known = list(answers)
    return sum(known) / len(known) if known else None


def _width(one: Estimate) -> float:
    """From end to end; 0 without ends."""
    return 0.0 if one.low is None or one.high is None else one.high - one.low
