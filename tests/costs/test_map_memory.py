"""What maps and buffers take: by the law, and as the kernel tells it of a process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from evidence import map_memory as map_table
from helpers.builders import PROJECT
from helpers.live_programs import needs_bpf
from probe_effect.advising import loop
from probe_effect.advising.loop import held_memory
from probe_effect.costs import map_memory
from probe_effect.costs.map_memory import BUFFERS, KIB, NO_PREALLOC, BpfMap, TracerMemory, by_law
from probe_effect.live import kernel_calls
from probe_effect.live.kernel_calls import possible_cpus

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096
MAP_HEAD_BYTES = 1 << 11
"""More than the kernel's own record of a map takes, with the locks that Linux before 6.15 has for each CPU."""


def made(kind: int, key: int, value: int, entries: int, flags: int = 0) -> BpfMap:
    return BpfMap(kind=kind, key_bytes=key, value_bytes=value, entries=entries, flags=flags)


@pytest.mark.parametrize(
    ("one", "cpus", "wanted"),
    [
        # As the commits print it that made the kernel report it (32 CPUs), without the heads.
        (made(map_memory.ARRAY, 4, 4, 65536), 32, 524_288),
        (made(map_memory.PERCPU_ARRAY, 4, 4, 65536), 32, 17_301_504),
        (made(map_memory.PERF_EVENTS, 4, 4, 65536), 32, 524_288),
        (made(map_memory.HASH, 4, 4, 1 << 20), 32, 83_889_408 - 32 * 32),
        (made(map_memory.PERCPU_HASH, 16, 24, 1 << 20), 32, 897_582_080 - 32 * 32),
        (made(map_memory.STACKS, 4, 8, 65536), 32, 2_097_152),
    ],
    ids=["array", "per-CPU array", "perf events", "hash", "per-CPU hash", "stacks"],
)
def test_the_law_is_what_the_kernel_s_authors_printed(one: BpfMap, cpus: int, wanted: int) -> None:
    assert one.taken_bytes(cpus, PAGE) == wanted


def test_a_map_that_grows_takes_a_node_more_for_each_part_of_an_element() -> None:
    entries = 4096
    fixed, growing = (made(map_memory.LRU_HASH, 8, 8, entries), made(map_memory.HASH, 8, 8, entries, NO_PREALLOC))
    assert (growing.taken_bytes(2, PAGE) or 0) - (fixed.taken_bytes(2, PAGE) or 0) == 8 * entries
    fixed, growing = (made(map_memory.PERCPU_HASH, 8, 8, entries, flags) for flags in (0, NO_PREALLOC))
    assert (growing.taken_bytes(2, PAGE) or 0) - (fixed.taken_bytes(2, PAGE) or 0) == 24 * entries


def test_a_map_of_another_type_is_not_known() -> None:
    queue = 22
    assert made(queue, 0, 8, 100).taken_bytes(2, PAGE) is None


def test_only_values_of_each_cpu_grow_with_the_cpus() -> None:
    def grows(kind: int) -> float:
        few, many = (made(kind, 8, 8, 4096).taken_bytes(cpus, PAGE) or 0 for cpus in (1, 64))
        return many / few

    assert grows(map_memory.PERCPU_HASH) > 6
    assert grows(map_memory.LRU_PERCPU_HASH) > 6
    assert grows(map_memory.HASH) < 1.1
    assert grows(map_memory.LRU_HASH) == 1


def test_a_ring_takes_its_bytes_and_not_sixteen_times_as_many_on_larger_pages() -> None:
    ring = made(map_memory.RING, 0, 0, 16 << 20)
    small, large = (ring.taken_bytes(64, page) or 0 for page in (PAGE, 16 * PAGE))
    assert 16 << 20 < small < 17 << 20
    assert 16 << 20 < large < 17 << 20


