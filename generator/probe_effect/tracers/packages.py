"""What to install for the tracers, by the names that Debian and Ubuntu give to the packages.

A tracer says itself why it cannot run; here is only what one command brings at once.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.host import ROOT, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where Debian has programs for root, and a user's PATH does not look."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package, and by what it is known to be there: a program, or a file below the root (with `*`)."""

    debian: str
    program: str = ""
    file: str = ""
    ubuntu: str = ""
    """Its name in Ubuntu, where that differs."""

    def is_there(self, root: Path) -> bool:
        """Whether it is installed, by whatever means."""
        if self.program:
            return shutil.which(self.program, path=f"{os.environ.get('PATH', os.defpath)}:{SBIN}") is not None
        return any(root.glob(self.file))


WORKLOADS = (
    Package("gcc", program="cc"),
    Package("libc6-dev", file="usr/include/stdio.h"),
    Package("systemtap-sdt-dev", file="usr/include/**/sys/sdt.h"),
)
PERF = (Package("linux-perf", program="perf", ubuntu="linux-tools-generic"),)
STRACE = (Package("strace", program="strace"),)
PROCPS = (Package("procps", program="top"),)

TOOLS: dict[str, tuple[Package, ...]] = {
    "bpftrace": (Package("bpftrace", program="bpftrace"),),
    "perf-stat": PERF,
    "perf-record": PERF,
    "perf-trace": PERF,
    "trace-cmd": (Package("trace-cmd", program="trace-cmd"),),
    "strace": STRACE,
    "strace-seccomp": STRACE,
    "lttng-ust": (
        Package("lttng-tools", program="lttng"),
        Package("babeltrace2", program="babeltrace2"),
        Package("liblttng-ust-dev", file="usr/include/**/lttng/tracepoint.h"),
    ),
    "uftrace": (Package("uftrace", program="uftrace"),),
    "systemtap": (Package("systemtap", program="stap"),),
    "libbpf": (Package("clang", program="clang"), Package("libbpf-dev", file="usr/include/bpf/libbpf.h")),
    "top": PROCPS,
    "htop": (Package("htop", program="htop"),),
    "ps": PROCPS,
    "pidstat": (Package("sysstat", program="pidstat"),),
    "vmstat": PROCPS,
    "atop": (Package("atop", program="atop"),),
    "btop": (Package("btop", program="btop"),),
    "glances": (Package("glances", program="glances"),),
}
"""Tool to what it needs. ftrace needs nothing; DTrace is left out, as Debian has it in sid alone."""


def missing_packages(tools: Iterable[str], root: Path = ROOT) -> list[str]:
    """What the workloads and these tools need and is not there, by this system's names, each once."""
    is_ubuntu = "\nID=ubuntu\n" in f"\n{read_text(root, 'etc/os-release')}\n"
    wanted = dict.fromkeys([*WORKLOADS, *(package for tool in tools for package in TOOLS.get(tool, ()))])
    lacking = (package for package in wanted if not package.is_there(root))
    return [package.ubuntu or package.debian if is_ubuntu else package.debian for package in lacking]


def install_line(packages: Iterable[str]) -> str | None:
    """The one command that installs them; None when there is nothing to install, or no apt to do it with."""
    names = " ".join(packages)
    if not names or shutil.which("apt") is None:
        return None
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt install {names}"
