"""perf_event_open(2): one tracepoint or dynamic probe, and the CPU time of a target; and being woken at once.

Source: include/uapi/linux/perf_event.h, struct perf_event_attr up to PERF_ATTR_SIZE_VER1; perf_event_open(2).

Source: perf_event_open(2), PERF_COUNT_SW_TASK_CLOCK; `inherit` follows children, `inherit_thread` threads alone (5.13).
"""

import contextlib
import ctypes
import os
import re
import struct
import sys
from pathlib import Path

from probe_effect.errors import HostNotReady
from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import no_tracefs, tracefs_folder
from probe_effect.live import bpf
from probe_effect.live.target import TargetProcesses


def be_prompt(*, is_prompt: bool) -> None:
    """Let this thread run before all usual ones (sched(7)), or as they do; nothing happens if we may not.

    On busy CPUs a window would last for as long as others let us wait, and what is attached would stay for as long.
    """
    policy, priority = (os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, 1) if is_prompt else (os.SCHED_OTHER, 0)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, policy, os.sched_param(priority))


CALL_NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
TRACEPOINT = 2
"""PERF_TYPE_TRACEPOINT."""
CLOSE_ON_EXEC = 8
"""PERF_FLAG_FD_CLOEXEC."""


def open_event(
    kind: int, config: int, *, extension: tuple[int, int] = (0, 0), pid: int = -1, flags: int = 0, period: int = 1
) -> int:
    """The descriptor of an event. Raises: OSError, HostNotReady.

    Args:
        kind: `TRACEPOINT`, or the number of a device under /sys/bus/event_source/devices.
        config: for a tracepoint its id.
        extension: config1 and config2 of the structure.
        flags: the structure's bits, such as `inherit`.
        period: of so many events one is taken as a sample; 0 only counts.
        pid: the only thread whose events count, -1 for the whole machine; a program on a tracepoint ignores it.
    """
    size = 72
    fields = (kind, size, config, period, 0, 0, flags, 1, 0, *extension)
    attributes = bytearray(struct.pack("=2I5Q2I2Q", *fields))
    memory = (ctypes.c_char * size).from_buffer(attributes)
    where = (ctypes.c_int(pid), ctypes.c_int(0 if pid == -1 else -1), ctypes.c_int(-1))
    return bpf.system_call(bpf.call_number(CALL_NUMBERS), ctypes.byref(memory), *where, ctypes.c_ulong(CLOSE_ON_EXEC))


def open_tracepoint(category: str, name: str) -> int:
    """The descriptor of a tracepoint's event. Raises: OSError; FileNotFoundError without such a tracepoint."""
    found = read_text(tracefs(), f"events/{category}/{name}/id")
    if found is None:
        raise FileNotFoundError(f"no tracepoint {category}:{name}")
    return open_event(TRACEPOINT, int(found))


def open_dynamic(device: str, name: bytes, offset: int, *, is_return: bool, semaphore: int = 0, pid: int = -1) -> int:
    """The descriptor of a probe that the kernel makes for this event alone (Linux 4.17). Raises: OSError.

    Args:
        device: `kprobe` or `uprobe`. `name`: a kernel function, or the path of a file, with an offset of bytes in it.
        semaphore: where the file counts the tools that watch a USDT probe; 0 if it does not.
    """
    place = f"sys/bus/event_source/devices/{device}"
    number = read_text(ROOT, f"{place}/type")
    if number is None:
        raise FileNotFoundError(f"no perf device {device}")
    bit = re.search(r"config:(\d+)", read_text(ROOT, f"{place}/format/retprobe") or "config:0")
    config = (int(is_return) << int(bit[1] if bit else 0)) | semaphore << 32
    held = bytearray(name + b"\0")
    return open_event(int(number), config, extension=(bpf.address(held), offset), pid=pid)


def field_offset(category: str, name: str, field: str) -> int:
    """The offset of a field in a tracepoint's record, in bytes. Raises: FileNotFoundError, HostNotReady."""
    text = read_text(tracefs(), f"events/{category}/{name}/format") or ""
    found = re.search(rf"\b{field};\s*offset:(\d+);", text)
    if found is None:
        raise FileNotFoundError(f"no field {field} in tracepoint {category}:{name}")
    return int(found[1])


def tracefs() -> Path:
    """The folder where tracefs is mounted. Raises: HostNotReady if it is not."""
    folder = tracefs_folder(ROOT)
    if folder is None:
        raise HostNotReady(no_tracefs(ROOT))
    return folder


SOFTWARE, TASK_CLOCK = 1, 1
INHERIT, INHERIT_THREAD = 1 << 1, 1 << 35

MOST_THREADS = 64
"""A look reads one event for each thread that was there at the start."""


class CpuClock:
    """The CPU time of a process, or of a command and its children, from now on. Always `close` it."""

    def __init__(self, followed: TargetProcesses) -> None:
        self._events: list[int] = []
        if followed.pid is None:
            return
        flags = INHERIT | (0 if followed.target.command else INHERIT_THREAD)
        try:
            threads = [int(folder.name) for folder in (ROOT / f"proc/{followed.pid}/task").iterdir()]
            for thread in threads if len(threads) <= MOST_THREADS else ():
                self._events.append(open_event(SOFTWARE, TASK_CLOCK, pid=thread, flags=flags, period=0))
        except OSError:  # it has ended, or the kernel allows no such events
            self.close()

    def read_s(self) -> float | None:
        """The CPU time, s; None where no clock tells."""
        if not self._events:
            return None
        with contextlib.suppress(OSError):
            return sum(int.from_bytes(os.read(event, 8), sys.byteorder) for event in self._events) / 1e9
        return None

    def close(self) -> None:
        """Close its events."""
        for event in self._events:
            os.close(event)
        self._events = []
