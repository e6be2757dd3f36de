"""The contributor's way as CONTRIBUTING.md shows it: its commands are run as they stand, and what they print is shown.

`PYTHONPATH=tests python -m helpers.contributor`, as root on a machine with bpftrace, writes what they print there into
the page. It keeps the lines that the page shows, cut where the page has `..`, so whoever wants others writes them and
runs it again.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.clone import Clone, git
from fakes.project import FAKES
from helpers.builders import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = PROJECT / "CONTRIBUTING.md"
COLUMNS = 80
CUT = ".."

BLOCK = re.compile(r"(?<=^```\n)\$ .*?(?=^```$)", re.MULTILINE | re.DOTALL)
BY_CLONE = re.compile(r"make |\.venv/")
MACHINE = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)+-[0-9a-f]{4}\b")
FOLDER = re.compile(r"\S*/(?=probe-effect-submission|clone/)")
PROGRAMS = {"sudo": 'exec "$@"', "make": "exit 0", "uv": "echo Installed 1 executable: probe-effect >&2"}
"""Of the programs that the commands name, those that would change the machine, and what they do instead."""

RUNS = f'exec {sys.executable} -c "from probe_effect.cli import main; main()" "$@"'
FAKE = f'exec {sys.executable} {FAKES / "command.py"} {{kernel}} "$@"'


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and what the page shows of what it prints."""

    command: str
    shown: Sequence[str]


class Way:
    """A folder in which commands run one after the other, without a clone or in one; tracers are fakes, or real."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, *, is_clone: bool, is_fake: bool) -> None:
        self.folder = folder / "here"
        programs, kernel = folder / "programs", folder / "kernel"
        (kernel / "sys/kernel/tracing/events/syscalls").mkdir(parents=True)
        names = {**PROGRAMS, "probe-effect": FAKE.format(kernel=kernel) if is_fake else RUNS}
        for name, does in names.items():
            _program(programs / name, does)
        path = [str(programs), *([str(FAKES / "bin")] if is_fake else []), os.environ["PATH"]]
        patch.setenv("PATH", ":".join(path))
        patch.setenv("PYTHONPATH", f"{PROJECT / 'generator'}:{PROJECT / 'tests'}")
        patch.setenv("COLUMNS", str(COLUMNS))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("HOME", str(folder / "home"))
        if is_clone:
            self.folder = _clone(folder, patch, names["probe-effect"])
        else:
            self.folder.mkdir()

    def __call__(self, command: str) -> list[str]:
        """The lines that a command prints; it has to end well."""
        done = subprocess.run(
            ["sh", "-c", command],  # noqa: S607
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return [FOLDER.sub("", line.rstrip()) for line in done.stdout.splitlines()]


def _program(path: Path, does: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    path.chmod(0o755)


def _clone(folder: Path, patch: pytest.MonkeyPatch, program: str) -> Path:
    """A clone of a small repository with our suites and one published machine; GitHub knows us."""
    clone = Clone(folder, patch)
    shutil.rmtree(clone.data)
    shutil.copytree(PROJECT / "data/suites", clone.data / "suites")
    published = min((PROJECT / "data/results").glob("amd-*/*-per-event"))
    shutil.copytree(published, clone.data / "results" / published.parent.name / published.name)
    (clone.root / "site").mkdir()
    (clone.root / "site/hugo.toml").touch()
    _program(clone.root / ".venv/bin/probe-effect", program)
    git(clone.root, "add", "data", "site")
    git(clone.root, "commit", "--quiet", "-m", "The data so far")
    git(clone.root, "push", "--quiet", "origin", "HEAD:main")
    clone.log_in()
    return clone.root


def steps(text: str, *, is_clone: bool) -> list[Step]:
    """The commands of the page, without a clone or in one, in their order."""
    found = [step for block in BLOCK.findall(text) for step in _of_block(block)]
    return [step for step in found if bool(BY_CLONE.search(step.command)) == is_clone]


def _of_block(block: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield Step(command, shown)


def fitted(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """`shown` with each line as it was printed now: lines of the same form in the same order; `..` stands for any.

    Raises: ValueError for a line whose form was not printed there.
    """
    found, left = [], list(printed)
    may_skip = False
    for line in shown:
        if line.strip() == CUT:
            found.append(line)
            may_skip = True
            continue
        places = [place for place, one in enumerate(left) if form(one) == form(line)]
        if not places or (places[0] and not may_skip):
            msg = f"{line!r}: is not printed there; what is: {left[:8]}"
            raise ValueError(msg)
        found.append(_short(left[places[0]]))
        left, may_skip = left[places[0] + 1 :], False
    if left and not may_skip:
        msg = f"{left[0]!r}: is printed, and not shown"
        raise ValueError(msg)
    return found


def form(line: str) -> str:
    """What of a line is the same on every machine: how far it stands in, and its first word."""
    stripped = MACHINE.sub("MACHINE", FOLDER.sub("", line)).lstrip()
    first = re.split(r"[\s/:]+", stripped, maxsplit=1)[0]
    return f"{len(line) - len(line.lstrip())} {re.sub(r'^[0-9]+[.][0-9]+$|^[A-D]$', '#', first)}"


def _short(line: str) -> str:
    return line if len(line) <= COLUMNS else f"{line[: COLUMNS - 3].rstrip()} {CUT}"


def walked(text: str, way: Way, *, is_clone: bool) -> str:
    """The page with what its commands print there. Raises: ValueError where one prints something of another form."""
    for step in steps(text, is_clone=is_clone):
        old = "\n".join((f"$ {step.command}", *step.shown))
        assert text.count(f"{old}\n") == 1, step.command
        text = text.replace(f"{old}\n", "\n".join((f"$ {step.command}", *fitted(step.shown, way(step.command)))) + "\n")
    return text


if __name__ == "__main__":
    for each in (False, True):
        with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patched:
            made = Way(Path(place), patched, is_clone=each, is_fake=False)
            PAGE.write_text(walked(PAGE.read_text(encoding="utf-8"), made, is_clone=each), encoding="utf-8")
