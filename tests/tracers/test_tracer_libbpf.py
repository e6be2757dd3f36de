"""libbpf: BPF programs are compiled once, loaded by a program of ours, proved attached, and counted exactly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from fakes.project import as_root
from helpers.tiers import deep_but
from probe_effect.host.compilers import compiled
from probe_effect.host.workloads import NOT_PINNED, WorkloadProcess, WorkloadTask, build
from probe_effect.tracers.libbpf import INCLUDE, INSTALL, LIBRARY, Libbpf, LibbpfSession, bpf_compiler, prebuild
from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.tracers.protocol import Counting


class Starter(Protocol):
    """Starts the fake loader on an "object" of such lines."""

    def __call__(self, *lines: str, counting: Counting = "maps") -> LibbpfSession: ...


HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
PROGRAMS = sorted(SUITES.glob("*/*.bpf.c"))
FIRST = {path.parent: path for path in reversed(PROGRAMS)}.values()
"""The first of each suite."""
LONG_S = 30.0
AT_ONCE_S = 0.2
PID = 1
"""No process is watched by its id."""

has_headers = Path("/", LIBRARY).is_file() and all(shutil.which(name) for name in ("cc", "clang"))
needs_headers = pytest.mark.skipif(not has_headers, reason=f"clang, cc or libbpf's headers are absent; {INSTALL}")


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{HERE / 'fakes' / 'libbpf'}:{os.environ['PATH']}")


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Starter]:
    request.getfixturevalue("fakes")
    sessions: list[LibbpfSession] = []

    def starter(*lines: str, counting: Counting = "maps") -> LibbpfSession:
        script = tmp_path / "script.bpf.c"
        script.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        session = Libbpf(cache=tmp_path / "cache").session(script, counting, tmp_path / "workload")
        sessions.append(session)
        session.attach(PID)
        return session

    yield starter
    for session in sessions:
        session.end()


def test_a_session_reports_what_the_loader_counted_and_its_own_use(start: Starter) -> None:
    session = start("start: ready 2", 'end: {"seen": 7, "lost": 3}')
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (7, 3)
    assert report.probes == 2
    assert report.attach_ns is not None
    assert report.attach_ns > 0
    assert report.tracer_rss_bytes is not None
    assert report.tracer_rss_bytes > 0


def test_the_loader_is_told_the_workloads_process_id(start: Starter) -> None:
    session = start("start: ready 1")
    assert session.command(7) == (session.tool, str(session.script), "7")


def test_a_program_whose_action_counts_nothing_has_no_counts(start: Starter) -> None:
    session = start("start: ready 1", 'end: {"seen": 0, "lost": 0}', counting="nothing")
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (None, None)


def test_a_program_without_the_map_is_not_said_to_have_seen_nothing(start: Starter) -> None:
    session = start("start: ready 1", 'end: {"seen": null, "lost": 0}')
    session.ready(LONG_S)
    assert session.stop(LONG_S).seen is None


def test_without_the_line_that_proves_the_links_nothing_is_live(start: Starter) -> None:
    session = start("start: loading")
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_a_kernel_that_refuses_a_program_is_quoted(start: Starter) -> None:
    session = start("dies: libbpf: prog 'probe': failed to load: -1")
    with pytest.raises(TracerFailed, match="failed to load: -1") as failure:
        session.ready(LONG_S)
    assert failure.value.status == "failed"


def test_a_last_line_that_is_not_understood_is_a_failure(start: Starter) -> None:
    session = start("start: ready 1", "end: {seven")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="not understood"):
        session.stop(LONG_S)


def test_a_script_that_does_not_compile_fails_with_the_compilers_words(start: Starter) -> None:
    with pytest.raises(TracerFailed, match="the fake clang refuses"):
        start("refuse-me")


@pytest.mark.usefixtures("fakes")
def test_a_script_is_compiled_again_when_the_shared_header_changes(tmp_path: Path) -> None:
    script, header = tmp_path / "script.bpf.c", tmp_path / "probe.bpf.h"
    script.touch()
    made = []
    for text in ("one", "other", "one"):
        header.write_text(text, encoding="utf-8")
        made.append(compiled(script, bpf_compiler(), "bpf/script.bpf.o", tmp_path, [header]).path)
    assert made[0] == made[2] != made[1]


@pytest.mark.usefixtures("fakes")
def test_the_version_is_that_of_the_library_and_of_the_compiler(tmp_path: Path) -> None:
    assert Libbpf(cache=tmp_path).version() == "libbpf v0.0, fake clang 1.0"


def test_without_a_compiler_there_is_no_version_and_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Libbpf(cache=tmp_path).version() is None
    assert "apt install clang gcc libbpf-dev" in str(Libbpf().available())


@pytest.mark.usefixtures("fakes")
def test_each_thing_missing_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tracer = Libbpf(root=tmp_path)
    assert "apt install clang gcc libbpf-dev" in str(tracer.available())
    (tmp_path / LIBRARY).parent.mkdir(parents=True)
    (tmp_path / LIBRARY).touch()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in str(tracer.available())
    as_root(monkeypatch)
    assert "mount -t tracefs" in str(tracer.available())
    (tmp_path / "sys/kernel/tracing/events").mkdir(parents=True)
    assert tracer.available() is None


@pytest.fixture
def prebuilt(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Libbpf:
    """What a machine without compilers was given: one script of each of two suites, of one name."""
    request.getfixturevalue("fakes")
    for suite, seen in (("one", 1), ("two", 2)):
        script = tmp_path / suite / "case.bpf.c"
        script.parent.mkdir()
        script.write_text(f'start: ready 1\nend: {{"seen": {seen}, "lost": 0}}\n', encoding="utf-8")
    prebuild(sorted(tmp_path.glob("*/*.bpf.c")), tmp_path / "made", tmp_path / "cache")
    python_only = tmp_path / "python"
    python_only.mkdir()
    (python_only / "python3").symlink_to(sys.executable)  # the fake loader is a script
    monkeypatch.setenv("PATH", str(python_only))
    return Libbpf(prebuilt=tmp_path / "made", root=tmp_path)


def test_what_was_prebuilt_needs_no_compiler_and_no_headers(
    prebuilt: Libbpf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_root(monkeypatch)
    (tmp_path / "sys/kernel/tracing/events").mkdir(parents=True)
    assert prebuilt.available() is None
    assert prebuilt.version() == "libbpf v0.0, fake clang 1.0"


@pytest.mark.parametrize(("suite", "seen"), [("one", 1), ("two", 2)])
def test_a_prebuilt_script_is_that_of_its_suite(prebuilt: Libbpf, suite: str, seen: int, tmp_path: Path) -> None:
    session = prebuilt.session(tmp_path / suite / "case.bpf.c", "maps", tmp_path / "workload")
    try:
        session.attach(PID)
        session.ready(LONG_S)
        assert session.stop(LONG_S).seen == seen
    finally:
        session.end()


def test_a_script_that_was_not_prebuilt_is_named(prebuilt: Libbpf, tmp_path: Path) -> None:
    with pytest.raises(TracerFailed, match=r"made/one/other\.bpf\.o is absent"):
        prebuilt.session(tmp_path / "one" / "other.bpf.c", "maps", tmp_path / "workload")


KNOWN_TO_LIBBPF = "LINUX_HAS_BPF_COOKIE"
"""What it fills in itself when it loads a program, as libbpf's usdt.bpf.h declares."""


