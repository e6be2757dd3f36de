"""Calls of a function are counted where that costs least, and every call is counted once."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from live_programs import needs_bpf
from needs import needs
from probe_effect.advising.counting_place import counting_offset
from probe_effect.advising.machine import this_machine
from probe_effect.host.symbols import Function, find_function
from probe_effect.live.count import Countable, Target, count

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.likeness import Facts

pytestmark = needs("cc")

CALLS = 3_000
SOURCE = f"""
#define FUNCTION(name, ...) __asm__(".globl " #name "\\n.type " #name ",@function\\n" #name ":\\n" #__VA_ARGS__ \\
    "\\n.size " #name ",.-" #name); long name(long);
FUNCTION(straight, mov %rdi,%rax; test %rdi,%rdi; je 1f; push %rbx; pop %rbx; 1: ret)
FUNCTION(looping, mov %rdi,%rax; 1: push %rbx; pop %rbx; dec %rdi; jg 1b; ret)
FUNCTION(anywhere, mov %rdi,%rax; push %rbx; pop %rbx; lea 1f(%rip),%rdx; jmp *%rdx; 1: ret)
FUNCTION(pushing, push %rbx; pop %rbx; mov %rdi,%rax; ret)
FUNCTION(plain, mov %rdi,%rax; ret)
int main(void)
{{
    for (int i = 0; i < {CALLS}; i++)
        straight(i % 3), looping(3), anywhere(1), pushing(1), plain(1);
    return 0;
}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places")
    (folder / "places.c").write_text(SOURCE, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-o", folder / "places", folder / "places.c"], check=True)  # noqa: S607
    return folder / "places"


def x86() -> Facts:
    here = this_machine()
    if here.architecture != "x86_64":
        pytest.skip("the functions are written for x86-64")
    return here


def found(program: Path, name: str) -> Function:
    function = find_function(program, name)
    assert function is not None
    return function


@pytest.mark.parametrize(
    ("name", "place"),
    [
        pytest.param("straight", 6, id="the first branch is emulated"),
        pytest.param("looping", None, id="a loop passes it again"),
        pytest.param("anywhere", None, id="a register says where to go on"),
        pytest.param("plain", None, id="there is none"),
    ],
)
def test_a_place_is_passed_once_by_every_call(program: Path, name: str, place: int | None) -> None:
    begins = found(program, name).offset
    assert counting_offset(program, begins, x86()) == (None if place is None else begins + place)


def test_on_another_architecture_and_without_a_symbol_there_is_no_other_place(program: Path, tmp_path: Path) -> None:
    begins = found(program, "straight").offset
    assert counting_offset(program, begins, replace(x86(), architecture="riscv64")) is None
    assert counting_offset(program, begins + 1, x86()) is None
    (tmp_path / "no-program").write_bytes(b"\x7fELF")
    assert counting_offset(tmp_path / "no-program", 1, x86()) is None


@needs_bpf
def test_as_many_events_are_counted_there_as_at_the_beginning(program: Path) -> None:
    begins = found(program, "straight").offset
    places = {"begins": begins, "cheaper": counting_offset(program, begins, x86()) or 0}
    probes = [Countable(probe=name, kind="uprobe", path=program, offsets=(at,)) for name, at in places.items()]
    rates = count(probes, Target(command=(str(program),)), seconds=20, budget_ratio=10).rates
    assert {one.probe: one.events for one in rates} == dict.fromkeys(places, CALLS)
