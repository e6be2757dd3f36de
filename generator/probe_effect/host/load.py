"""How busy the machine is, how a CPU spent its time, and what CPU quotas of our cgroups and those above allow.

Source: proc_stat(5). The kernel counts in ticks of 10 ms on most machines, so readings need seconds between them.
Documentation/admin-guide/cgroup-v2.rst (`cpu.max`, `cpu.stat`) and Documentation/scheduler/sched-bwc.rst
(`cpu.cfs_quota_us`). A cgroup's `cpu.stat` counts its own quota alone, so every level is asked. What is above the root
of a cgroup namespace is not seen.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import add, sub
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from probe_effect.host import ROOT, read_text, run_program
from probe_effect.host.compilers import MACHINE, c_compiler, compiled
from probe_effect.model import ProbeEffectError

FIELDS = 8
"""user, nice, system, idle, iowait, irq, softirq, steal. The time of guests, which follows, is in user and nice."""


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Time of one CPU since the machine started, in ticks of `sysconf(_SC_CLK_TCK)` a second."""

    idle: int = 0
    """Idle time, with the time waiting for input and output, which proc_stat(5) calls unreliable."""
    steal: int = 0
    total: int = 0


CLOCKS = (("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"), ("CLOCK_MONOTONIC_RAW", "CLOCK_UPTIME_RAW"))
"""A clock that goes on while the machine is suspended, and one that does not: of Linux, of macOS (clock_gettime)."""


def slept_s() -> float:
    """Seconds that this machine was suspended since it started; 0 where no two clocks say."""
    for names in CLOCKS:
        always, awake = (getattr(time, name, None) for name in names)
        if always is not None and awake is not None:
            return time.clock_gettime(always) - time.clock_gettime(awake)
    return 0.0


SINCE_BOOT = CpuTimes()  # the reading when the machine started


def cpu_times(root: Path, cpu: int | None) -> CpuTimes | None:
    """The times of `cpu` now, or of all CPUs together if it is None.

    None if `/proc/stat` is absent, or has no line of that CPU, or no steal.
    """
    for line in (read_text(root, "proc/stat") or "").splitlines():
        name, *fields = line.split()
        if name == f"cpu{'' if cpu is None else cpu}" and len(fields) >= FIELDS:
            times = [int(field) for field in fields[:FIELDS]]
            return CpuTimes(idle=times[3] + times[4], steal=times[7], total=sum(times))
    return None


