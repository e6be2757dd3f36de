"""What this Linux kernel offers to tracers, asked of the kernel itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.host import kernel_config, read_text

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.store.suite_file import Need

TRACEFS = ("sys/kernel/tracing", "sys/kernel/debug/tracing")
"""Where tracefs is mounted: its own place since Linux 4.1, and the old one below debugfs."""

OPTIONS: dict[Need, tuple[str, str]] = {
    "kprobe": ("kprobes", "KPROBES"),
    "uprobe": ("uprobes", "UPROBE_EVENTS"),
    "tracepoint": ("system call tracepoints", "FTRACE_SYSCALLS"),
    "raw-tracepoint": ("raw tracepoints", "BPF_EVENTS"),
    "fentry": ("function entry by BPF trampoline (fentry)", "DYNAMIC_FTRACE_WITH_DIRECT_CALLS"),
}
"""Facility to its name in sentences and its build option."""


def missing(need: Need, root: Path) -> str | None:
    """None when the kernel has the facility, else a sentence that says why not.

    Source: a `kprobe` or `uprobe` device stands under event_source since Linux 4.17 (kernel/events/core.c);
    before, and for tracepoints, tracefs has the file or folder.
    """
    if need == "fentry":
        return _fentry_missing(root)
    if any((root / place).exists() for place in _signs(need)):
        return None
    name, option = OPTIONS[need]
    return f"this kernel has no {name}: {_config_says(option, root)}"


def tracefs_missing(root: Path) -> str | None:
    """None when tracefs is mounted and open to us, else what to do."""
    if any((root / place / "events").is_dir() for place in TRACEFS):
        return None
    return "tracefs is not mounted; as root: mount -t tracefs nodev /sys/kernel/tracing"


def _fentry_missing(root: Path) -> str | None:
    """fentry stands on the function tracer, so a kernel that keeps that to itself has no fentry either.

    Source: kernel/bpf/trampoline.c (register_fentry goes through ftrace for functions that it can patch).
    """
    for place in TRACEFS:
        functions = root / place / "available_filter_functions"
        try:
            with functions.open("rb") as file:
                return None if file.read(1) else f"this kernel lists no function that can be traced in /{functions}"
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"this kernel refuses the function tracer, on which fentry stands: {error.strerror}: {functions}"
    name, option = OPTIONS["fentry"]
    return f"this kernel has no {name}: {_config_says(option, root)}"


def _signs(need: Need) -> list[str]:
    """Files and folders of which one exists when the kernel has the facility."""
    if need == "tracepoint":
        return [f"{place}/events/syscalls" for place in TRACEFS]
    if need == "raw-tracepoint":
        return [f"{place}/events/raw_syscalls/sys_enter" for place in TRACEFS]
    return [f"sys/bus/event_source/devices/{need}", *(f"{place}/{need}_events" for place in TRACEFS)]


def _config_says(option: str, root: Path) -> str:
    config = kernel_config(root)
    if config is None:
        release = read_text(root, "proc/sys/kernel/osrelease") or "this release"
        return f"nothing under /sys offers them, and no file has the build options of {release}"
    value = config.get(option, "n")
    return (
        f"CONFIG_{option} is not set"
        if value == "n"
        else f"CONFIG_{option}={value}, but nothing under /sys offers them"
    )
