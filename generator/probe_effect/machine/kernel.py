"""The operating system and the settings that change what a probe costs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from probe_effect.host import kernel_config, read_text
from probe_effect.machine.recorded import BOOT_FLAGS, CONFIG_OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

SAFE_VALUE = re.compile(r"[\w.,:+-]{1,80}")
"""Forms that a value may have: words, numbers and CPU lists; no paths, quotes or `@`."""


def os_name(root: Path) -> str | None:
    """Distribution and its version, as `/etc/os-release` gives them."""
    for line in (read_text(root, "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip().strip("\"'") or None
    return None


def kernel_release(root: Path) -> str:
    """As `uname -r` gives it."""
    return read_text(root, "proc/sys/kernel/osrelease") or os.uname().release


def architecture() -> str:
    """As `uname -m` gives it."""
    return os.uname().machine


def boot_flags(root: Path) -> tuple[str, ...]:
    """Boot parameters that change probe cost, in their order; those after `--` belong to init and are left out."""
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
    """CPU vulnerability to the kernel's account of it."""
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
