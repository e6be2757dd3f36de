"""What is loaded and attached is found with its places, owners and runs, in the kernel that runs."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

from helpers.live_programs import compiled, needs_bpf, needs_counting
from helpers.needs import needs
from probe_effect.host.symbols import matching_functions
from probe_effect.live import bpf_objects, bpf_program, kernel_calls, loaded
from probe_effect.live.attachment import Attachments, Countable
from probe_effect.live.loaded import Holders, Loaded, RunStatistics, holders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("watched"))


@pytest.fixture
def counting(program: Path) -> Iterator[Attachments]:
    """Probes of ours, on two functions by one link and on a tracepoint."""
    found = matching_functions(program, "one_1")
    often = matching_functions(program, "often")
    places = [found["one_1"].offset, often["often"].offset]
    countables = [Countable(probe=str(at), kind="uprobe", path=program, offsets=(at,)) for at in places]
    countables.append(Countable(probe="call", kind="tracepoint", name="syscalls:sys_enter_getppid"))
    attachments = Attachments(countables, None, follow=False)
    yield attachments
    attachments.close()


def test_before_the_kernel_named_perf_links_their_events_are_asked_and_nothing_is_taken_for_samples() -> None:
    """Of two links, the event of one is held by somebody who can be asked."""
    assert bpf_objects._perf_event(-1, bytearray(bpf_objects.INFO_BYTES)) == ([], 1)
    program = bpf_objects.BpfProgram(id=7, kind="kprobe", name="x", runs=0, run_ns=0)
    place = bpf_objects.place("uprobe", "/bin/x", 16)
    links, held = [bpf_objects.Attached(7, (), 1)] * 2, Holders(attached=[bpf_objects.Attached(7, (place,))])
    (found,) = loaded._programs([program], links, held)
    assert ({one.name for one in found.places}, found.others) == ({"/bin/x"}, 1)


@needs_counting
def test_programs_are_found_with_their_places_owners_and_runs(counting: Attachments, program: Path) -> None:
    with RunStatistics() as watch:
        first = watch.look()
        subprocess.run([program, "0", "500", "0"], check=True)
        found = watch.between(first, watch.look())
    own = [one for one in found if os.getpid() in {owner.pid for owner in one.loaded.owners}]
    seen = {one.loaded.name: one for one in own}  # others may count at the same time
    functions, call = seen["pe_uprobe"], seen["pe_raw"]
    assert {place.path for place in functions.loaded.places} == {program}
    assert len(functions.loaded.places) == 2
    assert all(place.first_bytes for place in functions.loaded.places)
    assert functions.events_hz
    assert [(place.kind, place.name) for place in call.loaded.places] == [("raw-tracepoint", "sys_enter")]
    assert counting.refused == {}


@needs_bpf
def test_a_program_by_the_old_way_without_a_link_is_found_too() -> None:
    """PERF_EVENT_IOC_SET_BPF, as older tracers do it."""
    held = kernel_calls.load(kernel_calls.TRACEPOINT, bpf_program.empty(), "pe_old")
    event = kernel_calls.open_tracepoint("syscalls", "sys_enter_getppid")
    fcntl.ioctl(event, 0x40042408, held)
    with RunStatistics() as watch:
        own = bpf_objects.program(held).id  # others may run the same test at the same time
        (one,) = [one for one in watch.look().found if one.sort == "bpf" and one.id == own]
    assert [place.kind for place in one.places] == ["tracepoint-entry"]
    os.close(event)
    os.close(held)


@needs_bpf
def test_a_raw_tracepoint_is_told_by_its_link() -> None:
    held = kernel_calls.load(17, bpf_program.empty(), "pe_raw")
    name = bytearray(b"sched_switch\0")
    link = kernel_calls.command(17, bytearray(struct.pack("=QI4xQ", kernel_calls.address(name), held, 0)))
    found = [one for one in bpf_objects.links() if one.program == bpf_objects.program(held).id]
    os.close(link)
    os.close(held)
    assert [(place.kind, place.name) for one in found for place in one.places] == [("raw-tracepoint", "sched_switch")]


@needs_bpf
def test_who_holds_no_program_but_its_link_is_told() -> None:
    """The link is not asked by its fdinfo: that of one to many functions without cookies kills Linux 6.18.15."""
    held = kernel_calls.load(kernel_calls.KPROBE, bpf_program.empty(), "pe_many", attach_type=kernel_calls.KPROBE_MULTI)
    own, names = bpf_objects.program(held).id, bytearray(b"vfs_read\0")
    pointer = bytearray(struct.pack("=Q", kernel_calls.address(names)))
    fields = (held, 0, kernel_calls.KPROBE_MULTI, 0, 0, 1, kernel_calls.address(pointer), 0, 0)
    try:
        link = kernel_calls.command(kernel_calls.LINK_CREATE, bytearray(struct.pack("=4I2I3Q", *fields)))
    except OSError:  # this kernel has no such links: one of another sort is held in the same way
        os.close(held)
        held = kernel_calls.load(kernel_calls.RAW_TRACEPOINT, bpf_program.empty(), "pe_raw")
        own, link = bpf_objects.program(held).id, kernel_calls.link_raw_tracepoint(held, "sched_switch")
    os.close(held)
    assert os.getpid() in {process.pid for process in holders().of_program[own]}
    os.close(link)


@needs_bpf
def test_statistics_cost_some_tens_of_nanoseconds_and_go_off_again() -> None:
    with RunStatistics() as watch:
        assert 0 < watch.own.counted_ns < 10_000
    held = kernel_calls.load(kernel_calls.SOCKET_FILTER, bpf_program.empty(), "pe_off")
    assert bpf_objects.program(held).runs == 0
    os.close(held)


@needs_bpf
@needs("strace")
def test_strace_is_found_with_whom_it_traces() -> None:
    words = ["/bin/sh", "-c", "exec strace -o /dev/null cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process, RunStatistics() as watch:
        rows: list[Loaded] = []
        while not rows and process.poll() is None:
            rows = [one for one in watch.look().found if one.sort == "ptrace" and one.owners[0].pid == process.pid]
        process.communicate()  # the end of its input ends cat, and so strace
    assert rows[0].name == "strace"
    assert rows[0].places[0].kind == "system-call"


def test_functions_of_the_kernel_are_named_by_their_number() -> None:
    strings = b"\0int\0vfs_read\0size\0"
    integer = struct.pack("<3I", 1, 1 << 24, 4) + bytes(4)
    prototype = struct.pack("<3I", 0, 13 << 24 | 1, 1) + struct.pack("<2I", 14, 1)
    function = struct.pack("<3I", 5, 12 << 24, 2)
    types = integer + prototype + function
    head = struct.pack("<HBBI4I", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(strings))
    assert bpf_objects.names(head + types + strings) == {3: "vfs_read"}
