"""Ranks that intervals part, and ties where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.model import Interval
from probe_effect.stats.ranking import Rank, ranks

INTERVALS = st.lists(
    st.one_of(
        st.none(),
        st.integers(-20, 20).map(Interval),
        st.tuples(st.integers(-20, 20), st.integers(0, 9), st.integers(0, 9)).map(
            lambda one: Interval(one[0], one[0] - one[1], one[0] + one[2])
        ),
    ),
    max_size=12,
)


def test_intervals_apart_have_one_place_each() -> None:
    found = ranks([Interval(30, 29, 31), Interval(10, 9, 11), Interval(20, 19, 21)])
    assert found == [Rank(3, 3), Rank(1, 1), Rank(2, 2)]


def test_intervals_that_overlap_share_their_places() -> None:
    found = ranks([Interval(1, 0, 2), Interval(10, 8, 12), Interval(11, 9, 13), Interval(12, 10, 14)])
    assert found == [Rank(1, 1), Rank(2, 4), Rank(2, 4), Rank(2, 4)]


def test_a_wide_interval_ties_with_two_that_are_apart() -> None:
    found = ranks([Interval(1, 0, 2), Interval(2, 1, 6), Interval(6, 5, 7)])
    assert found == [Rank(1, 2), Rank(1, 3), Rank(2, 3)]


def test_intervals_that_touch_are_a_tie() -> None:
    assert ranks([Interval(1, 0, 2), Interval(3, 2, 4)]) == [Rank(1, 2), Rank(1, 2)]


@pytest.mark.parametrize("unknown", [None, Interval(5.0)])
def test_one_without_an_interval_may_hold_any_place(unknown: Interval | None) -> None:
    assert ranks([Interval(1, 0, 2), unknown, Interval(9, 8, 10)]) == [Rank(1, 2), Rank(1, 3), Rank(2, 3)]


def test_nothing_has_no_ranks() -> None:
    assert ranks([]) == []


@given(INTERVALS)
def test_every_place_can_be_filled(intervals: list[Interval | None]) -> None:
    found = ranks(intervals)
    assert all(1 <= rank.first <= rank.last <= len(intervals) for rank in found)
    for place in range(1, len(intervals) + 1):
        assert any(rank.first <= place <= rank.last for rank in found)


@given(INTERVALS)
def test_one_ranks_wholly_before_another_only_where_its_interval_lies_below(intervals: list[Interval | None]) -> None:
    found = ranks(intervals)
    for one, rank in zip(intervals, found, strict=True):
        for other, other_rank in zip(intervals, found, strict=True):
            if rank.last < other_rank.first:
                assert one is not None
                assert other is not None
                assert one.high is not None
                assert other.low is not None
                assert one.high < other.low
