"""What the kernel does with the first instruction of a probed user function."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.scripts.instruction import mechanism

OLD, BEFORE, NEW = (4, 19), (6, 17), (6, 18)


def on_x86(code: str, kernel: tuple[int, int] | None = None) -> str | None:
    return mechanism(bytes.fromhex(code), "x86_64", kernel)


def on_arm64(instruction: int, kernel: tuple[int, int] | None = None) -> str | None:
    return mechanism(instruction.to_bytes(4, "little"), "aarch64", kernel)


@pytest.mark.parametrize(
    ("function", "code", "expected"),
    [
        ("nop1", "90 c3", "emulated"),
        ("nop5", "0f 1f 44 00 00 c3", "called"),
        ("push", "55 5d c3", "emulated"),
        ("rip_mov", "48 8b 05 71 2b 00 00 c3", "stepped"),
        ("ret_only", "c3", "stepped"),
        ("prologue", "55 48 89 e5 48 83 ec 10", "emulated"),
    ],
)
def test_the_functions_of_suite_user_probes_are_told_apart_as_they_were_measured(
    function: str, code: str, expected: str
) -> None:
    assert on_x86(code) == expected, function


@pytest.mark.parametrize(
    ("instruction", "code", "expected"),
    [
        ("push r15", "41 57", "emulated"),
        ("call", "e8 00 00 00 00", "emulated"),
        ("jmp", "eb 10", "emulated"),
        ("je near", "0f 84 00 00 00 00", "emulated"),
        ("jne short", "75 10", "emulated"),
        ("notrack jmp of a register", "3e ff e0", None),
        ("pause", "f3 90", "emulated"),
        ("endbr64", "f3 0f 1e fa", "stepped"),
        ("cmp relative to rip", "80 3d 00 00 00 00 00", "stepped"),
        ("mov", "48 89 e5", "stepped"),
        ("push of a number", "68 00 00 00 00", "stepped"),
        ("jmp of memory", "ff 25 00 00 00 00", "stepped"),
        ("int3", "cc", None),
        ("lock add", "f0 01 07", None),
    ],
)
def test_jumps_calls_nops_and_pushes_are_emulated_and_all_else_is_stepped(
    instruction: str, code: str, expected: str | None
) -> None:
    assert on_x86(code) == expected, instruction


def test_what_a_kernel_does_depends_on_its_version() -> None:
    nop5 = "0f 1f 44 00 00"
    assert [on_x86(nop5, kernel) for kernel in ((6, 15), BEFORE, NEW)] == ["stepped", "emulated", "called"]
    assert [on_x86("55", kernel) for kernel in (OLD, NEW)] == ["stepped", "emulated"]
    assert [on_arm64(0xD503201F, kernel) for kernel in ((6, 12), NEW)] == ["stepped", "emulated"]


@pytest.mark.parametrize(
    ("instruction", "code", "expected"),
    [
        ("b", 0x14000001, "emulated"),
        ("bl", 0x94000001, "emulated"),
        ("b.eq", 0x54000000, "emulated"),
        ("cbz", 0xB4000000, "emulated"),
        ("tbnz", 0x37000000, "emulated"),
        ("adrp", 0x90000000, "emulated"),
        ("ret", 0xD65F03C0, "emulated"),
        ("paciasp", 0xD503233F, "stepped"),
        ("bti c", 0xD503245F, "stepped"),
        ("stp x29, x30", 0xA9BF7BFD, "stepped"),
        ("ldr literal", 0x58000000, None),
        ("ldxr", 0xC85F7C00, None),
        ("brk", 0xD4200000, None),
    ],
)
def test_on_arm64_what_depends_on_the_place_is_emulated(instruction: str, code: int, expected: str | None) -> None:
    assert on_arm64(code) == expected, instruction


def test_missing_bytes_and_other_architectures_are_not_known() -> None:
    assert mechanism(b"", "x86_64") is None
    assert mechanism(b"\x0f", "x86_64") is None
    assert mechanism(b"\x1f\x20", "aarch64") is None
    assert mechanism(b"\x90", "riscv64") is None


@given(st.binary(max_size=16), st.sampled_from(["x86_64", "aarch64", "s390x"]))
def test_any_bytes_have_an_answer(code: bytes, architecture: str) -> None:
    assert mechanism(code, architecture) in {"emulated", "stepped", "called", None}
