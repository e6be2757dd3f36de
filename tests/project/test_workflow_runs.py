"""The workflows, run by act with a GitHub of our own."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT
from workflow_runs import act
from workflow_runs.cases import CASES
from workflow_runs.hub import Hub, new_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from workflow_runs.cases import Outcome


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    subprocess.run(["make", "--silent", "build/act"], cwd=PROJECT, check=True, capture_output=True)  # noqa: S607
    with new_hub(tmp_path_factory.mktemp("hub")) as made:
        yield made


@pytest.mark.deep
@pytest.mark.site
@pytest.mark.xdist_group("workflows")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_workflow_does_what_it_is_for(case: Callable[[Hub], Iterator[Outcome]], hub: Hub) -> None:
    for one in case(hub):
        assert one.faults == [], f"{one.workflow} of {one.what}\n{one.run.log}"
    assert act.left_behind() == []


def test_every_action_but_one_has_a_stand_in() -> None:
    used = set()
    for path in (PROJECT / ".github" / "workflows").glob("*.yml"):
        used |= set(re.findall(r"uses: [\w-]+/([\w-]+)@", path.read_text(encoding="utf-8")))
    assert used - {path.name for path in act.ACTIONS.iterdir()} == {"freebsd-vm"}
    assert {path.name for path in act.ACTIONS.iterdir()} <= used


def test_a_run_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(act, "LIMIT_S", 0.1)
    mark = f"{os.getpid()}-hangs"
    command = ["sh", "-c", "setsid sleep 1000 & sleep 1000"]
    status, output = act.ended_in_time(command, tmp_path, {**os.environ, act.MARK: mark})
    assert status < 0
    assert "ended after" in output
    assert act.left_behind(mark) == []