@needs_headers
@pytest.mark.parametrize("source", deep_but(PROGRAMS, FIRST), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_program_of_the_suites_compiles_and_calls_no_function_that_the_kernel_lacks(
    source: Path, compiled_cache: Path
) -> None:
    made = compiled(source, bpf_compiler(), "bpf/program.bpf.o", compiled_cache, [INCLUDE]).path
    with made.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = list(table.iter_symbols())
    assert not {one.name for one in symbols if one["st_shndx"] == "SHN_UNDEF"} - {"", KNOWN_TO_LIBBPF}


def test_there_are_programs_to_compile() -> None:
    assert PROGRAMS


@needs_headers
def test_the_loader_says_what_it_was_made_with_and_refuses_what_is_no_object(tmp_path: Path) -> None:
    loader = Libbpf(cache=tmp_path).loader()
    assert str(Libbpf(cache=tmp_path).version()).startswith("libbpf v")
    run = subprocess.run([loader, tmp_path / "absent.bpf.o"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "absent.bpf.o: No such file" in run.stderr
    assert run.stdout == ""


@pytest.mark.tracer
@needs_headers
@pytest.mark.parametrize("case", ["02-uprobe-nop1", "13-uretprobe-prologue"])
def test_the_real_loader_counts_every_event_of_the_real_loop(case: str, tmp_path: Path) -> None:
    tracer = Libbpf(cache=tmp_path)
    if reason := tracer.available() or tracer.missing("uprobe"):
        pytest.skip(reason)
    program = build(SUITES / "user-probes" / "workload" / "user-loop.c", tmp_path).path
    session = tracer.session(SUITES / "user-probes" / f"{case}.bpf.c", "maps", program)
    workload = WorkloadProcess(WorkloadTask(program=program, operations=5000, cpu=NOT_PINNED))
    try:
        session.attach(workload.pid)
        session.ready(LONG_S)
        workload.go(LONG_S)
        report = session.stop(LONG_S)
    finally:
        workload.end()
        session.end()
    assert (report.seen, report.lost) == (5000, 0)


@pytest.mark.tracer
@needs_headers
def test_a_kprobe_on_a_function_that_the_kernel_has_under_no_ending_is_refused_by_its_name(tmp_path: Path) -> None:
    tracer = Libbpf(cache=tmp_path)
    if reason := tracer.available():
        pytest.skip(reason)
    script = tmp_path / "script.bpf.c"
    program = '#include "probe.bpf.h"\nSEC("kprobe/no_such_function*") int probe(void *context) { return 0; }\n'
    script.write_text(program, encoding="utf-8")
    session = tracer.session(script, "maps", tmp_path / "workload")
    try:
        session.attach(PID)
        with pytest.raises(TracerFailed, match=r"kprobe/no_such_function\*: No such file"):
            session.ready(LONG_S)
    finally:
        session.end()
