"""Suite `usdt`: the workload's variants differ in the probe alone, and every event of an enabled one is counted."""

from __future__ import annotations

import platform
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from probe_effect.host.symbols import find_function
from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build, parse
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key, ProbeEffectError
from probe_effect.tracers.bpftrace import Bpftrace

SUITE = Path(__file__).parents[2] / "data" / "suites" / "usdt"
SOURCE = SUITE / "workload" / "usdt-loop.c"
HEADERS = ("usr/include/sys/sdt.h", "usr/include/*/sys/sdt.h")
NOP, RET = b"\x90", b"\xc3"
OPERATIONS = 5000
LONG_S = 30.0


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    if shutil.which("cc") is None or not any(any(Path("/").glob(header)) for header in HEADERS):
        pytest.skip("no C compiler, or no header sys/sdt.h: apt install gcc systemtap-sdt-dev")
    return build(SOURCE, compiled_cache).path


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], input="g", capture_output=True, text=True, timeout=LONG_S, check=False)


@pytest.mark.parametrize("variant", ["plain", "usdt", "usdt-semaphore"])
def test_every_variant_performs_its_operations(program: Path, variant: str) -> None:
    assert parse(run(program, "1000", "-1", variant).stdout).operations == 1000


def test_a_variant_that_is_none_is_refused_with_those_that_there_are(program: Path) -> None:
    ended = run(program, "1000", "-1", "other")
    assert ended.returncode == 2
    assert ended.stderr == "usdt-loop: other: expected plain, usdt or usdt-semaphore\n"


def test_the_probe_adds_one_nop_to_an_empty_function(program: Path) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the bytes are those of x86-64")
    functions = {name: find_function(program, name) for name in ("work_plain", "work_usdt")}
    last = {name: function.first_bytes[-2:] for name, function in functions.items() if function}
    assert last["work_plain"].endswith(RET)
    assert last["work_usdt"] == NOP + RET


def test_only_the_guarded_probe_has_a_semaphore(program: Path) -> None:
    assert {name: bool(semaphore) for name, semaphore in probes(program)} == {"work": False, "guarded": True}


def probes(program: Path) -> list[tuple[str, int]]:
    """(name, address of its semaphore) of each probe. Source: the notes that sys/sdt.h writes."""
    with program.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".note.stapsdt")
        assert isinstance(section, NoteSection)
        found = []
        for note in section.iter_notes():
            text = note["n_desc"] if isinstance(note["n_desc"], bytes) else note["n_desc"].encode("latin-1")
            _, name, *_ = text[24:].split(b"\0")
            found.append((name.decode(), struct.unpack_from("=3Q", text)[2]))
        return found


@pytest.mark.tracer
@pytest.mark.parametrize(
    ("case", "variant"),
    [("04-usdt-enabled", "usdt"), ("05-usdt-enabled-semaphore", "usdt-semaphore"), ("06-usdt-enabled-string", "usdt")],
)
def test_every_event_of_an_enabled_probe_is_counted(program: Path, case: str, variant: str) -> None:
    bpftrace = Bpftrace()
    if reason := bpftrace.available() or bpftrace.missing("uprobe"):
        pytest.skip(f"cannot trace here: {reason}")
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED, variant=variant)
    limits = Limits(start_s=LONG_S, run_s=LONG_S, stop_s=LONG_S)
    watch = TracerTask(bpftrace, SUITE / f"{case}.bt", "maps")
    found = run_once(PlannedRun(0, 0, Key(case, "bpftrace"), "traced"), load, watch, limits)
    assert (found.status, found.note) == ("ok", None)
    assert (found.seen, found.lost) == (OPERATIONS, 0)


def test_a_workload_without_the_header_says_what_to_install(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: apt install gcc libc6-dev")
    source = tmp_path / "usdt-loop.c"
    text = SOURCE.read_text(encoding="utf-8")
    source.write_text(text.replace("has_include(<sys/sdt.h>)", "has_include(<absent/sdt.h>)"), encoding="utf-8")
    with pytest.raises(ProbeEffectError, match="apt install systemtap-sdt-dev"):
        build(source, tmp_path / "cache")
