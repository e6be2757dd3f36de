"""The order of runs has the properties that the statistics rely on, whatever the cases and the seed."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.measure.bench import plan
from probe_effect.measure.request import baseline
from probe_effect.model import Key
from probe_effect.store.machine_file import PlannedSubject

if TYPE_CHECKING:
    from probe_effect.measure.one_run import PlannedRun


def planned(
    number: int, *, is_measured: bool = True, is_counted_apart: bool = False, level: str | None = None
) -> PlannedSubject:
    """A case that is measured, or one that is not."""
    operations = 1000 if is_measured else None
    return PlannedSubject(
        case=f"case-{number}",
        tracer="bpftrace",
        level=level,
        operations=operations,
        is_counted_apart=is_counted_apart,
    )


NUMBERS = st.lists(st.integers(0, 60), unique=True, max_size=25)
MEASURED = NUMBERS.map(lambda numbers: [planned(number) for number in numbers])
BLOCKS = st.integers(1, 12)
SEEDS = st.integers(0, 2**53)


def subjects_of(cases: list[PlannedSubject]) -> list[Key]:
    return [Key(case.case, case.tracer, case.level) for case in cases]


def by_block(runs: tuple[PlannedRun, ...]) -> dict[int, list[PlannedRun]]:
    blocks: dict[int, list[PlannedRun]] = {}
    for run in runs:
        blocks.setdefault(run.block, []).append(run)
    return blocks


@given(MEASURED, BLOCKS, SEEDS)
def test_every_case_runs_once_in_every_block_among_two_baselines(
    cases: list[PlannedSubject], blocks: int, seed: int
) -> None:
    found = by_block(plan(cases, blocks, seed))
    assert list(found) == list(range(blocks))
    for runs in found.values():
        assert Counter(run.subject for run in runs) == Counter([*subjects_of(cases), baseline(), baseline()])
        assert [run.position for run in runs] == list(range(len(runs)))
        assert {run.arm for run in runs if run.subject.is_baseline} == {"baseline"}
        assert {run.arm for run in runs if not run.subject.is_baseline} <= {"traced"}


def is_half_a_round(first: int, second: int, places: int) -> bool:
    """Whether two places are as far from each other as can be, going round from the last to the first."""
    return second - first in {places // 2, (places + 1) // 2}


@given(MEASURED, BLOCKS, SEEDS)
def test_the_baselines_of_a_block_stand_half_a_round_apart(cases: list[PlannedSubject], blocks: int, seed: int) -> None:
    for runs in by_block(plan(cases, blocks, seed)).values():
        first, second = (place for place, run in enumerate(runs) if run.subject.is_baseline)
        assert is_half_a_round(first, second, len(runs))


@pytest.mark.parametrize("cases", [1, 2, 5])
def test_every_place_of_a_block_is_a_baselines_as_often_as_any_other(cases: int) -> None:
    blocks = 6000
    runs = plan([planned(number) for number in range(cases)], blocks, seed=1)
    places = Counter(run.position for run in runs if run.subject.is_baseline)
    fair = 2 * blocks / (cases + 2)
    assert all(abs(places[place] - fair) < 0.06 * fair for place in range(cases + 2))


@given(MEASURED, BLOCKS, SEEDS)
def test_the_same_seed_gives_the_same_plan(cases: list[PlannedSubject], blocks: int, seed: int) -> None:
    assert plan(cases, blocks, seed) == plan(cases, blocks, seed)


def test_another_seed_gives_another_plan() -> None:
    cases = [planned(number) for number in range(18)]
    assert plan(cases, 6, 1) != plan(cases, 6, 2)


@given(NUMBERS.filter(lambda numbers: len(numbers) > 2), BLOCKS, SEEDS)
def test_skipped_cases_stand_in_the_first_block_only_and_counting_runs_at_its_end(
    numbers: list[int], blocks: int, seed: int
) -> None:
    skipped = [planned(number, is_measured=False) for number in numbers[:2]]
    measured = [planned(number, is_counted_apart=True) for number in numbers[2:]]
    found = by_block(plan([*measured, *skipped], blocks, seed))
    checks = [run.subject for run in found[0] if run.arm == "check"]
    assert checks == subjects_of(measured)
    assert [run.arm for run in found[0][-len(checks) :]] == ["check"] * len(checks)
    assert Counter(run.subject for run in found[0] if run.arm == "traced") == Counter(
        subjects_of([*measured, *skipped])
    )
    for block, runs in found.items():
        if block > 0:
            assert not {run.subject for run in runs} & set(subjects_of(skipped))
            assert "check" not in {run.arm for run in runs}


LEVELS = ("1", "2", "4")
AT_LEVELS = NUMBERS.filter(bool).map(lambda numbers: [planned(one, level=level) for one in numbers for level in LEVELS])


@given(AT_LEVELS, BLOCKS, SEEDS)
def test_every_case_runs_at_every_level_among_two_baselines_of_that_level(
    cases: list[PlannedSubject], blocks: int, seed: int
) -> None:
    for runs in by_block(plan(cases, blocks, seed)).values():
        assert [run.position for run in runs] == list(range(len(runs)))
        for level in LEVELS:
            of_level = [run.subject for run in runs if run.subject.level == level]
            untraced = baseline(level)
            assert Counter(of_level) == Counter(
                [*(one for one in subjects_of(cases) if one.level == level), untraced, untraced]
            )
            first, second = (place for place, subject in enumerate(of_level) if subject.is_baseline)
            assert is_half_a_round(first, second, len(of_level))


@given(AT_LEVELS, BLOCKS, SEEDS)
def test_the_runs_of_a_level_stand_together(cases: list[PlannedSubject], blocks: int, seed: int) -> None:
    for runs in by_block(plan(cases, blocks, seed)).values():
        assert len([level for level, _ in groupby(run.subject.level for run in runs)]) == len(LEVELS)


def test_levels_run_in_every_order() -> None:
    cases = [planned(0, level=level) for level in LEVELS]
    orders = {
        tuple(level for level, _ in groupby(run.subject.level for run in runs))
        for runs in by_block(plan(cases, 100, 7)).values()
    }
    assert len(orders) == 6


def test_a_level_of_which_nothing_is_measured_has_no_baselines() -> None:
    cases = [planned(0, level="1"), planned(0, level="8", is_measured=False)]
    first, second = by_block(plan(cases, 2, 7)).values()
    assert [(run.subject.level, run.subject.is_baseline) for run in first if run.subject.level == "8"] == [("8", False)]
    assert first[-1].subject.level == "8"
    assert {run.subject.level for run in second} == {"1"}
