"""What BPF maps and perf buffers take of memory, beside what the law of `costs/map_memory.py` says.

Usage, as root: PYTHONPATH=tests python -m evidence.map_memory [--write]. Needs what emulated machines need; takes some
minutes for each. `map_memory.c` makes the maps, here and in guests with other numbers of CPUs and sizes of pages.
`--write` puts the tables where the guide draws them in.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evidence.method_tables import write
from probe_effect import units
from probe_effect.cli.measure_settings import CACHE
from probe_effect.costs.map_memory import BUFFERS, HASH, PERCPU_HASH, PERF_EVENTS, RING, STACKS, BpfMap
from probe_effect.guests.assembly import assemble
from probe_effect.guests.debian import ARCHITECTURES, DebianRelease, find_kernel, locked, packaged
from probe_effect.guests.guest import WORKLOADS
from probe_effect.guests.qemu import RunningGuest
from probe_effect.host.compilers import c_compiler, cache_folder, compiled
from probe_effect.records import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SOURCE = Path(__file__).with_suffix(".c")
PATIENCE_S = 1_800.0
LARGE_PAGES = "linux-image-6.12.117+deb13-arm64-16k"
"""The kernel of Debian with the largest pages: there is none with 64 KiB."""


class Guest(NamedTuple):
    """An emulated machine: its name in the table, and words for the emulator that say how many CPUs there are."""

    name: str
    architecture: str
    kernel: str
    words: tuple[str, ...]


GUESTS = (
    Guest("1 CPU", "amd64", "trixie", ("-smp", "1")),
    Guest("8 CPUs", "amd64", "trixie", ("-smp", "8")),
    Guest("8 CPUs, pages of 16 KiB", "arm64", LARGE_PAGES, ("-smp", "8")),
)
"""One with 64 CPUs had not booted after 17 minutes on a busy host: in turns they count instructions."""

NAMES = {
    (1, 0): "hash",
    (1, 1): "hash that grows, full",
    (2, 0): "array",
    (4, 0): "perf buffers of 64 pages",
    (5, 0): "hash, a value per CPU",
    (6, 0): "array, a value per CPU",
    (7, 0): "stacks of 127 frames",
    (9, 0): "hash with eviction (LRU)",
    (27, 0): "ring",
}
SIZES = ((2, 4096), (64, 4096), (192, 4096), (64, 65536))
"""CPUs and bytes of a page for which the second table has the buffers of tracers."""


_COUNTS = BpfMap(kind=PERCPU_HASH, key_bytes=8, value_bytes=8, entries=4096)
SCRIPTS = {
    "@[tid] = nsecs": (BpfMap(kind=HASH, key_bytes=8, value_bytes=8, entries=4096),),
    "@[pid] = count()": (_COUNTS,),
    "@[pid] = hist(..)": (replace(_COUNTS, key_bytes=16),),
    "@[ustack] = count()": (_COUNTS, BpfMap(kind=STACKS, key_bytes=4, value_bytes=127 * 8, entries=1 << 17)),
}
"""The maps that bpftrace 0.17 makes of a statement, as their fdinfo has them."""


class Row(NamedTuple):
    """A line of the program's: what was made, on what, and what it took."""

    kind: int
    key_bytes: int
    value_bytes: int
    entries: int
    flags: int
    possible_cpus: int
    cpus: int
    page_bytes: int
    memlock_bytes: int
    taken_bytes: int

    @property
    def law_bytes(self) -> int:
        """What the law says; of perf buffers, which no map has, that of bpftrace."""
        one = BpfMap(
            kind=self.kind,
            key_bytes=self.key_bytes,
            value_bytes=self.value_bytes,
            entries=self.entries,
            flags=self.flags,
        )
        if self.kind == PERF_EVENTS:
            return self.cpus * BUFFERS["bpftrace"](self.page_bytes)
        return one.taken_bytes(self.possible_cpus, self.page_bytes) or 0


def rows(lines: Iterable[str]) -> list[Row]:
    return [Row(*map(int, line.split("\t"))) for line in lines]


