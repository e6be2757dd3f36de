"""The places to which loaded programs are attached, by links and by perf events, with the names of functions.

Source: Documentation/bpf/btf.rst of the Linux kernel, "BTF Type and String Encoding".

Source: struct bpf_link_info, enum bpf_link_type, enum bpf_perf_event_type and enum bpf_task_fd_type in
include/uapi/linux/bpf.h, Linux 6.18. The kernel tells of perf links since 6.6 and of uprobe links since 6.8; before
that, and for other sorts of links, only which program they hold.
"""

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from probe_effect.host import ROOT
from probe_effect.host.symbols import FIRST_BYTES
from probe_effect.live import bpf, bpf_objects
from probe_effect.live.places import Place
from probe_effect.toml import beside

KERNEL = "sys/kernel/btf/vmlinux"

FUNCTION, TYPEDEF = 12, 8

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
    head, types, _, strings = struct.unpack_from("<4I", data, 4)
    at, end, number = head + types, head + strings, 0
    found = {}
    while at < end:
        name, info = struct.unpack_from("<2I", data, at)
        number += 1
        kind = info >> 24 & 31
        if kind in {FUNCTION, TYPEDEF}:
            begin = end + name
            found[number] = data[begin : data.index(b"\0", begin)].decode(errors="replace")
        once, each = BYTES_BEHIND.get(kind, [0, 0])
        at += HEAD_BYTES + once + each * (info & 0xFFFF)
    return found


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
    """The program and the places of every link. Raises: OSError."""
    found = (
        bpf_objects.of_id(bpf_objects.LINK_BY_ID, number, link) for number in bpf_objects.ids(bpf_objects.LINK_NEXT)
    )
    return [one for one in found if one is not None]


def link(fd: int) -> Attached:
    """The program and the places of a link, by its descriptor. Raises: OSError."""
    info = bpf_objects.information(fd, INFO_BYTES)
    kind, _, program = struct.unpack_from("=3I", info)
    readers = {
        RAW_TRACEPOINT: _raw_tracepoint,
        TRACING: _tracing,
        PERF_EVENT: _perf_event,
        KPROBE_MULTI: _kprobes,
        UPROBE_MULTI: _uprobes,
    }
    if kind in readers:
        try:
            places, others = readers[kind](fd, info)
        except OSError:  # an older kernel that tells less
            places, others = [], 1
        return Attached(program, tuple(places), others)
    name = LINK_NAMES[kind] if kind < len(LINK_NAMES) else f"link type {kind}"
    return Attached(program, (Place(kind=name, name=name),))


def queried(pid: int, fd: int) -> Attached | None:
    """The program and place of a process's perf event; None if it samples. Raises: OSError if it has no program."""
    name = bytearray(NAME_BYTES)
    attributes = bytearray(struct.pack("=4IQ2I2Q", pid, fd, 0, len(name), bpf.address(name), 0, 0, 0, 0))
    bpf.command(TASK_FD_QUERY, attributes)
    program, kind, offset, _ = struct.unpack_from("=2I2Q", attributes, 24)
    if kind >= len(QUERIED):
        return None
    return Attached(program, (place(QUERIED[kind], bpf_objects.text(name), offset),))


def place(kind: str, name: str, offset: int) -> Place:
    """A place as the kernel names it: of a tracepoint with or without its category, of a user probe the path."""
    if kind in {"uprobe", "uretprobe"}:
        return Place(kind=kind, name=name, path=Path(name), offset=offset, first_bytes=_bytes_at(Path(name), offset))
    if kind == "tracepoint":
        bare = name.rpartition(":")[2]
        kind = next((word for prefix, word in ON_CALLS if bare.startswith(prefix)), kind)
    return Place(kind=kind, name=name)


def _bytes_at(path: Path, offset: int) -> bytes | None:
    """The bytes of a file at a place; None if we cannot read it, for example in another container."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(FIRST_BYTES) or None
    except OSError:
        return None


def _raw_tracepoint(fd: int, _: bytearray) -> tuple[list[Place], int]:
    name = bytearray(NAME_BYTES)
    bpf_objects.information(fd, INFO_BYTES, bytes(16) + struct.pack("=QI", bpf.address(name), len(name)))
    return [Place(kind="raw-tracepoint", name=bpf_objects.text(name))], 0


def _tracing(_: int, info: bytearray) -> tuple[list[Place], int]:
    attach_type, _object, function = struct.unpack_from("=3I", info, 16)
    kind = {FENTRY: "fentry", FEXIT: "fexit"}.get(attach_type, "tracing")
    return [Place(kind=kind, name=kernel_names().get(function, f"type {function}"))], 0


def _perf_event(fd: int, info: bytearray) -> tuple[list[Place], int]:
    """The kernel wants to be asked with a buffer of the member that the type says."""
    (kind,) = struct.unpack_from("=I", info, 16)
    if not kind:  # an older kernel: whoever holds the event too can be asked (`queried`)
        return [], 1
    if kind >= len(PERF_LINKED):
        return [Place(kind="profile", name="samples")], 0
    name = bytearray(NAME_BYTES)
    asked = bytes(24) + struct.pack("=QI", bpf.address(name), len(name))
    told = bpf_objects.information(fd, INFO_BYTES, asked)
    return [place(PERF_LINKED[kind], bpf_objects.text(name), struct.unpack_from("=I", told, 36)[0])], 0


def _kprobes(_: int, info: bytearray) -> tuple[list[Place], int]:
    count, flags = struct.unpack_from("=2I", info, 24)
    kind = "multi-kretprobe" if flags & bpf.MULTI_RETURN else "multi-kprobe"
    return [Place(kind=kind, name=f"{count} kernel functions")], max(0, count - 1)


def _uprobes(fd: int, info: bytearray) -> tuple[list[Place], int]:
    count, flags = struct.unpack_from("=2I", info, 52)
    path, offsets = bytearray(NAME_BYTES), bytearray(8 * min(count, MOST_PLACES))
    asked = struct.pack("=4Q2I", bpf.address(path), bpf.address(offsets), 0, 0, len(path), len(offsets) // 8)
    bpf_objects.information(fd, INFO_BYTES, bytes(16) + asked)
    kind = "uretprobe" if flags & bpf.MULTI_RETURN else "uprobe"
    name = bpf_objects.text(path)
    found = [place(kind, name, offset) for (offset,) in struct.iter_unpack("=Q", offsets)]
    return found, count - len(found)
