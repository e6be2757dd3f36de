"""A clone of a small repository, its bare origin beside it, and a GitHub that is a fake."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from fakes.project import FAKES
from helpers.builders import write_data

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

THEIRS = "https://github.com/them/probe-effect"
MINE = "https://github.com/me/probe-effect-1"
AUTHOR = "A. Contributor <me@example.org>"

REFUSES = '#!/bin/sh\necho "Permission to them/probe-effect.git denied to me." >&2\nexit 1\n'


class Clone:
    """A clone in which one submission was measured and not yet committed; `root / "data"` is sound."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.bare, self.fork, self.github = (folder / name for name in ("clone", "bare", "fork", "github"))
        self.settings = folder / "gitconfig"
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(self.settings))
        monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        monkeypatch.setenv("FAKE_GITHUB", str(self.github))
        monkeypatch.setenv("PATH", f"{FAKES / 'github'}:{os.environ['PATH']}")
        self.settings.write_text(
            "[user]\nname = A. Contributor\nemail = me@example.org\n[init]\ndefaultBranch = main\n"
        )
        self.github.mkdir()
        self.root.mkdir()
        self.data = write_data(self.root)
        git(self.root, "init", "--quiet")
        git(self.root, "add", "data/suites", "data/published")
        git(self.root, "commit", "--quiet", "-m", "The data so far")
        for bare in (self.bare, self.fork):
            git(folder, "clone", "--quiet", "--bare", self.root, bare)
        git(self.root, "remote", "add", "origin", self.bare)

    @property
    def submission(self) -> Path:
        """The folder of what was measured."""
        (found,) = (self.data / "results").glob("*/*")
        return found

    def log_in(self) -> None:
        """Have GitHub know us, where the repository is not ours and a fork of ours is to be had."""
        git(self.root, "remote", "set-url", "origin", "git@github.com:them/probe-effect.git")
        for address, bare in ((THEIRS, self.bare), (MINE, self.fork)):
            git(self.root, "config", "--global", f"url.{bare}.insteadOf", f"{address}.git")
        self.says("repo.json", {"owner": {"login": "them"}, "name": "probe-effect"})
        self.says("fork.json", {"owner": {"login": "me"}, "name": "probe-effect-1"})
        self.says("open.json", [])
        (self.github / "logged-in").touch()

    def close_to_us(self) -> None:
        """Have the origin refuse our pushes."""
        hook = self.bare / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(REFUSES, encoding="utf-8")
        hook.chmod(0o755)

    def says(self, name: str, value: object) -> None:
        """Have GitHub answer so."""
        (self.github / name).write_text(json.dumps(value), encoding="utf-8")

    def calls(self) -> list[str]:
        """How `gh` was called."""
        return (self.github / "calls").read_text(encoding="utf-8").splitlines()


def git(folder: Path, *words: str | Path) -> str:
    """What git prints in `folder`; it has to end well."""
    program = shutil.which("git")
    assert program
    done = subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
