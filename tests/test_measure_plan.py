"""The order of runs has the properties that the statistics rely on, whatever the cases and the seed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from probe_effect.measure.plan import BASELINE, PlannedRun, Subject, plan

SUBJECTS = st.lists(st.integers(0, 60), unique=True, max_size=25).map(
    lambda numbers: [Subject(f"case-{number}", "bpftrace") for number in numbers]
)
BLOCKS = st.integers(1, 12)
SEEDS = st.integers(0, 2**53)


def by_block(runs: tuple[PlannedRun, ...]) -> dict[int, list[PlannedRun]]:
    blocks: dict[int, list[PlannedRun]] = {}
    for run in runs:
        blocks.setdefault(run.block, []).append(run)
    return blocks


@given(SUBJECTS, BLOCKS, SEEDS)
def test_every_case_runs_once_in_every_block_between_two_baselines(
    subjects: list[Subject], blocks: int, seed: int
) -> None:
    found = by_block(plan(subjects, [], [], blocks, seed))
    assert list(found) == list(range(blocks))
    for runs in found.values():
        assert Counter(run.subject for run in runs) == Counter([*subjects, BASELINE, BASELINE])
        assert [run.position for run in runs] == list(range(len(runs)))
        assert {run.arm for run in runs if run.subject == BASELINE} == {"baseline"}
        assert {run.arm for run in runs if run.subject != BASELINE} <= {"traced"}


@given(SUBJECTS.filter(bool), BLOCKS, SEEDS)
def test_a_baseline_stands_in_each_half_of_a_block_and_never_beside_the_other(
    subjects: list[Subject], blocks: int, seed: int
) -> None:
    for runs in by_block(plan(subjects, [], [], blocks, seed)).values():
        first, second = (place for place, run in enumerate(runs) if run.subject == BASELINE)
        assert first < len(runs) / 2 <= second
        assert second - first > 1


@given(SUBJECTS, BLOCKS, SEEDS)
def test_the_same_seed_gives_the_same_plan(subjects: list[Subject], blocks: int, seed: int) -> None:
    assert plan(subjects, [], [], blocks, seed) == plan(subjects, [], [], blocks, seed)


def test_another_seed_gives_another_plan() -> None:
    subjects = [Subject(f"case-{number}", "bpftrace") for number in range(18)]
    assert plan(subjects, [], [], 6, 1) != plan(subjects, [], [], 6, 2)


@given(SUBJECTS.filter(lambda subjects: len(subjects) > 2), BLOCKS, SEEDS)
def test_skipped_cases_stand_in_the_first_block_only_and_counting_runs_at_its_end(
    subjects: list[Subject], blocks: int, seed: int
) -> None:
    skipped, measured = subjects[:2], subjects[2:]
    found = by_block(plan(measured, skipped, measured, blocks, seed))
    checks = [run.subject for run in found[0] if run.arm == "check"]
    assert checks == measured
    assert [run.arm for run in found[0][-len(checks) :]] == ["check"] * len(checks)
    assert Counter(run.subject for run in found[0] if run.arm == "traced") == Counter(subjects)
    for block, runs in found.items():
        if block > 0:
            assert not {run.subject for run in runs} & set(skipped)
            assert "check" not in {run.arm for run in runs}
