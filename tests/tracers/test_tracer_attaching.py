"""Debuggers and profilers that are told all on their command line: proved live, counted, and nothing left of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.tiers import deep_but
from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.records import TOOLS
from probe_effect.store.suite_file import read_suite
from probe_effect.tracers.attaching import Attaching, AttachingSession
from probe_effect.tracers.tool import known_tracers

if TYPE_CHECKING:
    from probe_effect.model import Sample

HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
FAKE = str(HERE / "fakes" / "attaching")
OPERATIONS = 200
LONG_S = 30.0
AT_ONCE_S = 0.3
"""For fakes that never get there: the shorter, the sooner the test ends."""


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: apt install gcc libc6-dev")
    return build(SUITES / "user-probes/workload/user-loop.c", compiled_cache).path


def fake(**changed: object) -> Attaching:
    """The tool that the fake is."""
    known = {"words": ("{script}", "{pid}"), "said": "^live$", "seen": r"^count (\d+)$", "lost": r"^missed (\d+)$"}
    return Attaching(program=FAKE, id="fake", tool="gdb", **(known | changed))  # type: ignore[arg-type]


def row(tool: Attaching, script: Path, program: Path, start_s: float = LONG_S) -> Sample:
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED)
    limits = Limits(start_s=start_s, run_s=LONG_S, stop_s=LONG_S)
    planned = PlannedRun(0, 0, Key("case", tool.id), "traced")
    return run_once(planned, load, TracerTask(tool, script, "nothing"), limits)


def faked(program: Path, folder: Path, does: str, start_s: float = LONG_S, **changed: object) -> Sample:
    """The row of a run with the fake, which does as the script says."""
    return row(fake(**changed), script_of(folder, does), program, start_s)


def script_of(folder: Path, words: str) -> Path:
    script = folder / "script.fake"
    script.write_text(f"# a comment\n{words}\n", encoding="utf-8")
    return script


def test_what_the_tool_says_at_its_end_is_counted_and_it_has_no_detaching(program: Path, tmp_path: Path) -> None:
    found = faked(program, tmp_path, "counts 200 3")
    assert (found.status, found.note) == ("ok", None)
    assert (found.seen, found.lost, found.detach_ns) == (200, 3, None)
    assert found.attach_ns
    assert found.tracer_cpu_ns is not None


def test_a_tool_that_counts_nothing_reports_no_counts(program: Path, tmp_path: Path) -> None:
    found = faked(program, tmp_path, "counts 200 3", seen="", lost="")
    assert (found.status, found.seen, found.lost) == ("ok", None, None)


def test_a_tool_that_dies_is_quoted(program: Path, tmp_path: Path) -> None:
    found = faked(program, tmp_path, "dies")
    assert (found.status, found.note) == ("failed", "fake ended before its probes were live: the fake refuses")


def test_a_tool_that_never_says_so_is_not_live(program: Path, tmp_path: Path) -> None:
    found = faked(program, tmp_path, "never-lives", start_s=AT_ONCE_S)
    assert found.status == "timeout"
    assert "no probe was live" in str(found.note)


def test_a_debugger_that_the_kernel_does_not_name_is_not_live_whatever_it_says(program: Path, tmp_path: Path) -> None:
    assert faked(program, tmp_path, "counts 200 0", start_s=AT_ONCE_S, stops=True).status == "timeout"


def test_a_tool_that_is_not_in_the_programs_memory_is_not_live(program: Path, tmp_path: Path) -> None:
    assert faked(program, tmp_path, "counts 200 0", start_s=AT_ONCE_S, library="no-such-agent").status == "timeout"


def test_a_count_that_is_missing_is_a_failure_and_no_zero(program: Path, tmp_path: Path) -> None:
    found = faked(program, tmp_path, "forgets")
    assert (found.status, found.seen) == ("failed", None)
    assert "expected a line with the count" in str(found.note)


def test_a_tool_that_wants_the_one_child_of_a_workload_without_any_is_a_failure(program: Path, tmp_path: Path) -> None:
    found = faked(program, tmp_path, "counts 1 0", words=("{script}", "{child}"))
    assert found.status == "failed"
    assert "started 0 programs" in str(found.note)


def test_a_tool_that_starts_the_workload_ends_with_it(program: Path, tmp_path: Path) -> None:
    found = faked(
        program, tmp_path, "counts 1 0", words=("--start", "{script}"), starts=True, said="", seen="", lost=""
    )
    assert (found.status, found.note, found.events) == ("ok", None, OPERATIONS)


def test_nothing_is_left_in_memory_after_a_session(tmp_path: Path) -> None:
    session = fake().session(tmp_path / "script", "nothing", tmp_path / "loop")
    folder = session.work.path
    session.end()
    session.end()
    assert not folder.exists()


def test_without_the_tool_the_reason_says_what_to_install() -> None:
    known = known_tracers()
    for name, advice in {
        "gdb": "apt install gdb",
        "py-spy": "pip install py-spy==",
        "frida": "pip install frida",
    }.items():
        tool = known[name]
        assert isinstance(tool, Attaching)
        missing = Attaching(program="no-such-tool", id=name, tool=name, words=(), advice=tool.advice)
        assert advice in str(missing.available())
    assert fake().available() is None
    assert fake().version() == "fake 1.2"
    assert "watches from user space" in str(fake().missing("uprobe"))


RECORDED = {
    "gdb": (
        "Breakpoint 1 at 0x5622544915c0\nlive\ncalled 1\ncount 2000\n[Inferior 1 (process 190) exited normally]\n",
        (2000, 0),
    ),
    "ltrace": (
        (
            "214 prologue(0x55611ba95180, 0, 0, 0)          = 1\n"
            "214 prologue(0x55611ba95180, 0, 0, 0 <no return ...>\n214 +++ exited (status 0) +++\n"
        ),
        (2, 0),
    ),
    "frida": ("live\ncount 1000000\nProcess terminated\n", (1000000, 0)),
    "py-spy": (
        (
            "py-spy> Sampling process 100 times a second. Press Control-C to exit.\n\npy-spy> Stopped sampling because "
            "process exited\npy-spy> Wrote raw flamegraph data to 'written'. Samples: 364 Errors: 2\n"
        ),
        (364, 2),
    ),
    "austin": (
        (
            "\N{SNAKE} \x1b[1mPython\x1b[0m version: \x1b[33;1m3.11.2\x1b[0m\n\x1b[1mStatistics\x1b[0m\n"
            "\N{SKULL} Error rate : \x1b[1m1/458\x1b[0m (\x1b[1m0.00 %\x1b[0m) invalid samples\n"
            "# austin: 3.7.0\nP30865;T0:30865;deep.py:<module>:9 887\nP30865;T0:30865;deep.py:down:7 12702\n"
        ),
        (2, 1),
    ),
}
"""What the tools printed and wrote, shortened: gdb 13.1, ltrace 0.7.3, frida 17.26, py-spy 0.4.3, austin 3.7."""


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_output_has_the_proof_and_the_counts(name: str, tmp_path: Path) -> None:
    text, expected = RECORDED[name]
    assert re.search(TOOLS[name].options.get("said", ""), text, re.MULTILINE)
    tool = known_tracers()[name]
    assert isinstance(tool, Attaching)
    session = tool.session(script_of(tmp_path, "-r 100"), "nothing", tmp_path / "loop")
    session.work.out.write_text(text, encoding="utf-8")
    assert session.count() == expected
    session.end()


def test_a_profiler_that_took_no_sample_need_not_say_what_it_missed(tmp_path: Path) -> None:
    session = known_tracers()["austin"].session(script_of(tmp_path, "-i 10000"), "nothing", tmp_path / "loop")
    assert isinstance(session, AttachingSession)
    session.work.out.write_text("No samples collected.\n", encoding="utf-8")
    assert session.count() == (0, 0)
    session.end()


# From here on, with the real ones.


suite, _ = read_suite(SUITES / "debuggers", "debuggers")
assert suite is not None
CASES = {path.name: case for case in suite.cases for path in (SUITES / "debuggers").glob(f"{case.id}.*")}


@pytest.mark.tracer
@pytest.mark.parametrize("name", deep_but(CASES, ["02-breakpoint.gdb", "06-call-printed.ltrace"]))
def test_the_real_tool_sees_every_event_of_its_case(name: str, program: Path) -> None:
    script = SUITES / "debuggers" / name
    tool = next(tool for tool in TOOLS.values() if name.endswith(tool.ending))
    tracer = known_tracers()[tool.name]
    assert isinstance(tracer, Attaching)
    if reason := tracer.available():
        pytest.skip(f"cannot trace here: {reason}")
    found = row(tracer, script, program)
    assert (found.status, found.note) == ("ok", None)
    if CASES[name].counted_by == "tool":
        assert (found.seen, found.lost) == (OPERATIONS, 0)
