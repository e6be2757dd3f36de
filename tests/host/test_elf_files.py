"""Damaged and made ELF files: each is asked for its functions and probes, ends soon, and raises nothing."""

from __future__ import annotations

import os
import random
import resource
import struct
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest

from helpers.needs import needs
from probe_effect.host.symbols import code_at, find_function, matching_functions
from probe_effect.live.places import static_probes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SOURCE = "int twice(int a) { return 2 * a; }\nint main(void) { return twice(0); }\n"

HEADER, SECTION, SEGMENT, SYMBOL = "<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IIQQQQQQ", "<IBBHQQ"
MAGIC = b"\x7fELF\x02\x01\x01" + bytes(9)
LIMIT_BYTES = 3 << 30
ASKED = (
    lambda path: find_function(path, "twice"),
    lambda path: matching_functions(path, "*"),
    lambda path: code_at(path, 0),
    static_probes,
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "twice.c").write_text(SOURCE, encoding="utf-8")
    subprocess.run(["cc", "-o", folder / "twice", folder / "twice.c"], check=True)  # noqa: S607
    return folder / "twice"


def asked(path: Path) -> list[object]:
    """What is found in a file, within some memory and time."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, limits[1]))
    try:
        return [ask(path) for ask in ASKED]
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@needs("cc")
def test_a_sound_program_has_its_functions(program: Path) -> None:
    function = find_function(program, "twice")
    assert function is not None
    assert matching_functions(program, "twi*") == {"twice": function}
    assert code_at(program, function.offset).startswith(function.first_bytes[:4])


@needs("cc")
@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_program_raises_nothing(program: Path, tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)  # noqa: S311 (which bytes are damaged)
    content = bytearray(program.read_bytes())
    for _ in range(chosen.choice((1, 20, 400))):
        content[chosen.randrange(len(content)) if chosen.random() < 0.5 else chosen.randrange(64)] = chosen.randrange(
            256
        )
    path = tmp_path / "damaged"
    path.write_bytes(content[: chosen.choice((len(content), len(content) // 2, 64))])
    asked(path)


def made(
    sections: list[tuple[int, ...]], content: bytes = b"", segments: int = 0, section_count: int | None = None
) -> bytes:
    """A file of these section headers, (name, type, flags, address, offset, size, link, info, align, entry size)."""
    at_sections = 64 + len(content)
    count = len(sections) if section_count is None else section_count
    header = struct.pack(HEADER, MAGIC, 2, 62, 1, 0, 64, at_sections, 0, 64, 56, segments, 64, count, 0)
    return header + content + b"".join(struct.pack(SECTION, *one) for one in sections)


def hostile() -> Iterator[tuple[str, bytes, int]]:
    """Name, content, and to how many bytes the file is then made longer, by a hole."""
    strings = (0, 3, 0, 0, 64, 1 << 20, 0, 0, 1, 0)
    symbols = (0, 2, 0, 0, 64, 24 << 20, 0, 0, 8, 24)
    yield "a table of 6 GB in a hole", made([strings, (0, 2, 0, 0, 64, 6 << 30, 0, 0, 8, 24)]), 7 << 30
    yield "names of 6 GB in a hole", made([(0, 3, 0, 0, 64, 6 << 30, 0, 0, 1, 0), symbols]), 7 << 30
    yield "a size beyond all", made([strings, (0, 2, 0, 0, 64, 2**64 - 1, 0, 0, 8, 24)]), 0
    yield "an offset beyond all", made([strings, (0, 2, 0, 0, 2**64 - 1, 24, 0, 0, 8, 24)]), 0
    packed = struct.pack("<IIQQ", 1, 0, 2 << 30, 1) + zlib.compress(bytes(64 << 20), 9)
    yield "a table that unpacks", made([strings, (0, 2, 0x800, 0, 64, len(packed), 0, 0, 8, 24)], packed), 0
    yield "2^40 sections", made([(0, 0, 0, 0, 0, 1 << 40, 0, 0, 0, 0)], section_count=0), 1 << 34
    yield "65 535 segments", made([strings], segments=65_535), 1 << 24
    one = struct.pack(SYMBOL, 1, 2, 0, 1, 0x1000, 16)
    table = one * 400_000
    names = b"\0" + b"a" * 9000 + b"\0"
    yield (
        "long names of 400 000 symbols",
        made(
            [(0, 3, 0, 0, 64 + len(table), len(names), 0, 0, 1, 0), (0, 2, 0, 0, 64, len(table), 0, 0, 8, 24)],
            table + names,
        ),
        0,
    )
    yield "notes in a hole", made([(0, 7, 0, 0, 64, 1 << 40, 0, 0, 4, 0)]), 1 << 36
    yield "nothing", b"", 0
    yield "a header alone", MAGIC, 0


@pytest.mark.parametrize(("name", "content", "size"), [pytest.param(*one, id=one[0]) for one in hostile()])
@pytest.mark.deep
def test_a_made_file_takes_little_and_raises_nothing(tmp_path: Path, name: str, content: bytes, size: int) -> None:
    path = tmp_path / "made"
    path.write_bytes(content)
    if size:
        os.truncate(path, size)
    assert asked(path)[0] is None, name


OTHERS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    OTHERS[name](tmp_path / "other")
    assert asked(tmp_path / "other") == [None, {}, b"", []]
