"""work-loop: so many turns before each read, and no read that is not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.needs import needs
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadRun, WorkloadTask, build

SOURCE = Path(__file__).parents[2] / "data" / "suites" / "sweep" / "workload" / "work-loop.c"
LONG_S = 30.0

pytestmark = needs("cc")


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


def run(program: Path, operations: int, level: str | None) -> WorkloadRun:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=operations, cpu=NOT_PINNED, level=level))
    try:
        return workload.go(LONG_S)
    finally:
        workload.end()


@pytest.mark.parametrize("level", [None, "0", "1000"])
def test_the_loop_performs_what_it_is_asked_with_any_work_between(program: Path, level: str | None) -> None:
    assert run(program, 5000, level).operations == 5000


@pytest.mark.parametrize("level", ["-1", "many", ""])
def test_a_level_that_is_no_number_of_turns_is_refused(program: Path, level: str) -> None:
    with pytest.raises(WorkloadFailed, match=f"work-loop: {level}: expected a whole number of 0 or more"):
        run(program, 10, level)
