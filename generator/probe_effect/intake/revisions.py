"""The two states of the data that a review is about: each a folder, or a revision in git.

A revision is read blob by blob, as data only: no working tree is made, no attribute, filter or hook of the branch has a
say, and links are refused.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from probe_effect.model import BadData, ProbeEffectError, Problem, UsageError
from probe_effect.store.kept import Kept
from probe_effect.store.places import BELONGS, GIT, STEERS, DataFolder, is_known_file
from probe_effect.store.tables import MAX_FILE_BYTES, printable

DATA = "data"
EXECUTABLE = "100755"
MAX_BLOB_BYTES = 100 * 1024 * 1024
"""GitHub takes no larger file; only the archive of a release comes near."""
MAX_BLOBS = 50_000
MAX_REVISION_BYTES = 1 << 30
"""A few bytes of git may stand for any number of files and bytes: one folder named many times, a file of zeros."""
CHUNK_BYTES = 1 << 20
MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class State:
    """The data as one side has it, how that side is called, and what could not be taken over."""

    name: str
    data: DataFolder
    refused: tuple[Problem, ...] = ()


class Blob(NamedTuple):
    """A file of a revision."""

    mode: str
    id: str
    size_bytes: int
    path: str


def states(base: str, head: str | DataFolder, work: Path, kept: Kept) -> tuple[State, State]:
    """Both states, in folders that may be below `work`.

    A revision as base means the point from which head went away from it: what others published since is no change.
    Raises: UsageError for what is neither a folder nor a revision.
    """
    later = _state(head, work / "head", kept) if isinstance(head, str) else State(head.root.name, head)
    if Path(base).is_dir():
        return _state(base, work / "base", kept), later
    branch = head if isinstance(head, str) and not Path(head).is_dir() else "HEAD"
    old, new = _commit(base), _commit(branch)
    # The last commit that both have; `base` itself where git knows of none, as in a clone of little depth.
    process = _git("merge-base", old, new)
    earlier = _revision(base, process.stdout.strip() or old, work / "base", kept)
    parents = _git("rev-parse", f"{new}^@").stdout.split()
    # A merge of the branch's own commit into `base`, which GitHub makes and nobody knows.
    if branch == head and len(parents) == 2 and parents[0] == old:
        later = replace(later, name=f"commit {parents[1]}")
        return replace(earlier, name=f"the branch that it goes to, {old[:12]}"), later
    return earlier, later


def _state(text: str, work: Path, kept: Kept) -> State:
    folder = Path(text)
    if folder.is_dir():
        return State(text, DataFolder(folder / DATA if (folder / DATA).is_dir() else folder, kept))
    return _revision(text, _commit(text), work, kept)


def _commit(text: str) -> str:
    """The commit that `text` names. Raises: UsageError when there is none."""
    process = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    if process.returncode:
        complaint = process.stderr.strip() or "there is no such revision"
        raise UsageError(
            f"{printable(text, MAX_SHOWN)}: is not a folder, and git says: {printable(complaint, MAX_SHOWN)}. "
            "Expected a data folder, a checkout, or a revision such as `main`."
        )
    return process.stdout.strip()


def _revision(name: str, commit: str, work: Path, kept: Kept) -> State:
    """The data of a commit, written out below `work`. Raises: BadData for more than any data have."""
    data = DataFolder(work / DATA, kept)
    data.root.mkdir(parents=True)
    blobs, refused, left_bytes = [], [], MAX_REVISION_BYTES
    for index, blob in enumerate(_blobs(commit)):
        left_bytes -= blob.size_bytes
        if index == MAX_BLOBS or left_bytes < 0:
            fault = f"holds more than {MAX_BLOBS} files, or {MAX_REVISION_BYTES} bytes"
            raise BadData([_refused(DATA, fault, "send less at once")])
        if problem := _refusal(blob):
            refused.append(problem)
        else:
            blobs.append(blob)
    _write(blobs, work)
    return State(f"{name} ({commit[:12]})", data, tuple(refused))


def _blobs(commit: str) -> Iterator[Blob]:
    """Everything below `data/` of the repository around the working folder, as it is read from git."""
    command = ["git", "ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", f"{DATA}/"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as git:
        assert git.stdout is not None
        rest = b""
        try:
            while chunk := git.stdout.read(CHUNK_BYTES):
                *whole, rest = (rest + chunk).split(b"\0")
                for facts, _, path in (os.fsdecode(entry).partition("\t") for entry in whole):
                    mode, _, blob, size = facts.split()
                    yield Blob(mode, blob, int(size) if size.isdigit() else 0, path)
                if len(rest) > CHUNK_BYTES:
                    fault = f"holds a path of more than {CHUNK_BYTES} bytes"
                    raise BadData([_refused(DATA, fault, "give it a shorter name")])
        finally:
            git.stdout.close()  # ends git where its list is not read to the end
    if git.returncode:
        raise ProbeEffectError(f"{printable(commit)}: git cannot list its files. Fetch the whole revision first.")


def _refusal(blob: Blob) -> Problem | None:
    names = blob.path.split("/")[1:]
    if blob.mode not in {"100644", EXECUTABLE}:
        return _refused(blob.path, "is a link, or a repository of its own", "put the file itself here")
    if names[-1].startswith(GIT):
        return _refused(blob.path, *STEERS)
    if not is_known_file(names):
        return _refused(blob.path, "is not a file of the data", BELONGS)
    if blob.size_bytes > (MAX_BLOB_BYTES if names[0] == "releases" else MAX_FILE_BYTES):
        return _refused(blob.path, f"is larger than {MAX_FILE_BYTES} bytes", "split the run, or leave it out")
    return None


def _refused(path: str, message: str, hint: str) -> Problem:
    return Problem("error", printable(path, MAX_SHOWN), None, None, "known-files", message, hint)


def _write(blobs: list[Blob], work: Path) -> None:
    """Each blob at its path below `work`, through one git for all: a line that names it, its bytes, and a line end."""
    with subprocess.Popen(["git", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:  # noqa: S607
        assert git.stdin is not None
        assert git.stdout is not None
        for blob in blobs:
            git.stdin.write(f"{blob.id}\n".encode())
            git.stdin.flush()
            target, left = work / blob.path, blob.size_bytes
            is_there = git.stdout.readline() == f"{blob.id} blob {left}\n".encode()
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                while is_there and (chunk := git.stdout.read(min(left, CHUNK_BYTES))):
                    left -= file.write(chunk)
            if left or not is_there:
                shown = printable(blob.path, MAX_SHOWN)
                raise ProbeEffectError(f"{shown}: git does not hand out its content. Fetch the whole revision first.")
            git.stdout.read(1)
            target.chmod(0o755 if blob.mode == EXECUTABLE else 0o644)
        git.stdin.close()


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Git's answer. Raises: UsageError where there is no git."""
    try:
        command = ["git", *arguments]
        return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=False)
    except FileNotFoundError as error:
        raise UsageError("git: is not installed, and a revision was named. Install git, or name folders.") from error
