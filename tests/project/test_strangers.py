"""The bench of strangers: each is what it says, and a test that fails there is shown with how to run it again."""

from __future__ import annotations

import io
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from strangers.__main__ import run, show
from strangers.settings import NOT_HERE, STRANGERS, Stranger

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """
import pytest
def test_that_passes(): pass
def test_that_fails(): assert "found" == "expected"
def test_that_is_skipped(): pytest.skip("no tracer")
"""


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda one: one.name)
def test_a_stranger_is_what_it_says_or_says_that_it_cannot_be_here(stranger: Stranger, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **stranger.environment}
    tmp_path.chmod(0o777)
    done = subprocess.run(
        stranger.command(["echo", "here"]), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) in {(0, "here\n"), (NOT_HERE, "")}


@pytest.mark.parametrize("stranger", [Stranger(name="a", prepare="false"), Stranger(name="b", proof="false")])
def test_what_is_not_so_is_told_and_runs_nothing(stranger: Stranger, tmp_path: Path) -> None:
    row = run(stranger, tmp_path, ["test_none.py"])
    assert (row.status, row.is_red) == (NOT_HERE, False)
    assert row.counts[0].startswith("not possible here")


def test_a_row_counts_its_tests_and_one_that_fails_is_shown_with_its_command_and_output(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    plain = Stranger(name="of the north", environment={"TZ": "NORTH-1"})
    row = run(plain, tmp_path, ["test_some.py"])
    assert (row.counts, row.is_red) == (["1", "1", "1"], True)
    shown = io.StringIO()
    show([row], Console(file=shown, soft_wrap=True))
    text = shown.getvalue()
    assert "of the north\nenv --chdir" in text
    assert "TZ=NORTH-1" in text
    assert "'found' == 'expected'" in text
