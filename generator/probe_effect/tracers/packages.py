"""What to install for the tracers, by the names that Debian and Ubuntu give to the packages.

A tracer says itself why it cannot run; here is only what one command brings at once.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.tools.record import TOOLS, Package

SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where Debian has programs for root, and a user's PATH does not look."""

WORKLOADS = (
    Package("gcc", program="cc"),
    Package("libc6-dev", file="usr/include/stdio.h"),
    Package("systemtap-sdt-dev", file="usr/include/**/sys/sdt.h"),
)


def missing_packages(tools: Iterable[str], root: Path = ROOT) -> list[str]:
    """What the workloads and these tools need and is not there, by this system's names, each once."""
    is_ubuntu = "\nID=ubuntu\n" in f"\n{read_text(root, 'etc/os-release')}\n"
    needed = dict.fromkeys([*WORKLOADS, *(package for tool in tools for package in TOOLS[tool].packages)])
    lacking = (package for package in needed if not _is_there(package, root))
    return [package.ubuntu or package.debian if is_ubuntu else package.debian for package in lacking]


def _is_there(package: Package, root: Path) -> bool:
    """Whether it is installed, by whatever means."""
    if package.program:
        return shutil.which(package.program, path=f"{os.environ.get('PATH', os.defpath)}:{SBIN}") is not None
    return any(root.glob(package.file))


def install_advice(packages: Sequence[Package]) -> str:
    """The command that installs them, in words for users of either system."""
    debian = " ".join(package.debian for package in packages)
    ubuntu = " ".join(package.ubuntu or package.debian for package in packages)
    if debian == ubuntu:
        return f"on Debian and Ubuntu: apt install {debian}"
    return f"on Debian: apt install {debian}; on Ubuntu: apt install {ubuntu}"


def install_line(packages: Iterable[str]) -> str | None:
    """The one command that installs them; None when there is nothing to install, or no apt to do it with."""
    names = " ".join(packages)
    if not names or shutil.which("apt") is None:
        return None
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt install {names}"
