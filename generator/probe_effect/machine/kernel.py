"""The operating system, its clock, and the settings that change what a probe costs.

A command line can hold host names, addresses and secrets, and so can build options: of both only those are recorded
that change what a probe costs, from fixed lists.
"""

import os
import platform
import re
from itertools import chain
from pathlib import Path

from probe_effect.host import kernel_config, read_text, sysctl
from probe_effect.toml import beside

_RECORDED: dict[str, dict[str, list[str]]] = beside(__file__)
BOOT_FLAGS = frozenset(chain.from_iterable(_RECORDED["boot_flags"].values()))
CONFIG_OPTIONS = tuple(chain.from_iterable(_RECORDED["options"].values()))

SAFE_VALUE = re.compile(r"[\w.,:+-]{1,80}")
"""Forms that a value may have: words, numbers and CPU lists; no paths, quotes or `@`."""

CLOCK_FOLDER = "sys/devices/system/clocksource/clocksource0"


def os_name(root: Path) -> str | None:
    """Distribution and its version, as `/etc/os-release` gives them, illumos's after its name; macOS by its version."""
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}".strip()
    for line in (read_text(root, "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            own = value.strip().strip("\"'")
            return f"illumos, {own}" if platform.system() == "SunOS" else own or None
    return None


def kernel_release(root: Path) -> str:
    """The kernel's release, as `uname -r` prints it."""
    return read_text(root, "proc/sys/kernel/osrelease") or os.uname().release


def architecture() -> str:
    """The architecture, as `uname -m` prints it."""
    return os.uname().machine


def boot_flags(root: Path) -> tuple[str, ...]:
    """Boot parameters that change probe cost, in their order; not those after `--`, which belong to init."""
    words = (read_text(root, "proc/cmdline") or "").partition(" -- ")[0].split()
    return tuple(word for word in words if _may_be_recorded(word))


def _may_be_recorded(word: str) -> bool:
    name, has_value, value = word.partition("=")
    return name in BOOT_FLAGS and (not has_value or SAFE_VALUE.fullmatch(value) is not None)


def kernel_options(root: Path) -> dict[str, str]:
    """Build options that change probe cost; empty when no file has them."""
    config = kernel_config(root) or {}
    return {f"CONFIG_{name}": config[name] for name in CONFIG_OPTIONS if name in config}


def vulnerabilities(root: Path) -> dict[str, str]:
    """The kernel's account of each CPU vulnerability, by its name."""
    folder = root / "sys/devices/system/cpu/vulnerabilities"
    texts = {path.name: read_text(folder, path.name) for path in sorted(folder.glob("*"))}
    return {name: " ".join(text.split()) for name, text in texts.items() if text}


def bpf_jit(root: Path) -> str | None:
    """State of the BPF just-in-time compiler: 0 off, 1 on, 2 on with debug output."""
    return read_text(root, "proc/sys/net/core/bpf_jit_enable")


def aslr(root: Path) -> str | None:
    """How the kernel lays out a program's memory: `off`, `partial` (all but the heap) or `full` randomisation.

    Source: randomize_va_space in Documentation/admin-guide/sysctl/kernel.rst.
    """
    value = read_text(root, "proc/sys/kernel/randomize_va_space")
    return {"0": "off", "1": "partial", "2": "full"}.get(value or "")


def clocksource(root: Path) -> str | None:
    """The kernel's clock source in use: `tsc`, `kvm-clock`, `hpet`."""
    return read_text(root, f"{CLOCK_FOLDER}/current_clocksource") or sysctl("kern.timecounter.hardware")


def offered_clocksources(root: Path) -> frozenset[str]:
    """Every clock source that the kernel has; some exist only under a certain hypervisor."""
    return frozenset((read_text(root, f"{CLOCK_FOLDER}/available_clocksource") or "").split())
