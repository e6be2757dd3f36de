"""Symbols of ELF files: where a function begins in its file, and its first bytes.

Source: System V ABI, chapter 4 (symbol table) and 5 (program header); the offset in the file is what the kernel's
`uprobe_events` takes (Documentation/trace/uprobetracer.rst).
"""

import errno
import io
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
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

FIRST_BYTES = 16  # no instruction of x86-64 is longer than 15 bytes; those of AArch64 have 4


@dataclass(frozen=True, slots=True)
class Function:
    """A function in a file: its offset in bytes, and its first `FIRST_BYTES` bytes at most."""

    offset: int
    first_bytes: bytes


MOST_SECTIONS, MOST_READS, MOST_BYTES = 100_000, 1_000_000, 1 << 30
"""Of one file: its headers say how much there is to read, and it may be anybody's."""

MOST_CODE_BYTES = 1 << 20
MOST_NAME_BYTES, MOST_NAMES_BYTES = 10_000, 256 << 20
"""Of one symbol, of which the longest of C++ take some thousand, and of all together."""


class _Bounded(io.BufferedReader):
    """A file of which at most so much is read, in at most so many parts."""

    _left_reads, _left_bytes = MOST_READS, MOST_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as from any file. Raises: ELFError after more reads or bytes than any program needs."""
        self._left_reads -= 1
        self._left_bytes -= MOST_BYTES if size is None or size < 0 else size
        if self._left_reads < 0 or self._left_bytes < 0:
            raise ELFError("more to read than any program has")
        return super().read(size)


@contextmanager
def elf_file(path: Path) -> Iterator[ELFFile]:
    """An ELF file, which may be anybody's. Raises: OSError, ELFError, whatever a damaged or made one has in it."""
    with _Bounded(io.FileIO(path, opener=_without_waiting)) as file:
        try:
            elf = ELFFile(file)
            if elf.num_sections() > MOST_SECTIONS:
                raise ELFError("more sections than any program has")
            yield elf
        except DAMAGED as error:
            raise ELFError(str(error)) from error


DAMAGED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError),
    *(struct.error, zlib.error),
)
"""What pyelftools and the unpacking of what it gives raise for files that are none of a compiler's."""


def _without_waiting(path: str, flags: int) -> int:
    """Raises: OSError for a pipe or a device, which may have no end."""
    handle = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file")
    return handle


def find_function(path: Path, name: str) -> Function | None:
    wanted = name.encode() + b"\0"
    try:
        with elf_file(path) as elf:
            segments = loaded(elf)
            matches = (symbol for names, at, *symbol in _symbols(elf) if names.startswith(wanted, at))
            return next((_function(elf, segments, *symbol) for symbol in matches), None)
    except (OSError, ELFError):
        return None


def code_at(path: Path, offset: int) -> bytes:
    """The bytes of the function that begins at an offset of an ELF file; none where no symbol says how long it is."""
    try:
        size = _sizes(path).get(offset, 0)
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(size) if size <= MOST_CODE_BYTES else b""
    except (OSError, ELFError):
        return b""


@cache
def _sizes(path: Path) -> dict[int, int]:
    with elf_file(path) as elf:
        sizes = {address: size for _, _, address, size in sorted(_symbols(elf), key=lambda symbol: symbol[3])}
        segments = loaded(elf)
        offsets = ((offset_of(address, segments), size) for address, size in sizes.items())
        return {offset: size for offset, size in offsets if offset is not None}


def matching_functions(path: Path, pattern: str) -> dict[str, Function]:
    """The functions of an ELF file whose names match, `*` standing for anything, by name.

    Empty where the file has no such function, or is no ELF file.
    """
    functions: dict[str, Function] = {}
    left_bytes = MOST_NAMES_BYTES
    try:
        with elf_file(path) as elf:
            segments = loaded(elf)
            for names, at, address, size in _symbols(elf):
                end = names.find(b"\0", at, at + MOST_NAME_BYTES)
                left_bytes -= end - at
                if end < 0 or left_bytes < 0:
                    return {}  # longer names than any program has
                name = names[at:end].decode(errors="replace")
                is_wanted = name.isprintable() and fnmatchcase(name, pattern)
                if is_wanted and (function := _function(elf, segments, address, size)):
                    functions[name] = function
    except (OSError, ELFError):
        return {}
    return dict(sorted(functions.items()))


Segments = Sequence[tuple[int, int, int]]
"""Address, address of the end, and offset in the file of each part that is loaded."""


def loaded(elf: ELFFile) -> Segments:
    headers = (segment.header for segment in islice(elf.iter_segments("PT_LOAD"), 100))
    return [(segment["p_vaddr"], segment["p_vaddr"] + segment["p_filesz"], segment["p_offset"]) for segment in headers]


def offset_of(address: int, segments: Segments) -> int | None:
    """Where an address is in the file; None where nothing is loaded there."""
    return next((offset + address - start for start, end, offset in segments if start <= address < end), None)


def _function(elf: ELFFile, segments: Segments, address: int, size: int) -> Function | None:
    offset = offset_of(address, segments)
    if offset is None:
        return None
    elf.stream.seek(offset)
    return Function(offset, elf.stream.read(min(size or FIRST_BYTES, FIRST_BYTES)))


def section_bytes(section: Section) -> bytes:
    """What a section holds. Raises: ELFError for one that unpacks to any size."""
    if section.compressed:
        raise ELFError("a compressed section, which is not read")
    content: bytes = section.data()
    return content


def _symbols(elf: ELFFile) -> Iterator[tuple[bytes, int, int, int]]:
    """(names, where its own begins there, address, size) of each function; a stripped library has the dynamic ones."""
    # pyelftools would take a hundred times as long, 50 µs for each, and a process has mapped 100 000 and more.
    entry = struct.Struct(("<" if elf.little_endian else ">") + ("IB3xQQ" if elf.elfclass == 64 else "IIIB3x"))
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            names, table = section_bytes(section.stringtable), section_bytes(section)
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
