"""Style, types, prose and the syntax of workflows: `make lint`, which people run before a commit."""

from __future__ import annotations

import subprocess

import pytest

from helpers.builders import PROJECT


@pytest.mark.deep
@pytest.mark.xdist_group("lint")
def test_the_code_is_in_the_projects_style_with_sound_types_and_workflows() -> None:
    command = ["make", "--no-print-directory", "lint"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
