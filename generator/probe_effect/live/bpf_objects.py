"""What is loaded into the kernel: programs, maps and links, and the statistics of programs while we look.

Source of the layouts: struct bpf_prog_info and struct bpf_link_info in include/uapi/linux/bpf.h, Linux 6.18. An older
kernel fills the beginning that it knows and leaves the rest zero.
"""

import os
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from probe_effect.live import bpf, bpf_program
from probe_effect.toml import beside

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
    """All loaded programs, by id. Raises: OSError."""
    return [found for number in ids(PROGRAM_NEXT) if (found := of_id(PROGRAM_BY_ID, number, program)) is not None]


def program(fd: int) -> BpfProgram:
    """A program by its descriptor. Raises: OSError."""
    info = information(fd, PROGRAM_INFO_BYTES)
    kind, number = struct.unpack_from("=2I", info)
    run_ns, runs = struct.unpack_from("=2Q", info, 192)
    return BpfProgram(
        id=number,
        kind=KINDS[kind] if kind < len(KINDS) else f"type {kind}",
        name=text(info[64:80]),
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


def own_cost(trials: int = TRIALS) -> OwnCost:
    """The statistics' cost, from some ten thousand runs of an empty program (BPF_PROG_TEST_RUN).

    The median of so many trials, each without and with statistics: a few ms each. Raises: OSError.
    """
    program = bpf.load(bpf.SOCKET_FILTER, bpf_program.empty(), "pe_empty")
    try:
        seen = [_trial(program) for _ in range(trials)]
    finally:
        os.close(program)
    counted_ns = median(counted for counted, _ in seen)
    added = [one for _, one in seen if one is not None]
    return OwnCost(counted_ns, median(added) if added else None)


def _trial(empty: int) -> tuple[float, float | None]:
    """The ns of a run by the statistics, and the ns by which they make it longer."""
    before = program(empty).runs
    without_ns = _run_ns(empty)
    first = program(empty)
    statistics = bpf.enable_statistics()
    try:
        with_ns = _run_ns(empty)
    finally:
        os.close(statistics)
    last = program(empty)
    was_on = first.runs > before
    return (last.run_ns - first.run_ns) / (last.runs - first.runs), None if was_on else with_ns - without_ns


def _run_ns(program: int) -> float:
    packet = bytearray(PACKET_BYTES)
    fields = (program, 0, len(packet), 0, bpf.address(packet), 0, RUNS, 0)
    attributes = bytearray(struct.pack("=4I2Q2I", *fields) + bytes(32))
    began_ns = time.thread_time_ns()
    bpf.command(bpf.PROG_TEST_RUN, attributes)
    return (time.thread_time_ns() - began_ns) / RUNS
