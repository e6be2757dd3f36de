"""Ranks that intervals part, and ties where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.model import Estimate
from probe_effect.numbers.estimates import Rank, ranks

INTERVALS = st.lists(
    st.one_of(
        st.none(),
        st.integers(-20, 20).map(Estimate),
        st.tuples(st.integers(-20, 20), st.integers(0, 9), st.integers(0, 9)).map(
            lambda one: Estimate(one[0], one[0] - one[1], one[0] + one[2])
        ),
    ),
    max_size=12,
)


def test_intervals_apart_have_one_place_each() -> None:
    found = ranks([Estimate(30, 29, 31), Estimate(10, 9, 11), Estimate(20, 19, 21)])
    assert found == [Rank(3, 3), Rank(1, 1), Rank(2, 2)]


def test_intervals_that_overlap_share_their_places() -> None:
    found = ranks([Estimate(1, 0, 2), Estimate(10, 8, 12), Estimate(11, 9, 13), Estimate(12, 10, 14)])
    assert found == [Rank(1, 1), Rank(2, 4), Rank(2, 4), Rank(2, 4)]


def test_a_wide_interval_ties_with_two_that_are_apart() -> None:
    found = ranks([Estimate(1, 0, 2), Estimate(2, 1, 6), Estimate(6, 5, 7)])
    assert found == [Rank(1, 2), Rank(1, 3), Rank(2, 3)]


def test_intervals_that_touch_are_a_tie() -> None:
    assert ranks([Estimate(1, 0, 2), Estimate(3, 2, 4)]) == [Rank(1, 2), Rank(1, 2)]


@pytest.mark.parametrize("unknown", [None, Estimate(5.0)])
def test_one_without_an_interval_may_hold_any_place(unknown: Estimate | None) -> None:
    assert ranks([Estimate(1, 0, 2), unknown, Estimate(9, 8, 10)]) == [Rank(1, 2), Rank(1, 3), Rank(2, 3)]


def test_nothing_has_no_ranks() -> None:
    assert ranks([]) == []


@given(INTERVALS)
def test_every_place_can_be_filled(intervals: list[Estimate | None]) -> None:
    found = ranks(intervals)
    assert all(1 <= rank.first <= rank.last <= len(intervals) for rank in found)
    for place in range(1, len(intervals) + 1):
        assert any(rank.first <= place <= rank.last for rank in found)


@given(INTERVALS)
def test_one_ranks_wholly_before_another_only_where_its_interval_lies_below(intervals: list[Estimate | None]) -> None:
    found = ranks(intervals)
    for one, rank in zip(intervals, found, strict=True):
        for other, other_rank in zip(intervals, found, strict=True):
            if rank.last < other_rank.first:
                assert one is not None
                assert other is not None
                assert one.high is not None
                assert other.low is not None
                assert one.high < other.low
