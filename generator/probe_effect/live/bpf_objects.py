"""What is loaded into the kernel, programs, maps and links, where it is attached, and its statistics while we look.

Source of the layouts: struct bpf_prog_info and struct bpf_link_info in include/uapi/linux/bpf.h, Linux 6.18. An older
kernel fills the beginning that it knows and leaves the rest zero.

Source: Documentation/bpf/btf.rst of the Linux kernel, "BTF Type and String Encoding".

Source: struct bpf_link_info, enum bpf_link_type, enum bpf_perf_event_type and enum bpf_task_fd_type in
include/uapi/linux/bpf.h, Linux 6.18. The kernel tells of perf links since 6.6 and of uprobe links since 6.8; before
that, and for other sorts of links, only which program they hold.
"""

import contextlib
import os
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from probe_effect.host import ROOT
from probe_effect.host.symbols import FIRST_BYTES
from probe_effect.live import bpf_program, kernel_calls
from probe_effect.live.places import Place
from probe_effect.records import beside

Found = TypeVar("Found")

PROGRAM_NEXT, PROGRAM_BY_ID, GET_INFO, LINK_BY_ID, LINK_NEXT = 11, 13, 15, 30, 31
"""enum bpf_cmd: BPF_PROG_GET_NEXT_ID, _GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD, BPF_LINK_GET_FD_BY_ID, _GET_NEXT_ID."""

PROGRAM_INFO_BYTES = 232

KINDS: list[str] = beside(__file__, "bpf")["programs"].split()
"""enum bpf_prog_type, by number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BpfProgram:
    """A loaded program. `runs` and `run_ns` grow only while statistics are switched on."""

    id: int
    kind: str
    """As bpftool writes it; of one newer than our list its number."""
    name: str
    runs: int
    run_ns: int


def programs() -> list[BpfProgram]:
    return [
        loaded_program
        for number in ids(PROGRAM_NEXT)
        if (loaded_program := of_id(PROGRAM_BY_ID, number, program)) is not None
    ]


def program(fd: int) -> BpfProgram:
    info = information(fd, PROGRAM_INFO_BYTES)
    kind, number = struct.unpack_from("=2I", info)
    run_ns, runs = struct.unpack_from("=2Q", info, 192)
    word = KINDS[kind] if kind < len(KINDS) else f"type {kind}"
    return BpfProgram(id=number, kind=word, name=text(info[64:80]), runs=runs, run_ns=run_ns)


def ids(command: int) -> Iterator[int]:
    """The ids of all objects of a sort, by the command that names the next one. Raises: OSError."""
    number = 0
    while True:
        attributes = bytearray(struct.pack("=3I", number, 0, 0))
        try:
            kernel_calls.command(command, attributes)
        except FileNotFoundError:
            return
        number = struct.unpack_from("=I", attributes, 4)[0]
        yield number


def of_id(command: int, number: int, read: Callable[[int], Found]) -> Found | None:
    """The result of `read` for the object of that id; None if it has gone meanwhile. Raises: OSError.

    A link that is being made has an id already, and is refused with EAGAIN (kernel/bpf/syscall.c, bpf_link_by_id).
    """
    try:
        fd = kernel_calls.command(command, bytearray(struct.pack("=3I", number, 0, 0)))
    except (FileNotFoundError, BlockingIOError):
        return None
    try:
        return read(fd)
    finally:
        os.close(fd)


def information(fd: int, size: int, filled: bytes = b"") -> bytearray:
    """The first `size` bytes that the kernel tells of an object; `filled` is what it is asked with. Raises: OSError."""
    info = bytearray(filled.ljust(size, b"\0"))
    kernel_calls.command(GET_INFO, bytearray(struct.pack("=2IQ", fd, size, kernel_calls.address(info))))
    return info


def text(field: bytes | bytearray) -> str:
    """The text up to the first zero byte; another program chose it, so it is foreign."""
    return bytes(field).split(b"\0", 1)[0].decode(errors="replace")


RUNS, TRIALS = 20_000, 9
PACKET_BYTES = 64
"""What the program is run on: at least a head of Ethernet, 14 bytes (net/bpf/test_run.c, bpf_test_init)."""


@dataclass(frozen=True, slots=True)
class OwnCost:
    """The cost of the statistics for each run of a program, in ns.

    `counted_ns`: what they find for a program that does nothing, and so too much for every other. `added_ns`: by how
    much they make a run longer; None where somebody else had switched them on already.
    """

    counted_ns: float
    added_ns: float | None


def own_cost() -> OwnCost:
    """The statistics' cost, from some ten thousand runs of an empty program (BPF_PROG_TEST_RUN).

    The median of `TRIALS`, each without and with statistics: a few ms each. Raises: OSError.
    """
    empty = kernel_calls.load(kernel_calls.SOCKET_FILTER, bpf_program.empty(), "pe_empty")
    try:
        costs = [_trial(empty) for _ in range(TRIALS)]
    finally:
        os.close(empty)
    added_ns = [added for _, added in costs if added is not None]
    return OwnCost(median(counted for counted, _ in costs), median(added_ns) if added_ns else None)


def _trial(empty: int) -> tuple[float, float | None]:
    before = program(empty).runs
    without_ns = _run_ns(empty)
    first = program(empty)
    statistics = kernel_calls.enable_statistics()
    try:
        with_ns = _run_ns(empty)
    finally:
        os.close(statistics)
    last = program(empty)
    was_on = first.runs > before
    return (last.run_ns - first.run_ns) / (last.runs - first.runs), None if was_on else with_ns - without_ns


def _run_ns(program: int) -> float:
    packet = bytearray(PACKET_BYTES)
    fields = (program, 0, len(packet), 0, kernel_calls.address(packet), 0, RUNS, 0)
    attributes = bytearray(struct.pack("=4I2Q2I", *fields) + bytes(32))
    began_ns = time.thread_time_ns()
    kernel_calls.command(kernel_calls.PROG_TEST_RUN, attributes)
    return (time.thread_time_ns() - began_ns) / RUNS


KERNEL = "sys/kernel/btf/vmlinux"

FUNCTION, TYPEDEF = 12, 8

STRUCT, MEMBER_BYTES, SIZED_MEMBERS = 4, 12, 1 << 31
"""Of a structure's members 24 bits are the place in bits, where the highest bit of its head is set."""

