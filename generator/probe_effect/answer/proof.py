"""Does the number hold? What tracing does to real programs, beside what rate x cost foretells.

The rate of a program's events is known from the run itself: those that the tracer saw, over the untraced time of a
round. The cost of an event is from another suite, measured in a tight loop on the same machine with the same tracer.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from probe_effect.answer.levels import point

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.answer.evidence import Evidence
    from probe_effect.answer.levels import Point
    from probe_effect.reduce.submission import Number

PROGRAM = "program"
"""The factor of a suite whose levels are real programs."""

VISIBLE_RATIO = 0.01
"""A slowdown from which on it is asked whether the prediction is near: below, noise is as large as the thing itself."""

NEAR_RATIO = 0.25
"""How far a measured slowdown may lie from the predicted one, as a share of the prediction, and be called near."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One program under one probe: what was measured, the cost that foretells it, and both slowdowns."""

    measured: Number
    cost: Number
    point: Point

    @property
    def ratio(self) -> float | None:
        """Measured over predicted slowdown; None where nothing is predicted."""
        return self.point.measured.value / self.point.predicted.value if self.point.predicted.value > 0 else None

    @property
    def is_visible(self) -> bool:
        """Whether the measured slowdown is large enough to ask how near the prediction is."""
        return self.point.measured.value > VISIBLE_RATIO

    @property
    def is_near(self) -> bool:
        """Whether the measured slowdown lies near the predicted one."""
        return self.ratio is not None and abs(self.ratio - 1) <= NEAR_RATIO


@dataclass(frozen=True, slots=True)
class Verdict:
    """What some pairs come to: how many, how many are visible, and of these the share that is near.

    `meet_ratio` is the share of all pairs whose intervals meet, `middle_ratio` the median of measured over predicted
    slowdown of the visible ones; None of nothing.
    """

    pairs: int
    visible: int
    near_ratio: float | None
    middle_ratio: float | None
    meet_ratio: float | None


def pairs(found: Evidence) -> list[Pair]:
    """Every program, probe and tracer that was measured on a machine which has the cost that foretells it."""
    made = []
    for suite, case in found.cases:
        if case.like is None or suite.factor is None or suite.factor.name != PROGRAM:
            continue
        for (machine, tracer, case_id), levels in found.by_level.items():
            cost = found.costs.get((machine, tracer, case.like))
            if case_id != case.id or cost is None:
                continue
            both = ((one, point(one, cost.known_cost)) for one in levels.values())
            made += [Pair(one, cost, beside) for one, beside in both if beside is not None]
    return made


def verdict(some: Sequence[Pair]) -> Verdict:
    """What the pairs come to."""
    visible = [one for one in some if one.is_visible]
    ratios = [one.ratio for one in visible if one.ratio is not None]
    return Verdict(
        pairs=len(some),
        visible=len(visible),
        near_ratio=_share(one.is_near for one in visible),
        middle_ratio=median(ratios) if ratios else None,
        meet_ratio=_share(one.point.holds for one in some),
    )


def _share(answers: Iterable[bool]) -> float | None:
    known = list(answers)
    return sum(known) / len(known) if known else None
