"""What this Linux kernel offers to tracers, asked of the kernel itself, with tracefs and debugfs mounted where they
belong.

For a time they are mounted in a mount namespace of our own (mount_namespaces(7)). Programs that we start are in it
too, nothing is left behind however we end, and two commands at once do not take it from each other. What others mount
meanwhile is seen, because the namespace is a slave of the machine's.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probe_effect.host import ROOT, kernel_config, read_text
from probe_effect.model import NOP10_CALLED_SINCE, Need, series_of
from probe_effect.records import beside

TRACEFS = ("sys/kernel/tracing", "sys/kernel/debug/tracing")
"""Where tracefs is mounted: its own place since Linux 4.1, and the old one below debugfs."""

_FACTS: Any = beside(__file__)
FACILITIES: dict[Need, dict[str, Any]] = _FACTS["facilities"]
"""What a kernel may offer, with its name, its build option and how it is asked for it."""

_WHY: dict[str, str] = _FACTS["tracefs"]
CLOSED, NOT_MOUNTED, MAY_NOT_MOUNT = _WHY["closed"], _WHY["not_mounted"], _WHY["may_not_mount"]

FTRACE_TRACERS: dict[Need, str] = {
    need: facility["tracer"] for need, facility in FACILITIES.items() if "tracer" in facility
}
"""Facility to its word in `available_tracers` and `current_tracer`."""

ON_FTRACE = frozenset(need for need, facility in FACILITIES.items() if "on_ftrace" in facility)
"""Facilities that patch the entry of functions through ftrace."""

BTF = "sys/kernel/btf/vmlinux"

LSM = "sys/kernel/security/lsm"
"""The security modules at work, joined by commas. Source: security/inode.c, `lsm_read`."""

LOCKDOWN = "sys/kernel/security/lockdown"
"""The file with the level of lockdown in brackets; the highest forbids kprobes and tracefs.

Source: security/security.c, `lockdown_reasons`.
"""

KPROBE_LIST = "sys/kernel/debug/kprobes/list"
MECHANISMS = {"[FTRACE]": "ftrace", "[OPTIMIZED]": "jump"}
"""Mark at the end of a kprobe's line to its mechanism; a live probe without one is a breakpoint.

Source: Documentation/trace/kprobes.rst, "The kprobes debugfs interface"; kernel/kprobes.c, report_probe.
"""
TRAP = "trap"
ASLEEP = ("[DISABLED]", "[GONE]")


def missing(need: Need, root: Path) -> str | None:
    """None when the kernel has the facility, else a sentence that says why not.

    Source: a `kprobe` or `uprobe` device is under event_source since Linux 4.17 (kernel/events/core.c);
    before, and for tracepoints, tracefs has the file or folder.
    """
    if need == "uprobe-nop10":
        return _nop10_refused(root)
    is_locked_away = need == "kprobe" or "in_tracefs" in FACILITIES[need]
    if is_locked_away and "[confidentiality]" in (read_text(root, LOCKDOWN) or ""):
        return f"the kernel is locked down (/{LOCKDOWN} says confidentiality), which takes {need} from root too"
    if need == "fentry" and (kernel_config(root) or {}).get("DEBUG_INFO_BTF") == "n":
        return "this kernel has no types of its own (BTF), which fentry needs: CONFIG_DEBUG_INFO_BTF is not set"
    try:
        if _is_offered(need, root):
            return _functions_missing(need, root) if need in ON_FTRACE else None
        return _has_none(need, root)
    except PermissionError:  # pathlib takes only what is not there for absent
        return CLOSED


def tracefs_folder(root: Path) -> Path | None:
    """Where tracefs is mounted and open to us; None where it is not."""
    try:
        return next((root / folder for folder in TRACEFS if (root / folder / "events").is_dir()), None)
    except PermissionError:
        return None


def tracefs_missing(root: Path) -> str | None:
    """None when tracefs is mounted and open to us, else why not and what to do."""
    return None if tracefs_folder(root) else no_tracefs(root)


def is_empty(folder: Path) -> bool:
    """Whether a folder is there with nothing in it: what is not mounted there, or was bound before it was mounted."""
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


def no_tracefs(root: Path) -> str:
    """Why tracefs is not mounted and what to do; root's commands have tried to mount it."""
    if os.path.ismount(root / TRACEFS[0]) and not is_empty(root / TRACEFS[0]):
        return CLOSED
    filesystems = read_text(root, "proc/filesystems")  # all that the kernel knows (proc_filesystems(5))
    if filesystems is not None and "tracefs" not in filesystems.split():
        return "this kernel has no tracefs: CONFIG_TRACING is not set"
    return MAY_NOT_MOUNT if os.geteuid() == 0 else NOT_MOUNTED


def ftrace_tracers(folder: Path) -> list[str]:
    return (read_text(folder, "available_tracers") or "").split()


def mechanism(root: Path) -> str | None:
    """How the kprobes and kretprobes that are live now fire: `ftrace`, `jump`, `trap`, or several joined by ` + `.

    One probe costs several times another. None where there is none, and where debugfs is not mounted or closed to us.
    The kernel turns a trap into a jump a while after it was set (OPTIMIZE_DELAY, 5 ticks), so ask when the workload has
    run. Multi-kprobes, fentry and the tracers of functions are no kprobes and have no line.
    """
    lines = (read_text(root, KPROBE_LIST) or "").splitlines()
    live = [line for line in lines if not any(mark in line for mark in ASLEEP)]
    mechanisms = {next((name for mark, name in MECHANISMS.items() if mark in line), TRAP) for line in live}
    return " + ".join(sorted(mechanisms)) or None


