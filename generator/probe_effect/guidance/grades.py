"""Grades of a submission: rules as data, each with its reason in words, applied everywhere the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.stats.signed_rank import MIN_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable

ENOUGH_BLOCKS = 20
QUIET_FLOOR_RATIO = 0.02
"""Baseline against baseline above 2 % of the baseline: the envelope that a quiet machine stays in."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at."""

    blocks: int
    virtualization: str | None
    nested: bool | None
    baseline_ns: float | None
    noise_floor_ns: float | None
    unreconciled: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A submission to which `applies` holds is graded no better than `cap`."""

    cap: str
    reason: str
    applies: Callable[[Facts], bool]


def _is_noisy(facts: Facts) -> bool:
    if facts.noise_floor_ns is None or not facts.baseline_ns:
        return False
    return facts.noise_floor_ns > QUIET_FLOOR_RATIO * facts.baseline_ns


RULES = (
    Rule("D", f"fewer than {MIN_BLOCKS} blocks: no interval", lambda facts: facts.blocks < MIN_BLOCKS),
    Rule("D", "events of a case do not add up within 0.1 %", lambda facts: facts.unreconciled > 0),
    Rule("C", "the machine is nested: a virtual machine inside another", lambda facts: facts.nested is True),
    Rule("C", f"noise floor above {units.percent(QUIET_FLOOR_RATIO, 1)} of the baseline", _is_noisy),
    Rule("B", "the machine is virtual", lambda facts: facts.virtualization is not None),
    Rule("B", f"fewer than {ENOUGH_BLOCKS} blocks", lambda facts: facts.blocks < ENOUGH_BLOCKS),
)


def grade(facts: Facts) -> tuple[str, tuple[str, ...]]:
    """(A to D, the reasons that kept it from a better one)."""
    reasons = [rule for rule in RULES if rule.applies(facts)]
    worst = max((rule.cap for rule in reasons), default="A")
    return worst, tuple(rule.reason for rule in reasons)
