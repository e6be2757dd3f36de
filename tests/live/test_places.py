"""From attach points to places: static probes of the kernel, functions and static probes of programs."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.builders import REAL_DATA
from helpers.needs import needs
from probe_effect.host import ROOT
from probe_effect.host.workloads import build
from probe_effect.live.places import NotHere, places, same_function_elsewhere, static_probes

EVENTS = (
    "sched:sched_switch\nsched:sched_wakeup\nraw_syscalls:sys_enter\nsyscalls:sys_enter_read\nsyscalls:sys_enter_write"
)
SUITES = REAL_DATA / "suites"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A system with tracefs, kernel functions, probes in programs, and no more."""
    tracefs = tmp_path / "sys/kernel/tracing"
    (tracefs / "events").mkdir(parents=True)
    (tracefs / "available_events").write_text(EVENTS)
    (tracefs / "available_filter_functions").write_text("vfs_read\nvfs_write\nnf_hook [nf]\n")
    for device in ("kprobe", "uprobe"):
        (tmp_path / "sys/bus/event_source/devices" / device).mkdir(parents=True)
    return tmp_path


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SUITES / "attach" / "workload" / "attach-loop.c", compiled_cache).path


@pytest.fixture(scope="module")
def with_static(compiled_cache: Path) -> Path:
    return build(SUITES / "usdt" / "workload" / "usdt-loop.c", compiled_cache).path


def names(attach: str, kind: str, root: Path) -> list[str]:
    return [one.name for one in places(attach, kind, root)]


@pytest.mark.parametrize(
    ("attach", "kind", "found"),
    [
        ("tracepoint:sched:sched_switch", "tracepoint", ["sched:sched_switch"]),
        (
            "tracepoint:syscalls:sys_enter_*",
            "tracepoint-entry",
            ["syscalls:sys_enter_read", "syscalls:sys_enter_write"],
        ),
        ("tracepoint:*:sched_*", "tracepoint", ["sched:sched_switch", "sched:sched_wakeup"]),
        ("rawtracepoint:sys_enter", "raw-tracepoint", ["raw_syscalls:sys_enter"]),
        ("software:cs:100", "software", ["sched:sched_switch"]),
        ("kprobe:vfs_*", "kprobe", ["vfs_read", "vfs_write"]),
        ("kprobe:vfs_read+4", "kprobe", ["vfs_read"]),
        ("kprobe:nf:nf_*", "kprobe", ["nf_hook"]),
    ],
)
def test_an_attach_point_matches_what_the_kernel_has(attach: str, kind: str, found: list[str], root: Path) -> None:
    assert names(attach, kind, root) == found


@pytest.mark.parametrize(
    ("attach", "kind", "words"),
    [
        ("tracepoint:sched:sched_nap", "tracepoint", "nothing here matches it"),
        ("tracepoint:sched:sched_switc?", "tracepoint", "nothing here matches it"),
        ("software:dummy:1", "software", "no static probe fires with it"),
        ("fentry:vfs_read", "fentry", "no function entry by BPF trampoline"),
        ("uprobe:/no/such/file:main", "uprobe", "name it by its path"),
        ("uprobe:no-such-program:main", "uprobe", "name it by its path"),
    ],
)
def test_what_is_not_here_is_told_with_the_attach_point(attach: str, kind: str, words: str, root: Path) -> None:
    (root / "sys/kernel/tracing/available_filter_functions").unlink()
    with pytest.raises(NotHere, match=words):
        places(attach, kind, root)


def test_without_tracefs_the_message_says_how_to_mount_it(tmp_path: Path) -> None:
    with pytest.raises(NotHere, match="mount -t tracefs"):
        places("tracepoint:sched:sched_switch", "tracepoint", tmp_path)


def test_where_ftrace_keeps_its_list_to_itself_the_kernels_symbols_stand_for_it(root: Path) -> None:
    (root / "sys/kernel/tracing/available_filter_functions").unlink()
    (root / "proc").mkdir()
    (root / "proc/kallsyms").write_text("0 T vfs_read\n0 d vfs_data\n0 t vfs_open\t[fs]\n")
    assert names("kprobe:vfs_*", "kprobe", root) == ["vfs_open", "vfs_read"]


def test_functions_of_a_program_come_with_their_place_and_first_bytes(program: Path, root: Path) -> None:
    (root / "bin").mkdir()
    copy = root / "bin/loop"
    copy.write_bytes(program.read_bytes())
    found = places("uprobe:/bin/loop:ten_*", "uprobe", root)
    assert [one.name for one in found] == [f"ten_{place}" for place in range(10)]
    assert {one.path for one in found} == {copy}
    for one in found:
        assert one.offset is not None
        assert one.first_bytes is not None
        assert copy.read_bytes()[one.offset :].startswith(one.first_bytes)


def test_a_place_inside_a_function_has_no_first_instruction_that_is_known(program: Path) -> None:
    (start,) = places(f"uprobe:{program}:ten_0", "uprobe", ROOT)
    (inside,) = places(f"uprobe:{program}:ten_0+0x4", "uprobe", ROOT)
    assert (inside.offset or 0) - (start.offset or 0) == 4
    assert inside.first_bytes is None


def test_a_distance_that_is_no_number_is_told_as_such(program: Path) -> None:
    with pytest.raises(NotHere, match="found “abc” behind the “\\+”"):
        places(f"uprobe:{program}:ten_0+abc", "uprobe", ROOT)


def test_a_file_without_symbols_is_told_as_such(root: Path) -> None:
    (root / "plain").write_text("no program")
    with pytest.raises(NotHere, match="no table of symbols"):
        places("uprobe:/plain:main", "uprobe", root)


@needs("cc")
def test_a_function_that_a_process_has_twice_is_found_in_the_other_file_too(tmp_path: Path) -> None:
    source = tmp_path / "twice.c"
    source.write_text("int twice(int x) { return x + x; }\n", encoding="utf-8")
    libraries = [tmp_path / name for name in ("libfirst.so", "libsecond.so")]
    for library in libraries:
        subprocess.run(["cc", "-shared", "-o", library, source], check=True)  # noqa: S607
        ctypes.CDLL(str(library))
    (place,) = places(f"uprobe:{libraries[0]}:twice", "uprobe", Path("/"))
    assert same_function_elsewhere(place, os.getpid()) == [libraries[1]]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries are found by Linux's linker")
def test_a_library_is_found_by_its_name_alone() -> None:
    (one,) = places("uprobe:libc:malloc", "uprobe", ROOT)
    assert one.path is not None
    assert one.path.name.startswith("libc")


def test_static_probes_of_a_program_have_place_provider_and_semaphore(with_static: Path) -> None:
    sites = static_probes(with_static)
    assert {one.semaphore_offset is None for one in sites} == {True, False}
    for name in {one.name.partition(":")[2] for one in sites}:
        found = places(f"usdt:{with_static}:{name}", "usdt", ROOT)
        assert {one.offset for one in found} == {one.offset for one in sites if one.name.endswith(f":{name}")}
    assert static_probes(Path(__file__)) == static_probes(with_static.parent / "absent") == []
