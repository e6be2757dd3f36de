"""The image has what measuring needs, and no more of the project than that."""

from pathlib import Path

import pytest

from helpers.builders import PROJECT
from probe_effect.records import TOOLS
from probe_effect.tracers.protocol import missing_packages

IMAGE = (PROJECT / ".github" / "Containerfile").read_text(encoding="utf-8")
LEFT_OUT = (PROJECT / ".containerignore").read_text(encoding="utf-8").split()


def test_it_installs_the_package_of_every_tracer_and_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("probe_effect.tracers.protocol.SBIN", "")
    wanted = missing_packages(TOOLS, tmp_path)
    assert len(wanted) > 20
    assert set(wanted) <= set(IMAGE.split())


def test_what_the_program_is_built_and_measures_with_goes_into_it() -> None:
    assert not {"generator", "data", ".ci", "Makefile", "pyproject.toml", "uv.lock", "LICENSE"} & set(LEFT_OUT)
    assert set(LEFT_OUT) >= {".git", "build", "site", "tests"}
