"""One run to make, by name and place: the words in which a plan, a run and an emulated machine speak of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.model import NO_TRACER, Key

if TYPE_CHECKING:
    from probe_effect.model import Arm

BASELINE_CASE = "baseline"


def baseline(level: str | None = None) -> Key:
    """The baseline of a level."""
    return Key(BASELINE_CASE, NO_TRACER, level)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make, with its place."""

    block: int
    position: int
    subject: Key
    arm: Arm
