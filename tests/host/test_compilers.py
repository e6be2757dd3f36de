"""Compilers: what is made for another system takes its headers and libraries, and is recorded without its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from helpers.builders import PRINTS_ITS_WORDS
from probe_effect.host.compilers import MACHINE, CompiledProgram, Compiler, Sysroot, compiled
from probe_effect.host.workloads import build
from probe_effect.model import HostNotReady


@pytest.fixture(autouse=True)
def compiler_that_prints_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "cc"
    program.parent.mkdir()
    program.write_text(PRINTS_ITS_WORDS, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def made(tmp_path: Path, root: Path | None) -> CompiledProgram:
    source = tmp_path / "loop.c"
    source.touch()
    system = Sysroot(root, MACHINE) if root else None
    compiler = Compiler(command=("cc", "-O2"), link=("-lbpf",), absent="no compiler", system=system)
    return compiled(source, compiler, "workloads/loop", tmp_path / "cache")


def test_the_compiler_is_turned_to_the_other_system(tmp_path: Path) -> None:
    words = made(tmp_path, tmp_path / "bookworm").path.read_text(encoding="utf-8").split()
    assert words[0] == f"--sysroot={tmp_path / 'bookworm'}"
    assert words[1].startswith(f"-B{tmp_path / 'bookworm'}/usr/lib/")
    assert words[2] == "-O2"


def test_the_record_names_the_other_system_and_not_where_it_lies(tmp_path: Path) -> None:
    assert made(tmp_path, tmp_path / "bookworm").compiler == "words 1.0 --sysroot=bookworm -O2 -lbpf"
    assert made(tmp_path, None).compiler == "words 1.0 -O2 -lbpf"


def test_two_systems_of_one_name_have_programs_of_their_own(tmp_path: Path) -> None:
    first, second = made(tmp_path, tmp_path / "a" / "root"), made(tmp_path, tmp_path / "b" / "root")
    assert first.compiler == second.compiler
    assert first.path != second.path


def test_a_system_that_is_named_from_here_is_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert made(tmp_path, Path("bookworm")) == made(tmp_path, tmp_path / "bookworm")


def test_a_workload_is_made_for_the_system_on_which_it_will_run(tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.touch()
    program = build(source, tmp_path / "cache", ("pthread",), Sysroot(tmp_path / "trixie", MACHINE))
    assert program.compiler == "words 1.0 --sysroot=trixie -O2 -std=c11 -Wall -Wextra -lpthread"
    assert f"--sysroot={tmp_path / 'trixie'}" in program.path.read_text(encoding="utf-8")


def test_another_processor_has_a_cross_compiler_and_its_folder_of_libraries(tmp_path: Path) -> None:
    source, program = tmp_path / "loop.c", tmp_path / "bin" / "ultra-linux-gnu-gcc"
    source.touch()
    shutil.copy2(program.with_name("cc"), program)
    found = build(source, tmp_path / "cache", (), Sysroot(tmp_path / "trixie", "ultra"))
    assert f"-B{tmp_path / 'trixie'}/usr/lib/ultra-linux-gnu" in found.path.read_text(encoding="utf-8")


def test_a_cross_compiler_that_is_missing_is_named_with_its_package(tmp_path: Path) -> None:
    (tmp_path / "loop.c").touch()
    with pytest.raises(HostNotReady, match=r"`ultra-linux-gnu-gcc` is not on .* apt install gcc-ultra-linux-gnu"):
        build(tmp_path / "loop.c", tmp_path / "cache", (), Sysroot(tmp_path / "trixie", "ultra"))