HEAD_BYTES = 12
_FACTS: Any = beside(__file__, "bpf")
BYTES_BEHIND: dict[int, list[int]] = {int(kind): sizes for kind, sizes in _FACTS["types"].items()}
"""Kind to the bytes behind a type's head: once, and for each of its members."""


@cache
def kernel_names() -> dict[int, str]:
    """Number to name of each function, and of each type definition (of which tracepoints have one); empty without BTF.

    Takes some tenths of a second, once.
    """
    try:
        return names((ROOT / KERNEL).read_bytes())
    except OSError:
        return {}


def names(data: bytes) -> dict[int, str]:
    """Number to name, as `kernel_names`, from the bytes of a BTF object."""
    return {number: name for number, kind, name, _, _ in _types(data) if kind in {FUNCTION, TYPEDEF}}


def _types(data: bytes) -> Iterator[tuple[int, int, str, int, int]]:
    """(number, kind, name, second word of its head, place of what is behind the head) of each type."""
    head, types, _, strings = struct.unpack_from("<4I", data, 4)
    at, end, number = head + types, head + strings, 0
    while at < end:
        name, info = struct.unpack_from("<2I", data, at)
        number, kind = number + 1, info >> 24 & 31
        if kind in {FUNCTION, TYPEDEF, STRUCT}:
            yield number, kind, _string(data, end + name), info, at + HEAD_BYTES
        once, each = BYTES_BEHIND.get(kind, [0, 0])
        at += HEAD_BYTES + once + each * (info & 0xFFFF)


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode(errors="replace")