def here() -> list[Row]:
    """Those of this machine, where others take and free memory meanwhile, so that what is free says nothing."""
    program = compiled(SOURCE, c_compiler(("-O2", "-Wall")), "evidence/map-memory").path
    ran = subprocess.run([program], capture_output=True, text=True, check=True)
    return [one._replace(taken_bytes=-1) for one in rows(ran.stdout.splitlines())]


def emulated(guest: Guest) -> list[Row]:
    cache, processor = cache_folder() / CACHE, ARCHITECTURES[guest.architecture]
    with locked(cache):
        is_package = guest.kernel.startswith("linux-image-")
        release = DebianRelease("trixie", cache, processor)
        image = packaged(release, guest.kernel) if is_package else find_kernel(guest.kernel, cache, processor)
        assembly = assemble(processor, image, (), (), cache, more=(SOURCE,))
    booted = RunningGuest(assembly.image, assembly.emulator, "tcg", guest.words)
    try:
        booted.wait_for_boot(PATIENCE_S)
        name = assembly.programs[SOURCE].path.name
        return rows(booted.ask({"do": "mechanisms", "program": f"{WORKLOADS}/{name}"}, PATIENCE_S)["lines"])
    finally:
        booted.end()


def measured_table(found: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """A row for each map, and in each cell, in MiB: by the law, what the kernel says, what is no more free."""
    yield "| Map | Entries | " + " | ".join(found) + " |"
    yield "|:--|--:|" + "--:|" * len(found)
    for its in zip(*found.values(), strict=True):
        first = its[0]
        entries = units.MISSING if first.kind in {PERF_EVENTS, RING} else units.count(first.entries)
        yield f"| {NAMES[first.kind, first.flags]} | {entries} | " + " | ".join(map(_cell, its)) + " |"


def _cell(row: Row) -> str:
    sizes = (row.law_bytes, row.memlock_bytes, row.taken_bytes)
    return " / ".join(units.MISSING if size < 0 else f"{size / (1 << 20):.2f}" for size in sizes)


def buffers_table() -> Iterator[str]:
    yield _titles("Tracer, one buffer for each CPU")
    yield "|:--|" + "--:|" * len(SIZES)
    for tracer, buffer in ((one, buffer) for one, buffer in BUFFERS.items() if buffer(1)):
        name = "bpftrace 0.17" if tracer == "bpftrace" else (*TOOLS[tracer].commands, tracer)[0]
        yield f"| {name} | " + " | ".join(units.size(cpus * buffer(page)) for cpus, page in SIZES) + " |"


def scripts_table() -> Iterator[str]:
    """What bpftrace's maps take, by the law, and a sentence with the buffers."""
    yield _titles("In a script")
    yield "|:--|" + "--:|" * len(SIZES)
    for text, maps in SCRIPTS.items():
        yield f"| `{text}` | " + " | ".join(units.size(_taken(maps, *sizes)) for sizes in SIZES) + " |"
    text, maps = list(SCRIPTS.items())[-1]
    least, most = (units.size(_taken(maps, *sizes) + sizes[0] * BUFFERS["bpftrace"](sizes[1])) for sizes in _ENDS)
    yield f"\nWith its buffers a script of `{text}` takes {least} on {_of(_ENDS[0])}, and {most} on {_of(_ENDS[1])}."


_ENDS = (SIZES[0], SIZES[-1])


def _of(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]} CPUs with pages of {sizes[1] >> 10}{units.GAP}KiB"


def _titles(first: str) -> str:
    return f"| {first} | " + " | ".join(map(_of, SIZES)) + " |"


def _taken(maps: Sequence[BpfMap], cpus: int, page_bytes: int) -> int:
    return sum(one.taken_bytes(cpus, page_bytes) or 0 for one in maps)


def main(words: Sequence[str]) -> None:
    """Print the tables, and with `--write` write them."""
    found = {"2 CPUs": here()}
    for guest in GUESTS:
        print(guest.name, file=sys.stderr, flush=True)
        found[guest.name] = emulated(guest)
    tables = {"map-memory": measured_table(found), "buffer-memory": buffers_table(), "script-memory": scripts_table()}
    for name, lines in tables.items():
        text = "\n".join(lines)
        print(text)
        if "--write" in words:
            write(name, text)


if __name__ == "__main__":
    main(sys.argv[1:])
