"""How many bytes BPF maps and the buffers of tracers take, by the number of CPUs and the size of a page.

Of maps the sources are `*_map_mem_usage` and the functions that allocate, in kernel/bpf/ of Linux 6.18: hashtab.c,
arraymap.c, stackmap.c, ringbuf.c. The kernel reports the same as `memlock` in a map's fdinfo since Linux 6.4; what was
there before is no more than entries times the bytes of a key and a value. `references.toml` has each with its place.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from probe_effect.model import series_of

HASH, ARRAY, PERF_EVENTS, PERCPU_HASH, PERCPU_ARRAY = 1, 2, 4, 5, 6
STACKS, LRU_HASH, LRU_PERCPU_HASH, RING = 7, 9, 10, 27
"""enum bpf_map_type of include/uapi/linux/bpf.h."""

NO_PREALLOC, MEMORY_MAPPED = 1 << 0, 1 << 10
"""BPF_F_NO_PREALLOC, BPF_F_MMAPABLE."""

POINTER, BUCKET, ELEMENT, STACK = 8, 16, 48, 16
"""struct bucket and struct htab_elem of hashtab.c, struct stack_map_bucket of stackmap.c, without key and value."""
RING_PAGES = 3
"""Of a ring beside its data: its own, the reader's position, the writers'."""

MEMLOCK_SINCE = "6.4"
"""Linux whose `memlock` is what a map takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BpfMap:
    """A map as it was asked for; `kind` is its number in enum bpf_map_type."""

    kind: int
    key_bytes: int
    value_bytes: int
    entries: int
    flags: int = 0

    def taken_bytes(self, cpus: int, page_bytes: int) -> int | None:
        """What the kernel allocates for it, full if it grows, without the few hundred bytes of its head.

        `cpus`: the possible ones, which may be more than there are. None of a type whose law is not here.
        """
        law = LAWS.get(self.kind)
        return None if law is None else law(self, cpus, page_bytes)


def _array(bpf_map: BpfMap, cpus: int, page_bytes: int) -> int:
    if bpf_map.kind == PERCPU_ARRAY:
        return bpf_map.entries * (POINTER + _rounded(bpf_map.value_bytes) * cpus)
    taken = bpf_map.entries * _rounded(bpf_map.value_bytes)
    return _rounded(taken, page_bytes) + page_bytes if bpf_map.flags & MEMORY_MAPPED else taken


def _hash(bpf_map: BpfMap, cpus: int, _: int) -> int:
    """A map without preallocation keeps a node for the allocator in each part of an element.

    A plain hash has one element more for each CPU, so that an update does not have to wait for one to be freed.
    """
    is_per_cpu, grows = bpf_map.kind in {PERCPU_HASH, LRU_PERCPU_HASH}, bool(bpf_map.flags & NO_PREALLOC)
    value = POINTER if is_per_cpu else _rounded(bpf_map.value_bytes)
    behind = _rounded(bpf_map.value_bytes) * cpus if is_per_cpu else 0
    nodes = POINTER * (3 if is_per_cpu else 1) if grows else 0
    more = cpus if bpf_map.kind == HASH and not grows else 0
    elements = (bpf_map.entries + more) * (ELEMENT + _rounded(bpf_map.key_bytes) + value + behind + nodes)
    return BUCKET * _power_of_two(bpf_map.entries) + elements + POINTER * more


def _stacks(bpf_map: BpfMap, *_: int) -> int:
    return POINTER * _power_of_two(bpf_map.entries) + bpf_map.entries * (STACK + bpf_map.value_bytes)


def _ring(bpf_map: BpfMap, _: int, page_bytes: int) -> int:
    """The data are mapped twice, one behind the other, so that their pages are listed twice."""
    pages = bpf_map.entries // page_bytes
    return (RING_PAGES + pages) * page_bytes + POINTER * (RING_PAGES + 2 * pages)


LAWS: dict[int, Callable[[BpfMap, int, int], int]] = {
    **dict.fromkeys((ARRAY, PERCPU_ARRAY), _array),
    **dict.fromkeys((HASH, PERCPU_HASH, LRU_HASH, LRU_PERCPU_HASH), _hash),
    PERF_EVENTS: lambda bpf_map, *_: bpf_map.entries * POINTER,
    STACKS: _stacks,
    RING: _ring,
}


def _rounded(size: int, to: int = 8) -> int:
    return -(-size // to) * to


def _power_of_two(entries: int) -> int:
    return 1 << (entries - 1).bit_length()


KIB = 1 << 10

BUFFERS: dict[str, Callable[[int], int]] = {
    "bpftrace": lambda page: (64 + 1) * page,
    "perf-record": lambda page: 2 * (512 * KIB + page),
    "perf-trace": lambda page: 512 * KIB + page,
    "ftrace": lambda page: (-(-1408 * KIB // (page - 16)) + 1) * page,
    "trace-cmd": lambda page: (-(-1408 * KIB // (page - 16)) + 1) * page,
    "lttng-ust": lambda page: 4 * _rounded(512 * KIB, page),
    **dict.fromkeys(("strace", "strace-seccomp", "perf-stat"), lambda _: 0),
}
"""By tracer, the buffer of one CPU for a size of a page, where no option and no variable says otherwise.

A page with perf's state is before each of its buffers, and perf record has two: the second tells of BPF programs that
are loaded meanwhile (tools/perf/util/sideband_evlist.c). Of each page ftrace keeps 16 bytes for itself, and behind them
is the reader's page (kernel/trace/ring_buffer.c). That of bpftrace is of 0.17 and 0.18.
"""
OWN_RING_SINCE = "0.19"
"""bpftrace with one ring for all CPUs, and buffers of perf beside it for some scripts."""
SIZED = re.compile(
    r"(?<![\w-])(?:-[a-zA-Z]*[mbC]|--mm|--subbuf|--num-subbuf|--per-thread|--cpu)|PERF_RB_PAGES|intel_pt|cs_etm|arm_spe"
)
"""What makes buffers of another size or number, in a command line or in the environment; rather too often than not."""
MAPLESS = BUFFERS.keys() - {"bpftrace", "perf-trace"}
"""Tracers without BPF maps."""


class TracerMemory(NamedTuple):
    """What a tracer's maps and its buffers take, bytes; None of what is not known."""

    maps_bytes: int | None
    buffers_bytes: int | None
    is_measured: bool
    """Whether that is of the tracer at work here, and not by the law."""


def by_law(tracer: str, command: str, version: str | None, cpus: int, page_bytes: int) -> TracerMemory:
    """The buffers of a tracer that was not started, by its defaults; how large maps are the tracer alone knows.

    `command`: the words that start it, and its environment. `version`: of bpftrace.
    """
    is_bpftrace, buffer = tracer == "bpftrace", BUFFERS.get(tracer)
    is_newer = is_bpftrace and (version is None or series_of(version) >= series_of(OWN_RING_SINCE))
    if buffer is None or is_newer or SIZED.search(command):
        return TracerMemory(None, None, is_measured=False)
    return TracerMemory(0 if tracer in MAPLESS else None, cpus * buffer(page_bytes), is_measured=False)
