"""What a container keeps from a tracer, and the flag of `docker run` or `podman run` that gives it."""

import os
from collections.abc import Iterator
from pathlib import Path

from probe_effect.host import ROOT, kernel_config, read_text
from probe_effect.host.kernel import BTF, TRACEFS, tracefs_folder
from probe_effect.tracers.proc import may_trace

SIGNS = (".dockerenv", "run/.containerenv", "run/systemd/container")
"""Files that Docker, Podman and systemd make in a container."""

FIRST_PIDS = "pid:[4026531836]"
"""The first namespace of process ids: PROC_PID_INIT_INO of include/linux/proc_ns.h."""


def is_container(root: Path = ROOT) -> bool:
    """Whether this is a container, by the signs that it has."""
    return "container" in os.environ or any((root / sign).exists() for sign in SIGNS)


def flags_missing(root: Path = ROOT) -> list[tuple[str, str]]:
    """Each flag that would give more, and why; empty where there is no container, or nothing is kept from us."""
    return list(_missing(root)) if is_container(root) else []


def _missing(root: Path) -> Iterator[tuple[str, str]]:
    if not may_trace(root):
        yield (
            "--privileged",
            "it has neither CAP_SYS_ADMIN nor CAP_BPF and CAP_PERFMON, so that nothing of the kernel traces",
        )
    if tracefs_folder(root) is None:
        yield f"-v /{TRACEFS[0]}:/{TRACEFS[0]}", "tracefs is not there, or closed"
    if not (root / BTF).exists() and (kernel_config(root) or {}).get("DEBUG_INFO_BTF", "y") == "y":
        folder = Path(BTF).parent
        yield f"-v /{folder}:/{folder}:ro", "the kernel's types (BTF) are not there, which fentry needs"
    if (root / "proc/self/ns/pid").is_symlink() and str((root / "proc/self/ns/pid").readlink()) != FIRST_PIDS:
        yield "--pid=host", "its process ids are not those that the kernel gives to tracers"
    release = read_text(root, "proc/sys/kernel/osrelease")
    if release and not (root / "lib/modules" / release).exists():
        yield (
            "-v /lib/modules:/lib/modules:ro -v /usr/src:/usr/src:ro",
            "SystemTap needs the kernel's modules and headers",
        )
