"""A GitHub of our own for the workflows: a bare repository, pull requests to it, and what its `gh` answers.

The repository is the project as it stands here, but for its results and the pages that quote them: what is measured
is a suite for fakes, and the site of it is built in seconds. It has a release 2026.11 of that.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fakes.clone import git
from fakes.project import FAKES, FakeProject
from helpers.builders import PROJECT, changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ADDRESS = "https://github.com/them/probe-effect"
REPOSITORY: dict[str, Any] = {
    "id": 1,
    "name": "probe-effect",
    "full_name": "them/probe-effect",
    "default_branch": "main",
    "owner": {"login": "them"},
    "fork": False,
}
VERSION = "2026.11"
NEIGHBOUR = "neighbour-of-it"
FLEET = ("on", "off")

RESULTS = ("data/results/", "data/releases/", "content/guide/")

SETTINGS = """\
[user]
name = A. Contributor
email = me@example.org
[init]
defaultBranch = main
[pack]
window = 0
[url "file://{bare}"]
insteadOf = {address}.git
insteadOf = {address}
"""


class Hub:
    """The hub, all of it in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bare, self.seed = folder, folder / "repository.git", folder / "seed"
        self.settings, self.runs = folder / "gitconfig", folder / "runs"
        self.settings.write_text(SETTINGS.format(bare=self.bare, address=ADDRESS), encoding="utf-8")
        (folder / "fake").mkdir()
        project = FakeProject(folder / "fake")
        project.case("01-plain")
        self.kernel = project.root / "kernel"
        copy_project(self.seed)
        shutil.copytree(project.suite, self.seed / "data" / "suites" / "tiny")
        _write(self.seed / ".github" / "fleet.json", {"machines": FLEET})
        self.measured = self._measure(1000)
        self.published = self._publish_neighbour()
        self._release()
        self.state: dict[str, Any] = {"pulls": {}, "comments": {}}
        self._publish()

    def pull_request(self, number: int, change: Callable[[Path], object]) -> str:
        """Open one from a stranger's fork with what `change` does to a clone; the commit of its merge into main."""
        clone = self.clone(f"pull-{number}")
        change(clone)
        git(clone, "add", "--all")
        git(clone, "commit", "--quiet", "--message", "A change")
        head, base = git(clone, "rev-parse", "HEAD"), git(clone, "rev-parse", "origin/main")
        git(clone, "checkout", "--quiet", "--detach", "origin/main")
        git(clone, "merge", "--quiet", "--no-ff", "--no-edit", head)
        git(clone, "push", "--quiet", "origin", f"{head}:refs/pull/{number}/head", f"HEAD:refs/pull/{number}/merge")
        self.state = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        self.state["pulls"][str(number)] = {
            "number": number,
            "state": "open",
            "head": {"sha": head, "ref": "theirs", "label": "me:theirs", "repo": {"id": 2, "owner": {"login": "me"}}},
            "base": {"sha": base, "ref": "main", "repo": REPOSITORY},
            "user": {"login": "me"},
        }
        self.save()
        return git(clone, "rev-parse", "HEAD")

    def add_measured(self, clone: Path) -> Path:
        """Have the clone hold what was measured; the file of its rows."""
        values = json.loads((self.measured / "machine.json").read_text(encoding="utf-8"))
        place: Path = clone / "data" / "results" / values["machine"]["id"] / self.measured.name
        shutil.copytree(self.measured, place)
        return place / "samples.csv"

    def pull(self, number: int) -> dict[str, Any]:
        """What GitHub says of a pull request."""
        found: dict[str, Any] = self.state["pulls"][str(number)]
        return found

    @property
    def head(self) -> str:
        """The newest commit of main."""
        return git(self.bare, "rev-parse", "main")

    def branches(self) -> list[str]:
        """The branches that were submitted."""
        return git(self.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads/submit").splitlines()

    def added(self, branch: str) -> set[str]:
        """The names of the submissions that a branch adds to main; none without a branch."""
        words = ("diff", "--name-only", "--diff-filter=A", f"main...{branch}", "--", "data/results")
        return {Path(line).parent.name for line in git(self.bare, *words).splitlines()} if branch else set()

    def proposed_by_hand(self, artefact: Path) -> bool:
        """Whether who downloads the artefact, outside of any clone, can propose it with `submit`."""
        place = self.folder / "by hand"
        shutil.copytree(artefact, place / "probe-effect-submission" / "data" / "results")
        shutil.copytree(self.seed / "data" / "suites", place / "probe-effect-submission" / "data" / "suites")
        command = [str(PROJECT / ".venv" / "bin" / "probe-effect"), "submit", "--name", "A. Contributor"]
        ended = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)
        return ended.returncode == 0 and ended.stdout.strip().endswith("probe-effect-submission")

    def comments(self, number: int) -> list[str]:
        """The texts under a pull request."""
        state = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        return [one["body"] for one in state["comments"].get(str(number), [])]

    def told(self, name: str) -> list[str]:
        """The lines that the stand-ins wrote into the file of that name since it was last asked for."""
        file = self.folder / name
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def clone(self, name: str) -> Path:
        """A fresh clone."""
        git(self.folder, "clone", "--quiet", ADDRESS, name)
        return self.folder / name

    def save(self) -> None:
        """Have the stand-ins know it."""
        _write(self.folder / "state.json", self.state)

    def _measure(self, operation_ns: int) -> Path:
        """A submission of the suite for fakes in `seed`, moved out of it."""
        words = [str(self.kernel), "measure", "tiny", "--quick", "--blocks", "6", "--data", str(self.seed / "data")]
        environment = os.environ | {"FAKE_NS": str(operation_ns), "PATH": f"{FAKES / 'bin'}:{os.environ['PATH']}"}
        command = [sys.executable, str(FAKES / "command.py"), *words]
        done = subprocess.run(
            command,
            cwd=self.seed,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr
        kept = self.folder / "measured" / str(operation_ns)
        return Path(shutil.move(Path(done.stdout.strip()), kept / Path(done.stdout.strip()).name))

    def _publish_neighbour(self) -> Path:
        """Have a machine like this one be measured already; its submission, below the repository."""
        folder = self._measure(1001)  # no two real runs have the same times
        values = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
        _write(folder / "machine.json", changed(values, "machine.id", NEIGHBOUR))
        place = Path("data", "results", NEIGHBOUR, folder.name)
        shutil.copytree(folder, self.seed / place)
        return place

    def _release(self) -> None:
        command = [str(PROJECT / ".venv" / "bin" / "probe-effect"), "release", VERSION]
        subprocess.run(command, cwd=self.seed, check=True, capture_output=True)

    def _publish(self) -> None:
        # Each job's clone would compile the whole program again: by their hashes its files are known there.
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "generator"]
        subprocess.run(command, cwd=self.seed, check=True)
        git(self.seed, "init", "--quiet")
        git(self.seed, "add", "--all", "--force")
        git(self.seed, "commit", "--quiet", "--message", "The project so far")
        git(self.folder, "clone", "--quiet", "--bare", self.seed, self.bare)
        git(self.bare, "repack", "-adq")  # else each fetch packs the loose objects again
        self.save()


@contextlib.contextmanager
def new_hub(folder: Path) -> Iterator[Hub]:
    """A hub in an empty folder, with git asking it and nobody else for as long as it is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(folder / "gitconfig"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield Hub(folder)


def copy_project(to: Path) -> None:
    """Everything that git has or would take, as it stands in the folder, without results and what quotes them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.split("\0"):
        if (PROJECT / name).is_file() and not name.startswith(RESULTS) and not _quotes(PROJECT / name):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, to / name)


def _quotes(path: Path) -> bool:
    """Whether it is a page with a number of ours."""
    asked = ("{{< number", "{{< question")
    return path.suffix == ".md" and any(one in path.read_text(encoding="utf-8") for one in asked)


def _write(path: Path, values: object) -> None:
    path.write_text(json.dumps(values, indent=2), encoding="utf-8")
