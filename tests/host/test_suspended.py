"""A machine that was suspended while a block was measured: two clocks say so, and the block is measured again."""

from __future__ import annotations

import time
from collections import Counter
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from fakes.project import FakeProject, on_the_path
from probe_effect.cli.measure_display import display
from probe_effect.host import load
from probe_effect.measure import bench

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.measure.bench import Progress


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    made = FakeProject(tmp_path)
    made.case("a")
    made.case("b")
    return made


def test_the_block_is_dropped_and_measured_again_and_those_before_it_are_kept(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep_s, screen = 0.0, StringIO()
    seen: list[Progress] = []

    def look(progress: Progress) -> None:
        nonlocal asleep_s
        seen.append(progress)
        show(progress)
        if progress.phase == "measuring" and progress.done == 6:  # the third run of the second block
            asleep_s = 3600.0

    monkeypatch.setattr(bench, "slept_s", lambda: asleep_s)
    with display(Console(file=screen, soft_wrap=True)) as show:
        rows = project.measure(blocks=3, tell=look)
    notice = (
        "this machine was suspended for 3600 s in block 2: the rows of that block are dropped, and it is measured again"
    )
    assert screen.getvalue().splitlines().count(notice) == 1
    assert Counter(row.block for row in rows) == {0: 4, 1: 4, 2: 4}
    assert [(row.block, row.position) for row in rows] == [(b, p) for b in range(3) for p in range(4)]
    begun = [(one.planned.block, one.planned.position) for one in seen if one.phase == "measuring"]
    assert Counter(begun) == Counter({(b, p): 2 if (b, p) in {(1, 0), (1, 1), (1, 2)} else 1 for b, p in {*begun}})


def test_a_machine_that_stays_awake_measures_each_run_once(project: FakeProject) -> None:
    phases = Counter[str]()
    project.measure(blocks=2, tell=lambda progress: phases.update([progress.phase]))
    assert (phases["slept"], phases["measuring"]) == (0, 8)


@pytest.mark.parametrize(
    ("always", "awake"), [("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"), ("CLOCK_MONOTONIC_RAW", "CLOCK_UPTIME_RAW")]
)
def test_the_sleep_is_the_difference_of_two_clocks_of_the_system(
    monkeypatch: pytest.MonkeyPatch, always: str, awake: str
) -> None:
    for name in {name for pair in load.CLOCKS for name in pair} - {always, awake}:
        monkeypatch.delattr(time, name, raising=False)
    monkeypatch.setattr(time, always, 71, raising=False)
    monkeypatch.setattr(time, awake, 72, raising=False)
    monkeypatch.setattr(time, "clock_gettime", {71: 500.0, 72: 380.0}.__getitem__)
    assert load.slept_s() == 120.0


def test_a_system_without_such_clocks_was_never_suspended_as_far_as_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {name for pair in load.CLOCKS for name in pair}:
        monkeypatch.delattr(time, name, raising=False)
    assert load.slept_s() == 0.0
