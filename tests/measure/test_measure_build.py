"""Suites that build a project: one build in each run, in fresh copies of a tree that the record names by its hash."""

from __future__ import annotations

import os
import platform
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fakes.project import FAKES, FakeProject, as_root, document, rows, started_by, wait_until, work_folders_of
from helpers.build_trees import kernel_sources, small_tree
from helpers.needs import needs
from probe_effect.checks.run import check
from probe_effect.cli import measure_settings
from probe_effect.cli.measure import measure as command
from probe_effect.host import workloads
from probe_effect.host.workloads import named_tree
from probe_effect.model import HostNotReady, UsageError

if TYPE_CHECKING:
    from click.testing import Result

BUILDS = """
[workload.project]
package = "small"
version = "1.0"
release = "bookworm"
sha256 = "{digest}"
"""

SOURCE = Path(__file__).parents[2] / "data" / "suites"

pytestmark = [
    needs("cc", "make"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return small_tree(tmp_path / "secret" / "tree")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    """The checkout of a suite that builds, with the real workload and a fake bpftrace that counts 300 events."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bpftrace").symlink_to(FAKES / "bin" / "bpftrace")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    made.header.write_bytes((SOURCE / "loop.h").read_bytes())
    (made.suite / "workload" / "loop.c").write_bytes((SOURCE / "build/workload/build-loop.c").read_bytes())
    with (made.suite / "suite.toml").open("a", encoding="utf-8") as file:
        file.write('events = "counted"\n' + BUILDS.format(digest="0" * 64))
    made.case("01-calls", 'print: {"type": "map", "data": {"@": 300}}', counted_by="maps")
    monkeypatch.setattr("probe_effect.cli.measure_settings.known_tracers", lambda: made.tracers)
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    return made


def run(project: FakeProject, *arguments: str) -> Result:
    options = ["--data", str(project.data.root), *arguments]
    return CliRunner().invoke(command, options, catch_exceptions=False, standalone_mode=False)


def test_every_run_is_one_build_on_all_cpus_whose_events_are_counted(project: FakeProject, tree: Path) -> None:
    run(project, "tiny", "--blocks", "2", "--seed", "5", "--source", str(tree))
    (submission,) = project.data.submissions()
    found = rows(submission)
    assert {(row.status, row.operations or row.events) for row in found} == {("ok", 1)}
    assert [(row.events, row.operations) for row in found if row.arm == "traced"] == [(300, 1), (300, 1)]
    assert document(submission).run.tracer_cpu is None
    assert [one for one in check([submission.folder], project.data) if one.severity == "error"] == []


def test_the_record_has_the_hash_of_the_tree_and_never_its_folder(project: FakeProject, tree: Path) -> None:
    run(project, "tiny", "--blocks", "1", "--seed", "5", "--source", str(tree))
    (submission,) = project.data.submissions()
    found = document(submission).run
    assert found.packages == {"tree": named_tree(tree).origin}
    assert found.command == ("probe-effect", "measure", "tiny", "--source", "DIR", "--blocks", "1", "--seed", "5")
    assert "secret" not in submission.machine_file.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_that_is_no_source_tree_is_wrong_usage(project: FakeProject, tmp_path: Path, folder: str) -> None:
    with pytest.raises(UsageError, match="source tree which `make` builds") as refusal:
        run(project, "tiny", "--source", str(tmp_path / folder))
    assert "\n" not in str(refusal.value)
    assert project.data.submissions() == []


def test_a_source_tree_for_suites_that_build_none_is_wrong_usage(project: FakeProject, tree: Path) -> None:
    text = (project.suite / "suite.toml").read_text(encoding="utf-8")
    (project.suite / "suite.toml").write_text(text.replace(BUILDS.format(digest="0" * 64), ""), encoding="utf-8")
    with pytest.raises(UsageError, match="no suite that was named builds a source tree"):
        run(project, "tiny", "--source", str(tree))


def test_a_suite_that_builds_is_measured_only_where_it_is_named(project: FakeProject) -> None:
    outcome = CliRunner().invoke(command, ["--data", str(project.data.root), "--blocks", "1"], standalone_mode=False)
    assert isinstance(outcome.exception, HostNotReady)
    assert "left out: suite tiny builds a project" in outcome.stderr
    assert "each suite was left out" in str(outcome.exception)
    assert project.data.submissions() == []


def test_a_plan_needs_no_source_and_says_that_a_run_is_a_build(project: FakeProject) -> None:
    outcome = run(project, "tiny", "--dry-run")
    assert "all for the workload" in outcome.output
    assert "a run is one build" in " ".join(outcome.output.split())


def test_a_project_that_cannot_be_had_is_told_before_anything_is_measured(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        msg = "no network"
        raise HostNotReady(msg)

    monkeypatch.setattr(measure_settings, "fetched", refuse)
    with pytest.raises(HostNotReady, match="no network"):
        run(project, "tiny", "--blocks", "1")
    assert project.data.submissions() == []


@pytest.mark.deep
def test_a_build_that_is_killed_leaves_no_process_and_goes_on_with_the_same_tree(
    project: FakeProject, tree: Path
) -> None:
    with project.start("tiny", "--blocks", "3", "--seed", "5", "--source", str(tree)) as running:
        project.wait_for_rows(2)
        running.kill()
        assert running.wait(60) == -signal.SIGKILL
    wait_until(lambda: started_by(running.pid) == [])
    for folder in work_folders_of(running.pid):
        shutil.rmtree(folder)
    run(project, "tiny", "--resume")
    (submission,) = project.data.submissions()
    assert len(rows(submission)) == 9


@pytest.mark.deep
def test_a_tree_that_has_changed_since_is_not_gone_on_with(project: FakeProject, tree: Path) -> None:
    with project.start("tiny", "--blocks", "3", "--seed", "5", "--source", str(tree)) as running:
        project.wait_for_rows(2)
        running.kill()
    wait_until(lambda: started_by(running.pid) == [])
    for folder in work_folders_of(running.pid):
        shutil.rmtree(folder)
    (tree / "hello.txt").write_text("another\n", encoding="utf-8")
    with pytest.raises(HostNotReady, match="the source tree was 3 files, sha256"):
        run(project, "tiny", "--resume")


def test_an_emulated_machine_builds_nothing(project: FakeProject) -> None:
    with pytest.raises(HostNotReady, match=r"suite tiny cannot run in an emulated machine: it needs make, cc"):
        run(project, "tiny", "--vm", "bookworm")


def test_a_system_that_has_no_apt_builds_its_own_kernel(
    project: FakeProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = kernel_sources(tmp_path / "src", project.suite / "freebsd")
    monkeypatch.setattr(workloads, "KERNEL_VERSION", sources / "sys/conf/newvers.sh")
    monkeypatch.setattr(platform, "system", lambda: "FreeBSD")
    run(project, "tiny", "--blocks", "1", "--seed", "5")
    (submission,) = project.data.submissions()
    assert {row.status for row in rows(submission)} == {"ok"}
    assert document(submission).run.packages == {"tree": "FreeBSD 14.2-RELEASE-p1, buildkernel"}
