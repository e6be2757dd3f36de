"""What would better a submission's grade: for each reason that kept it down, what whoever measures can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.reduce.grades import OF_SUBMISSION

if TYPE_CHECKING:
    from collections.abc import Iterable

REMEDIES = {
    "blocks": "more blocks: without `--quick`, or with `--blocks`",
    "unreconciled_ratio": "stop what else calls the probed functions, and measure again",
    "nested": None,
    "virtual": None,
    "floor_ratio": "stop what else runs (`probe-effect doctor` names it), and measure again; more blocks help too",
    "drift_within_ratio": "a fixed frequency and mains power: governor `performance`, turbo off",
    "drift_ratio": "a fixed frequency and mains power: governor `performance`, turbo off",
    "steal_ratio": "another hour: other guests of the host took the CPU, which `steal` in `top` shows",
    "load_ratio": "stop what else runs, and measure again",
}
"""Fact of a rule to what would keep it from applying; None where nothing on that machine would."""

NOTHING = "nothing on this machine"


def remedies(reasons: Iterable[str]) -> list[tuple[str, str]]:
    """Each reason with what would better it, as the grades of submissions give them."""
    by_words = {rule.words: REMEDIES[rule.fact] for rule in OF_SUBMISSION}
    return [(reason, by_words.get(reason) or NOTHING) for reason in reasons]
