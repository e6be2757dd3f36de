"""Static probes of programs (USDT): their places in an ELF file.

Source: the notes of systemtap's sys/sdt.h: in each, the address of the probe, that of `.stapsdt.base` when it was
linked, that of its semaphore, and three texts (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from probe_effect.host.symbols import FIRST_BYTES, elf_file, loaded, offset_of

MOST_SITES = 100_000

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
        with elf_file(path) as elf:
            return list(islice(_sites(elf), MOST_SITES))
    except (OSError, ELFError):
        return []


def _sites(elf: ELFFile) -> Iterator[StaticProbe]:
    notes, base = elf.get_section_by_name(NOTES), elf.get_section_by_name(BASE)
    if not isinstance(notes, NoteSection):
        return
    word = "Q" if elf.elfclass == 64 else "I"
    segments = loaded(elf)
    head = struct.Struct(f"{'<' if elf.little_endian else '>'}3{word}")
    for note in notes.iter_notes():
        if note["n_name"] != "stapsdt":
            continue
        data: bytes = note["n_descdata"]
        address, linked_base, semaphore = head.unpack_from(data)
        provider, name = data[head.size :].split(b"\0")[:2]
        moved = base["sh_addr"] - linked_base if base is not None else 0  # prelink(8) moves a file's addresses
        offset = offset_of(address + moved, segments)
        if offset is None or not (provider + name).decode().isprintable():
            continue
        elf.stream.seek(offset)
        first = elf.stream.read(FIRST_BYTES)
        count = offset_of(semaphore + moved, segments) if semaphore else None
        yield StaticProbe(provider.decode(), name.decode(), offset, first, count)
