"""bpf(2) and perf_event_open(2), with nothing but the standard library, and the reasons behind the kernel's refusals.

Everything made here belongs to a file descriptor and goes with it, at `kill -9` too. Why no library and no bpftool: a
library brings LLVM or headers and 0.3 s of start; a few instructions of our own need neither.

Source of all constants and layouts: include/uapi/linux/bpf.h, Linux 6.18; older kernels accept shorter structures, as
long as what they do not know is zero (bpf_check_uarg_tail_zero in kernel/bpf/syscall.c). Byte code and layouts are the
same on all little-endian architectures with 64 bits; only the numbers of the system calls differ.

Source: include/uapi/linux/perf_event.h, struct perf_event_attr up to PERF_ATTR_SIZE_VER1; perf_event_open(2), also for
PERF_COUNT_SW_TASK_CLOCK. `inherit` follows children, `inherit_thread` threads alone (5.13).
"""

import contextlib
import ctypes
import errno
import os
import platform
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import LOCKDOWN, no_tracefs, tracefs_folder
from probe_effect.host.system import numbered
from probe_effect.live.target import TargetProcesses
from probe_effect.model import HostNotReady, series_of

CALL_NUMBERS = {"x86_64": 321, "aarch64": 280, "riscv64": 280}
"""bpf(2) by architecture: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h."""

# enum bpf_cmd, bpf_map_type, bpf_prog_type, bpf_attach_type
MAP_CREATE, MAP_UPDATE_ELEM, PROG_LOAD, PROG_TEST_RUN, RAW_TRACEPOINT_OPEN = 0, 2, 5, 10, 17
MAP_LOOKUP_BATCH, LINK_CREATE, ENABLE_STATS = 24, 28, 32
HASH, ARRAY, PERCPU_HASH = 1, 2, 5
SOCKET_FILTER, KPROBE, TRACEPOINT, RAW_TRACEPOINT = 1, 2, 5, 17
PERF_EVENT, KPROBE_MULTI, UPROBE_MULTI = 41, 42, 48

MULTI_RETURN = 1
"""BPF_F_KPROBE_MULTI_RETURN and BPF_F_UPROBE_MULTI_RETURN."""
STATS_RUN_TIME = 0
"""The one member of enum bpf_stats_type, since Linux 5.8."""
MEMORY_MAPPED = 1 << 10
"""BPF_F_MMAPABLE (Linux 5.5)."""
LICENCE = b"GPL\0"
"""Of programs: with another the kernel refuses them the helper that reads its memory."""

LOG_BYTES = 1 << 16
NAME_BYTES = 16
BATCH = 4096

_libc = ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: object) -> int:
    """A system call that Python has no function for. Raises: OSError."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def call_number(numbers: dict[str, int]) -> int:
    """The number of a system call on this machine. Raises: HostNotReady for an architecture that `numbers` lacks."""
    machine = platform.machine()
    if machine not in numbers:
        msg = f"counting on {machine}: expected one of {', '.join(numbers)}, whose system calls are known here"
        raise HostNotReady(msg)
    return numbers[machine]


def command(number: int, attributes: bytearray) -> int:
    """One command of bpf(2); the kernel may write into `attributes`. Raises: OSError, HostNotReady."""
    memory = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    size = ctypes.c_uint(len(attributes))
    return system_call(call_number(CALL_NUMBERS), ctypes.c_int(number), ctypes.byref(memory), size)


def address(memory: bytearray) -> int:
    """The address of a buffer, which must stay alive and keep its length while the kernel uses it."""
    return ctypes.addressof((ctypes.c_char * len(memory)).from_buffer(memory))


def create_map(kind: int, key_bytes: int, value_bytes: int, entries: int, *, flags: int = 0) -> int:
    """The descriptor of a new map. Raises: OSError, HostNotReady."""
    return command(MAP_CREATE, bytearray(struct.pack("=5I52x", kind, key_bytes, value_bytes, entries, flags)))


def update(map_fd: int, key: bytes, value: bytes) -> None:
    """Set an element, new or not. The `value` of a per-CPU map has one for each CPU. Raises: OSError."""
    held = bytearray(key), bytearray(value)
    command(MAP_UPDATE_ELEM, bytearray(struct.pack("=I4x3Q", map_fd, address(held[0]), address(held[1]), 0)))


def read_per_cpu(map_fd: int, key_bytes: int, cpus: int) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Each key of a per-CPU hash of 64-bit values, with its value on each possible CPU.

    Read in batches (Linux 5.6), one system call for thousands of keys. Raises: OSError.
    """
    batch, cursor = BATCH, None
    is_last = False
    while not is_last:
        keys, values, position = bytearray(batch * key_bytes), bytearray(batch * cpus * 8), bytearray(8)
        before = bytearray(cursor or bytes(8))
        fields = (address(before) if cursor else 0, address(position), address(keys), address(values))
        attributes = bytearray(struct.pack("=4Q2I2Q", *fields, batch, map_fd, 0, 0))
        try:
            command(MAP_LOOKUP_BATCH, attributes)
        except OSError as error:
            if error.errno == errno.ENOSPC:  # more in one bucket of the hash than the buffer holds
                batch *= 2
                continue
            if error.errno != errno.ENOENT:
                raise
            is_last = True
        cursor = bytes(position)
        (count,) = struct.unpack_from("=I", attributes, 32)
        counts = struct.iter_unpack(f"={cpus}Q", values[: count * cpus * 8])
        for at, cpu_counts in zip(range(0, count * key_bytes, key_bytes), counts, strict=True):
            yield bytes(keys[at : at + key_bytes]), cpu_counts


