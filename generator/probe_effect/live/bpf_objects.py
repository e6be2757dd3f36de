"""What is loaded into the kernel, by id or by descriptor: programs with what they ran, and links with their targets.

Source of the layouts: struct bpf_prog_info and struct bpf_link_info in include/uapi/linux/bpf.h, Linux 6.18. An older
kernel fills the beginning that it knows and leaves the rest zero.
"""

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from probe_effect.live import bpf

Found = TypeVar("Found")

PROGRAM_NEXT, PROGRAM_BY_ID, GET_INFO, LINK_BY_ID, LINK_NEXT = 11, 13, 15, 30, 31
"""enum bpf_cmd: BPF_PROG_GET_NEXT_ID, _GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD, BPF_LINK_GET_FD_BY_ID, _GET_NEXT_ID."""

PROGRAM_INFO_BYTES = 232


KINDS = (
    "unspec socket_filter kprobe sched_cls sched_act tracepoint xdp perf_event cgroup_skb cgroup_sock lwt_in lwt_out "
    "lwt_xmit sock_ops sk_skb cgroup_device sk_msg raw_tracepoint cgroup_sock_addr lwt_seg6local lirc_mode2 "
    "sk_reuseport flow_dissector cgroup_sysctl raw_tracepoint_writable cgroup_sockopt tracing struct_ops ext lsm "
    "sk_lookup syscall netfilter"
).split()
"""enum bpf_prog_type, by number."""
PERF_EVENT = KINDS.index("perf_event")


@dataclass(frozen=True, slots=True, kw_only=True)
class BpfProgram:
    """A loaded program. `runs` and `run_ns` grow only while statistics are switched on."""

    id: int
    kind: int
    name: str
    tag: str
    runs: int
    run_ns: int


def kind_name(kind: int) -> str:
    """The name of a type of programs, as bpftool writes it; of one newer than this list its number."""
    return KINDS[kind] if kind < len(KINDS) else f"type {kind}"


def programs() -> list[BpfProgram]:
    """All loaded programs, by id. Raises: OSError."""
    return [found for number in ids(PROGRAM_NEXT) if (found := of_id(PROGRAM_BY_ID, number, program)) is not None]


def program(fd: int) -> BpfProgram:
    """A program by its descriptor. Raises: OSError."""
    info = information(fd, PROGRAM_INFO_BYTES)
    kind, number = struct.unpack_from("=2I", info)
    run_ns, runs = struct.unpack_from("=2Q", info, 192)
    return BpfProgram(
        id=number,
        kind=kind,
        name=text(info[64:80]),
        tag=info[8:16].hex(),
        runs=runs,
        run_ns=run_ns,
    )


def ids(command: int) -> Iterator[int]:
    """The ids of all objects of a sort, by the command that names the next one. Raises: OSError."""
    number = 0
    while True:
        attributes = bytearray(struct.pack("=3I", number, 0, 0))
        try:
            bpf.command(command, attributes)
        except FileNotFoundError:
            return
        number = struct.unpack_from("=I", attributes, 4)[0]
        yield number


def of_id(command: int, number: int, read: Callable[[int], Found]) -> Found | None:
    """The result of `read` for the object of that id; None if it has gone meanwhile. Raises: OSError.

    A link that is being made has an id already, and is refused with EAGAIN (kernel/bpf/syscall.c, bpf_link_by_id).
    """
    try:
        fd = bpf.command(command, bytearray(struct.pack("=3I", number, 0, 0)))
    except (FileNotFoundError, BlockingIOError):
        return None
    try:
        return read(fd)
    finally:
        os.close(fd)


def information(fd: int, size: int, filled: bytes = b"") -> bytearray:
    """The first `size` bytes that the kernel tells of an object; `filled` is what it is asked with. Raises: OSError."""
    info = bytearray(filled.ljust(size, b"\0"))
    bpf.command(GET_INFO, bytearray(struct.pack("=2IQ", fd, size, bpf.address(info))))
    return info


def text(field: bytes | bytearray) -> str:
    """The text up to the first zero byte; another program chose it, so it is foreign."""
    return bytes(field).split(b"\0", 1)[0].decode(errors="replace")
