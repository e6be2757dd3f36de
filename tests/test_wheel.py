"""The wheel in an empty environment, outside any clone: it measures, checks, summarises and prepares a submission.

This is what `uv tool install` and `pipx install` give to people who measure and do nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders import PROJECT
from fakes.project import FAKES
from probe_effect.store.places import OWN_FOLDER
from site_build import absent

if TYPE_CHECKING:
    from collections.abc import Mapping

SUITES = PROJECT / "data" / "suites"

pytestmark = pytest.mark.xdist_group("wheel")


def uv() -> str:
    found = shutil.which("uv", path=f"{PROJECT / 'build/uv/bin'}:{os.environ['PATH']}")
    if found is None:
        absent("uv is not installed: make setup")
    return found


def run(
    *words: str | Path, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(uv(), "build", "--quiet", "--wheel", "--out-dir", folder, folder=PROJECT)
    if built.returncode:
        absent(f"the wheel cannot be built, for which the package index is needed: {built.stderr.strip()[-300:]}")
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel, what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    made = run(uv(), "venv", "--quiet", "--python", sys.executable, folder / "venv", folder=folder)
    assert made.returncode == 0, made.stderr
    python = folder / "venv" / "bin" / "python"
    installed = run(uv(), "pip", "install", "--quiet", "--python", python, wheel, folder=folder)
    if installed.returncode:
        absent(f"the wheel's own needs cannot be installed: {installed.stderr.strip()[-300:]}")
    return python.parent


class Installed:
    """The installed program in a plain folder, on a machine of fakes."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder, self.kernel = programs, folder / "here", folder / "kernel"
        self.folder.mkdir()
        (self.kernel / "sys/kernel/tracing/events/syscalls").mkdir(parents=True)
        path = f"{FAKES / 'bin'}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "HOME": str(folder / "home"), "COLUMNS": "200"}

    def __call__(self, *words: str | Path, status: int = 0) -> str:
        """What it prints on stdout; it has to end with `status`."""
        return self._run(self.programs / "probe-effect", *words, status=status).stdout

    def complaint(self, *words: str | Path, status: int) -> str:
        """What it says on stderr when it ends with `status`."""
        return self._run(self.programs / "probe-effect", *words, status=status).stderr

    def measure(self, *words: str) -> Path:
        """Measure with the fakes; the folder of the submission."""
        command = (self.programs / "python", FAKES / "command.py", self.kernel, "measure")
        return Path(self._run(*command, *words).stdout.strip())

    def _run(self, *words: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = run(*words, folder=self.folder, environment=self.environment)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done


@pytest.fixture
def installed(programs: Path, tmp_path: Path) -> Installed:
    return Installed(programs, tmp_path)


def test_every_file_of_the_suites_and_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    suites = {f"probe_effect/data/suites/{path.relative_to(SUITES)}" for path in SUITES.rglob("*") if path.is_file()}
    package = PROJECT / "generator"
    ours = {
        str(path.relative_to(package))
        for path in (package / "probe_effect").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert (suites | ours) - inside == set()


def test_the_suites_are_there(installed: Installed) -> None:
    listed = installed("suites")
    assert [name for name in (path.parent.name for path in SUITES.glob("*/suite.toml")) if name not in listed] == []


def test_it_measures_checks_summarises_and_prepares_a_submission(installed: Installed) -> None:
    folder = installed.measure("per-event", "--quick", "--blocks", "6", "--seed", "5", "--case", "04-tracepoint-entry")
    results = installed.folder / OWN_FOLDER / "data" / "results"
    assert folder.parent.parent == results
    assert installed("check").startswith("0 errors")
    assert installed("check", folder).startswith("0 errors")
    assert "04-tracepoint-entry  bpftrace" in installed("summarise", folder)
    assert installed("submit", "--name", "Ada") == f"{installed.folder / OWN_FOLDER}\n"
    assert '"name": "Ada"' in (folder / "machine.json").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["machine.json", "samples.csv"]


def test_what_needs_the_site_says_so_and_the_help_lists_it_as_absent(installed: Installed) -> None:
    assert "not installed" in installed.complaint("build", "--out", "x", status=3)
    assert "Not here" in installed("--help")


def test_outside_a_clone_and_before_any_measurement_the_message_says_what_to_do(installed: Installed) -> None:
    assert "probe-effect measure" in installed.complaint("submit", status=2)
