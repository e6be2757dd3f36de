"""What a killed run left behind is found by the next one, named and removed; what belongs to others is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fakes.project import FakeProject, as_root, on_the_path, rows, started_by, wait_until, work_folders_of
from probe_effect.cli.measure import measure as command
from probe_effect.host import read_text
from probe_effect.host.processes import SHARED_MEMORY, STARTED_BY, WORK_PREFIX, mark
from probe_effect.host.symbols import find_function, library_of
from probe_effect.measure.testbed import Leftover, leftovers
from probe_effect.model import ProbeEffectError
from probe_effect.tracers import dynamic_events, ftrace
from probe_effect.tracers.bpftrace import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

# Side by side they would remove each other's.
pytestmark = pytest.mark.xdist_group("leftovers")

INSTANCES = Path("/sys/kernel/tracing/instances")
UPROBES = Path("/sys/kernel/tracing/uprobe_events")


@pytest.fixture
def dead() -> int:
    """The id of a process that is no more."""
    with subprocess.Popen(["true"]) as process:  # noqa: S607 (each system has its own place for it)
        return process.pid


def of(found: list[Leftover], part: str) -> Leftover:
    """The one among those found, perhaps of others too, that names `part`."""
    (one,) = (one for one in found if part in one.what)
    return one


def names(found: list[Leftover], part: str) -> bool:
    return any(part in one.what for one in found)


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def sleeper(started_by_pid: int, sleepers: list[subprocess.Popen[bytes]], first: str = ":") -> subprocess.Popen[bytes]:
    """A shell that bears the mark of having been started by another, has done something first, and waits."""
    command = ["/bin/sh", "-c", f"{first}; echo; read -r _"]
    environment = {**os.environ, **mark(command), STARTED_BY: str(started_by_pid)}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    sleepers.append(process)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_a_process_of_a_dead_run_is_named_and_ended(dead: int, sleepers: list[subprocess.Popen[bytes]]) -> None:
    process = sleeper(dead, sleepers)
    one = of(leftovers(), f"process {process.pid} ")
    assert one.what == f"process {process.pid} (sh)"
    one.remove()
    assert process.wait(60) == -signal.SIGTERM
    one.remove()  # gone in the meantime: no fault


def test_a_process_that_does_not_end_in_order_is_ended_by_force(
    dead: int, sleepers: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe_effect.host.processes.PATIENCE_S", 0.1)
    process = sleeper(dead, sleepers, "trap '' TERM")
    of(leftovers(), f"process {process.pid} ").remove()
    assert process.wait(60) == -signal.SIGKILL


def test_a_process_of_a_living_run_is_left_alone(sleepers: list[subprocess.Popen[bytes]]) -> None:
    process = sleeper(os.getpid(), sleepers)
    assert not names(leftovers(), f"process {process.pid} ")


@pytest.mark.parametrize("parent", sorted({SHARED_MEMORY, Path(tempfile.gettempdir())}), ids=str)
def test_a_work_folder_of_a_dead_run_is_named_and_removed(dead: int, parent: Path) -> None:
    if not parent.is_dir():
        pytest.skip(f"this machine has no {parent}")
    folder = Path(tempfile.mkdtemp(prefix=f"{WORK_PREFIX}{dead}-", dir=parent))
    (folder / "out").touch()
    of(leftovers(), str(folder)).remove()
    assert not folder.exists()


def test_folders_of_a_living_run_and_of_others_are_left_alone() -> None:
    with (
        tempfile.TemporaryDirectory(prefix=f"{WORK_PREFIX}{os.getpid()}-") as ours,
        tempfile.TemporaryDirectory(prefix=f"{WORK_PREFIX}notes-") as others,
    ):
        found = leftovers()
    assert not names(found, ours)
    assert not names(found, others)


needs_instances = pytest.mark.skipif(
    not os.access(INSTANCES, os.W_OK), reason=f"{INSTANCES}: not there, or not ours to write"
)
needs_uprobes = pytest.mark.skipif(
    not os.access(UPROBES, os.W_OK), reason=f"{UPROBES}: not there, or not ours to write"
)


@needs_instances
def test_a_tracing_instance_of_a_dead_run_is_named_and_removed(dead: int) -> None:
    folder = INSTANCES / f"{ftrace.INSTANCE_PREFIX}{dead}"
    folder.mkdir()
    try:
        of(leftovers(), folder.name).remove()
        assert not folder.exists()
    finally:
        with suppress(OSError):
            folder.rmdir()


@needs_uprobes
def test_probes_of_a_dead_run_are_named_and_removed(dead: int) -> None:
    group = f"{dynamic_events.GROUP_PREFIX}{dead}"
    library = Path(library_of(os.getpid(), "libc") or "")
    function = find_function(library, "read")
    assert function is not None
    dynamic_events._append(UPROBES, f"p:{group}/read {library}:{function.offset:#x}")
    try:
        of(leftovers(), group).remove()
        assert group not in UPROBES.read_text(encoding="utf-8")
    finally:
        dynamic_events.remove_group(group)


# The command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = FakeProject(tmp_path)
    made.case("plain")
    monkeypatch.setattr("probe_effect.cli.measure_settings.known_tracers", lambda: made.tracers)
    monkeypatch.setattr("probe_effect.cli.measure_run.choose_tracers", lambda known, _, **__: known)
    return made


def stderr_of(project: FakeProject, *arguments: str) -> str:
    options = ["--data", str(project.data.root), *arguments]
    return CliRunner().invoke(command, options, catch_exceptions=False, standalone_mode=False).stderr


@pytest.mark.deep
def test_the_next_run_names_and_ends_a_tracer_that_outlived_its_killed_run(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe_effect.host.processes.PATIENCE_S", 0.1)
    as_root(monkeypatch)
    project.case("obstinate", "fake: stays")
    with project.start("--quick", "--blocks", "5") as running:
        wait_until(lambda: is_live("obstinate.bt", running.pid))
        running.kill()
    assert any("obstinate.bt" in line for line in started_by(running.pid))
    (folder,) = work_folders_of(running.pid)
    text = stderr_of(project, "--case", "plain", "--quick", "--blocks", "1")
    assert started_by(running.pid) == []
    assert "left behind by a killed run and removed: process " in text
    assert f"left behind by a killed run and removed: folder {folder}\n" in text
    assert work_folders_of(running.pid) == []
    (place,) = project.data.submissions()
    assert {row.status for row in rows(place)} == {"ok"}


def is_live(script: str, pid: int) -> bool:
    """Whether the tracer of that script runs, started by `pid`, and has said that its probes are live."""
    said = [read_text(folder, "err") or "" for folder in work_folders_of(pid)]
    return any(LIVE in text for text in said) and any(script in line for line in started_by(pid))


def test_what_cannot_be_removed_is_named_with_the_reason_and_the_run_goes_on(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        msg = "somebody else uses it"
        raise ProbeEffectError(msg)

    monkeypatch.setattr(
        "probe_effect.cli.measure_display.leftovers", lambda: [Leftover("tracing instance probe-effect-1", refuse)]
    )
    text = stderr_of(project, "--quick", "--blocks", "1")
    assert (
        "left behind by a killed run: tracing instance probe-effect-1; it cannot be removed: somebody else uses it"
        in text
    )
    assert len(project.data.submissions()) == 1
