"""Source trees that a workload builds, and a fresh copy of one for every run.

Nothing is built in a tree itself. Its copies are in memory if there is room, because a disk adds noise of its own.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from probe_effect.host.processes import mark
from probe_effect.host.workloads import SYSTEM_PATH
from probe_effect.model import HostNotReady, UsageError
from probe_effect.tracers.tool import SHARED_MEMORY, WORK_PREFIX

READY = "ready"  # the folder with the copy that others are made from
INSTEAD = "to build another project, name the folder of its source: --source DIR"

KERNEL_VERSION = Path("/usr/src/sys/conf/newvers.sh")
HISTORY = (".git", ".hg", ".svn")  # folders of a tree that are not part of the build

ROOM = 8
"""How many times the size of a tree must be free in memory: for two copies, the objects of one, and some to spare."""

COMMAND_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Tree:
    """A source tree."""

    folder: Path
    origin: str
    """The tree's name in the record, without its folder."""
    configure: str | None = None
    """The command after which `make` can build the tree; None if it can already."""
    is_named: bool = False
    """Whether the user named the tree, in place of the suite's own project."""
    work: Path | None = None
    """Our own folder with the copies; None before the tree is made ready."""

    @property
    def build(self) -> Path | None:
        """The copy that is built; None before the tree is made ready."""
        return self.work / "build" if self.work else None

    def renew(self) -> None:
        """Make a fresh copy to build, in place of that of the previous run. Raises: HostNotReady.

        Does nothing before the tree is made ready.
        """
        if self.work is None or self.build is None:
            return
        if self.build.exists():
            old = Path(tempfile.mkdtemp(dir=self.work))
            self.build.rename(old / "build")  # what a killed build still writes is in nobody's way there
            shutil.rmtree(old, ignore_errors=True)
        _copy(self.work / READY, self.build)


def named_tree(folder: Path) -> Tree:
    """The tree in a folder that the user named. Raises: UsageError if there is none that `make` builds."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name that of a source tree which `make` builds")
    if not any((folder / name).is_file() for name in ("GNUmakefile", "makefile", "Makefile")):
        raise UsageError(f"{folder}: no Makefile in it; name the folder of a source tree which `make` builds")
    try:
        return Tree(folder.absolute(), _origin(folder), is_named=True)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: {error.strerror}") from error


def kernel_build(folder: Path) -> Tree:
    """The tree in a folder that builds this FreeBSD's kernel from its sources. Raises: HostNotReady without them."""
    try:
        script = KERNEL_VERSION.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"{KERNEL_VERSION}: expected the sources of FreeBSD's kernel, which runs build; found none\n{INSTEAD}"
        raise HostNotReady(msg) from error
    version = "-".join(re.findall(r'^(?:REVISION|BRANCH)="(.+)"', script, re.MULTILINE))
    return Tree(folder, f"FreeBSD {version}, buildkernel")


@contextmanager
def made_ready(tree: Tree) -> Iterator[Tree]:
    """The tree with a folder of ours, which has a configured and clean copy to make others from.

    The folder is removed when we end, or as a leftover by the next measurement. Raises: HostNotReady if there is no
        room, or with the message of a command that failed.
    """
    parent = _place(sum(path.lstat().st_size for path in _files(tree.folder)))
    prefix = f"{WORK_PREFIX}{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as folder:
        ready = replace(tree, work=Path(folder))
        _copy(tree.folder, Path(folder) / READY)
        for command in filter(None, (tree.configure, "make clean")):
            _run(command, Path(folder))
        ready.renew()
        yield ready


def _place(size_bytes: int) -> Path | None:
    """A folder in memory, if it has room and programs may run from it; None: the folder of temporary files."""
    try:
        flags, free_bytes = os.statvfs(SHARED_MEMORY).f_flag, shutil.disk_usage(SHARED_MEMORY).free
    except OSError:
        return None
    return SHARED_MEMORY if not flags & os.ST_NOEXEC and free_bytes > ROOM * size_bytes else None


def _copy(source: Path, target: Path) -> None:
    """A copy with the times of its files, which make compares. Raises: HostNotReady."""
    try:
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(*HISTORY))
    except shutil.Error as error:
        file, _, why = error.args[0][0]
        raise HostNotReady(f"{file}: cannot be copied: {why}") from error
    except OSError as error:
        raise HostNotReady(f"{error.filename or target}: {error.strerror}") from error


def _run(command: str, work: Path) -> None:
    """Run a command in the copy that others are made from. Raises: HostNotReady with the end of its output."""
    environment = {"PATH": SYSTEM_PATH, "LC_ALL": "C", "TMPDIR": str(work), **mark(["sh"])}
    try:
        run = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=work / READY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        msg = f"`{command}` in a copy of the source tree had not ended after {COMMAND_TIMEOUT_S} s"
        raise HostNotReady(msg) from error
    if run.returncode != 0:
        last_lines = "; ".join(run.stdout.strip().splitlines()[-3:])
        raise HostNotReady(f"`{command}` in a copy of the source tree ended with status {run.returncode}: {last_lines}")


def _origin(folder: Path) -> str:
    """The number of files of a tree, and a hash over their names and contents, in words."""
    hashed, count = hashlib.sha256(), 0
    for count, path in enumerate(_files(folder), start=1):  # noqa: B007 (the last is their number)
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        hashed.update(b"%s\0%d\0" % (os.fsencode(path.relative_to(folder)), len(content)) + content)
    return f"{count} files, sha256 {hashed.hexdigest()[:16]}"


def _files(folder: Path) -> Iterator[Path]:
    """The files and links of a tree, always in one order, without its history. Raises: OSError if it cannot be read."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name not in HISTORY:
                yield from _files(path)
        elif path.is_symlink() or path.is_file():
            yield path
