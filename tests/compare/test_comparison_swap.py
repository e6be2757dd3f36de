"""On the committed data: swapping the two sides of a comparison swaps its words and nothing else."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest

from probe_effect import units
from probe_effect.compare.comparison import Side, between, between_tracers, compare
from probe_effect.model import Estimate
from probe_effect.site.pages import comparison

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe_effect.compare.comparison import Comparison, Outcome
    from probe_effect.numbers.catalogue import Catalogue

MIRROR: dict[Outcome, Outcome] = {"higher": "lower", "lower": "higher"}


@pytest.fixture(scope="module")
def sides(catalogue: Catalogue) -> list[Side]:
    """Every submission of times, those of a suite behind each other."""
    return [Side(one.id, (one,)) for one in sorted(catalogue.timed, key=lambda one: (one.suite, one.id))]


def mirrored(found: Estimate) -> Estimate:
    """The same difference seen from the other side."""
    low, high = (None if end is None else -end for end in (found.high, found.low))
    return Estimate(-found.value, low, high)


def swaps(there: Comparison, sentence: Callable[[Comparison], str]) -> None:
    """Whether the comparison of the sides the other way round says the same of them."""
    back = compare(there.second, there.first)
    assert back.outcome == MIRROR.get(there.outcome, there.outcome)
    assert back.reason == there.reason
    assert back.difference.value == pytest.approx(-there.difference.value)
    assert comparison.cells(back)[0] == units.interval(mirrored(there.difference), units.DURATION)
    if there.ratio is not None and back.ratio is not None:
        assert back.ratio.value == pytest.approx(1 / there.ratio.value)
    words, other = sentence(there), sentence(back)
    for outcome, (said, _) in comparison.WORDS["outcomes"].items():
        assert (f" {comparison.WORDS['outcomes'][MIRROR.get(outcome, outcome)][0]} " in other) == (f" {said} " in words)
        assert (f" {said} " in words) == (outcome == there.outcome)


def test_swapping_two_submissions_swaps_the_words(sides: list[Side]) -> None:
    outcomes = set()
    for first, second in pairwise(sides):
        for found in between(first, second):
            swaps(found, comparison.between_submissions)
            outcomes.add(found.outcome)
    assert "no difference" in outcomes
    assert not outcomes.isdisjoint(MIRROR)


def test_swapping_two_tracers_of_a_submission_swaps_the_words(sides: list[Side]) -> None:
    outcomes = set()
    for side in sides:
        for first, second in combinations(sorted({key.tracer for key in side.numbers}), 2):
            for found in between_tracers(side, first, second):
                assert found.is_paired or found.first.baseline != found.second.baseline  # each has events of its own
                swaps(found, comparison.between_submissions)
                outcomes.add(found.outcome)
    assert not outcomes.isdisjoint(MIRROR)