def load(kind: int, instructions: bytes, name: str, *, attach_type: int = 0) -> int:
    """The descriptor of a loaded program. Raises: OSError, with the verifier's message if there is one."""
    code, licence = bytearray(instructions), bytearray(LICENCE)
    shown = name.encode()[: NAME_BYTES - 1]

    def attempt(log: bytearray | None) -> int:
        logged = (1, len(log), address(log)) if log else (0, 0, 0)
        fields = (kind, len(code) // 8, address(code), address(licence), *logged, 0, 0, shown, 0, attach_type)
        return command(PROG_LOAD, bytearray(struct.pack("=2I2Q2IQ2I16s2I", *fields)))

    try:
        return attempt(None)
    except OSError as error:
        if error.errno == errno.EPERM:
            raise
        log = bytearray(LOG_BYTES)
        try:
            return attempt(log)
        except OSError as again:
            words = bytes(log).split(b"\0", 1)[0].decode(errors="replace").strip().splitlines()
            message = f"{again.strerror}: {'; '.join(words[-3:])}" if words else again.strerror
            raise OSError(again.errno, message) from error


def link_raw_tracepoint(program_fd: int, name: str) -> int:
    """The descriptor of a link from a tracepoint to a program; opening or closing takes 0.2 ms. Raises: OSError."""
    held = bytearray(name.encode() + b"\0")
    return command(RAW_TRACEPOINT_OPEN, bytearray(struct.pack("=QI4x", address(held), program_fd)))


def link_perf_event(program_fd: int, event_fd: int, cookie: int) -> int:
    """The descriptor of a link from a perf event to a program, which is told `cookie` (Linux 5.15). Raises: OSError."""
    fields = (program_fd, event_fd, PERF_EVENT, 0, cookie)
    return command(LINK_CREATE, bytearray(struct.pack("=4IQ", *fields)))


def link_uprobes(
    program_fd: int, path: bytes, places: Sequence[tuple[int, int, int]], *, pid: int = 0, is_return: bool = False
) -> int:
    """The descriptor of one link to many places of a file (Linux 6.6), detached from all of them when closed.

    Args:
        places: (offset in the file, offset of its USDT semaphore or 0, cookie).
        pid: the only process in which breakpoints are set; 0 for every one that maps the file.
    Raises: OSError; EINVAL if the kernel has no such links.
    """
    name = bytearray(path + b"\0")
    offsets, semaphores, cookies = (
        bytearray(struct.pack(f"={len(places)}Q", *each)) for each in zip(*places, strict=True)
    )
    counters = address(semaphores) if any(probe_site[1] for probe_site in places) else 0
    pointers = (address(name), address(offsets), counters, address(cookies))
    fields = (program_fd, 0, UPROBE_MULTI, 0, *pointers, len(places), MULTI_RETURN if is_return else 0, pid)
    return command(LINK_CREATE, bytearray(struct.pack("=4I4Q3I4x", *fields)))


def link_kprobes(program_fd: int, places: Sequence[tuple[str, int]], *, is_return: bool = False) -> int:
    """The descriptor of one link to many kernel functions (Linux 5.18, CONFIG_FPROBE). `places`: (name, cookie).

    Raises: OSError; EOPNOTSUPP or EINVAL where the kernel has no such links.
    """
    names = [bytearray(function.encode() + b"\0") for function, _ in places]
    pointers = bytearray(struct.pack(f"={len(names)}Q", *map(address, names)))
    cookies = bytearray(struct.pack(f"={len(names)}Q", *(cookie for _, cookie in places)))
    flags = MULTI_RETURN if is_return else 0
    fields = (program_fd, 0, KPROBE_MULTI, 0, flags, len(names), address(pointers), 0, address(cookies))
    return command(LINK_CREATE, bytearray(struct.pack("=4I2I3Q", *fields)))


def enable_statistics() -> int:
    """A descriptor; until it is closed the kernel counts and times all programs' runs (Linux 5.8). Raises: OSError."""
    return command(ENABLE_STATS, bytearray(struct.pack("=I4x", STATS_RUN_TIME)))


def possible_cpus() -> int:
    """How many values an element of a per-CPU map has.

    Source: num_possible_cpus in kernel/bpf/hashtab.c; /sys/devices/system/cpu/possible lists the same ("0-3,8").
    """
    return len(numbered(read_text(ROOT, "sys/devices/system/cpu/possible") or "0"))


def be_prompt(*, is_prompt: bool) -> None:
    """Let this thread run before all usual ones (sched(7)), or as they do; nothing happens if we may not.

    On busy CPUs a window would last for as long as others let us wait, and what is attached would stay for as long.
    """
    policy, priority = (os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, 1) if is_prompt else (os.SCHED_OTHER, 0)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, policy, os.sched_param(priority))


