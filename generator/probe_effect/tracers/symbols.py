"""Symbols of ELF files: where a function begins in its file, and its first bytes.

Source: System V ABI, chapter 4 (symbol table) and 5 (program header); the offset in the file is what the kernel's
`uprobe_events` takes (Documentation/trace/uprobetracer.rst).
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from probe_effect.host import ROOT, read_text

if TYPE_CHECKING:
    from pathlib import Path

FIRST_BYTES = 16
"""No instruction of x86-64 is longer than 15 bytes; those of AArch64 have 4."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function in a file: its offset in bytes, and its first `FIRST_BYTES` bytes at most."""

    offset: int
    first_bytes: bytes


def find_function(path: Path, name: str) -> Function | None:
    """The function `name` of an ELF file; None when the file has no such symbol, or is no ELF file."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            address, size = next(_places(elf, name), (0, 0))
            return _function(elf, address, size) if address else None
    except (OSError, ELFError):
        return None


def matching_functions(path: Path, pattern: str) -> dict[str, Function]:
    """The functions of an ELF file whose names match, `*` standing for anything, by name.

    Empty where the file has no such function, or is no ELF file.
    """
    found: dict[str, Function] = {}
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            for section in elf.iter_sections():
                for symbol in section.iter_symbols() if isinstance(section, SymbolTableSection) else ():
                    if fnmatchcase(symbol.name, pattern) and _is_function(symbol):
                        function = _function(elf, symbol["st_value"], symbol["st_size"])
                        found.update({symbol.name: function} if function else {})
    except (OSError, ELFError):
        return {}
    return dict(sorted(found.items()))


def _function(elf: ELFFile, address: int, size: int) -> Function | None:
    offset = next(iter(elf.address_offsets(address)), None)
    if offset is None:
        return None
    elf.stream.seek(offset)
    return Function(offset, elf.stream.read(min(size or FIRST_BYTES, FIRST_BYTES)))


def _places(elf: ELFFile, name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 (pyelftools has no types)
    """(address, size) of the defined symbol in each symbol table; a stripped library has the dynamic one only."""
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.get_symbol_by_name(name) or ():
                if _is_function(symbol):
                    yield symbol["st_value"], symbol["st_size"]


def _is_function(symbol) -> bool:  # type: ignore[no-untyped-def]  # noqa: ANN001 (pyelftools has no types)
    return bool(symbol["st_value"]) and symbol["st_info"]["type"] in {"STT_FUNC", "STT_NOTYPE", "STT_GNU_IFUNC"}


def library_of(pid: int, stem: str) -> str | None:
    """Path of the library `stem` (`libc`) that the process has mapped; None without one."""
    names = ((path.rsplit("/", 1)[-1], path) for path in mapped_files(pid))
    return next((path for name, path in names if name.startswith((f"{stem}.", f"{stem}-"))), None)


def mapped_files(pid: int) -> list[str]:
    """Paths of the files that a process has mapped, each once, as proc(5) has them."""
    lines = (read_text(ROOT, f"proc/{pid}/maps") or "").splitlines()
    return list(dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines if "/" in line))
