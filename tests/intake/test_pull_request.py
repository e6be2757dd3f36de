"""A pull request from a stranger's machine to its page, as the workflow plays it, without GitHub; and many of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from fakes.clone import git
from fakes.project import FAKES, FakeProject
from helpers.builders import EVENTS, PROJECT, block_rows, changed, machine_values, write_submission
from helpers.tiers import deep_but
from probe_effect.numbers.names import short_id
from workflow_runs.hub import copy_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAM = PROJECT / ".venv" / "bin" / "probe-effect"
NEIGHBOUR = "neighbour-of-it"


@dataclass(frozen=True, slots=True)
class World:
    """A bare repository that stands for the published one, and a folder for clones of it."""

    folder: Path
    bare: Path

    def clone(self, name: str) -> Path:
        """A fresh clone."""
        git(self.folder, "clone", "--quiet", self.bare, name)
        return self.folder / name

    def branches(self) -> list[str]:
        """The branches that were submitted, by name."""
        listed = git(self.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads/submit")
        return sorted(listed.splitlines())


def of_ours(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command `probe-effect`, which has to end well."""
    done = subprocess.run([str(PROGRAM), *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def publish(world: World, folder: Path) -> None:
    """Make what lies in `folder` the published repository."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "The data so far")
    git(world.folder, "clone", "--quiet", "--bare", folder, world.bare)


def new_world(folder: Path, patch: pytest.MonkeyPatch) -> World:
    """An empty one in `folder`, with git and our program settled there as long as the patch lasts."""
    settings = folder / "gitconfig"
    settings.write_text(
        "[user]\nname = A. Contributor\nemail = me@example.org\n[init]\ndefaultBranch = main\n", encoding="utf-8"
    )
    patch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    patch.setenv("PATH", f"{FAKES / 'bin'}:{os.environ['PATH']}")
    return World(folder, folder / "published.git")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return new_world(tmp_path, monkeypatch)


def merge(clone: Path, branches: Sequence[str]) -> str:
    """Merge branches of the origin one after the other into main, as GitHub does; the tree that comes of it."""
    git(clone, "fetch", "--quiet", "origin")
    git(clone, "checkout", "--quiet", "--force", "-B", "main", "origin/main")
    for branch in branches:
        git(clone, "merge", "--quiet", "--no-ff", "--no-edit", f"origin/{branch}")
    return git(clone, "rev-parse", "HEAD^{tree}")


# One pull request, from end to end


def measure(checkout: Path, kernel: Path, operation_ns: int = 1000) -> Path:
    """Measure the suite `tiny` with a fake tracer; the folder of the submission."""
    words = [str(kernel), "measure", "tiny", "--quick", "--blocks", "6", "--data", str(checkout / "data")]
    command = [sys.executable, str(FAKES / "command.py"), *words]
    environment = os.environ | {"FAKE_NS": str(operation_ns)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def published_repository(world: World) -> Path:
    """The project, and a suite for fakes that a machine like this one was measured with; its kernel."""
    seed = world.folder / "seed"
    copy_project(seed)
    project = FakeProject(world.folder / "fake")
    project.case("01-plain")
    shutil.copytree(project.suite, seed / "data" / "suites" / "tiny")
    folder = measure(seed, project.root / "kernel", operation_ns=1001)  # no two real runs have the same times
    values = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    (folder / "machine.json").write_text(json.dumps(changed(values, "machine.id", NEIGHBOUR)), encoding="utf-8")
    neighbour = folder.parent.with_name(NEIGHBOUR)  # whatever this machine has published itself stays where it is
    neighbour.mkdir()
    folder.rename(neighbour / folder.name)
    publish(world, seed)
    return project.root / "kernel"


def steps() -> list[str]:
    """The commands of the workflow that looks at submissions."""
    workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "submission.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["review"]
    assert job["env"] == {"BASE": "HEAD^1"}
    return [step["run"] for step in job["steps"] if "run" in step]


def run_steps(checkout: Path) -> str:
    """Run them as the runner does, with the program already installed; the job's summary."""
    (checkout / ".venv").symlink_to(PROJECT / ".venv")
    (checkout / "build" / "uv" / "bin").mkdir(parents=True)
    for made in ("uv/bin/uv", "setup.stamp", "setup-site.stamp"):
        (checkout / "build" / made).touch()
    (PROJECT / "build" / "kept").mkdir(exist_ok=True)
    (checkout / "build" / "kept").symlink_to(PROJECT / "build" / "kept")
    summary = checkout.with_name("summary.md")
    environment = os.environ | {"BASE": "HEAD^1", "GITHUB_STEP_SUMMARY": str(summary)}
    for step in steps():
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step]
        done = subprocess.run(shell, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{step}\n{done.stdout}\n{done.stderr}"
    return summary.read_text(encoding="utf-8")


@pytest.mark.deep
@pytest.mark.site
@pytest.mark.xdist_group("site")
def test_a_pull_request_is_reviewed_and_its_merge_makes_its_page(world: World) -> None:
    kernel = published_repository(world)
    theirs = world.clone("theirs")
    folder = measure(theirs, kernel)
    machine = folder.parent.name
    of_ours("submit", folder, "--no-name", "--yes", "--remote", world.bare, folder=theirs)
    (branch,) = world.branches()

    runner = world.clone("runner")
    tree = merge(runner, [branch])
    summary = run_steps(runner)
    assert f"## {machine}/{folder.name}" in summary
    assert f", {short_id(NEIGHBOUR)}&#58; " in summary
    assert "01-plain" in summary
    said = of_ours("review-comment", "build/review/review.json", folder=runner).stdout
    assert f"## {machine}/{folder.name}" in said

    page = runner / "build" / "site" / "results" / machine / folder.name / "index.html"
    assert page.is_file()
    machine_page = runner / "build" / "site" / "machines" / machine / "index.html"
    assert folder.name in machine_page.read_text(encoding="utf-8")

    git(runner, "push", "--quiet", "origin", "main")
    assert merge(runner, [branch]) == tree
    assert git(runner, "status", "--porcelain", "--", "data") == ""


# Many machines


FLEET = ("machine-a", "machine-b", "machine-c")

of_the_fleet = pytest.mark.xdist_group("fleet")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Three machines that each have submitted what they measured; no test adds anything to it."""
    with pytest.MonkeyPatch.context() as patch:
        yield with_fleet(new_world(tmp_path_factory.mktemp("fleet"), patch))


def with_fleet(world: World) -> World:
    seed = world.folder / "seed"
    shutil.copytree(PROJECT / "data" / "suites", seed / "data" / "suites")
    (seed / "site").mkdir()
    (seed / "site" / "hugo.toml").touch()
    publish(world, seed)
    for number, machine in enumerate(FLEET):
        shard = world.clone(machine)
        values = changed(machine_values(), "machine.id", machine)
        base_ns = 100 + number
        rows = [row for block in range(8) for row in block_rows(block, 50, (base_ns, base_ns), seen=EVENTS, lost=0)]
        folder = write_submission(shard / "data", rows, values)
        of_ours("submit", folder, "--no-name", "--yes", "--remote", world.bare, folder=shard)
    assert len(world.branches()) == len(FLEET)
    return world


@pytest.fixture
def clone(fleet: World, tmp_path: Path) -> Path:
    """A fresh clone to merge in."""
    git(tmp_path, "clone", "--quiet", fleet.bare, "merged")
    return tmp_path / "merged"


def submissions(clone: Path) -> list[str]:
    return sorted(path.name for path in (clone / "data" / "results").glob("*"))


@pytest.mark.deep
@of_the_fleet
def test_the_order_in_which_a_fleet_is_merged_leaves_no_trace(fleet: World, clone: Path) -> None:
    trees = {merge(clone, order) for order in permutations(fleet.branches())}
    assert len(trees) == 1
    assert submissions(clone) == list(FLEET)


@of_the_fleet
@pytest.mark.deep
def test_merging_a_fleet_again_changes_nothing(fleet: World, clone: Path) -> None:
    branches = fleet.branches()
    assert merge(clone, [*branches, *branches]) == merge(clone, branches)


@of_the_fleet
@pytest.mark.parametrize("dead", deep_but(range(len(FLEET)), [1]))
@pytest.mark.deep
def test_a_machine_that_dies_costs_its_own_results_alone(fleet: World, clone: Path, dead: int) -> None:
    branches = fleet.branches()
    merge(clone, [branch for place, branch in enumerate(branches) if place != dead])
    assert submissions(clone) == [machine for place, machine in enumerate(FLEET) if place != dead]
    of_ours("check", folder=clone)
    late = merge(clone, [*branches[dead + 1 :], *branches[:dead], branches[dead]])
    assert late == merge(clone, branches)


@of_the_fleet
def test_a_shard_that_is_submitted_twice_is_one(fleet: World) -> None:
    shard = fleet.folder / FLEET[0]
    before = git(fleet.bare, "for-each-ref")
    of_ours("submit", shard / "data" / "results" / FLEET[0], "--no-name", "--yes", "--remote", fleet.bare, folder=shard)
    assert git(fleet.bare, "for-each-ref") == before