@cache
def cpu_time_offset() -> int | None:
    """Where `struct task_struct` has the CPU time of a thread, in bytes; None where the kernel does not tell."""
    try:
        data = (ROOT / KERNEL).read_bytes()
    except OSError:
        return None
    wanted = {"task_struct": "se", "sched_entity": "sum_exec_runtime"}
    head, _, _, strings = struct.unpack_from("<4I", data, 4)
    offsets = []
    for _, kind, name, info, at in _types(data):
        if kind == STRUCT and name in wanted:
            members = data[at : at + MEMBER_BYTES * (info & 0xFFFF)]
            for member, _, bits in struct.iter_unpack("<3I", members):
                if _string(data, head + strings + member) == wanted[name]:
                    offsets.append((bits & 0xFF_FFFF if info & SIZED_MEMBERS else bits) // 8)
    return sum(offsets) if len(offsets) == len(wanted) else None


TASK_FD_QUERY = 20
"""BPF_TASK_FD_QUERY."""

RAW_TRACEPOINT, TRACING, PERF_EVENT, KPROBE_MULTI, UPROBE_MULTI = 1, 2, 7, 8, 12
LINK_NAMES, QUERIED, PERF_LINKED = (_FACTS[name].split() for name in ("links", "queried", "perf_linked"))
"""enum bpf_link_type, bpf_task_fd_type and bpf_perf_event_type, by number."""

FENTRY, FEXIT = 24, 25
"""enum bpf_attach_type: BPF_TRACE_FENTRY, BPF_TRACE_FEXIT."""

INFO_BYTES = 64
NAME_BYTES = 4096
"""PATH_MAX, the longest that a name in an answer can be."""

MOST_PLACES = 1 << 16
ON_CALLS = (("sys_enter_", "tracepoint-entry"), ("sys_exit_", "tracepoint-return"))


@dataclass(frozen=True, slots=True)
class Attached:
    """A program, and places where it is attached. `others`: how many more there are that the kernel does not name."""

    program: int
    places: tuple[Place, ...]
    others: int = 0


def links() -> list[Attached]:
    return [attachment for number in ids(LINK_NEXT) if (attachment := of_id(LINK_BY_ID, number, link)) is not None]


def link(fd: int) -> Attached:
    info = information(fd, INFO_BYTES)
    kind, _, program = struct.unpack_from("=3I", info)
    try:
        places, others = _linked(kind, fd, info)
    except OSError:  # an older kernel that tells less
        places, others = [], 1
    return Attached(program, tuple(places), others)


def queried(pid: int, fd: int) -> Attached | None:
    """The program and place of a process's perf event; None if it samples. Raises: OSError if it has no program."""
    name = bytearray(NAME_BYTES)
    attributes = bytearray(struct.pack("=4IQ2I2Q", pid, fd, 0, len(name), kernel_calls.address(name), 0, 0, 0, 0))
    kernel_calls.command(TASK_FD_QUERY, attributes)
    program, kind, offset, _ = struct.unpack_from("=2I2Q", attributes, 24)
    if kind >= len(QUERIED):
        return None
    return Attached(program, (place(QUERIED[kind], text(name), offset),))


def place(kind: str, name: str, offset: int) -> Place:
    """A place as the kernel names it: of a tracepoint with or without its category, of a user probe the path."""
    if kind in {"uprobe", "uretprobe"}:
        path, first_bytes = Path(name), None
        with contextlib.suppress(OSError), path.open("rb") as file:  # in another container we cannot read it
            file.seek(offset)
            first_bytes = file.read(FIRST_BYTES) or None
        return Place(kind=kind, name=name, path=path, offset=offset, first_bytes=first_bytes)
    if kind == "tracepoint":
        bare = name.rpartition(":")[2]
        kind = next((word for prefix, word in ON_CALLS if bare.startswith(prefix)), kind)
    return Place(kind=kind, name=name)


def _linked(kind: int, fd: int, info: bytearray) -> tuple[list[Place], int]:
    """(what a link is on, how many more places there are). Raises: OSError where an older kernel tells less."""
    if kind == PERF_EVENT:
        return _perf_event(fd, info)
    if kind == UPROBE_MULTI:
        return _uprobes(fd, info)
    more = 0
    if kind == RAW_TRACEPOINT:
        buffer = bytearray(NAME_BYTES)
        information(fd, INFO_BYTES, bytes(16) + struct.pack("=QI", kernel_calls.address(buffer), len(buffer)))
        word, name = "raw-tracepoint", text(buffer)
    elif kind == TRACING:
        attach_type, _, function = struct.unpack_from("=3I", info, 16)
        word = {FENTRY: "fentry", FEXIT: "fexit"}.get(attach_type, "tracing")
        name = kernel_names().get(function, f"type {function}")
    elif kind == KPROBE_MULTI:
        count, flags = struct.unpack_from("=2I", info, 24)
        word = "multi-kretprobe" if flags & kernel_calls.MULTI_RETURN else "multi-kprobe"
        name, more = f"{count} kernel functions", max(0, count - 1)
    else:
        word = name = LINK_NAMES[kind] if kind < len(LINK_NAMES) else f"link type {kind}"
    return [Place(kind=word, name=name)], more


def _perf_event(fd: int, info: bytearray) -> tuple[list[Place], int]:
    """The kernel wants to be asked with a buffer of the member that the type says."""
    (kind,) = struct.unpack_from("=I", info, 16)
    if not kind:  # an older kernel: whoever holds the event too can be asked (`queried`)
        return [], 1
    if kind >= len(PERF_LINKED):
        return [Place(kind="profile", name="samples")], 0
    name = bytearray(NAME_BYTES)
    asked = bytes(24) + struct.pack("=QI", kernel_calls.address(name), len(name))
    told = information(fd, INFO_BYTES, asked)
    return [place(PERF_LINKED[kind], text(name), struct.unpack_from("=I", told, 36)[0])], 0


def _uprobes(fd: int, info: bytearray) -> tuple[list[Place], int]:
    count, flags = struct.unpack_from("=2I", info, 52)
    path, offsets = bytearray(NAME_BYTES), bytearray(8 * min(count, MOST_PLACES))
    pointers = (kernel_calls.address(path), kernel_calls.address(offsets), 0, 0)
    asked = struct.pack("=4Q2I", *pointers, len(path), len(offsets) // 8)
    information(fd, INFO_BYTES, bytes(16) + asked)
    kind = "uretprobe" if flags & kernel_calls.MULTI_RETURN else "uprobe"
    probe_sites = [place(kind, text(path), offset) for (offset,) in struct.iter_unpack("=Q", offsets)]
    return probe_sites, count - len(probe_sites)
