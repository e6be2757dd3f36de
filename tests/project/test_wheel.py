"""The wheel in an empty environment, outside any clone: it answers, measures, checks and prepares a submission.

This is what `uv tool install` and `pipx install` give to people who have no clone.
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

from fakes.project import FAKES
from helpers.builders import MACHINE, PROJECT
from helpers.site_build import absent
from probe_effect.store.kept import DIGEST_BYTES
from probe_effect.store.places import OWN_FOLDER, DataFolder
from probe_effect.store.release_file import data_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from probe_effect.numbers.catalogue import Catalogue

SUITES = PROJECT / "data" / "suites"

MAX_PROGRAM_BYTES, MAX_SUBMISSION_BYTES = 1_200_000, 25_000
"""What somebody downloads for one question may not grow unseen, but with each submission."""

ASKED = [
    pytest.param(("predict", "--rate", "50k", "--case", "06-uprobe", "--tracer", "bpftrace"), id="predict"),
    pytest.param(
        ("predict", "--rate", "2k", "--probe", "uprobe", "--action", "count-by-pid", "--format", "json"), id="json"
    ),
    pytest.param(
        (
            "advise",
            "-e",
            "tracepoint:syscalls:sys_enter_read { @ = count(); }",
            "--rate",
            "tracepoint:syscalls:sys_enter_read=1k",
            "--budget",
            "100%",
        ),
        id="advise",
    ),
    pytest.param(("compare", "MACHINE", "--tracers", "bpftrace", "libbpf"), id="compare"),
    pytest.param(("cite",), id="cite all"),
    pytest.param(("cite", "MACHINE"), id="cite a machine"),
    pytest.param(("cite", "2026.11"), id="cite a release"),
    pytest.param(("cite", "gregg-2011-pid-provider#cost_count"), id="cite a figure"),
]

pytestmark = [pytest.mark.deep, pytest.mark.xdist_group("wheel")]


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

    def __call__(self, *words: str | Path) -> str:
        """What it prints on stdout; it has to end well."""
        return self._run(self.programs / "probe-effect", *words).stdout

    def answer(self, *words: str | Path) -> tuple[str, int]:
        """What it prints on stdout, and how it ends: where no machine is like this one, by saying so."""
        done = self._run(self.programs / "probe-effect", *words, status=None)
        assert done.returncode == 0 or "machine like this one" in done.stdout + done.stderr
        return done.stdout, done.returncode

    def complaint(self, *words: str | Path, status: int) -> str:
        """What it says on stderr when it ends with `status`."""
        return self._run(self.programs / "probe-effect", *words, status=status).stderr

    def measure(self, *words: str) -> Path:
        """Measure with the fakes; the folder of the submission."""
        command = (self.programs / "python", FAKES / "command.py", self.kernel, "measure")
        return Path(self._run(*command, *words).stdout.strip())

    def made(self) -> list[Path]:
        """The submissions whose numbers it made of rows, as it has kept them; lists of several have other forms."""
        kept = (path for path in (self.folder.parent / "home").rglob("*") if path.is_file())
        return [path for path in kept if path.read_bytes()[DIGEST_BYTES:].startswith(b"{")]

    def in_clone(self, *words: str | Path) -> tuple[str, int]:
        """The same of the clone's own program on the same machine, asked in the clone."""
        done = run(
            sys.executable,
            "-c",
            "from probe_effect.cli import main; main()",
            *words,
            folder=PROJECT,
            environment=self.environment | {"PYTHONPATH": str(PROJECT / "generator")},
        )
        return done.stdout, done.returncode

    def _run(self, *words: str | Path, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = run(*words, folder=self.folder, environment=self.environment)
        assert status in {None, done.returncode}, done.stderr
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


def test_the_wheel_has_every_file_of_the_data_and_stays_small(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    data = DataFolder(PROJECT / "data")
    assert {f"probe_effect/data/{name}" for name, _ in data_files(data)} - inside == set()
    assert wheel.stat().st_size < MAX_PROGRAM_BYTES + MAX_SUBMISSION_BYTES * len(data.submissions())


@pytest.mark.parametrize("words", ASKED)
def test_it_answers_byte_for_byte_as_in_the_clone_and_makes_no_number_anew(
    installed: Installed, catalogue: Catalogue, words: tuple[str, ...]
) -> None:
    machine = next(one.machine for one in catalogue.timed if {"bpftrace", "libbpf"} <= {n.tracer for n in one.numbers})
    asked = [machine if word == "MACHINE" else word for word in words]
    assert installed.answer(*asked) == installed.in_clone(*asked)
    assert installed.made() == []


def test_numbers_of_other_data_are_made_of_their_rows(installed: Installed, data: Path) -> None:
    installed("cite", MACHINE, "--data", data)
    assert len(installed.made()) == 1


def test_newer_data_are_named(installed: Installed, data: Path) -> None:
    shutil.copytree(PROJECT / "data" / "suites", data / "suites", dirs_exist_ok=True)
    newer = installed.answer("cite", "--data", data)
    assert newer == installed.in_clone("cite", "--data", data) != installed.answer("cite")


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


def test_it_is_installed_as_a_tool_and_runs_by_its_path_alone_as_under_sudo(wheel: Path, tmp_path: Path) -> None:
    folders = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    words = ("tool", "install", "--quiet", "--python", sys.executable, wheel)
    done = run(uv(), *words, folder=tmp_path, environment=os.environ | folders)
    if done.returncode:
        absent(f"the wheel's own needs cannot be installed: {done.stderr.strip()[-300:]}")
    program = tmp_path / "bin" / "probe-effect"
    asked = run(program, "doctor", folder=tmp_path, environment={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert (asked.returncode, "Tracers" in asked.stdout) == (0, True)


def test_what_needs_the_site_says_so_and_the_help_lists_it_as_absent(installed: Installed) -> None:
    assert "not installed" in installed.complaint("build", "--out", "x", status=3)
    assert "Not here" in installed("--help")


def test_outside_a_clone_and_before_any_measurement_the_message_says_what_to_do(installed: Installed) -> None:
    assert "probe-effect measure" in installed.complaint("submit", status=2)
