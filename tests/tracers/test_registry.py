"""Which tracers there are, and how a second version of one is measured beside the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fakes.project import FAKES, FakeProject, asked_by, document, rows
from probe_effect.cli.measure import measure as command
from probe_effect.model import UsageError
from probe_effect.records import TOOLS, known_tool, plain_tools
from probe_effect.tracers.ftrace import Ftrace
from probe_effect.tracers.tool import Tool, at_path, known_tracers, with_paths

if TYPE_CHECKING:
    from pathlib import Path

NEWER = FAKES / "newer" / "bpftrace"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    made = asked_by(monkeypatch, tmp_path, "measure_settings")
    made.case("plain")
    return made


def test_every_record_has_a_tracer_of_its_name_with_the_program_that_it_says() -> None:
    tracers = known_tracers()
    assert [(tracer.id, tracer.tool) for tracer in tracers.values()] == [(name, name) for name in TOOLS]
    programs = {name: tracer.program for name, tracer in tracers.items() if isinstance(tracer, Tool)}
    assert programs == {name: TOOLS[name].program for name in programs}


@pytest.mark.parametrize(
    ("tracer", "tool"),
    [("bpftrace", "bpftrace"), ("bpftrace-git", "bpftrace"), ("strace-seccomp-6-1", "strace-seccomp"), ("perf", None)],
)
def test_a_version_is_known_by_the_longest_name_that_it_begins_with(tracer: str, tool: str | None) -> None:
    known = known_tool(tracer)
    assert (known and known.name) == tool


def test_of_an_interface_that_tool_comes_first_which_does_nothing_but_what_a_probe_asks_for() -> None:
    assert plain_tools("bpf") == ("libbpf", "bpftrace")
    assert plain_tools("ptrace") == ()


def test_a_second_version_by_its_path_has_its_version_in_its_id_and_takes_the_same_scripts(
    project: FakeProject,
) -> None:
    tracers, names = with_paths(project.tracers, ["bpftrace", f"bpftrace={NEWER}"])
    assert names == ["bpftrace", "bpftrace-0-0-1"]
    assert {name: (one.id, one.tool, one.version()) for name, one in tracers.items()} == {
        "bpftrace": ("bpftrace", "bpftrace", "bpftrace v0.0.0"),
        "bpftrace-0-0-1": ("bpftrace-0-0-1", "bpftrace", "bpftrace v0.0.1"),
    }


def test_two_versions_are_measured_side_by_side_and_no_folder_is_recorded(project: FakeProject) -> None:
    arguments = ["--tracer", "bpftrace", "--tracer", f"bpftrace={NEWER}", "--quick", "--blocks", "2", "--seed", "5"]
    CliRunner().invoke(
        command, ["tiny", "--data", str(project.data.root), *arguments], catch_exceptions=False, standalone_mode=False
    )
    (place,) = project.data.submissions()
    found = rows(place)
    assert [row.status for row in found] == ["ok"] * 8
    for block in (0, 1):
        tracers = sorted(row.tracer for row in found if row.block == block and row.case == "plain")
        assert tracers == ["bpftrace", "bpftrace-0-0-1"]
    recorded = document(place)
    assert recorded.tools == {"bpftrace": "bpftrace v0.0.0", "bpftrace-0-0-1": "bpftrace v0.0.1"}
    words = "probe-effect measure tiny --tracer bpftrace --tracer bpftrace=bpftrace --quick --blocks 2 --seed 5"
    assert recorded.run.command == tuple(words.split())
    assert [path.name for path in sorted(place.folder.iterdir())] == ["machine.json", "samples.csv"]
    for path in place.folder.iterdir():
        assert str(project.root) not in path.read_text(encoding="utf-8")
        assert str(FAKES) not in path.read_text(encoding="utf-8")


def test_a_path_alone_measures_that_version_only(project: FakeProject) -> None:
    project.tracers, names = with_paths(project.tracers, [f"bpftrace={NEWER}"])
    assert names == ["bpftrace-0-0-1"]


@pytest.mark.parametrize("word", ["newer/bpftrace", "./newer/bpftrace"])
def test_a_relative_path_holds_wherever_the_tool_is_started(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.chdir(FAKES)
    project.tracers, _ = with_paths(project.tracers, [f"bpftrace={word}"])
    assert {row.tracer for row in project.measure(1) if row.status == "ok"} == {"none", "bpftrace", "bpftrace-0-0-1"}


def test_a_name_instead_of_a_path_is_looked_for_as_the_shell_does(project: FakeProject) -> None:
    tracers, _ = with_paths(project.tracers, ["bpftrace=bpftrace"])
    assert getattr(tracers["bpftrace-0-0-0"], "program", None) == str(FAKES / "bin" / "bpftrace")


@pytest.mark.parametrize(
    ("word", "words"),
    [
        pytest.param("bpftrace=/nowhere/bpftrace", "/nowhere/bpftrace: .* found nothing that runs", id="absent"),
        pytest.param("bpftrace=", "expected a bpftrace that prints its version, found nothing that runs", id="empty"),
        pytest.param("bpftrace=test", "expected a bpftrace that prints its version", id="one that says nothing"),
    ],
)
def test_a_path_that_leads_to_no_such_tool_is_wrong_usage(project: FakeProject, word: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        with_paths(project.tracers, [word])


def test_two_programs_of_one_version_are_wrong_usage(project: FakeProject, tmp_path: Path) -> None:
    copy = tmp_path / "bpftrace"
    copy.symlink_to(NEWER)
    with pytest.raises(UsageError, match=f"{copy}: a bpftrace-0-0-1 is given already"):
        with_paths(project.tracers, [f"bpftrace={NEWER}", f"bpftrace={copy}"])
    tracers, _ = with_paths(project.tracers, [f"bpftrace={NEWER}", f"bpftrace={NEWER}"])
    assert list(tracers) == ["bpftrace", "bpftrace-0-0-1"]


def test_a_tracer_without_a_program_takes_no_path() -> None:
    with pytest.raises(UsageError, match="ftrace is no program that could lie elsewhere"):
        at_path(Ftrace(), "/usr/bin/ftrace")
