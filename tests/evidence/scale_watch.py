"""Time and memory of a command and of all that it starts, while it runs.

Memory is each process's own peak, `VmHWM` of `/proc/<pid>/status`, which the kernel begins anew with a new program.
What wait4 gives (`ru_maxrss`) also knows the time before that, when the process was still a copy of us. A peak can
only rise, so the last reading of a process is its peak, but for what it took after that.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from probe_effect.store.documents import Document

if TYPE_CHECKING:
    from typing import Self

PROC = Path("/proc")
HUGO = "hugo"
INTERVAL_S = 0.05
"""Between two readings: about 1 ms of work each."""

KIBIBYTE = 1 << 10
PARENT_FIELD, START_FIELD = 1, 19
"""Of `/proc/<pid>/stat` after the name, from 0 (proc_pid_stat(5))."""


class Process(NamedTuple):
    """A process, told from a later one of the same number by when it started."""

    pid: int
    start_ticks: int


@dataclass(frozen=True, slots=True)
class Peak:
    """The most memory that a process has had, so far."""

    name: str
    depth: int
    """1 for what we started ourselves, 2 for its children, and so on."""
    peak_bytes: int


class Used(Document):
    """What was used while a `Watch` was open."""

    seconds: float
    cpu_s: float
    """User and kernel time of all that was started and has ended; more than `seconds` where CPUs worked at once."""
    own_peak_bytes: int
    """Of the program that was started."""
    child: str
    """The one with the largest peak of all that the program started itself; empty where there was none."""
    child_peak_bytes: int
    together_bytes: int
    """The most that all had at one moment; memory that two share counts twice."""
    beside_hugo_bytes: int
    """The same of all but Hugo."""


@dataclass
class Watch:
    """A context manager that measures what this process starts inside it; `used` has the result afterwards."""

    peaks: dict[Process, Peak] = field(default_factory=dict)
    together_bytes: int = 0
    beside_hugo_bytes: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)
    _start_s: float = 0.0
    _cpu_before_s: float = 0.0
    _others: frozenset[Process] = frozenset()
    """What ran below this process before."""

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._read_until_over, daemon=True)
        self._others = frozenset(descendants(os.getpid()))
        self._start_s, self._cpu_before_s = time.perf_counter(), ended_cpu_s()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._start_s
        self.cpu_s = ended_cpu_s() - self._cpu_before_s
        self._over.set()
        self._thread.join()

    def used(self) -> Used:
        """Time and memory. The watch is over."""
        own = [one.peak_bytes for one in self.peaks.values() if one.depth == 1]
        below = [one for one in self.peaks.values() if one.depth > 1]
        largest = max(below, key=lambda one: one.peak_bytes, default=Peak("", 0, 0))
        return Used(
            seconds=self.seconds,
            cpu_s=self.cpu_s,
            own_peak_bytes=max(own, default=0),
            child=largest.name,
            child_peak_bytes=largest.peak_bytes,
            together_bytes=self.together_bytes,
            beside_hugo_bytes=self.beside_hugo_bytes,
        )

    def _read_until_over(self) -> None:
        while not self._over.wait(INTERVAL_S):
            self.read()

    def read(self) -> None:
        """Look once at every process below this one."""
        resident_bytes = beside_bytes = 0
        for process, depth in descendants(os.getpid()).items():
            if process in self._others:
                continue
            with suppress(OSError, KeyError, ValueError):  # it has ended meanwhile
                found = status(process.pid)
                peak_bytes = kibibytes(found["VmHWM"])
                resident_bytes += kibibytes(found["VmRSS"])
                beside_bytes += 0 if found["Name"] == HUGO else kibibytes(found["VmRSS"])
                self.peaks[process] = Peak(found["Name"], depth, peak_bytes)
        self.together_bytes = max(self.together_bytes, resident_bytes)
        self.beside_hugo_bytes = max(self.beside_hugo_bytes, beside_bytes)


def ended_cpu_s() -> float:
    """User and kernel time of all children that have ended, with what they waited for themselves."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def status(pid: int) -> dict[str, str]:
    """`/proc/<pid>/status`: key to value. Raises: OSError when the process is gone."""
    lines = (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def kibibytes(text: str) -> int:
    """A size as `/proc` writes it, `1234 kB`, in bytes."""
    return int(text.removesuffix(" kB")) * KIBIBYTE


def descendants(ancestor: int) -> dict[Process, int]:
    """Every living process below `ancestor`, to how many steps below it is."""
    children: dict[int, list[Process]] = {}
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError, IndexError):
            # The name stands in brackets and may hold anything.
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            process = Process(int(folder.name), int(fields[START_FIELD]))
            children.setdefault(int(fields[PARENT_FIELD]), []).append(process)
    found: dict[Process, int] = {}
    waiting = [(process, 1) for process in children.get(ancestor, ())]
    while waiting:
        process, depth = waiting.pop()
        found[process] = depth
        waiting += [(child, depth + 1) for child in children.get(process.pid, ())]
    return found
