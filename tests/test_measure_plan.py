"""The order of runs has the properties that the statistics rely on, whatever the cases and the seed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from probe_effect.measure.plan import BASELINE, PlannedRun, Subject, plan
from probe_effect.store.plan_file import PlannedSubject


def planned(number: int, *, is_measured: bool = True, is_counted_apart: bool = False) -> PlannedSubject:
    """A case that is measured, or one that is not."""
    operations = 1000 if is_measured else None
    return PlannedSubject(
        case=f"case-{number}", tracer="bpftrace", operations=operations, is_counted_apart=is_counted_apart
    )


NUMBERS = st.lists(st.integers(0, 60), unique=True, max_size=25)
MEASURED = NUMBERS.map(lambda numbers: [planned(number) for number in numbers])
BLOCKS = st.integers(1, 12)
SEEDS = st.integers(0, 2**53)


def subjects_of(cases: list[PlannedSubject]) -> list[Subject]:
    return [Subject(case.case, case.tracer) for case in cases]


def by_block(runs: tuple[PlannedRun, ...]) -> dict[int, list[PlannedRun]]:
    blocks: dict[int, list[PlannedRun]] = {}
    for run in runs:
        blocks.setdefault(run.block, []).append(run)
    return blocks


@given(MEASURED, BLOCKS, SEEDS)
def test_every_case_runs_once_in_every_block_between_two_baselines(
    cases: list[PlannedSubject], blocks: int, seed: int
) -> None:
    found = by_block(plan(cases, blocks, seed))
    assert list(found) == list(range(blocks))
    for runs in found.values():
        assert Counter(run.subject for run in runs) == Counter([*subjects_of(cases), BASELINE, BASELINE])
        assert [run.position for run in runs] == list(range(len(runs)))
        assert {run.arm for run in runs if run.subject == BASELINE} == {"baseline"}
        assert {run.arm for run in runs if run.subject != BASELINE} <= {"traced"}


@given(MEASURED.filter(bool), BLOCKS, SEEDS)
def test_a_baseline_stands_in_each_half_of_a_block_and_never_beside_the_other(
    cases: list[PlannedSubject], blocks: int, seed: int
) -> None:
    for runs in by_block(plan(cases, blocks, seed)).values():
        first, second = (place for place, run in enumerate(runs) if run.subject == BASELINE)
        assert first < len(runs) / 2 <= second
        assert second - first > 1


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
