"""Reading the running system: small text files that may be absent, and the kernel's build options.

Every function takes the root of the file system, so that a test can hand in a folder instead.
"""

import gzip
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path("/")
FIRST_PIDS = "pid:[4026531836]"
"""The first namespace of process ids: PROC_PID_INIT_INO of include/linux/proc_ns.h. Programs in the kernel see its."""
PROGRAM = "probe-effect"


def read_text(root: Path, path: str) -> str | None:
    """The stripped text of the file at `path` below `root`, or None when it is absent, empty or closed to us."""
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def other_pids(root: Path = ROOT) -> str | None:
    """The namespace of our process ids, where it is known and not the first one."""
    try:
        here = (root / "proc/self/ns/pid").readlink().name
    except OSError:
        return None
    return None if here == FIRST_PIDS else here


def kernel_config(root: Path = ROOT) -> dict[str, str] | None:
    """The kernel's build options, name without `CONFIG_` to value, `n` where not set; None when no file has them."""
    try:
        text: str | None = gzip.decompress((root / "proc/config.gz").read_bytes()).decode("utf-8", errors="replace")
    except OSError:
        release = read_text(root, "proc/sys/kernel/osrelease") or os.uname().release
        # Debian and Ubuntu keep the file in /boot, Fedora beside the modules.
        text = read_text(root, f"boot/config-{release}") or read_text(root, f"lib/modules/{release}/config")
    if text is None:
        return None
    options = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
    return options | dict.fromkeys(re.findall(r"^# CONFIG_(\w+) is not set$", text, re.MULTILINE), "n")


def run_program(
    command: Sequence[str | Path],
    timeout_s: float | None = 30,
    *,
    check: bool = False,
    **settings: Any,  # noqa: ANN401 (those of subprocess.run)
) -> subprocess.CompletedProcess[str]:
    """A program that has ended, with what it printed, whatever bytes that is. Raises: OSError, SubprocessError."""
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", timeout=timeout_s, check=check, **settings
    )


def sysctl(name: str) -> str | None:
    """A value of FreeBSD's kernel, which has no files for them; None on every other system, and where there is none."""
    if platform.system() != "FreeBSD":
        return None
    try:
        run = run_program(["sysctl", "-n", name], 10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (run.stdout.strip() or None) if run.returncode == 0 else None


def usable_cpus() -> set[int]:
    """The CPUs that we may use; all of them where Python cannot ask."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def may_use(cpu: int) -> bool:
    """Whether we may go to a CPU that is not among those that we were given, as an isolated one; we stay where we are.

    A shell is started on the CPUs that are not isolated, and whatever it starts inherits them.
    """
    if not hasattr(os, "sched_setaffinity"):
        return False
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {cpu})
        os.sched_setaffinity(0, before)
    except OSError:  # it is off, or the cgroup lacks it
        return False
    return True


def stay_on(cpus: set[int]) -> None:
    """Keep this program, and what it starts from now on, on these CPUs."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)
    elif shutil.which("cpuset"):  # FreeBSD, where this Python lacks it; macOS has nothing like it
        numbers = ",".join(map(str, sorted(cpus)))
        subprocess.run(["cpuset", "-l", numbers, "-p", str(os.getpid())], check=True)  # noqa: S607


def typed(*words: str | Path) -> str:
    """Our own command with these words, as a reader types it: with the path by which we were called, if by one."""
    called = Path(sys.argv[0])
    is_ours = called.name == PROGRAM and shutil.which(PROGRAM) != str(called)
    return shlex.join([str(called) if is_ours else PROGRAM, *map(str, words)])
