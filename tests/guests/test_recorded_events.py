"""From what the emulator's plugin wrote to the path of one event."""

from __future__ import annotations

import base64
import struct
import subprocess
import zlib
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helpers.needs import needs
from probe_effect.cli.measure_settings import CACHE
from probe_effect.guests.anatomy import (
    PathRecorder,
    Recording,
    Symbols,
    of_machine,
    path_of,
    plugin_words,
    read_recording,
    taken,
)
from probe_effect.guests.debian import DEFAULT, locked
from probe_effect.guests.qemu import find_emulator
from probe_effect.host.compilers import cache_folder
from probe_effect.model import HostNotReady, Key
from probe_effect.store.result_tables import USER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.guests.guest import Message

KEY = Key("02-kprobe", "libbpf")
KERNEL = 0xFFFFFFFF81000000
ENTRY, READ, HELPER, PROGRAM = (KERNEL + 0x100 * place for place in range(4))
SYMBOLS = Symbols(
    [
        f"{ENTRY:x} T entry_SYSCALL_64",
        f"{READ:x} T ksys_read",
        f"{HELPER:x} t __fdget_pos.isra.0",
        f"{PROGRAM:x} t bpf_prog_6deef7357e7b4530_count [bpf]",
    ]
)
NOP, CALL, RET, SYSCALL, JUMP = b"\x90", b"\xe8\0\0\0\0", b"\xc3", b"\x0f\x05", b"\xeb\x00"

OPERATION = [
    *((0x1000, NOP), (0x1001, SYSCALL)),
    *((ENTRY, NOP), (ENTRY + 1, CALL)),
    *((READ, NOP), (READ + 1, CALL)),
    *((HELPER, NOP), (HELPER + 1, RET)),
    *((READ + 6, CALL), (PROGRAM, b"\xf0\x48\x0f\xc1\x00"), (PROGRAM + 5, RET)),
    *((READ + 11, RET), (ENTRY + 6, b"\x0f\x01\xf8")),
]
"""A system call whose function calls a helper and a BPF program, which has an atomic instruction."""


def recording(operations: Sequence[Sequence[tuple[int, bytes]]]) -> Recording:
    """A run of these operations, as the plugin writes it."""
    executed = [one for operation in operations for one in operation]
    known = list(dict.fromkeys(executed))
    sequence = np.array([known.index(one) for one in executed], np.uint32)
    addresses = np.array([address for address, _ in known], np.uint64)
    times = np.array([executed.count(one) for one in known], np.uint64)
    return Recording(len(executed), addresses, times, tuple(code for _, code in known), sequence)


def test_an_event_is_split_by_function_and_by_what_called_it() -> None:
    found = path_of(recording([OPERATION] * 9), KEY, 9, SYMBOLS, "x86_64")
    assert found is not None
    assert {stack: one.instructions for stack, one in found.stacks.items()} == {
        (USER,): 2,
        (USER, "entry_SYSCALL_64"): 3,
        (USER, "entry_SYSCALL_64", "ksys_read"): 4,
        (USER, "entry_SYSCALL_64", "ksys_read", "__fdget_pos.isra.0"): 2,
        (USER, "entry_SYSCALL_64", "ksys_read", "(BPF program)"): 2,
    }
    assert found.total._replace(instructions=0)._asdict() == {
        **dict.fromkeys(("instructions", "repetitions", "traps", "indirect"), 0),
        "returns": 3,
        "atomics": 1,
        "flags": 1,
    }
    assert found.counted == len(OPERATION)


def test_an_event_into_which_an_interrupt_falls_is_left_out_and_counted_and_named() -> None:
    interrupt = [*OPERATION[:5], *((HELPER + 0x20, NOP),) * 20, *OPERATION[5:]]
    found = path_of(recording([*[OPERATION] * 5, interrupt, *[OPERATION] * 5]), KEY, 11, SYMBOLS, "x86_64")
    assert found is not None
    assert (found.alike, found.recorded) == (9, 10)
    assert found.total.instructions == len(OPERATION)
    assert next(iter(found.beside)) == "__fdget_pos.isra.0"
    assert found.beside["__fdget_pos.isra.0"] == pytest.approx(20 / 11, abs=0.01)


def test_a_tracer_that_executes_many_instructions_of_its_own_a_few_times_is_not_taken_for_the_program() -> None:
    tracer = [(0x9000 + place, NOP) for place in range(8)]
    found = path_of(recording([*[OPERATION] * 30, *[tracer] * 3, *[OPERATION] * 30]), KEY, 60, SYMBOLS, "x86_64")
    assert found is not None
    assert (found.alike, found.recorded) == (58, 59)
    assert found.total.instructions == len(OPERATION)


def test_a_jump_takes_the_place_of_the_function_that_made_it() -> None:
    operation = [(0x1000, NOP), (0x1001, SYSCALL), (ENTRY, JUMP), (READ, NOP), (READ + 1, NOP)]
    found = path_of(recording([operation] * 9), KEY, 9, SYMBOLS, "x86_64")
    assert found is not None
    assert list(found.stacks) == [(USER,), (USER, "entry_SYSCALL_64"), (USER, "ksys_read")]


