"""What a probe with our counting program costs here, beside the run time of the program, measured on events of our own.

A tracepoint or kprobe is measured on a system call that we make. A probe of a program is measured on a function of a
few bytes that we write into a file in memory. Its first instruction is one that the kernel gets past as in the target.
"""

import contextlib
import ctypes
import mmap
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

from probe_effect.errors import HostNotReady
from probe_effect.live.attachment import Attachments, Means
from probe_effect.live.countable import IN_FILES, Countable, CountableProbe
from probe_effect.live.perf_event import be_prompt
from probe_effect.model import NOP10_CALLED_SINCE, series_of

CALLS, TRIALS_S = 100, 0.02
"""Events of a loop, and how long such loops go on.

Short, because probes of the kernel fire for all others meanwhile. Not shorter, because a shared host is slow for some
ms now and then.
"""

CALLS_NOP10 = series_of(platform.release()) >= NOP10_CALLED_SINCE
"""Whether a nop of ten bytes becomes a call here, and not one of five."""

FUNCTIONS = {
    "x86_64": {
        "emulated": "55 5d c3",
        "stepped": "89 f8 c3",
        "called": "66 2e 0f 1f 84 00 00 00 00 00 c3" if CALLS_NOP10 else "0f 1f 44 00 00 c3",
    },
    "aarch64": {"emulated": "01 00 00 14 c0 03 5f d6", "stepped": "e0 03 01 2a c0 03 5f d6"},
}
"""Functions of one instruction and a return: a push (and its pop), a move between registers, a nop of five or ten
bytes; on arm64 a branch to the next instruction, and a move.
"""

ENTRIES = {"x86_64": "__x64_sys_getppid", "aarch64": "__arm64_sys_getppid"}
"""The kernel's function for the system call that we make (arch/*/include/asm/syscall_wrapper.h)."""

UNKNOWN_NS = 10_000.0
"""What a probe is taken to cost that cannot be measured so: a stepped user probe in a nested virtual machine."""


def event_costs(countables: Iterable[Countable]) -> tuple[dict[Means, float], float]:
    """(ns of an event by each means of attaching, s of CPU time that measuring took from other programs).

    The run time of our program is no part of it. Where probes of one kind fire in several ways, the highest is taken.
    """
    found: dict[Means, float] = {}
    others_s = 0.0
    for kind, mechanism in sorted({(one.kind, one.mechanism or "stepped") for one in countables}):
        if kind != "profile":
            event_ns, taken_s = _measured(kind, mechanism)
            found[kind] = max(event_ns, found.get(kind, 0.0))
            others_s += taken_s
    if "tracepoint" in found:  # each goes by whichever of both the kernel takes
        found["raw-tracepoint"] = found["tracepoint"]
    return found, others_s


def _measured(kind: CountableProbe, mechanism: str) -> tuple[float, float]:
    """(ns of an event, s taken from others)."""
    try:
        with _event(kind, mechanism) as (probe, fire), _attached(probe) as attachments:
            if attachments.refused:
                return UNKNOWN_NS, 0.0
            attachments.switch(on=True)
            traced_ns, own = _event_ns(fire)
            attachments.detach()
            added_ns = traced_ns - _event_ns(fire)[0]
            ran = attachments.runs()[attachments.means[0]]
    except (OSError, KeyError, HostNotReady):
        return UNKNOWN_NS, 0.0
    return max(0.0, added_ns - ran.run_ns / ran.runs), max(0, ran.runs - own) * added_ns / 1e9


@contextlib.contextmanager
def _attached(own: Countable) -> Iterator[Attachments]:
    with contextlib.closing(Attachments([own], [os.getpid()], follow=False, pid=os.getpid())) as attachments:
        be_prompt(is_prompt=True)
        try:
            yield attachments
        finally:
            be_prompt(is_prompt=False)


@contextlib.contextmanager
def _event(kind: CountableProbe, mechanism: str) -> Iterator[tuple[Countable, Callable[[], object]]]:
    """A probe of our own, and what makes it fire once.

    Raises: KeyError for an architecture that is not known; OSError where no memory may be executed.
    """
    architecture = platform.machine()
    if kind not in IN_FILES:
        name = "syscalls:sys_enter_getppid" if kind == "tracepoint" else ENTRIES[architecture]
        yield Countable(probe="own", kind=kind, name=name), os.getppid
        return
    code = bytes.fromhex(FUNCTIONS[architecture][mechanism])
    with open(os.memfd_create("probe-effect"), "r+b", buffering=0) as file:  # noqa: PTH123 (it has no path)
        file.write(code)
        with mmap.mmap(
            file.fileno(), len(code), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC
        ) as memory:
            call = ctypes.CFUNCTYPE(None)(np.frombuffer(memory, np.uint8).ctypes.data)
            path = Path(f"/proc/self/fd/{file.fileno()}")
            yield Countable(probe="own", kind=kind, path=path, offsets=(0,)), call


def _event_ns(fire: Callable[[], object]) -> tuple[float, int]:
    """(CPU time of one event, the median of some loops, how many events they had)."""
    began_s, loops_ns = time.monotonic(), list[float]()
    while not loops_ns or time.monotonic() - began_s < TRIALS_S:
        began_ns = time.thread_time_ns()
        for _ in range(CALLS):
            fire()
        loops_ns.append((time.thread_time_ns() - began_ns) / CALLS)
    return median(loops_ns), CALLS * len(loops_ns)