def steal_ratio(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Share of the time between two readings that the hypervisor took; None when one is missing or no tick passed."""
    return _share(before, after, "steal")


def busy_ratio(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Share of the time between two readings in which the CPU was not idle; None as for `steal_ratio`."""
    idle = _share(before, after, "idle")
    return None if idle is None else 1 - idle


def _share(before: CpuTimes | None, after: CpuTimes | None, part: Literal["steal", "idle"]) -> float | None:
    if before is None or after is None or after.total <= before.total:
        return None
    share: float = (getattr(after, part) - getattr(before, part)) / (after.total - before.total)
    return min(max(share, 0.0), 1.0)  # the kernel's counts of idle and steal may step back a little


def load_average() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


@cache
def load_before_ours() -> float | None:
    """The load average when it is asked for first: of several suites, the later ones would find that of the earlier."""
    return load_average()


KEYS = ("cpuid_ns", "breakpoint_ns", "step_ns")


def trap_times(cpu: int, cache: Path | None = None) -> dict[str, float]:
    """What an exit to the hypervisor takes here: evidence for what a guest's hypervisor runs on.

    The median CPU times, ns, by their keys in `System`; empty without a compiler, and where this is no x86-64.
    """
    if MACHINE != "x86_64":
        return {}
    try:
        compiler = c_compiler(("-O2", "-std=gnu11", "-Wall", "-Wextra", "-mno-red-zone"))
        path = compiled(Path(__file__).with_name("traps.c"), compiler, "machine/traps", cache).path
        times = json.loads(run_program([str(path), str(cpu)], 60, check=True).stdout)
        return {key: float(times[key]) for key in KEYS}
    except (ProbeEffectError, OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return {}  # facts that a sandbox or another compiler does not give are missing, and stop no measurement


@dataclass(frozen=True, slots=True)
class Quota:
    """The limit of a cgroup: CPUs that it may use on average over a period of `period_ms`."""

    group: str
    cpus: float
    period_ms: float


class Throttling(NamedTuple):
    """How often a quota stopped what is in a cgroup: all periods, those with a stop, and the time of the stops."""

    periods: int = 0
    throttled_periods: int = 0
    throttled_ns: int = 0

    @property
    def ratio(self) -> float:
        return self.throttled_periods / self.periods if self.periods else 0.0


def tightest_quota(root: Path = ROOT) -> Quota | None:
    """The least of the quotas on our cgroup and those above; None where there is none, or nothing says."""
    quotas = (quota for folder in _groups(root) if (quota := _quota(root, folder)))
    return min(quotas, key=lambda quota: quota.cpus, default=None)


def throttlings(root: Path = ROOT) -> dict[str, Throttling]:
    """How often each of these cgroups with a quota was stopped, by its folder, since it was made."""
    by_folder = {}
    for folder in _groups(root):
        if _quota(root, folder):
            pairs = (line.split() for line in (read_text(root, f"{folder}/cpu.stat") or "").splitlines())
            counts = {pair[0]: int(pair[1]) for pair in pairs}
            throttled_ns = counts.get("throttled_time", 1000 * counts.get("throttled_usec", 0))
            by_folder[folder] = Throttling(counts.get("nr_periods", 0), counts.get("nr_throttled", 0), throttled_ns)
    return by_folder


def throttled_since(before: dict[str, Throttling], earlier: Throttling | None, root: Path = ROOT) -> Throttling | None:
    """How often we were stopped since a reading, in the cgroup that was stopped most, with what an earlier part of the
    run had; None where there is and was no quota.
    """
    since = [Throttling(*map(sub, now, before.get(group, Throttling()))) for group, now in throttlings(root).items()]
    most = max(since, key=lambda throttling: throttling.throttled_periods, default=None)
    return Throttling(*map(add, earlier or Throttling(), most)) if most else earlier


def _groups(root: Path) -> Iterator[str]:
    """The folders, below the root, of our cgroup and of each above, in the hierarchies that may limit a CPU."""
    mounts = list(_mounts(root))
    for line in (read_text(root, "proc/self/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        is_new = number == "0" and not controllers
        if not is_new and "cpu" not in controllers.split(","):
            continue
        mount = next(((top, folder) for new, top, folder in mounts if new == is_new), None)
        if mount is None:
            continue
        top, folder = mount  # in a container the mount may begin at our own cgroup, or below what the path names
        inside = PurePosixPath(path)
        below = inside.relative_to(top) if inside.is_relative_to(top) and ".." not in inside.parts else PurePosixPath()
        own = PurePosixPath(folder.lstrip("/")) / str(below).lstrip("/")
        yield from (str(group) for group in (own, *own.parents) if group.is_relative_to(folder.lstrip("/")))


def _mounts(root: Path) -> Iterator[tuple[bool, str, str]]:
    """(is it version 2, cgroup at the top, mount point) of each hierarchy of cgroups (proc_pid_mountinfo(5))."""
    for line in (read_text(root, "proc/self/mountinfo") or "").splitlines():
        own, _, kind = line.partition(" - ")
        words, (filesystem, *_, options) = own.split(), kind.split()
        if filesystem == "cgroup2" or (filesystem == "cgroup" and "cpu" in options.split(",")):
            yield filesystem == "cgroup2", words[3], words[4]


def _quota(root: Path, folder: str) -> Quota | None:
    old = (read_text(root, f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period"))
    limit, period = (read_text(root, f"{folder}/cpu.max") or " ".join(filter(None, old)) or "max -").split()
    return None if limit in {"max", "-1"} else Quota(f"/{folder}", int(limit) / int(period), int(period) / 1000)