def test_repetitions_of_a_string_instruction_stand_apart() -> None:
    operation = [(0x1000, NOP), (0x1001, SYSCALL), *[(ENTRY, b"\xf3\xaa")] * 5, (ENTRY + 2, NOP)]
    found = path_of(recording([operation] * 9), KEY, 9, SYMBOLS, "x86_64")
    assert found is not None
    assert found.total.repetitions == 4


def test_a_run_whose_operations_cannot_be_told_from_each_other_has_no_path() -> None:
    assert path_of(recording([[(ENTRY, NOP)] * 9]), KEY, 9, SYMBOLS, "x86_64") is None


def test_a_symbol_that_bounds_a_section_does_not_name_the_function_there() -> None:
    lines = ["ffffffff81000000 T __noinstr_text_start", "ffffffff81000000 t ct_nmi_enter"]
    assert Symbols(lines).at(KERNEL + 4) == Symbols(lines[::-1]).at(KERNEL + 4) == "ct_nmi_enter"


@pytest.mark.parametrize(
    ("machine", "code", "kinds"),
    [
        ("x86_64", "c3", {"returns", "return"}),
        ("x86_64", "f3c3", {"returns", "return"}),
        ("x86_64", "ffd0", {"indirect", "call"}),  # call *%rax
        ("x86_64", "41ffe3", {"indirect", "jump"}),  # jmp *%r11
        ("x86_64", "e900000000", {"jump"}),
        ("x86_64", "0f8500000000", {"jump"}),
        ("x86_64", "48cf", {"traps", "return"}),  # iretq
        ("x86_64", "f0480fc108", {"atomics"}),  # lock xadd
        ("x86_64", "488708", {"atomics"}),  # xchg %rcx, (%rax)
        ("x86_64", "4887c1", set()),  # xchg %rax, %rcx
        ("x86_64", "fa", {"flags"}),
        ("x86_64", "f3a4", {"repeated"}),
        ("x86_64", "4889c1", set()),
        ("aarch64", "c0035fd6", {"returns", "return"}),
        ("aarch64", "00003fd6", {"indirect", "call"}),  # blr x0
        ("aarch64", "20021fd6", {"indirect", "jump"}),  # br x17
        ("aarch64", "e0039fd6", {"traps", "return"}),  # eret
        ("aarch64", "00000094", {"call"}),
        ("aarch64", "00000014", {"jump"}),
        ("aarch64", "df4203d5", {"flags"}),  # msr daifset, #2
        ("aarch64", "00fc5f88", {"atomics"}),  # ldaxr w0, [x0]
        ("aarch64", "000020b8", {"atomics"}),  # ldadd w0, w0, [x0]
        ("aarch64", "1f2003d5", set()),  # nop
    ],
)
def test_kinds_are_told_by_bytes(machine: str, code: str, kinds: set[str]) -> None:
    assert of_machine(machine)(bytes.fromhex(code)) == kinds


def file_of(records: int, sequence: Sequence[int], magic: bytes = b"PEPATHS2") -> bytes:
    """A file of the plugin, whose records are the first nops of the program."""
    record = b"".join(struct.pack("=QQB15s", 0x1000 + place, 1, 1, NOP) for place in range(records))
    return (
        struct.pack("=8sQII", magic, 2000, records, len(sequence))
        + record
        + struct.pack(f"={len(sequence)}I", *sequence)
    )


@pytest.mark.parametrize(
    "data",
    [
        *(file_of(2, [0, 1, 0])[:length] for length in (0, 7, 23, 50, -1)),
        file_of(2, [0, 5]),
        file_of(2, [0, 1], magic=b"PEPATHS1"),
    ],
    ids=["empty", "magic cut", "header cut", "record cut", "sequence cut", "no such record", "another format"],
)
def test_a_file_that_was_cut_short_is_no_recording(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "recorded.0").write_bytes(data)
    assert read_recording(tmp_path / "recorded.0") is None


def test_the_recording_is_that_of_the_run_which_the_clock_counted_and_no_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "recorded.0").write_bytes(file_of(2, [0, 1, 0]))
    assert taken(tmp_path / "recorded", 1000) is None
    (tmp_path / "recorded.1").write_bytes(file_of(2, [0, 1, 0]))
    found = taken(tmp_path / "recorded", 1995)
    assert found is not None
    assert found.sequence.tolist() == [0, 1, 0]
    assert list(tmp_path.iterdir()) == []


