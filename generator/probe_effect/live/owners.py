"""Who holds what: processes with descriptors of programs, links and perf events, and those that trace others.

Source: proc_pid_fdinfo(5) and `bpf_prog_show_fdinfo` in kernel/bpf/syscall.c; pidfd_getfd(2); for TracerPid
proc_pid_status(5).
"""

import contextlib
import ctypes
import os
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.live import bpf, bpf_objects
from probe_effect.live.bpf_links import INFO_BYTES, Attached, queried
from probe_effect.store.tables import printable

HOLDS_PROGRAM = re.compile(r"anon_inode:\[?bpf[-_](?:prog|link)\]?|anon_inode:\[?perf_event\]?")
PERF_EVENT, LINK = "perf_event", "link"
PIDFD_GETFD = 438
"""pidfd_getfd(2), on every architecture: include/uapi/asm-generic/unistd.h, since Linux 5.6."""
PROGRAM_ID = re.compile(r"^prog_id:\s*(\d+)", re.MULTILINE)
TRACER = re.compile(r"^TracerPid:\s*([1-9]\d*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """A process by its id and the name that it gave itself, fit to be printed."""

    pid: int
    comm: str


@dataclass(slots=True)
class Holders:
    """What all processes hold.

    `of_program`: program id to those that hold it, its link or its perf event. `attached`: what perf events with a
    program are on. `perf_events`: process to how many of its perf events have none that the kernel tells of.
    `traced`: a process that traces others by ptrace (strace, gdb) to those.
    """

    of_program: dict[int, set[Process]] = field(default_factory=lambda: defaultdict(set))
    attached: list[Attached] = field(default_factory=list)
    perf_events: dict[Process, int] = field(default_factory=lambda: defaultdict(int))
    traced: dict[Process, set[Process]] = field(default_factory=lambda: defaultdict(set))


def holders() -> Holders:
    """What the processes that we may look into hold now."""
    found = Holders()
    for folder in ROOT.glob("proc/[0-9]*"):
        process = _process(folder)
        tracer = TRACER.search(read_text(folder, "status") or "")
        if tracer:
            found.traced[_process(folder.parent / tracer[1])].add(process)
        for descriptor, name in _descriptors(folder):
            if PERF_EVENT in name:
                _add_perf_event(found, process, descriptor)
            elif LINK in name:
                with contextlib.suppress(OSError):  # it has ended, is closed to us, or Linux is older
                    found.of_program[_linked(process.pid, descriptor)].add(process)
            elif program := PROGRAM_ID.search(read_text(folder, f"fdinfo/{descriptor}") or ""):
                found.of_program[int(program[1])].add(process)
    return found


def _linked(pid: int, descriptor: int) -> int:
    """The program of a process's link, asked through a copy of its descriptor. Raises: OSError.

    Its fdinfo has the program too, but reading that can kill the kernel: `bpf_kprobe_multi_show_fdinfo` (since Linux
    6.17, kernel/trace/bpf_trace.c) follows the list of cookies of a link that has none; seen on 6.18.15.
    """
    process = os.pidfd_open(pid)
    try:
        link = bpf.system_call(PIDFD_GETFD, ctypes.c_int(process), ctypes.c_int(descriptor), ctypes.c_uint(0))
    finally:
        os.close(process)
    try:
        program: int = struct.unpack_from("=3I", bpf_objects.information(link, INFO_BYTES))[2]
    finally:
        os.close(link)
    return program


def _add_perf_event(found: Holders, process: Process, descriptor: int) -> None:
    attached = None
    with contextlib.suppress(OSError):  # it has no program, or one that samples
        attached = queried(process.pid, descriptor)
    if attached is None:
        found.perf_events[process] += 1
    else:
        found.attached.append(attached)
        found.of_program[attached.program].add(process)


def _process(folder: Path) -> Process:
    return Process(int(folder.name), printable(read_text(folder, "comm") or ""))


def _descriptors(folder: Path) -> Iterator[tuple[int, str]]:
    """Descriptors that may hold a program; a process that ends meanwhile holds none."""
    with contextlib.suppress(OSError), os.scandir(folder / "fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                name = os.readlink(entry.path)  # noqa: PTH115 (thousands: a path for each takes longer than the call)
                if HOLDS_PROGRAM.fullmatch(name):
                    yield int(entry.name), name
