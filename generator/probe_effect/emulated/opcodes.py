"""Kinds of instructions that a count hides, told by their bytes."""

from collections.abc import Callable
from typing import Literal

Kind = Literal["traps", "indirect", "returns", "atomics", "flags", "call", "jump", "return", "repeated"]


def of_machine(machine: str) -> Callable[[bytes], frozenset[Kind]]:
    """What tells the kinds of an instruction of a processor, named as `uname -m` does."""
    return {"x86_64": _x86_64, "aarch64": _aarch64}[machine]


_PREFIXES = frozenset({0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3, *range(0x40, 0x50)})
_STRINGS = frozenset({0x6C, 0x6D, 0x6E, 0x6F, 0xA4, 0xA5, 0xA6, 0xA7, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF})
_IRET, _RET, _CALL, _JUMP = 0xCF, frozenset({0xC2, 0xC3}), 0xE8, frozenset({0xE9, 0xEB})
_FLAGS = frozenset({0x9C, 0x9D, 0xFA, 0xFB})  # pushf, popf, cli, sti
_EXCHANGE = frozenset({0x86, 0x87})  # with memory it is locked without the prefix


def _x86_64(code: bytes) -> frozenset[Kind]:
    """Source: Intel, Software Developer's Manual, volume 2, appendix A (opcode map); group 5 of opcode FF by ModRM."""
    at = next((place for place, byte in enumerate(code) if byte not in _PREFIXES), len(code) - 1)
    before, opcode = code[:at], code[at]
    modrm = code[at + 1] if at + 1 < len(code) else 0
    found: set[Kind] = set()
    if 0xF0 in before or (opcode in _EXCHANGE and modrm >> 6 != 3):
        found.add("atomics")
    if opcode in _STRINGS and (0xF2 in before or 0xF3 in before):
        found.add("repeated")
    if opcode == _IRET:
        found |= {"traps", "return"}
    elif opcode in _RET:
        found |= {"returns", "return"}
    elif opcode == _CALL:
        found.add("call")
    elif opcode in _JUMP or 0x70 <= opcode <= 0x7F or (opcode == 0x0F and 0x80 <= modrm <= 0x8F):
        found.add("jump")
    elif opcode == 0xFF and modrm >> 3 & 7 == 2:
        found |= {"indirect", "call"}
    elif opcode == 0xFF and modrm >> 3 & 7 == 4:
        found |= {"indirect", "jump"}
    elif opcode in _FLAGS or code[at : at + 3] == b"\x0f\x01\xf8":  # swapgs
        found.add("flags")
    return frozenset(found)


_REGISTER_BRANCHES: tuple[frozenset[Kind], ...] = (
    frozenset({"indirect", "jump"}),
    frozenset({"indirect", "call"}),
    frozenset({"returns", "return"}),
    frozenset(),
)


def _aarch64(code: bytes) -> frozenset[Kind]:
    """Source: Arm, Architecture Reference Manual for A-profile, C4.1 (A64 instruction set encoding)."""
    word = int.from_bytes(code, "little")
    if word == 0xD69F03E0:  # eret
        return frozenset({"traps", "return"})
    if word & 0xFE000000 == 0xD6000000:  # br, blr, ret, also of signed addresses
        return _REGISTER_BRANCHES[word >> 21 & 3]
    if word >> 26 == 0b100101:  # bl
        return frozenset({"call"})
    if word >> 26 == 0b000101 or word & 0xFF000010 == 0x54000000 or word & 0x7C000000 == 0x34000000:
        return frozenset({"jump"})  # b, b.cond, cbz, tbz
    if word & 0xFFFFF0DF == 0xD50340DF or word & 0xFFFFFFE0 == 0xD51B4220:  # msr daifset, daifclr, daif
        return frozenset({"flags"})
    is_exclusive = word & 0x3F800000 == 0x08000000 or word & 0x3FA07C00 == 0x08A07C00  # ldxr, stxr; cas
    return frozenset({"atomics"}) if is_exclusive or word & 0x3B200C00 == 0x38200000 else frozenset()  # ldadd, swp