PERF_EVENT_OPEN_NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
PERF_TRACEPOINT = 2
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
    attributes = (ctypes.c_char * size).from_buffer(bytearray(struct.pack("=2I5Q2I2Q", *fields)))
    where = (ctypes.c_int(pid), ctypes.c_int(0 if pid == -1 else -1), ctypes.c_int(-1), ctypes.c_ulong(CLOSE_ON_EXEC))
    return system_call(call_number(PERF_EVENT_OPEN_NUMBERS), ctypes.byref(attributes), *where)


def open_tracepoint(category: str, name: str) -> int:
    """The descriptor of a tracepoint's event. Raises: OSError; FileNotFoundError without such a tracepoint."""
    number = read_text(tracefs(), f"events/{category}/{name}/id")
    if number is None:
        raise FileNotFoundError(f"no tracepoint {category}:{name}")
    return open_event(PERF_TRACEPOINT, int(number))


def open_dynamic(device: str, name: bytes, offset: int, *, is_return: bool, semaphore: int = 0, pid: int = -1) -> int:
    """The descriptor of a probe that the kernel makes for this event alone (Linux 4.17). Raises: OSError.

    Args:
        device: `kprobe` or `uprobe`. `name`: a kernel function, or the path of a file, with an offset of bytes in it.
        semaphore: where the file counts the tools that watch a USDT probe; 0 if it does not.
    """
    folder = f"sys/bus/event_source/devices/{device}"
    number = read_text(ROOT, f"{folder}/type")
    if number is None:
        raise FileNotFoundError(f"no perf device {device}")
    bit = re.search(r"config:(\d+)", read_text(ROOT, f"{folder}/format/retprobe") or "config:0")
    config = (int(is_return) << int(bit[1] if bit else 0)) | semaphore << 32
    held = bytearray(name + b"\0")
    return open_event(int(number), config, extension=(address(held), offset), pid=pid)


def field_offset(category: str, name: str, field: str) -> int:
    """The offset of a field in a tracepoint's record, in bytes. Raises: FileNotFoundError, HostNotReady."""
    text = read_text(tracefs(), f"events/{category}/{name}/format") or ""
    match = re.search(rf"\b{field};\s*offset:(\d+);", text)
    if match is None:
        raise FileNotFoundError(f"no field {field} in tracepoint {category}:{name}")
    return int(match[1])


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
        flags = INHERIT | (0 if followed.target.command or followed.target.follows else INHERIT_THREAD)
        try:
            threads = [int(folder.name) for folder in (ROOT / f"proc/{followed.pid}/task").iterdir()]
            for thread in threads if len(threads) <= MOST_THREADS else ():
                self._events.append(open_event(SOFTWARE, TASK_CLOCK, pid=thread, flags=flags, period=0))
        except OSError:  # it has ended, or the kernel allows no such events
            self.close()

    def read_s(self) -> float | None:
        if not self._events:
            return None
        with contextlib.suppress(OSError):
            return sum(int.from_bytes(os.read(event, 8), sys.byteorder) for event in self._events) / 1e9
        return None

    def close(self) -> None:
        for event in self._events:
            os.close(event)
        self._events = []


PARANOID = "proc/sys/kernel/perf_event_paranoid"

OLDEST = "5.15"
"""The oldest Linux with all that we need: cookies of perf links. (Statistics came with 5.8, batches with 5.6.)"""


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn refusals of the kernel in the block into HostNotReady with the reason; `doing` begins the message."""
    try:
        yield
    except OSError as error:
        raise HostNotReady(f"{doing}: the kernel refuses ({error.strerror or error}): {reason(error)}") from error


def reason(error: OSError) -> str:
    """Why the kernel refused, as far as is known, and what to do."""
    release = os.uname().release
    is_old = series_of(release) < series_of(OLDEST)  # before 5.11 root too may lock little memory, and a map is locked
    if error.errno in {errno.EPERM, errno.EACCES} and not (is_old and os.geteuid() == 0):
        if os.geteuid() != 0:
            paranoid = read_text(ROOT, PARANOID)
            level = f", and kernel.perf_event_paranoid is {paranoid}" if paranoid else ""
            return f"user {os.geteuid()} is not root{level}; run it with sudo"
        lockdown = read_text(ROOT, LOCKDOWN) or ""
        if "[none]" not in lockdown and "[" in lockdown:
            return f"the kernel is locked down (/{LOCKDOWN}: {lockdown}), which forbids BPF that reads the kernel"
        return "root lacks CAP_SYS_ADMIN, as in a container: start it with `--privileged`, or run it on the host"
    if error.errno == errno.ENOSYS:
        return "it was built without BPF (CONFIG_BPF_SYSCALL)"
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return "too many files are open: raise `ulimit -n`"
    return f"this is Linux {release}; expected {OLDEST} or newer, with CONFIG_BPF_EVENTS"
