"""Running a workload, which performs a known number of events: started early, told to go when the tracer is live,
timed by itself.

One that builds a project has a fresh copy of its source tree for every run; nothing is built in the tree itself. Copies
are in memory if there is room, because a disk adds noise of its own.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from probe_effect.host import run_program
from probe_effect.host.compilers import CompiledProgram, Sysroot, c_compiler, compiled
from probe_effect.host.processes import SHARED_MEMORY, WORK_PREFIX, Child, mark
from probe_effect.model import Bucket, HostNotReady, ProbeEffectError, UsageError
from probe_effect.store.places import own_headers

NOT_PINNED = -1

SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/opt/probe-effect/bin"
"""The path on which workloads look for programs: everybody traces the system's own, and those that suites build."""

CLOCK_READS, CLOCK_RUNS = 200_000, 7


class WorkloadFailed(ProbeEffectError):
    """The workload ended badly or not at all; the row says so in its own words."""

    def __init__(self, words: str, *, status: Literal["failed", "timeout"] = "failed") -> None:
        self.status = status
        super().__init__(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTask:
    """What the workload is to do, and where."""

    program: Path
    operations: int
    cpu: int
    level: str | None = None
    """The level of the suite's factor, if it has one."""
    variant: str | None = None
    """Which of the workload's loops to run, if it has several."""
    threads: int = 1
    """How many threads perform the operations; each performs all of them."""
    tree: Path | None = None
    """The source tree to build, if the workload builds one."""

    def words(self) -> tuple[str, ...]:
        """The workload's command. A level comes before a variant, because the baseline has a level and no variant."""
        more = (str(word) for word in (self.level, self.variant, self.tree) if word is not None)
        return (str(self.program), str(self.operations), str(self.cpu), *more)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRun:
    """One timed run: the loop's time by the workload's own clock, the process's CPU time by the kernel's."""

    operations: int
    wall_ns: int
    user_ns: int
    sys_ns: int
    wrapper_cpu_ns: int | None = None
    """CPU time of the tool that started the workload, if a tool did."""
    histogram: tuple[Bucket, ...] = ()
    """How many operations took how long, if the workload times each."""


class WorkloadProcess:
    """A workload that waits for its `go`. Always `end` it.

    `prefix` is the beginning of a command that runs the workload, for tools that start what they watch.
    """

    def __init__(self, load: WorkloadTask, prefix: Sequence[str] = ()) -> None:
        self._operations = load.operations
        self._is_wrapped = bool(prefix)
        self._child = Child(
            [*prefix, *load.words()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            folder=load.program.parent,
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    def go(self, timeout_s: float) -> WorkloadRun:
        """The times of the workload, which runs now. Raises: WorkloadFailed."""
        self._child.tell("g")
        ended = self._child.wait(timeout_s)
        if ended is None:
            raise WorkloadFailed(f"the workload had not ended after {timeout_s:.0f} s", status="timeout")
        out, err = self._child.output()
        if ended.exit_status != 0:
            raise WorkloadFailed(f"the workload ended with status {ended.exit_status}: {err.strip()}")
        run = parse(out)
        if run.operations != self._operations:
            raise WorkloadFailed(f"the workload performed {run.operations} operations, expected {self._operations}")
        said_ns, waited_ns = run.user_ns + run.sys_ns, ended.user_ns + ended.sys_ns
        if self._is_wrapped:  # wait4 adds up the tool and the workload; the workload says its own part
            return replace(run, wrapper_cpu_ns=max(waited_ns - said_ns, 0))
        if said_ns > waited_ns:  # the work was done by a process that is no child of it, such as a bystander
            return run
        return replace(run, user_ns=ended.user_ns, sys_ns=ended.sys_ns)

    def end(self) -> None:
        self._child.end()


def parse(text: str) -> WorkloadRun:
    """The run in the workload's line of JSON, with the histogram of a second line, if there is one.

    Raises: WorkloadFailed.
    """
    first, _, second = text.partition("\n")
    try:
        line = json.loads(first)
        names = ("operations", "wall_ns", "user_ns", "sys_ns")
        operations, wall_ns, user_ns, sys_ns = (int(line[name]) for name in names)
    except (ValueError, KeyError, TypeError) as error:
        raise WorkloadFailed(
            f"the workload printed {text[:100]!r}, expected one line of JSON with operations, wall_ns, user_ns, sys_ns"
        ) from error
    if wall_ns <= 0:
        msg = f"the workload's monotonic clock moved by {wall_ns} ns in a run: such a clock cannot time anything"
        raise WorkloadFailed(msg)
    histogram = _histogram(second, operations) if second else ()
    return WorkloadRun(operations=operations, wall_ns=wall_ns, user_ns=user_ns, sys_ns=sys_ns, histogram=histogram)


def _histogram(text: str, operations: int) -> tuple[Bucket, ...]:
    """The buckets of a run, not overlapping and in the order of their times; together they have all its operations.

    Raises: WorkloadFailed.
    """
    try:
        buckets = tuple(Bucket(*map(int, bucket)) for bucket in json.loads(text)["histogram"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        msg = f"the workload printed {text[:100]!r}, expected a histogram: buckets of low and high ns and operations"
        raise WorkloadFailed(msg) from error
    before_ns = -1
    for low_ns, high_ns, number in buckets:
        if not before_ns < low_ns <= high_ns or number < 1:
            msg = f"the workload's histogram has {number} operations of {low_ns} to {high_ns} ns after {before_ns} ns"
            raise WorkloadFailed(msg)
        before_ns = high_ns
    if (counted := sum(bucket.operations for bucket in buckets)) != operations:
        raise WorkloadFailed(f"the workload's histogram has {counted} operations, expected {operations}")
    return buckets


def clock_read_ns(program: Path, cpu: int) -> float | None:
    """Median time of one monotonic clock read, ns; None when the program cannot say."""
    times = []
    for _ in range(CLOCK_RUNS):
        run = run_program([str(program), "--clock", str(CLOCK_READS), str(cpu)], 60)
        if run.returncode != 0:
            return None
        reads = parse(run.stdout)
        times.append(reads.wall_ns / reads.operations)
    return round(statistics.median(times), 2)


FLAGS = ("-O2", "-std=c11", "-Wall", "-Wextra", *(["-D__EXTENSIONS__"] if platform.system() == "SunOS" else []))
"""On illumos a strict C11 has nothing of POSIX unless asked by that name. Source: its <sys/feature_tests.h>."""


def build(
    source: Path,
    cache: Path | None = None,
    libraries: Sequence[str] = (),
    system: Sysroot | None = None,
    more: Sequence[str] = (),
) -> CompiledProgram:
    """The path of the program compiled from one C source and the headers of ours that it includes.

    It is kept in `cache`, the user's by default, links with `libraries` as `cc -l` takes their names, and runs on
    `system`, this one by default. `more`: further words for the compiler.
    Raises: HostNotReady without a compiler; ProbeEffectError with its message if it refuses the source.
    """
    compiler = c_compiler((*FLAGS, *more), [f"-l{name}" for name in libraries], system)
    # The file keeps its plain name, because that is the name by which counting twins know the workload.
    return compiled(source, compiler, f"workloads/{source.stem}", cache, own_headers(source))


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
