"""Where calls of a function are counted at least cost, if the kernel has to step its first instruction.

A uprobe on a stepped instruction takes ten times as long as one on an instruction that the kernel emulates. At millions
of calls a second nothing is left of the program while it is counted. Every call passes the instructions up to the first
branch once. So one of these that is emulated counts as well, if no jump of the function goes back to them.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import capstone

from probe_effect.answer.first_instruction import mechanism
from probe_effect.host.symbols import FIRST_BYTES, code_at
from probe_effect.live.countable import Countable
from probe_effect.numbers.likeness import Facts

BRANCH = re.compile(
    r"(?:bnd |notrack )?(?:j\w+|loop\w*|call|ret\w*|b|b\.\w+|bl|blr|br|cbn?z|tbn?z|syscall|svc|ud2|hlt|udf)$"
)
"""Instructions after which another than the next may follow, on x86-64 and on arm64."""

JUMP = re.compile(r"(?:bnd |notrack )?(?:j\w+|loop\w*|b|b\.\w+|br|cbn?z|tbn?z)$")
TARGET = re.compile(r"#?(0x[0-9a-f]+)$")

MODES = {
    "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
    "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN),
}


class CodeInstruction(NamedTuple):
    """An instruction of a function: its offset in the file, its bytes, its name, and its operands as text."""

    offset: int
    size: int
    name: str
    operands: str


def with_less_cost(one: Countable, here: Facts) -> Countable:
    """What counts the same events at less cost; the same where nothing does.

    A function returns as often as it is called, so that its returns are counted at its calls.
    """
    if one.mechanism != "stepped" or one.path is None or len(one.offsets) != 1:
        return one
    offset = counting_offset(one.path, one.offsets[0], here)
    return one if offset is None else replace(one, kind="uprobe", offsets=(offset,), mechanism="emulated")


@cache
def counting_offset(path: Path, offset: int, here: Facts) -> int | None:
    """The offset in a file at which calls of the function at `offset` are counted; None where that is its beginning.

    Args:
        path: an ELF file.
        offset: where the function begins in it.
        here: the machine, whose kernel decides which instructions it emulates.
    """
    code = code_at(path, offset)
    function = list(_disassembled(code, offset, here.architecture))
    if sum(one.size for one in function) < len(code):  # what follows bytes that are no instruction is not known
        return None
    straight = [*takewhile(lambda one: not BRANCH.match(one.name), function)]
    after = function[len(straight) : len(straight) + 1]
    jumps = [one for one in function if JUMP.match(one.name)]
    targets = [TARGET.search(one.operands) for one in jumps]
    if not all(targets):  # a jump to where a register says may go anywhere
        return None
    last = min((at for found in targets if found and (at := int(found[1], 16)) > offset), default=offset + len(code))
    for one in [*straight, *after][1:]:
        first_bytes = code[one.offset - offset :][:FIRST_BYTES]
        if one.offset < last and mechanism(first_bytes.hex(" "), here.architecture, here.kernel_release) == "emulated":
            return one.offset
    return None


def _disassembled(code: bytes, offset: int, architecture: str) -> Iterator[CodeInstruction]:
    if architecture in MODES:
        yield from map(CodeInstruction._make, capstone.Cs(*MODES[architecture]).disasm_lite(code, offset))
