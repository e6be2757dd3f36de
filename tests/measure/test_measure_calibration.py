"""Runs are made as long as they should be, whatever an operation costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.measure.request import (
    CHECK_OPERATIONS,
    FIRST_AT_A_LEVEL,
    LONGEST_CHECK_S,
    MIN_OPERATIONS,
    check_operations,
    operations_for,
    rounded,
)
from probe_effect.model import Sample

ROW = Sample(block=0, position=0, case="a", tracer="none", arm="baseline")


@pytest.mark.parametrize("cost_ns", [5, 100, 560, 13_000, 40_000])
@pytest.mark.parametrize("target_s", [0.1, 0.5])
def test_a_run_takes_about_as_long_as_asked(cost_ns: int, target_s: float) -> None:
    operations, _ = operations_for(target_s, lambda number: replace(ROW, events=number, wall_ns=number * cost_ns))
    assert operations * cost_ns == pytest.approx(target_s * 1e9, rel=0.06)


def test_no_trial_is_much_longer_than_the_run_that_it_prepares() -> None:
    trials: list[int] = []

    def run(number: int) -> Sample:
        trials.append(number)
        return replace(ROW, events=number, wall_ns=number * 500)

    operations_for(0.5, run)
    assert max(trials) * 500 <= 0.5e9


@pytest.mark.parametrize("cost_ns", [100, 30_000, 10_000_000, 500_000_000])
def test_where_an_operation_may_take_long_the_first_trial_is_short_and_a_run_may_have_few(cost_ns: int) -> None:
    trials: list[int] = []

    def run(number: int) -> Sample:
        trials.append(number)
        return replace(ROW, events=number, wall_ns=number * cost_ns)

    operations, _ = operations_for(0.5, run, FIRST_AT_A_LEVEL, FIRST_AT_A_LEVEL)
    assert operations * cost_ns == pytest.approx(0.5e9, rel=0.06)
    assert trials[0] == FIRST_AT_A_LEVEL
    assert max(trials) * cost_ns <= 0.5e9


def test_a_trial_that_ends_badly_stops_the_search() -> None:
    operations, row = operations_for(0.5, lambda _: replace(ROW, status="failed", note="no such probe"))
    assert row.note == "no such probe"
    assert operations >= MIN_OPERATIONS


def test_a_counting_run_makes_enough_events_to_drown_strays_but_ends_soon() -> None:
    assert check_operations(9_000, 0.1) == CHECK_OPERATIONS
    assert check_operations(900_000, 0.5) == 900_000
    slow = check_operations(2_000, 2.0)
    assert slow < CHECK_OPERATIONS
    assert slow * (2.0 / 2_000) <= LONGEST_CHECK_S


@given(st.floats(0.0, 1e12))
def test_operations_are_whole_numbers_of_two_digits(wanted: float) -> None:
    operations = rounded(wanted)
    assert operations >= MIN_OPERATIONS
    assert len(str(operations).rstrip("0")) <= 2
    if wanted > 2 * MIN_OPERATIONS:
        assert operations == pytest.approx(wanted, rel=0.051)
