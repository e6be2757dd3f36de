"""uftrace starts the workload, is proved to be in it, and its calls are counted; records that it lost are told."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.tracers.in_process import Uftrace
from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from probe_effect.model import Sample
    from probe_effect.tracers.protocol import Counting

HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
FAKE = str(HERE / "fakes" / "uftrace")
SHARED_MEMORY = Path("/dev/shm")
OPERATIONS = 5000
LONG_S = 30.0
AT_ONCE_S = 0.5
"""For fakes that never get there: the shorter, the sooner the test ends."""


def row(uftrace: Uftrace, script: Path, program: Path, counting: Counting = "maps", start_s: float = LONG_S) -> Sample:
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED)
    limits = Limits(start_s=start_s, run_s=LONG_S, stop_s=LONG_S)
    return run_once(
        PlannedRun(0, 0, Key("case", "uftrace"), "traced"), load, TracerTask(uftrace, script, counting), limits
    )


def faked(folder: Path, arguments: str, counting: Counting = "maps", start_s: float = LONG_S) -> Sample:
    """The row of a run with the fake."""
    script = folder / "script.uftrace"
    script.write_text(f"# a comment\n{arguments}\n", encoding="utf-8")
    return row(Uftrace(program=FAKE), script, folder / "loop", counting, start_s)


def test_recorded_calls_are_seen_and_lost_records_are_lost_calls(tmp_path: Path) -> None:
    found = faked(tmp_path, "--patch=work --fake-calls=90 --fake-lost=20")
    assert (found.status, found.note) == ("ok", None)
    assert (found.seen, found.lost, found.output_bytes) == (90, 10, 160)
    assert found.attach_ns
    assert found.tracer_cpu_ns is not None
    assert found.detach_ns is None


def test_half_a_lost_call_is_a_lost_call(tmp_path: Path) -> None:
    assert faked(tmp_path, "--fake-calls=9 --fake-lost=1").lost == 1


def test_without_a_warning_nothing_was_lost(tmp_path: Path) -> None:
    found = faked(tmp_path, "--fake-calls=9")
    assert (found.seen, found.lost) == (9, 0)


def test_a_script_that_counts_nothing_reports_no_counts(tmp_path: Path) -> None:
    found = faked(tmp_path, "--fake=unreadable", "nothing")
    assert (found.status, found.seen, found.lost) == ("ok", None, None)


def test_uftrace_that_dies_is_quoted(tmp_path: Path) -> None:
    found = faked(tmp_path, "--fake=dies")
    assert (found.status, found.note) == (
        "failed",
        "uftrace ended before its probes were live: uftrace: ERROR: the fake refuses",
    )


def test_a_workload_without_the_library_is_not_traced(tmp_path: Path) -> None:
    found = faked(tmp_path, "--fake=never-loads", start_s=AT_ONCE_S)
    assert found.status == "timeout"
    assert "no probe was live" in str(found.note)


def test_a_script_that_asks_for_patching_needs_a_patched_function(tmp_path: Path) -> None:
    found = faked(tmp_path, "-Pwork --fake=patches-nothing")
    assert found.status == "failed"
    assert "patched no function" in str(found.note)


def test_a_program_that_calls_uftrace_by_itself_needs_no_patching(tmp_path: Path) -> None:
    assert faked(tmp_path, "--fake=patches-nothing --fake-calls=3").seen == 3


def test_a_recording_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    found = faked(tmp_path, "--fake=unreadable")
    assert found.status == "failed"
    assert "WARN: cannot open record data" in str(found.note)


def test_buffers_of_a_session_are_not_left_in_shared_memory(tmp_path: Path) -> None:
    other = SHARED_MEMORY / f"uftrace-fedcba9876543210-{os.getpid()}-000"
    other.touch()
    try:
        faked(tmp_path, "--fake-calls=3")
        assert list(SHARED_MEMORY.glob("uftrace-0123456789abcdef-*")) == []
        assert other.exists()
    finally:
        other.unlink()


def test_nothing_is_left_in_memory_after_a_session(tmp_path: Path) -> None:
    session = Uftrace(program=FAKE).session(written(tmp_path, "--patch=work"), "maps", tmp_path / "loop")
    folder = session.work.path
    session.end()
    session.end()
    assert not folder.exists()


def written(folder: Path, text: str) -> Path:
    script = folder / "script.uftrace"
    script.write_text(text, encoding="utf-8")
    return script


def test_a_script_with_an_open_quote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TracerFailed, match=r"script\.uftrace: expected words as on a command line"):
        Uftrace(program=FAKE).session(written(tmp_path, "--patch='work"), "maps", tmp_path / "loop")


def test_without_uftrace_the_reason_says_what_to_install() -> None:
    assert Uftrace(program=FAKE).available() is None
    assert "apt install uftrace" in str(Uftrace(program="no-uftrace").available())


def test_the_version_is_what_the_tool_prints() -> None:
    assert Uftrace(program=FAKE).version() == "uftrace v0.0 ( fake )"


def test_uftrace_sees_no_probe_of_the_kernel() -> None:
    assert "it traces functions from inside the program" in str(Uftrace().missing("uprobe"))


# From here on, with the real one.


@pytest.fixture(scope="module")
def real() -> Uftrace:
    if reason := Uftrace().available():
        pytest.skip(f"cannot trace here: {reason}")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: apt install gcc libc6-dev")
    return Uftrace()


@pytest.fixture(scope="module")
def program(real: Uftrace, compiled_cache: Path) -> Path:
    del real
    return build(SUITES / "user-probes/workload/user-loop.c", compiled_cache).path


@pytest.mark.tracer
def test_every_call_of_a_patched_function_is_recorded(real: Uftrace, program: Path, tmp_path: Path) -> None:
    found = row(real, written(tmp_path, "--patch=^nop5$ --no-libcall --no-event"), program)
    assert (found.status, found.note) == ("ok", None)
    assert (found.seen, found.lost) == (OPERATIONS, 0)
    assert found.output_bytes is not None
    assert found.output_bytes >= OPERATIONS * 2 * 16  # a record has 16 bytes


@pytest.mark.tracer
def test_a_function_that_begins_with_no_nop_cannot_be_patched(real: Uftrace, program: Path, tmp_path: Path) -> None:
    found = row(real, written(tmp_path, "--patch=^push$ --no-libcall --no-event"), program)
    assert found.status == "failed"
    assert "patched no function" in str(found.note)


@pytest.mark.tracer
def test_a_program_that_the_compiler_prepared_is_traced_without_patching(real: Uftrace, tmp_path: Path) -> None:
    source = SUITES / "user-probes/workload/user-loop.c"
    made = tmp_path / "user-loop"
    subprocess.run([shutil.which("cc") or "cc", "-O2", "-std=c11", "-pg", "-o", made, source], check=True)
    found = row(real, written(tmp_path, "-F now_ns --no-libcall --no-event"), made)
    assert (found.status, found.note) == ("ok", None)
    assert found.seen
