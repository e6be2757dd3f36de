"""Symbols of ELF files: where a function begins in its file, and its first bytes.

Source: System V ABI, chapter 4 (symbol table) and 5 (program header); the offset in the file is what the kernel's
`uprobe_events` takes (Documentation/trace/uprobetracer.rst).
"""

import io
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from probe_effect.host import ROOT, read_text

FIRST_BYTES = 16
"""No instruction of x86-64 is longer than 15 bytes; those of AArch64 have 4."""

UNREADABLE = (OSError, ELFError, ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error)
"""What pyelftools raises for a file that is damaged, or was made to be."""

MOST_TABLES = 8
"""Of symbols in a file: one, and one for the dynamic loader, are usual."""

MOST_SEGMENTS = 1_000
"""Of a file: about ten are usual, and each is looked at for each symbol."""

MOST_NAME_BYTES = 20_000
"""Of a symbol that is looked at: names of C++ have some hundreds, of templates thousands."""


class _BoundedFile(io.BufferedReader):
    """A file of which no read takes more memory than it has bytes, whatever its fields say that follows them."""

    def __init__(self, raw: io.FileIO) -> None:
        super().__init__(raw)
        self._most_bytes = os.fstat(raw.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._most_bytes if size is None or size < 0 else min(size, self._most_bytes))


@contextmanager
def elf_file(path: Path) -> Iterator[ELFFile]:
    """An ELF file, opened. Raises: one of UNREADABLE, here and where it is read."""
    with _BoundedFile(io.FileIO(path)) as file:
        elf = ELFFile(file)
        if elf.num_segments() > MOST_SEGMENTS:
            raise ELFError(f"{elf.num_segments()} segments")
        yield elf


@dataclass(frozen=True, slots=True)
class Function:
    """A function in a file: its offset in bytes, and its first `FIRST_BYTES` bytes at most."""

    offset: int
    first_bytes: bytes


def find_function(path: Path, name: str) -> Function | None:
    """The function `name` of an ELF file; None when the file has no such symbol, or is no ELF file."""
    wanted = name.encode() + b"\0"
    try:
        with elf_file(path) as elf:
            found = (_function(elf, *place) for names, at, *place in _symbols(elf) if names.startswith(wanted, at))
            return next(found, None)
    except UNREADABLE:
        return None


def code_at(path: Path, offset: int) -> bytes:
    """The bytes of the function that begins at an offset of an ELF file; none where no symbol says how long it is."""
    try:
        with _BoundedFile(io.FileIO(path)) as file:
            file.seek(offset)
            return file.read(_sizes(path).get(offset, 0))
    except UNREADABLE:
        return b""


@cache
def _sizes(path: Path) -> dict[int, int]:
    """The offset of each function of a file to how many bytes it has."""
    with elf_file(path) as elf:
        sizes = {address: size for _, _, address, size in sorted(_symbols(elf), key=lambda one: one[3])}
        return {offset: size for address, size in sizes.items() for offset in elf.address_offsets(address)}


def matching_functions(path: Path, pattern: str) -> dict[str, Function]:
    """The functions of an ELF file whose names match, `*` standing for anything, by name.

    Empty where the file has no such function, or is no ELF file.
    """
    found: dict[str, Function] = {}
    try:
        with elf_file(path) as elf:
            for names, at, address, size in _symbols(elf):
                end = names.find(b"\0", at, at + MOST_NAME_BYTES)
                name = names[at:end].decode(errors="replace") if end > at else ""
                if name.isprintable() and fnmatchcase(name, pattern) and (function := _function(elf, address, size)):
                    found[name] = function
    except UNREADABLE:
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
    tables = (section for section in elf.iter_sections() if isinstance(section, SymbolTableSection))
    for section in islice(tables, MOST_TABLES):
        if is_in_file(elf, section) and is_in_file(elf, section.stringtable):
            names, table = section.stringtable.data(), section.data()
            for fields in entry.iter_unpack(table[: len(table) // entry.size * entry.size]):
                at, info, address, size = fields if elf.elfclass == 64 else (fields[0], fields[3], *fields[1:3])
                if address and info & 0xF in {0, 2, 10}:  # STT_NOTYPE, STT_FUNC, STT_GNU_IFUNC
                    yield names, at, address, size


def is_in_file(elf: ELFFile, section: Section) -> bool:
    """Whether a section is as long as it says, so that it takes no more memory: one that is in no file or compressed
    may say any length.
    """
    end = elf.stream.seek(0, os.SEEK_END)
    return bool(section["sh_offset"] + section["sh_size"] <= end and not section.compressed)


def library_of(pid: int, stem: str) -> str | None:
    """Path of the library `stem` (`libc`) that the process has mapped; None without one."""
    names = ((path.rsplit("/", 1)[-1], path) for path in mapped_files(pid))
    return next((path for name, path in names if name.startswith((f"{stem}.", f"{stem}-"))), None)


def mapped_files(pid: int) -> list[str]:
    """Paths of the files that a process has mapped, each once, as proc(5) has them."""
    lines = (read_text(ROOT, f"proc/{pid}/maps") or "").splitlines()
    return list(dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines if "/" in line))