def test_buffers_that_are_said_in_pages_grow_with_the_page() -> None:
    assert by_law("bpftrace", "", "v0.17.0", 64, 16 * PAGE).buffers_bytes == 64 * 65 * 65536
    assert by_law("bpftrace", "", "v0.17.0", 64, PAGE) == TracerMemory(None, 64 * 65 * PAGE, is_measured=False)
    assert by_law("perf-record", "perf record -a", None, 2, PAGE) == (0, 2 * 2 * (512 * KIB + PAGE), False)
    assert BUFFERS["ftrace"](PAGE) == 1420 * KIB
    assert BUFFERS["ftrace"](16 * PAGE) == 1536 * KIB


@pytest.mark.parametrize(
    ("tracer", "command", "version"),
    [
        ("bpftrace", "", "v0.23.2"),
        ("bpftrace", "", None),
        ("bpftrace", "kprobe:f { @ = count() } BPFTRACE_PERF_RB_PAGES", "v0.17.0"),
        ("perf-record", "perf record -m 4M -a", None),
        ("perf-record", "perf record --mmap-pages=4M -a", None),
        ("perf-record", "perf record -am4M", None),
        ("perf-record", "perf record '-m64' -a", None),
        ("perf-record", "perf record --mma 8 -a", None),
        ("perf-record", "perf record -C 0", None),
        ("perf-record", "perf record -e intel_pt// -a", None),
        ("uftrace", "uftrace record ./a", None),
    ],
)
def test_what_is_not_known_is_not_zero(tracer: str, command: str, version: str | None) -> None:
    assert by_law(tracer, command, version, 2, PAGE) == TracerMemory(None, None, is_measured=False)


