"""Calls of a function are counted where that costs least, and every call is counted once."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from helpers.live_programs import needs_bpf
from helpers.needs import lacking
from probe_effect.advising.here import counting_offset, with_less_cost
from probe_effect.host.symbols import find_function
from probe_effect.host.this_machine import collect_named
from probe_effect.live.count import Countable, Target, count
from probe_effect.numbers.shown import facts_of_machine

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.shown import Facts

CALLS = 3_000
FUNCTION = """
#define FUNCTION(name, ...) __asm__(".globl " #name "\\n.type " #name ",%function\\n" #name ":\\n" #__VA_ARGS__ \\
    "\\n.size " #name ",.-" #name); long name(long);
"""
X86_64 = f"""{FUNCTION}
FUNCTION(straight, mov %rdi,%rax; test %rdi,%rdi; je 1f; push %rbx; pop %rbx; 1: ret)
FUNCTION(looping, mov %rdi,%rax; 1: push %rbx; pop %rbx; dec %rdi; jg 1b; ret)
FUNCTION(anywhere, mov %rdi,%rax; push %rbx; pop %rbx; lea 1f(%rip),%rdx; jmp *%rdx; 1: ret)
FUNCTION(unreadable, mov %rdi,%rax; push %rbx; pop %rbx; ret; .byte 0x06; 1: jmp 1b)
FUNCTION(pushing, push %rbx; pop %rbx; mov %rdi,%rax; ret)
FUNCTION(plain, mov %rdi,%rax; ret)
int main(void)
{{
    for (int i = 0; i < {CALLS}; i++)
        straight(i % 3), looping(3), anywhere(1), pushing(1), plain(1);
    return 0;
}}
"""
AARCH64 = f"""{FUNCTION}
FUNCTION(straight, mov x1,x0; cbz x0,1f; add x0,x0,x1; 1: ret)
FUNCTION(looping, mov x1,x0; 1: sub x0,x0,x1; cbnz x0,1b; ret)
FUNCTION(anywhere, mov x1,x0; cbz x0,1f; br x2; 1: ret)
FUNCTION(unreadable, mov x1,x0; cbz x0,1f; 1: ret; .long 0xffffffff; ret)
FUNCTION(pushing, b 1f; 1: mov x1,x0; ret)
FUNCTION(plain, mov x1,x0; mov x0,x1; svc 0)
"""
COMPILERS = {
    "x86_64": (["gcc" if platform.machine() == "x86_64" else "x86_64-linux-gnu-gcc", "-O1"], X86_64),
    "aarch64": (["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,-estraight"], AARCH64),
}


def compiled(folder: Path, architecture: str) -> Path:
    compiler, source = COMPILERS[architecture]
    if reason := lacking(compiler[:1]):
        pytest.skip(reason)
    (folder / f"{architecture}.c").write_text(source, encoding="utf-8")
    subprocess.run([*compiler, "-o", folder / architecture, folder / f"{architecture}.c"], check=True)
    return folder / architecture


def machine(architecture: str) -> Facts:
    return replace(facts_of_machine(*collect_named()), architecture=architecture, kernel_release="6.18.0")


def begin(program: Path, name: str) -> int:
    function = find_function(program, name)
    assert function is not None
    return function.offset


@pytest.mark.parametrize(
    ("name", "x86_64", "aarch64"),
    [
        pytest.param("straight", 6, 4, id="the first branch is emulated"),
        pytest.param("looping", None, None, id="a loop passes it again"),
        pytest.param("anywhere", None, None, id="a register says where to go on"),
        pytest.param("unreadable", None, None, id="not all bytes are instructions"),
        pytest.param("plain", None, None, id="there is none"),
    ],
)
def test_a_place_is_passed_once_by_every_call(
    tmp_path: Path, name: str, x86_64: int | None, aarch64: int | None
) -> None:
    for architecture, place in (("x86_64", x86_64), ("aarch64", aarch64)):
        program = compiled(tmp_path, architecture)
        begins = begin(program, name)
        expected = None if place is None else begins + place
        assert counting_offset(program, begins, machine(architecture)) == expected


def test_only_a_function_that_is_stepped_is_counted_elsewhere_and_returns_of_any_at_its_calls(tmp_path: Path) -> None:
    program = compiled(tmp_path, "x86_64")
    begins, here = begin(program, "straight"), machine("x86_64")
    stepped = Countable(probe="one", kind="uretprobe", path=program, offsets=(begins,), mechanism="stepped")
    found = with_less_cost(stepped, here)
    assert (found.kind, found.offsets, found.mechanism) == ("uprobe", (begins + 6,), "emulated")
    emulated = replace(stepped, offsets=(begin(program, "pushing"),), mechanism="emulated")
    assert with_less_cost(emulated, here) == replace(emulated, kind="uprobe")
    nowhere = replace(stepped, offsets=(begin(program, "plain"),))
    assert with_less_cost(nowhere, here) == replace(nowhere, kind="uprobe")


def test_on_another_architecture_and_without_a_symbol_there_is_no_other_place(tmp_path: Path) -> None:
    program = compiled(tmp_path, "x86_64")
    begins = begin(program, "straight")
    assert counting_offset(program, begins, machine("riscv64")) is None
    assert counting_offset(program, begins + 1, machine("x86_64")) is None
    (tmp_path / "no-program").write_bytes(b"\x7fELF")
    assert counting_offset(tmp_path / "no-program", 1, machine("x86_64")) is None


@pytest.mark.skipif(platform.machine() != "x86_64", reason="runs functions that are written for x86-64")
@needs_bpf
def test_as_many_events_are_counted_there_as_at_the_beginning(tmp_path: Path) -> None:
    program = compiled(tmp_path, "x86_64")
    begins = begin(program, "straight")
    places = {"begins": begins, "elsewhere": counting_offset(program, begins, machine("x86_64")) or 0}
    probes = [Countable(probe=name, kind="uprobe", path=program, offsets=(at,)) for name, at in places.items()]
    rates = count(probes, Target(command=(str(program),)), seconds=20, budget_ratio=10).rates
    assert {one.probe: one.events for one in rates} == dict.fromkeys(places, CALLS)
