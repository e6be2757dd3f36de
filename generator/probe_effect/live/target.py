"""Whose events are counted: a process, the processes of a cgroup, a command that we start, or the whole machine."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from probe_effect.host import ROOT, other_pids, read_text
from probe_effect.host.processes import Child, end_descriptor, is_readable
from probe_effect.model import HostNotReady, UsageError
from probe_effect.store.tables import printable

WAIT_STOPPED = 'kill -STOP "$$"; exec "$@"'
"""Have the shell stop itself before it becomes the command: what is counted begins when we let it go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whose events count: exactly one of these, or none for the whole machine.

    `pid`: that process with all its threads, and not its children, as `bpftrace -p` has it; with `follows` those that
    it starts from now on too, as `strace -f -p` has it. `everywhere`: the probes of files are in all processes, and
    events of others are counted apart, as with an older `bpftrace -p`. `cgroup`: a folder of
    cgroupfs; the processes in it and below it, and their children. `command`: a program that we start, and its
    children; it is ended when the counting is over.
    """

    pid: int | None = None
    cgroup: Path | None = None
    command: tuple[str, ...] = ()
    follows: bool = False
    everywhere: bool = False

    @property
    def is_machine(self) -> bool:
        return self.pid is None and self.cgroup is None and not self.command


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadUse:
    """A thread of the target, the CPU time that it used while it was counted, and how long it waited for a CPU.

    Its name, which it gave itself, is fit to be printed.
    """

    tid: int
    pid: int
    comm: str
    cpu_s: float
    waited_s: float


class TargetProcesses:
    """The processes of a target while they are counted. Always `close` it."""

    def __init__(self, target: Target) -> None:
        """Start the command, stopped before its first instruction; or look whether the process or the cgroup is there.

        Raises: UsageError for a process, a cgroup or a command that is not there; HostNotReady inside a container.
        """
        if here := other_pids(ROOT):
            raise HostNotReady(
                f"this program is in a process namespace of its own ({here}), and the kernel counts by the ids of the "
                "first one. Run it on the host, or in a container that shares them (docker run --pid=host)"
            )
        self.target = target
        self._child = stopped(target.command) if target.command else None
        self.pid = self._child.pid if self._child else target.pid
        self._ends = _end_of(self.pid) if self.pid is not None else -1
        if target.cgroup is not None and not (target.cgroup / "cgroup.procs").is_file():
            msg = f"cgroup {target.cgroup}: expected a folder with the file cgroup.procs, such as below /sys/fs/cgroup"
            raise UsageError(msg)

    def pids(self) -> list[int]:
        """The processes of the target that there are now: of a command with its children, of the machine all."""
        if self.pid is not None:
            return [self.pid, *_descendants(self.pid)] if self.target.command else [self.pid]
        if self.target.cgroup is not None:
            return sorted(set(_in_cgroup(self.target.cgroup)))
        return [int(folder.name) for folder in ROOT.glob("proc/[0-9]*")]

    def go_on(self) -> None:
        if self._child is not None:
            self._child.send(signal.SIGCONT)

    def wait(self, timeout_s: float) -> bool:
        """Whether the process or the command has ended within that time; a cgroup and a machine never end."""
        if self._ends >= 0:
            return is_readable(self._ends, timeout_s)
        time.sleep(timeout_s)
        return False

    def close(self) -> None:
        if self._child is not None:
            self._child.send(signal.SIGCONT)  # a stopped program would not hear that it is to end
            self._child.end()
            self._child = None
        if self._ends >= 0:
            os.close(self._ends)
            self._ends = -1


def threads_of(pids: Iterable[int]) -> dict[int, ThreadUse]:
    """Thread id to the thread of these processes, with the CPU time that it used since its start.

    Source: Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat: ns on a CPU, then ns of waiting for one. The
    kernel brings them up to date at each tick, so that they are behind by some ms for a thread that runs. Threads that
    end while we look are left out, and all where the kernel was built without CONFIG_SCHED_INFO.
    """
    threads = {}
    for pid in pids:
        folders: list[Path] = []
        with contextlib.suppress(OSError):
            folders += (ROOT / f"proc/{pid}/task").iterdir()
        for folder in folders:
            if (stat := read_text(folder, "schedstat")) is not None:
                cpu_s, waited_s = (int(word) / 1e9 for word in stat.split()[:2])
                tid, comm = int(folder.name), printable(read_text(folder, "comm") or "")
                threads[tid] = ThreadUse(tid=tid, pid=pid, comm=comm, cpu_s=cpu_s, waited_s=waited_s)
    return threads


def used_between(before: dict[int, ThreadUse], after: dict[int, ThreadUse]) -> list[ThreadUse]:
    """What each thread used between two looks, the busiest first; one that was not there before began at zero."""
    used = [
        replace(thread, cpu_s=thread.cpu_s - before[tid].cpu_s, waited_s=thread.waited_s - before[tid].waited_s)
        if tid in before
        else thread
        for tid, thread in after.items()
    ]
    return sorted(used, key=lambda thread: (-thread.cpu_s, thread.tid))


def _descendants(pid: int) -> Iterator[int]:
    """Children of all threads of a process, and theirs: proc_pid_tid_children(5)."""
    for file in ROOT.glob(f"proc/{pid}/task/*/children"):
        for child in map(int, (read_text(file.parent, file.name) or "").split()):
            yield child
            yield from _descendants(child)


def stopped(command: tuple[str, ...], *, stdout: int = 2, stderr: int = 2) -> Child:
    """The command, stopped before it is executed, with nothing to read. Its output goes to our standard error.

    Raises: UsageError if it cannot be started.
    """
    words = ("/bin/sh", "-c", WAIT_STOPPED, "sh", *command)
    child = Child(words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, is_ours=False)
    ended = os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    if ended is None or ended.si_code != os.CLD_STOPPED:
        child.end()
        msg = f"{command[0]}: the shell that was to start it ended at once; expected a command that /bin/sh can execute"
        raise UsageError(msg)
    return child


def _end_of(pid: int) -> int:
    """A descriptor that says when a process ends. Raises: UsageError if there is none, with what has its id inside."""
    try:
        return end_descriptor(pid)
    except (OSError, OverflowError) as error:
        others = sorted(outer for outer, inner in _inner_pids() if inner == pid)
        where = f"; inside a container process {others[0]} is called so: give that one" if others else ""
        msg = f"process {pid}: found none, expected the id of a process that runs here, as `ps -e` lists them{where}"
        raise UsageError(msg) from error


def _inner_pids() -> Iterator[tuple[int, int]]:
    """Id here and id in its own namespace of each process in another one: proc_pid_status(5), NSpid."""
    for folder in ROOT.glob("proc/[0-9]*"):
        for line in (read_text(folder, "status") or "").splitlines():
            if line.startswith("NSpid:") and len(ids := line.split()[1:]) > 1:
                yield int(ids[0]), int(ids[-1])


def _in_cgroup(folder: Path) -> Iterator[int]:
    """Process ids of a cgroup and of those below it; the kernel refuses the list of a threaded one."""
    for cgroup in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        with contextlib.suppress(OSError):
            yield from map(int, (cgroup / "cgroup.procs").read_text().split())
