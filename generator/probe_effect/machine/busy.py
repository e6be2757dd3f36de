"""How busy the machine is, and how a CPU spent its time: what the hypervisor took from it, and how busy it was.

Source: proc_stat(5). The kernel counts in ticks of 10 ms on most machines, so readings need seconds between them.
"""

import json
import operator
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from probe_effect.compilers import MACHINE, c_compiler, compiled
from probe_effect.errors import ProbeEffectError
from probe_effect.host import read_text

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


SINCE_BOOT = CpuTimes()
"""The reading when the machine started."""


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
    return _share(before, after, operator.attrgetter("steal"))


def busy_ratio(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Share of the time between two readings in which the CPU was not idle; None as for `steal_ratio`."""
    idle = _share(before, after, operator.attrgetter("idle"))
    return None if idle is None else 1 - idle


def _share(before: CpuTimes | None, after: CpuTimes | None, part: "operator.attrgetter[int]") -> float | None:
    if before is None or after is None or after.total <= before.total:
        return None
    share = (part(after) - part(before)) / (after.total - before.total)
    return min(max(share, 0.0), 1.0)  # the kernel's counts of idle and steal may step back a little


def load_average() -> float | None:
    """One-minute load average."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


SOURCE = Path(__file__).with_name("traps.c")
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-mno-red-zone")
KEYS = ("cpuid_ns", "breakpoint_ns", "step_ns")
TIMEOUT_S = 60


def trap_times(cpu: int, cache: Path | None = None) -> dict[str, float]:
    """What an exit to the hypervisor takes here: evidence for what a guest's hypervisor runs on.

    The median CPU times, ns, by their keys in `System`; empty without a compiler, and where this is no x86-64.
    """
    if MACHINE != "x86_64":
        return {}
    try:
        path = compiled(SOURCE, c_compiler(FLAGS), "machine/traps", cache).path
        run = subprocess.run([str(path), str(cpu)], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        found = json.loads(run.stdout)
        return {key: float(found[key]) for key in KEYS}
    except (ProbeEffectError, OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return {}  # facts that a sandbox or another compiler does not give are missing, and stop no measurement
