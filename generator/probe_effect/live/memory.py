"""What a process holds of BPF maps, and of buffers in which a kernel hands it records, as the kernel tells it.

Source: bpf_map_show_fdinfo in kernel/bpf/syscall.c; proc_pid_maps(5). Of a map alone is the fdinfo read: that of some
links can kill the kernel (`loaded.py`).
"""

import contextlib
import os
import re

from probe_effect.costs.map_memory import MEMLOCK_SINCE, RING, BpfMap, TracerMemory
from probe_effect.host import ROOT, read_text
from probe_effect.live.kernel_calls import possible_cpus
from probe_effect.model import series_of

MAP = "anon_inode:bpf-map"
FIELD = re.compile(r"^(\w+):\s*(\w+)$", re.MULTILINE)
PERF_BUFFER = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*anon_inode:\[perf_event\]$", re.MULTILINE)


def held_memory(pid: int) -> TracerMemory | None:
    """The memory of a tracer that is at work; None if it has gone, or is closed to us."""
    folder = ROOT / "proc" / str(pid)
    maps: dict[str, tuple[bool, int | None]] = {}
    try:
        for link in (folder / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it has been closed meanwhile
                if str(link.readlink()) == MAP:
                    found = dict(FIELD.findall((folder / "fdinfo" / link.name).read_text(encoding="utf-8")))
                    maps[found["map_id"]] = int(found["map_type"]) == RING, _taken_bytes(found)
        mapped = (folder / "maps").read_text(encoding="utf-8", errors="replace")
    except (OSError, LookupError, ValueError):
        return None
    if not mapped:  # it has ended, and nobody has waited for it yet
        return None
    buffers = sum(int(end, 16) - int(start, 16) for start, end in PERF_BUFFER.findall(mapped))
    rings, others = ([taken for is_ring, taken in maps.values() if is_ring is wanted] for wanted in (True, False))
    return TracerMemory(_sum(others), _sum([*rings, buffers]), is_measured=True)


def _taken_bytes(found: dict[str, str]) -> int | None:
    """What a map takes, by the lines of its fdinfo; by the law where the kernel only estimates it."""
    if series_of(read_text(ROOT, "proc/sys/kernel/osrelease") or "") >= series_of(MEMLOCK_SINCE):
        return int(found["memlock"])
    kind, key, value, entries = (int(found[name]) for name in ("map_type", "key_size", "value_size", "max_entries"))
    one = BpfMap(kind=kind, key_bytes=key, value_bytes=value, entries=entries, flags=int(found["map_flags"], 16))
    return one.taken_bytes(possible_cpus(), os.sysconf("SC_PAGE_SIZE"))


def _sum(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)
