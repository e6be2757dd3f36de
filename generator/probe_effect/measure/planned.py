"""One run to make, by name and place: the words in which a plan, a run and an emulated machine speak of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.model import NO_TRACER

if TYPE_CHECKING:
    from probe_effect.model import Arm

BASELINE_CASE = "baseline"


@dataclass(frozen=True, slots=True)
class Subject:
    """A case with a tracer, or the baseline; at a level, where the suite has a factor."""

    case: str
    tracer: str
    level: str | None = None

    @property
    def is_baseline(self) -> bool:
        """Whether nothing is traced."""
        return self.tracer == NO_TRACER


def baseline(level: str | None = None) -> Subject:
    """The baseline of a level."""
    return Subject(BASELINE_CASE, NO_TRACER, level)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make, with its place."""

    block: int
    position: int
    subject: Subject
    arm: Arm