class FakeGuest:
    """A guest in which each run executes so many operations, which the plugin records."""

    def __init__(self, prefix: Path, operations: int = 9) -> None:
        self.prefix, self.operations, self.asked = prefix, operations, list[str]()
        self.functions = f"{ENTRY:x} T entry_SYSCALL_64\n{READ:x} T ksys_read"

    def ask(self, request: Message) -> Message:
        """The answer of the guest's program."""
        self.asked.append(request["do"])
        lines = zlib.compress(self.functions.encode())
        if request["do"] == "symbols":
            return {"symbols": base64.b85encode(lines).decode()}
        made = recording([OPERATION] * self.operations)
        record = b"".join(
            struct.pack("=QQB15s", int(address), int(times), len(code), code)
            for address, times, code in zip(made.addresses, made.times, made.codes, strict=True)
        )
        header = struct.pack("=8sQII", b"PEPATHS2", made.total, len(made.codes), len(made.sequence))
        self.prefix.with_suffix(".0").write_bytes(header + record + made.sequence.tobytes())
        return {"row": {"status": "ok", "wall_ns": made.total, "operations": None, "events": self.operations}}


def test_each_key_is_recorded_once_and_the_kernels_functions_are_asked_for_once(tmp_path: Path) -> None:
    guest = FakeGuest(tmp_path / "recorded")
    recorder = PathRecorder("x86_64", pytest.fail, tmp_path)
    for key in (KEY, KEY, Key("baseline", "none")):
        recorder.record(key, {"do": "run"}, guest.ask)
    assert guest.asked == ["symbols", "run", "run"]
    assert [(one.key, one.counted) for one in recorder.events] == [(KEY, 13.0), (Key("baseline", "none"), 13.0)]


def test_a_run_that_left_no_recording_is_recorded_again(tmp_path: Path) -> None:
    elsewhere, here = FakeGuest(tmp_path / "elsewhere"), FakeGuest(tmp_path / "recorded")
    recorder = PathRecorder("x86_64", pytest.fail, tmp_path)
    recorder.record(KEY, {"do": "run"}, elsewhere.ask)
    assert recorder.events == []
    recorder.record(KEY, {"do": "run"}, here.ask)
    assert [one.key for one in recorder.events] == [KEY]


def test_a_case_whose_events_cannot_be_told_apart_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    recorder = PathRecorder("x86_64", told.append, tmp_path)
    recorder.record(KEY, {"do": "run"}, FakeGuest(tmp_path / "recorded", operations=1).ask)
    assert told == ["02-kprobe with libbpf: no event could be distinguished"]
    assert recorder.events == []


@pytest.mark.parametrize("functions", ["", "0000000000000000 T entry_SYSCALL_64\n0000000000000000 T ksys_read"])
def test_a_kernel_that_does_not_tell_its_functions_is_no_kernel_to_record(tmp_path: Path, functions: str) -> None:
    guest = FakeGuest(tmp_path / "recorded")
    guest.functions = functions
    with pytest.raises(HostNotReady, match="CONFIG_KALLSYMS=y, or measure without --paths"):
        PathRecorder("x86_64", pytest.fail, tmp_path).record(KEY, {"do": "run"}, guest.ask)
    assert guest.asked == ["symbols"]


LOOP = bytes.fromhex("fa6687dbb9f4019040e2fc6687db30c0e6f4f4")
"""A boot sector, 16 bit: no interrupts; marker; 500 times nop, inc, loop; marker; and what ends the emulator."""


def emulated_loop(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of `LOOP` in the emulator, which writes to `recorded` in the folder."""
    cache = cache_folder() / CACHE
    with locked(cache):
        emulator = find_emulator(DEFAULT, cache)
    disk = folder / "disk"
    disk.write_bytes(LOOP.ljust(510, b"\0") + b"\x55\xaa")
    command = [*emulator.command, "-accel", "tcg,one-insn-per-tb=on", "-nographic", "-no-reboot", "-nodefaults"]
    command += ["-drive", f"file={disk},format=raw", "-device", "isa-debug-exit,iobase=0xf4,iosize=4", *words]
    command += plugin_words(folder / "recorded", skipped=0, least=1501)
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=300)


@pytest.mark.tracer
@needs("cc", "apt-get", "dpkg-deb")
@pytest.mark.xdist_group("emulated")
def test_a_disk_without_room_for_a_recording_ends_the_emulator_with_what_to_do(tmp_path: Path) -> None:
    for run in range(2):
        (tmp_path / f"recorded.{run}").symlink_to("/dev/full")
    done = emulated_loop(tmp_path)
    assert done.returncode < 0
    assert "No space left on device. Make room there, or name another folder by TMPDIR." in done.stderr


@pytest.mark.tracer
@needs("cc", "apt-get", "dpkg-deb")
@pytest.mark.xdist_group("emulated")
def test_the_plugin_writes_the_instructions_that_the_emulators_own_log_has(tmp_path: Path) -> None:
    log = tmp_path / "log"
    emulated_loop(tmp_path, "-d", "exec,nochain", "-D", str(log), "-dfilter", "0x7c00..0x7dff")
    found = taken(tmp_path / "recorded", 1501)
    lines = [int(line.split("/")[1], 16) for line in log.read_text().splitlines() if line.startswith("Trace")]
    logged = [address for address, _ in groupby(lines)]  # one that the emulator was asked to stop at is logged twice
    first, last = logged.index(0x7C04), logged.index(0x7C0B)
    assert found is not None
    assert found.addresses[found.sequence].tolist() == logged[first:last]
    assert int(found.times.sum()) == found.total == last - first
