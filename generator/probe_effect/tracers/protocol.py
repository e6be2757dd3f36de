"""What the harness asks of each tracer, and which packages to install for it.

A tracer says itself why it cannot run; here is only what one command brings at once.
"""

import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import missing
from probe_effect.host.processes import is_gone, state
from probe_effect.model import Need, ProbeEffectError
from probe_effect.records import TOOLS, Package

Counting = Literal["maps", "lines", "nothing", "itself", "calls"]
"""Where a script's own count of events is: in its map `@`, in its printed lines, or nowhere.

Tools that always count (perf, ftrace, strace) do not ask. With `itself` and `calls` it is the tracer that is measured:
it does what its script says and ends, while the workload waits. `calls`: its own system calls are counted meanwhile.
"""

OF_ITSELF: frozenset[Counting] = frozenset({"itself", "calls"})  # where the tracer itself is measured


class TracerFailed(ProbeEffectError):
    """A tracer did not start, died, or did not end; the row says so in its own words."""

    def __init__(self, words: str, *, status: Literal["failed", "timeout"] = "failed") -> None:
        self.status = status
        super().__init__(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a tracer counted and used, from start to exit, as a row has it.

    None: it does not say, or has no process of its own.
    """

    seen: int | None = None
    lost: int | None = None
    tracer_cpu_ns: int | None = None
    tracer_rss_bytes: int | None = None
    output_bytes: int | None = None
    attach_ns: int | None = None
    detach_ns: int | None = None
    probes: int | None = None
    """How many probes it says that it attached, those of its own among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracerState:
    """A tracer on a machine."""

    tracer: str
    version: str | None
    unavailable: str | None
    """Why the tracer cannot run there and what to do; None if it can."""
    lacks: Mapping[Need, str]
    """Facility to the reason why this tracer cannot use it there; asked only of a tracer that can run."""


PATIENCE_S = 5.0
LOOK_EVERY_S = 0.0005


def wait_for_workload(pid: int) -> None:
    """Return when the workload waits for its go: its libraries are loaded, and it is on its CPU by then.

    It alone sleeps so that a signal could wake it (state S); loading a program does not.
    Raises: TracerFailed when it ends or does not get there.
    """
    deadline_s = time.monotonic() + PATIENCE_S
    while (now := state(pid)) != "S":
        if is_gone(pid):
            raise TracerFailed(f"the workload, process {pid}, ended before the tracer was attached")
        if time.monotonic() > deadline_s:
            msg = f"the workload, process {pid}, is in state {now} after {PATIENCE_S:.0f} s; expected S, waiting"
            raise TracerFailed(msg, status="timeout")
        time.sleep(LOOK_EVERY_S)


class Session:
    """One tracer at one run; this base does nothing. Always `end` it; after `stop` that only tidies up."""

    prefix: tuple[str, ...] = ()
    """Words before the workload's command, for a tool that starts what it watches; else nothing."""

    def attach(self, pid: int) -> None:
        """Start to watch. The workload, or the tool that wraps it, runs as `pid` and waits. Raises: TracerFailed."""

    def ready(self, timeout_s: float) -> None:
        """Return when every probe is proved to be live. Raises: TracerFailed."""

    def stop(self, timeout_s: float) -> Report:
        """After the workload's end: have the tool flush and exit, and hand back what it says. Raises: TracerFailed."""
        del timeout_s
        return Report()

    def end(self) -> None:
        """Leave nothing behind: no process, no probe, no file. Whatever happened before, and however often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracer:
    """A tool that watches; `root` is where it looks for the kernel's files."""

    id: str
    """Its id in the data: `bpftrace`, or `bpftrace-0-23-2` for a second version beside it."""
    tool: str
    """Whose scripts it takes: `bpftrace` for either version."""
    root: Path = ROOT

    def available(self) -> str | None:
        """None when the tracer can run here, else why not and what to do."""
        return None

    def version(self) -> str | None:
        """The version as the tool prints it; None when it does not."""
        return None

    def missing(self, need: Need) -> str | None:
        """None when kernel and tool say that they offer what a case needs, else why not."""
        return missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> Session:
        """A session for one run of the workload `program`.

        What the tool starts inherits the CPUs that the caller may use. Raises: TracerFailed.
        """
        raise NotImplementedError


def state_of(tracer: Tracer, needs: Iterable[Need]) -> TracerState:
    unavailable = tracer.available()
    lacks = {} if unavailable else {need: reason for need in needs if (reason := tracer.missing(need))}
    return TracerState(tracer=tracer.id, version=tracer.version(), unavailable=unavailable, lacks=lacks)


SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where Debian has programs for root, and a user's PATH does not look."""

WORKLOADS = (
    Package("gcc", program="cc"),
    Package("libc6-dev", file="usr/include/stdio.h"),
    Package("systemtap-sdt-dev", file="usr/include/**/sys/sdt.h"),
)


def missing_packages(tools: Iterable[str], root: Path = ROOT) -> list[str]:
    """The missing packages of the workloads and of these tools, by this system's names, each once."""
    is_ubuntu = "\nID=ubuntu\n" in f"\n{read_text(root, 'etc/os-release')}\n"
    needed = dict.fromkeys([*WORKLOADS, *(package for tool in tools for package in TOOLS[tool].packages)])
    path = f"{os.environ.get('PATH', os.defpath)}:{SBIN}"
    lacking = (
        package
        for package in needed
        if not (shutil.which(package.program, path=path) if package.program else any(root.glob(package.file)))
    )
    return [package.ubuntu or package.debian if is_ubuntu else package.debian for package in lacking]


def install_advice(packages: Sequence[Package]) -> str:
    """The command that installs these packages, in words for users of Debian and of Ubuntu."""
    debian = " ".join(package.debian for package in packages)
    ubuntu = " ".join(package.ubuntu or package.debian for package in packages)
    if debian == ubuntu:
        return f"on Debian and Ubuntu: apt install {debian}"
    return f"on Debian: apt install {debian}; on Ubuntu: apt install {ubuntu}"


def install_line(packages: Iterable[str]) -> str | None:
    """The one command that installs these packages; None without a package, or without apt."""
    names = " ".join(packages)
    if not names or shutil.which("apt") is None:
        return None
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt install {names}"
