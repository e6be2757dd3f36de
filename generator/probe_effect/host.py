"""Reading the running system: small text files that may be absent, and the kernel's build options.

Every function takes the root of the file system, so that a test can hand in a folder instead.
"""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

ROOT = Path("/")


def read_text(root: Path, path: str) -> str | None:
    """The stripped text of a file, or None when it is absent, empty or closed to us.

    Args:
        root: root of the file system.
        path: relative to it, e.g. `proc/loadavg`.
    """
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def kernel_config(root: Path = ROOT) -> dict[str, str] | None:
    """The kernel's build options, name without `CONFIG_` to value, `n` where not set; None when no file has them."""
    text = _config_text(root)
    if text is None:
        return None
    options = {match[1]: match[2] for match in re.finditer(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE)}
    unset = {match[1]: "n" for match in re.finditer(r"^# CONFIG_(\w+) is not set$", text, re.MULTILINE)}
    return options | unset


def _config_text(root: Path) -> str | None:
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode("utf-8", errors="replace")
    except OSError:
        release = read_text(root, "proc/sys/kernel/osrelease") or os.uname().release
        # Debian and Ubuntu keep the file in /boot, Fedora beside the modules.
        return read_text(root, f"boot/config-{release}") or read_text(root, f"lib/modules/{release}/config")