def _nop10_refused(root: Path) -> str | None:
    """None when a uprobe may be on a nop of ten bytes, by the release: trying it shows nothing by itself.

    An older kernel refuses it (error 524, ENOTSUPP) only where a process has the program mapped. Elsewhere it attaches
    the probe and never fires it; Linux 6.18.44 did both. Source: `is_prefix_bad` (arch/x86/kernel/uprobes.c),
    and `uprobe_mmap` (kernel/events/uprobes.c), which drops the error.
    """
    release = (read_text(root, "proc/sys/kernel/osrelease") or "").strip()
    if not release or series_of(release) >= NOP10_CALLED_SINCE:
        return None
    first = ".".join(map(str, NOP10_CALLED_SINCE))
    return f"Linux {release} refuses a uprobe on x86-64's nop of 10 bytes, for its prefix 2e; {first} takes it"


def _functions_missing(need: Need, root: Path) -> str | None:
    for folder in TRACEFS:
        functions = root / folder / "available_filter_functions"
        try:
            with functions.open("rb") as file:
                return None if file.read(1) else f"this kernel lists no function that can be traced in /{functions}"
        except FileNotFoundError:
            continue
        except OSError as error:
            words = f"{error.strerror}: {functions}"
            return f"this kernel refuses to have functions traced, which {need} needs: {words}"
    return _has_none(need, root)


def _is_offered(need: Need, root: Path) -> bool:
    facility = FACILITIES[need]
    if "types" in facility:  # milliseconds; symbols take seconds
        try:
            names = (root / BTF).read_bytes()  # in BTF names end in 0 bytes
        except OSError:
            return (kernel_config(root) or {}).get(facility["option"]) == "y"
        return all(f"\0{name}\0".encode() in names for name in facility["types"])
    if need == "lsm":
        return "bpf" in (read_text(root, LSM) or "").strip().split(",")
    if need == "fentry" and (kernel_config(root) or {facility["option"]: "y"}).get(facility["option"]) != "y":
        return False  # on arm64 functions could be traced long before (Linux 6.4)
    if "tracer" in facility:
        return any(facility["tracer"] in ftrace_tracers(root / folder) for folder in TRACEFS)
    return any((root / sign.format(tracefs=folder)).exists() for sign in facility["signs"] for folder in TRACEFS)


def _has_none(need: Need, root: Path) -> str:
    """Why a facility is missing: the kernel's build options say so, or the kernel cannot be asked."""
    facility, config = FACILITIES[need], kernel_config(root)
    name, option = facility["name"], facility["option"]
    may_be_there = "in_tracefs" in facility and (config is None or config.get(option) == "y")
    if may_be_there and (reason := tracefs_missing(root)):
        return reason
    if config is None:
        release = read_text(root, "proc/sys/kernel/osrelease") or "this release"
        why = f"nothing under /sys offers them, and no file has the build options of {release}"
    elif (value := config.get(option, "n")) == "n":
        why = f"CONFIG_{option} is not set"
    else:
        why = f"CONFIG_{option}={value}, but nothing under /sys offers them"
    return f"this kernel has no {name}: {why}"


CLONE_NEWNS, MS_REC, MS_SLAVE = 0x20000, 0x4000, 0x80000  # include/uapi/linux/sched.h and mount.h

PLACES = (("debugfs", "sys/kernel/debug"), ("tracefs", TRACEFS[0]))
"""File system and its place (Documentation/trace/ftrace.rst, Documentation/filesystems/debugfs.rst)."""


def mount_for_our_time(root: Path = ROOT) -> None:
    """Mount what is missing for this process and what it starts; nothing where all is there, or where we may not.

    Call it before any thread is started, and before files of tracefs are opened: a thread keeps its namespace.
    """
    if absent := _absent(root):
        _mount(absent, root, for_good=False)


def mount_for_good(root: Path = ROOT) -> Sequence[str]:
    """Mount what is missing, for everybody, until the machine is started again; the places that are new.

    Raises: OSError where we may not.
    """
    if os.geteuid() != 0:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    absent = _absent(root)
    if (refusal := _mount(absent, root, for_good=True)) is not None:
        raise refusal
    return [f"/{mount_point}" for _, mount_point in absent]


def _absent(root: Path) -> list[tuple[str, str]]:
    """The kinds of file system, with their places, that root could mount for tracefs and nobody has."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux") or tracefs_folder(root) is not None:
        return []
    return [(kind, mount_point) for kind, mount_point in PLACES if is_empty(root / mount_point)]


def _mount(absent: Sequence[tuple[str, str]], root: Path, *, for_good: bool) -> OSError | None:
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        if not for_good:
            _asked(libc.unshare(CLONE_NEWNS), "unshare")
            _asked(libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_SLAVE), None), "/")
        for kind, mount_point in absent:
            target = os.fsencode(root / mount_point)
            _asked(libc.mount(b"nodev", target, kind.encode(), ctypes.c_ulong(0), None), f"/{mount_point}")
    except OSError as refusal:
        return refusal
    return None


def _asked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
