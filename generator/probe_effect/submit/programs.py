"""git and gh: each call is a list of words, never a line for a shell."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from probe_effect.errors import HostNotReady, ProbeEffectError

ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"})
"""Variables that would make git use another repository than the folder's."""


class Refused(ProbeEffectError):
    """A program failed; the message has the end of its output."""


@dataclass(frozen=True, slots=True)
class FolderProgram:
    """A program that is called in one folder."""

    name: str
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further variables of the program's environment."""

    def __call__(self, *words: str | Path, text: str = "") -> str:
        """The program's output, without the last newline; `text` is its standard input.

        Raises: HostNotReady when it is not installed; Refused when it fails.
        """
        found = shutil.which(self.name)
        if found is None:
            raise HostNotReady(
                f"{self.name}: not found on the PATH. Install it, or send the folder by hand: --dry-run has the steps."
            )
        ours = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
        done = subprocess.run(
            [found, *map(str, words)],
            cwd=self.folder,
            env={**ours, "LC_ALL": "C", **self.settings},  # its words are shown in one language
            input=text.encode(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            complaint = done.stderr.decode("utf-8", errors="replace").strip() or f"ended with {done.returncode}"
            raise Refused(f"{self.name} {words[0]}: {complaint}")
        return done.stdout.decode("utf-8", errors="replace").removesuffix("\n")

    def answer(self, *words: str | Path) -> str | None:
        """The program's output, or None if it is not installed or fails."""
        try:
            return self(*words)
        except (HostNotReady, Refused):
            return None


def git(folder: Path, **settings: str) -> FolderProgram:
    """git in `folder`."""
    return FolderProgram("git", folder, settings)


def gh(folder: Path) -> FolderProgram:
    """GitHub's command line `gh` in `folder`; it never asks questions."""
    return FolderProgram("gh", folder, {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"})
