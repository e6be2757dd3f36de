"""Symbols of ELF files: where a function begins in its file, and its first bytes.

Source: System V ABI, chapter 4 (symbol table) and 5 (program header); the offset in the file is what the kernel's
`uprobe_events` takes (Documentation/trace/uprobetracer.rst).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from probe_effect.host import ROOT, read_text

FIRST_BYTES = 16
"""No instruction of x86-64 is longer than 15 bytes; those of AArch64 have 4."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function in a file: its offset in bytes, and its first `FIRST_BYTES` bytes at most."""

    offset: int
    first_bytes: bytes


def find_function(path: Path, name: str) -> Function | None:
    """The function `name` of an ELF file; None when the file has no such symbol, or is no ELF file."""
    wanted = name.encode() + b"\0"
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            found = (_function(elf, *place) for names, at, *place in _symbols(elf) if names.startswith(wanted, at))
            return next(found, None)
    except (OSError, ELFError):
        return None


def code_at(path: Path, offset: int) -> bytes:
    """The bytes of the function that begins at an offset of an ELF file; none where no symbol says how long it is."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(_sizes(path).get(offset, 0))
    except (OSError, ELFError):
        return b""


@cache
def _sizes(path: Path) -> dict[int, int]:
    """The offset of each function of a file to how many bytes it has."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        sizes = {address: size for _, _, address, size in sorted(_symbols(elf), key=lambda one: one[3])}
        return {offset: size for address, size in sizes.items() for offset in elf.address_offsets(address)}


def matching_functions(path: Path, pattern: str) -> dict[str, Function]:
    """The functions of an ELF file whose names match, `*` standing for anything, by name.

    Empty where the file has no such function, or is no ELF file.
    """
    found: dict[str, Function] = {}
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            for names, at, address, size in _symbols(elf):
                name = names[at : names.find(b"\0", at)].decode(errors="replace")
                if fnmatchcase(name, pattern) and (function := _function(elf, address, size)):
                    found[name] = function
    except (OSError, ELFError):
        return {}
    return dict(sorted(found.items()))


def _function(elf: ELFFile, address: int, size: int) -> Function | None:
    offset = next(iter(elf.address_offsets(address)), None)
    if offset is None:
        return None
    elf.stream.seek(offset)
    return Function(offset, elf.stream.read(min(size or FIRST_BYTES, FIRST_BYTES)))


def _symbols(elf: ELFFile) -> Iterator[tuple[bytes, int, int, int]]:
    """(names, where its own begins there, address, size) of each function; a stripped library has the dynamic ones."""
    # pyelftools would take a hundred times as long, 50 µs for each, and a process has mapped 100 000 and more.
    entry = struct.Struct(("<" if elf.little_endian else ">") + ("IB3xQQ" if elf.elfclass == 64 else "IIIB3x"))
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            names, table = section.stringtable.data(), section.data()
            for fields in entry.iter_unpack(table[: len(table) // entry.size * entry.size]):
                at, info, address, size = fields if elf.elfclass == 64 else (fields[0], fields[3], *fields[1:3])
                if address and info & 0xF in {0, 2, 10}:  # STT_NOTYPE, STT_FUNC, STT_GNU_IFUNC
                    yield names, at, address, size


def library_of(pid: int, stem: str) -> str | None:
    """Path of the library `stem` (`libc`) that the process has mapped; None without one."""
    names = ((path.rsplit("/", 1)[-1], path) for path in mapped_files(pid))
    return next((path for name, path in names if name.startswith((f"{stem}.", f"{stem}-"))), None)


def mapped_files(pid: int) -> list[str]:
    """Paths of the files that a process has mapped, each once, as proc(5) has them."""
    lines = (read_text(ROOT, f"proc/{pid}/maps") or "").splitlines()
    return list(dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines if "/" in line))