FDINFO = """pos:\t0
flags:\t02000002
map_type:\t5
key_size:\t8
value_size:\t8
max_entries:\t4096
map_flags:\t0x0
map_extra:\t0x0
memlock:\t{memlock}
map_id:\t{id}
frozen:\t0
"""


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with a process 7: one map under two descriptors, a ring, and the buffers of two CPUs."""
    monkeypatch.setattr(loop, "ROOT", tmp_path)
    monkeypatch.setattr(kernel_calls, "possible_cpus", lambda: 4)
    folder = tmp_path / "proc/7"
    for name, target, text in (
        ("3", "anon_inode:bpf-map", FDINFO.format(memlock=5000, id=11)),
        ("4", "anon_inode:bpf-map", FDINFO.format(memlock=5000, id=11)),
        ("5", "anon_inode:bpf-map", FDINFO.format(memlock=9000, id=12).replace("map_type:\t5", "map_type:\t27")),
        ("6", "anon_inode:bpf_link", "that of a link is never read"),
    ):
        for kind in ("fd", "fdinfo"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / "fd" / name).symlink_to(target)
        (folder / "fdinfo" / name).write_text(text, encoding="utf-8")
    lines = [
        f"{start:x}-{start + 65 * PAGE:x} rw-s 00000000 00:0e 13 anon_inode:[perf_event]" for start in (0, 1 << 30)
    ]
    (folder / "maps").write_text(
        "\n".join([*lines, "7f00-8f00 r-xp 0 08:01 9 /usr/bin/bpftrace", ""]), encoding="utf-8"
    )
    release(tmp_path, "6.12.94")
    return tmp_path


def release(root: Path, name: str) -> None:
    path = root / "proc/sys/kernel/osrelease"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{name}\n", encoding="utf-8")


@pytest.mark.usefixtures("process")
def test_a_map_counts_once_and_a_ring_as_a_buffer() -> None:
    assert held_memory(7) == TracerMemory(5000, 9000 + 2 * 65 * PAGE, is_measured=True)


def test_where_the_kernel_only_estimates_the_law_counts(process: Path) -> None:
    release(process, "6.1.0-50-amd64")
    found = held_memory(7)
    assert found is not None
    assert found.maps_bytes == made(map_memory.PERCPU_HASH, 8, 8, 4096).taken_bytes(4, PAGE)


def test_an_unknown_map_makes_the_sum_unknown(process: Path) -> None:
    release(process, "6.1.0-50-amd64")
    path = process / "proc/7/fdinfo/3"
    path.write_text(FDINFO.format(memlock=1, id=13).replace("map_type:\t5", "map_type:\t22"), encoding="utf-8")
    found = held_memory(7)
    assert found is not None
    assert (found.maps_bytes, found.buffers_bytes is None) == (None, False)


@pytest.mark.parametrize("text", ["", "memlock:\t5\n", FDINFO.format(memlock="many", id=1)], ids=["", "cut", "words"])
def test_what_is_not_understood_is_not_known(process: Path, text: str) -> None:
    (process / "proc/7/fdinfo/3").write_text(text, encoding="utf-8")
    assert held_memory(7) is None


def test_who_stops_a_process_or_counts_has_neither_maps_nor_buffers() -> None:
    assert by_law("strace", "strace -p 1", None, 2, PAGE) == (0, 0, False)
    assert by_law("perf-stat", "perf stat -a", None, 2, PAGE) == (0, 0, False)


def test_perf_trace_may_have_maps_that_nobody_knows() -> None:
    assert by_law("perf-trace", "perf trace -a", None, 2, PAGE).maps_bytes is None


def test_a_process_that_is_waited_for_holds_nothing_that_is_known(process: Path) -> None:
    (process / "proc/7/maps").write_text("", encoding="utf-8")
    assert held_memory(7) is None


@pytest.mark.usefixtures("process")
def test_a_process_that_has_ended_holds_nothing_that_is_known() -> None:
    assert held_memory(8) is None


SHAPES = [
    made(map_memory.ARRAY, 4, 8, 5000),
    made(map_memory.ARRAY, 4, 8, 5000, map_memory.MEMORY_MAPPED),
    made(map_memory.PERCPU_ARRAY, 4, 12, 5000),
    made(map_memory.HASH, 12, 8, 5000),
    made(map_memory.PERCPU_HASH, 12, 8, 5000),
    made(map_memory.LRU_HASH, 12, 8, 5000),
    made(map_memory.STACKS, 4, 1016, 5000),
    made(map_memory.RING, 0, 0, 1 << 20),
]


@needs_bpf
@pytest.mark.parametrize("one", SHAPES, ids=lambda one: f"{one.kind}-{one.flags}")
def test_this_kernel_says_the_same_as_the_law(one: BpfMap) -> None:
    before = held_bytes()
    made_map = kernel_calls.create_map(one.kind, one.key_bytes, one.value_bytes, one.entries, flags=one.flags)
    try:
        taken = held_bytes() - before
    finally:
        os.close(made_map)
    page = os.sysconf("SC_PAGE_SIZE")
    law = one.taken_bytes(possible_cpus(), page)
    assert law is not None
    assert 0 <= taken - law < MAP_HEAD_BYTES + possible_cpus() * 32


def held_bytes() -> int:
    """What this process holds of maps and buffers."""
    found = held_memory(os.getpid())
    assert found is not None
    assert found.maps_bytes is not None
    assert found.buffers_bytes is not None
    return found.maps_bytes + found.buffers_bytes


LINES = """1\t8\t8\t131072\t0\t4\t2\t4096\t10486800\t10739712
4\t4\t4\t2\t0\t4\t2\t4096\t-1\t532480"""


def test_the_guide_s_table_has_the_law_beside_what_was_measured() -> None:
    found = {"2 CPUs": map_table.rows(LINES.splitlines())}
    assert list(map_table.measured_table(found)) == [
        "| Map | Entries | 2 CPUs |",
        "|:--|--:|--:|",
        "| hash | 131\u202f072 | 10.00 / 10.00 / 10.24 |",
        "| perf buffers of 64 pages | — | 0.51 / — / 0.51 |",
    ]


def test_the_guide_says_what_the_law_says() -> None:
    folder = PROJECT / "site/assets/fragments/method"
    for name, lines in (("buffer-memory", map_table.buffers_table()), ("script-memory", map_table.scripts_table())):
        assert (folder / f"{name}.md").read_text(encoding="utf-8").splitlines() == "\n".join(lines).splitlines()
