"""user-loop: functions whose first instruction is exactly the one that their case names."""

from __future__ import annotations

import platform
import re
import tomllib
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from helpers.needs import needs
from probe_effect.host.symbols import find_function
from probe_effect.host.workloads import NOT_PINNED, WorkloadFailed, WorkloadProcess, WorkloadTask, build, clock_read_ns
from probe_effect.store.suite_file import read_suite

SUITE = Path(__file__).parents[2] / "data" / "suites" / "user-probes"
SOURCE = SUITE / "workload" / "user-loop.c"
CACHE_LINE_BYTES = 64
LONG_S = 30.0

FIRST_INSTRUCTIONS = {
    "x86_64": {
        "nop1": "90",
        "nop5": "0f 1f 44 00 00",
        "nop10": "66 2e 0f 1f 84 00 00 00 00 00",
        "push": "55",
        "rip_mov": "48 8b 05",
        "ret_only": "c3",
        "prologue": "55 48 89 e5 48 83 ec 10",
    },
    "aarch64": {
        "nop": "1f 20 03 d5",
        "bti_c": "5f 24 03 d5",
        "paciasp": "3f 23 03 d5",
        "adrp": "",  # its bytes depend on where the linker puts the data
        "branch": "01 00 00 14",
        "cbz": "20 00 00 b4",
        "mov": "20 00 80 d2",
        "ret_only": "c0 03 5f d6",
        "prologue": "fd 7b be a9",
    },
}
"""Processor to function to its first bytes, from the manuals of the processors (and `objdump -d`)."""

HERE = FIRST_INSTRUCTIONS.get(platform.machine(), {})

pytestmark = [
    needs("cc"),
    pytest.mark.skipif(platform.machine() not in FIRST_INSTRUCTIONS, reason="not written for this processor"),
]


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    return build(SOURCE, compiled_cache).path


@pytest.mark.parametrize("name", HERE)
def test_a_function_begins_with_the_instruction_that_it_is_named_for(name: str, program: Path) -> None:
    function = find_function(program, name)
    assert function is not None
    expected = bytes.fromhex(HERE[name])
    assert function.first_bytes[: len(expected)] == expected


def test_every_function_begins_a_cache_line_and_has_type_and_size(program: Path) -> None:
    with program.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = {symbol.name: symbol for symbol in table.iter_symbols() if symbol.name in HERE}
    assert symbols.keys() == HERE.keys()
    assert [name for name, symbol in symbols.items() if symbol["st_value"] % CACHE_LINE_BYTES] == []
    assert {symbol["st_info"]["type"] for symbol in symbols.values()} == {"STT_FUNC"}
    assert {symbol["st_info"]["bind"] for symbol in symbols.values()} == {"STB_GLOBAL"}
    assert all(symbol["st_size"] for symbol in symbols.values())


@pytest.mark.parametrize("architecture", FIRST_INSTRUCTIONS)
def test_the_cases_of_an_architecture_probe_every_function_of_it_and_no_other(architecture: str) -> None:
    suite, _ = read_suite(SUITE, "suite.toml")
    assert suite is not None
    named = {name for case in suite.on(architecture).cases for name in case.functions}
    assert named == {f"user-loop:{name}" for name in FIRST_INSTRUCTIONS[architecture]}


def test_a_script_probes_the_function_that_its_case_names() -> None:
    suite = tomllib.loads((SUITE / "suite.toml").read_text(encoding="utf-8"))
    for case in suite["cases"]:
        for name in case.get("functions", ()):
            function = name.partition(":")[2]
            for script in SUITE.glob(f"{case['id']}.*"):
                assert re.search(rf"\b{function}\b", script.read_text(encoding="utf-8")), script.name


def test_the_loop_performs_what_it_is_asked_and_times_itself(program: Path) -> None:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=5000, cpu=NOT_PINNED))
    run = workload.go(LONG_S)
    workload.end()
    assert run.operations == 5000
    assert run.wall_ns > 0
    assert run.user_ns > 0


def test_a_clock_read_has_a_cost(program: Path) -> None:
    cost_ns = clock_read_ns(program, NOT_PINNED)
    assert cost_ns is not None
    assert cost_ns > 0


def test_a_number_that_is_none_is_refused(program: Path) -> None:
    workload = WorkloadProcess(WorkloadTask(program=program, operations=0, cpu=NOT_PINNED))
    with pytest.raises(WorkloadFailed, match="user-loop: 0: expected a whole number of 1 or more"):
        workload.go(LONG_S)
    workload.end()
