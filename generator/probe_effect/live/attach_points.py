"""Attach points of each tool in the words that bpftrace has for them, and places of static probes in an ELF file.

Source: the notes of systemtap's sys/sdt.h: in each, the address of the probe, that of `.stapsdt.base` when it was
linked, that of its semaphore, and three texts (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from probe_effect.host.symbols import FIRST_BYTES
from probe_effect.scripts.form import Language

NOTES, BASE = ".note.stapsdt", ".stapsdt.base"


@dataclass(frozen=True, slots=True)
class StaticProbe:
    """One site of a static probe: its offset in the file, the bytes there, and the offset of its semaphore, if any."""

    provider: str
    name: str
    offset: int
    first_bytes: bytes
    semaphore_offset: int | None


def static_probes(path: Path) -> list[StaticProbe]:
    """All sites in a file, in its order; none if it has none, or is no ELF file."""
    try:
        with path.open("rb") as file:
            return list(_sites(ELFFile(file)))
    except (OSError, ELFError, struct.error, UnicodeDecodeError):
        return []


def _sites(elf: ELFFile) -> Iterator[StaticProbe]:
    notes, base = elf.get_section_by_name(NOTES), elf.get_section_by_name(BASE)
    if not isinstance(notes, NoteSection):
        return
    word = "Q" if elf.elfclass == 64 else "I"
    head = struct.Struct(f"{'<' if elf.little_endian else '>'}3{word}")
    for note in notes.iter_notes():
        if note["n_name"] != "stapsdt":
            continue
        data: bytes = note["n_descdata"]
        address, linked_base, semaphore = head.unpack_from(data)
        provider, name = data[head.size :].split(b"\0")[:2]
        moved = base["sh_addr"] - linked_base if base is not None else 0  # prelink(8) moves a file's addresses
        offset = next(iter(elf.address_offsets(address + moved)), None)
        if offset is None:
            continue
        elf.stream.seek(offset)
        first = elf.stream.read(FIRST_BYTES)
        count = next(iter(elf.address_offsets(semaphore + moved)), None) if semaphore else None
        yield StaticProbe(provider.decode(), name.decode(), offset, first, count)


EVERY_CALL = "tracepoint:raw_syscalls:sys_enter"

PARTS = re.compile(r'(?:"[^"]*"|[^:"])+|(?<=:)(?=:)')
"""The parts between colons; colons in quotation marks, as in C++ names, divide nothing."""

D_CALLS = re.compile(r"syscall::(?:\w+:)?(?P<call>[\w*]*):(?P<end>entry|return)")
D_FUNCTIONS = re.compile(r"fbt:[^:]*:(?P<function>[\w*.]+):(?P<end>entry|return)")
D_PROCESS = re.compile(r"pid(?:\$target|\d+):(?P<file>[^:]*):(?P<function>[^:]+):(?P<end>entry|return)")
D_USER_STATIC = re.compile(r"(?P<provider>[A-Za-z_]\w*?)(?:\$target|\d+):(?P<file>[^:]*):[^:]*:(?P<name>[\w*-]+)")
D_PROVIDERS = {
    "sched:::on-cpu": "tracepoint:sched:sched_switch",
    "sched:::off-cpu": "tracepoint:sched:sched_switch",
    "proc:::exec-success": "tracepoint:sched:sched_process_exec",
    "proc:::create": "tracepoint:sched:sched_process_fork",
    "proc:::exit": "tracepoint:sched:sched_process_exit",
    "io:::start": "tracepoint:block:block_rq_issue",
    "io:::done": "tracepoint:block:block_rq_complete",
}
"""DTrace for Linux builds these providers on the kernel's own static probes (its dt_prov_sched.c, dt_prov_io.c ..)."""


def as_bpftrace(attach: str, kind: str, language: Language) -> str | None:
    """`tracepoint:syscalls:sys_enter_read` for `syscall::read:entry`; None if there is no such place on Linux.

    strace stops a process at every system call, also at those that it does not print.
    """
    if language == "bpftrace":
        return attach
    if language == "strace" or (language == "perf" and kind == "system-call"):
        return EVERY_CALL
    if language == "d":
        return _of_d(attach)
    if kind in {"software", "hardware"}:
        return f"{kind}:{attach.partition(':')[0]}:"
    return f"tracepoint:{attach}" if kind.startswith(("tracepoint", "raw-tracepoint")) else None


def parts(attach: str) -> list[str]:
    """`["uprobe", "/bin/a", "main"]` for `uprobe:/bin/a:main`."""
    return [one.group() for one in PARTS.finditer(attach)]


def _of_d(attach: str) -> str | None:
    if found := D_CALLS.fullmatch(attach):
        end = "enter" if found["end"] == "entry" else "exit"
        return (
            f"tracepoint:syscalls:sys_{end}_{found['call']}" if found["call"] else f"tracepoint:raw_syscalls:sys_{end}"
        )
    if found := D_FUNCTIONS.fullmatch(attach):
        return f"{'kprobe' if found['end'] == 'entry' else 'kretprobe'}:{found['function']}"
    if found := D_PROCESS.fullmatch(attach):
        probe = "uprobe" if found["end"] == "entry" else "uretprobe"
        return f"{probe}:{found['file'] or '*'}:{found['function']}"
    if found := D_USER_STATIC.fullmatch(attach):
        return f"usdt:{found['file']}:{found['provider']}:{found['name'].replace('-', '__')}"
    return D_PROVIDERS.get(attach)
