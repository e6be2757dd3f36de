"""What the kernel does with the first instruction of a probed user function."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_effect.costs.instructions import mechanism, writes_red_zone
from probe_effect.model import NOP10_CALLED_SINCE

BEFORE, NEW = (6, 17), (6, 18)
NOP5, NOP10 = "0f 1f 44 00 00", "66 2e 0f 1f 84 00 00 00 00 00"


def on_x86(code: str, kernel: tuple[int, int] = NOP10_CALLED_SINCE) -> str | None:
    return mechanism(code, "x86_64", f"{kernel[0]}.{kernel[1]}")


def on_arm64(instruction: int, kernel: tuple[int, int] = NOP10_CALLED_SINCE) -> str | None:
    return mechanism(instruction.to_bytes(4, "little").hex(), "aarch64", f"{kernel[0]}.{kernel[1]}")


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
    assert on_x86(code, NEW) == expected, function


@pytest.mark.parametrize(
    ("instruction", "code", "expected"),
    [
        ("push r15", "41 57", "emulated"),
        ("call", "e8 00 00 00 00", "emulated"),
        ("jmp", "eb 10", "emulated"),
        ("je near", "0f 84 00 00 00 00", "emulated"),
        ("jne short", "75 10", "emulated"),
        ("notrack jmp of a register", "3e ff e0", None),
        ("pause", "f3 90", "stepped"),
        ("endbr64", "f3 0f 1e fa", "stepped"),
        ("cmp relative to rip", "80 3d 00 00 00 00 00", "stepped"),
        ("mov", "48 89 e5", "stepped"),
        ("push of a number", "68 00 00 00 00", "stepped"),
        ("jmp of memory", "ff 25 00 00 00 00", "stepped"),
        ("int3", "cc", None),
        ("lock add", "f0 01 07", None),
        ("nop of 11 bytes", "66 66 2e 0f 1f 84 00 00 00 00 00", None),
    ],
)
def test_jumps_calls_nops_and_pushes_are_emulated_and_all_else_is_stepped(
    instruction: str, code: str, expected: str | None
) -> None:
    assert on_x86(code) == expected, instruction


def test_what_a_kernel_does_depends_on_its_version() -> None:
    assert [on_x86(NOP5, kernel) for kernel in ((6, 15), BEFORE)] == ["stepped", "emulated"]
    assert [on_x86("55", kernel) for kernel in ((4, 14), (4, 16), (4, 19))] == ["stepped", "emulated", "emulated"]
    assert [on_x86("f3 90", kernel) for kernel in (NEW, (6, 19))] == ["emulated", "stepped"]
    assert [on_arm64(0xD503201F, kernel) for kernel in ((6, 12), NEW)] == ["stepped", "emulated"]


@pytest.mark.parametrize(
    ("kernel", "of_5", "of_10"),
    [
        ((6, 17), "emulated", None),
        ((6, 18), "called", None),
        ((7, 1), "called", None),
        ((7, 2), "emulated", "called"),
        ((8, 0), "emulated", "called"),
    ],
)
def test_a_nop_of_five_bytes_is_called_from_6_18_to_7_1_and_one_of_ten_from_7_2(
    kernel: tuple[int, int], of_5: str, of_10: str | None
) -> None:
    assert [on_x86(nop, kernel) for nop in (NOP5, "66 0f 1f 40 00")] == [of_5, "stepped" if kernel < NEW else of_5]
    assert on_x86(NOP10, kernel) == of_10
    assert on_x86(NOP10[:-3], kernel) is None


@pytest.mark.parametrize(
    ("how", "release", "writes"),
    [
        ("called", "6.18.44", True),
        ("called", "7.1.13-1-default", True),
        ("called", "7.2.6+deb13-amd64", False),
        ("emulated", "6.18.44", False),
        (None, "6.18.44", False),
    ],
)
def test_a_call_writes_into_the_red_zone_until_7_1(how: str | None, release: str, writes: bool) -> None:
    assert writes_red_zone(how, release) is writes


@pytest.mark.parametrize(
    ("instruction", "code"),
    [
        ("nop", "d503201f"),
        ("b .+8", "14000002"),
        ("bl .+8", "94000002"),
        ("b.eq .+8", "54000040"),
        ("cbz x0, .+8", "b4000040"),
        ("cbnz w1, .+8", "35000041"),
        ("tbz w0, #3, .+8", "36180040"),
        ("tbnz w0, #3, .+8", "37180040"),
        ("adr x0, .", "10000000"),
        ("adrp x0, .", "90000000"),
        ("br x16", "d61f0200"),
        ("blr x8", "d63f0100"),
        ("ret", "d65f03c0"),
    ],
)
def test_arm64_emulates_branches_addresses_and_nops(instruction: str, code: str) -> None:
    """These and those below are as GNU as for AArch64 writes them."""
    assert on_arm64(int(code, 16)) == "emulated", instruction


@pytest.mark.parametrize(
    ("instruction", "code"),
    [
        ("stp x29, x30, [sp, #-16]!", "a9bf7bfd"),
        ("sub sp, sp, #32", "d10083ff"),
        ("mov x0, #1", "d2800020"),
        ("mov x29, sp", "910003fd"),
        ("add x0, x0, x1", "8b010000"),
        ("ldr x0, [x1]", "f9400020"),
        ("ldar x0, [x1]", "c8dffc20"),
        ("cas x0, x1, [x2]", "c8a07c41"),
        ("mrs x0, tpidr_el0", "d53bd040"),
        ("dmb ish", "d5033bbf"),
        ("bti", "d503241f"),
        ("bti c", "d503245f"),
        ("bti j", "d503249f"),
        ("paciasp", "d503233f"),
        ("pacibsp", "d503237f"),
        ("xpaclri", "d50320ff"),
    ],
)
def test_arm64_steps_what_does_not_depend_on_its_place(instruction: str, code: str) -> None:
    assert on_arm64(int(code, 16)) == "stepped", instruction


@pytest.mark.parametrize(
    ("instruction", "code"),
    [
        ("ldr x0, .+8", "58000040"),
        ("ldr w0, .+8", "18000040"),
        ("ldrsw x0, .+8", "98000040"),
        ("prfm pldl1keep, .+8", "d8000040"),
        ("ldxr x0, [x1]", "c85f7c20"),
        ("stlxr w0, x1, [x2]", "c800fc41"),
        ("ldaxp x0, x1, [x2]", "c87f8440"),
        ("cpyfp [x0]!, [x1]!, x2!", "19010440"),
        ("setp [x0]!, x1!, x2", "19c20420"),
        ("svc #0", "d4000001"),
        ("brk #5", "d42000a0"),
        ("hlt #1", "d4400020"),
        ("msr tpidr_el0, x0", "d51bd040"),
        ("msr daifset, #2", "d50342df"),
        ("retaa", "d65f0bff"),
        ("braa x0, x1", "d71f0801"),
        ("blraaz x0", "d63f081f"),
        ("autiasp", "d50323bf"),
        ("yield", "d503203f"),
        ("wfe", "d503205f"),
        ("esb", "d503221f"),
        ("csdb", "d503229f"),
    ],
)
def test_arm64_refuses_probes_on_some_instructions(instruction: str, code: str) -> None:
    assert on_arm64(int(code, 16)) is None, instruction


def test_missing_bytes_and_other_architectures_are_not_known() -> None:
    known = [("", "x86_64"), ("0f", "x86_64"), ("unknown", "x86_64"), ("1f 20", "aarch64"), ("90", "riscv64")]
    assert not any(mechanism(code, architecture, "7.3.0") for code, architecture in known)


@given(st.binary(max_size=16), st.sampled_from(["x86_64", "aarch64", "s390x"]))
def test_any_bytes_have_an_answer(code: bytes, architecture: str) -> None:
    assert mechanism(code.hex(), architecture, "7.3.0") in {"emulated", "stepped", "called", None}
