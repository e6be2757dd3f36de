"""tracefs and debugfs where they belong: for as long as we run, seen by nobody else, or for good.

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

from probe_effect.host import ROOT
from probe_effect.host.kernel import TRACEFS, is_empty, tracefs_folder

CLONE_NEWNS = 0x00020000
"""include/uapi/linux/sched.h."""
MS_REC_SLAVE = 0x4000 | 0x80000
"""MS_REC and MS_SLAVE of include/uapi/linux/mount.h."""

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
    return [f"/{place}" for _, place in absent]


def _absent(root: Path) -> list[tuple[str, str]]:
    """Of the two, those that root could mount and nobody has."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux") or tracefs_folder(root) is not None:
        return []
    return [(kind, place) for kind, place in PLACES if is_empty(root / place)]


def _mount(absent: Sequence[tuple[str, str]], root: Path, *, for_good: bool) -> OSError | None:
    """Mount each; why it was refused, if it was."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        if not for_good:
            _asked(libc.unshare(CLONE_NEWNS), "unshare")
            _asked(libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC_SLAVE), None), "/")
        for kind, place in absent:
            target = os.fsencode(root / place)
            _asked(libc.mount(b"nodev", target, kind.encode(), ctypes.c_ulong(0), None), f"/{place}")
    except OSError as refusal:
        return refusal
    return None


def _asked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
