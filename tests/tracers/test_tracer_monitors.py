"""Tools that show processes make their refreshes in a terminal of their own and end; what they take is told."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.project import started_by, work_folders_of
from helpers.needs import needs
from probe_effect.store.suite_file import read_suite, script_path
from probe_effect.tracers.bpftrace import Bpftrace
from probe_effect.tracers.monitors import REFRESHES, Monitor, MonitorSession, ProcReader
from probe_effect.tracers.perf import calls_uncounted
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import count_counters, known_tracers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probe_effect.tracers.protocol import Counting, Report

SUITE = Path(__file__).parents[2] / "data" / "suites" / "monitors"
CASE = "01-refresh"
MONITORS = {tracer.id: tracer for tracer in known_tracers().values() if isinstance(tracer, Monitor | ProcReader)}
LONG_S = 60.0
AT_ONCE_S = 0.3
"""For fakes that never end: the shorter, the sooner the test does."""

DRAWS = 'for refresh in 1 2 3 4 5 6 7 8 9 10; do echo "a table"; done'
DRAWS_UNTIL_Q = """stty -icanon -echo min 0 time 1
key=
until [ "$key" = q ]; do echo "a table"; key=$(dd bs=1 count=1 2> /dev/null); done"""
"""A terminal without lines, which hands out a key at once, or nothing after a tenth of a second."""

COUNTER = "5210,,raw_syscalls:sys_enter,101600122,100.00,,"
"""Recorded: `perf stat -x, -e raw_syscalls:sys_enter -- ps aux`, perf 6.1."""

FAKE_PERF = f"""out= ; while [ "$1" != -- ]; do [ "$1" = -o ] && out=$2; shift; done; shift
echo '{COUNTER}' > "$out"
exec "$@" """


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a program of a name, a shell script, before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def make(name: str, text: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)

    return make


WAITING: list[subprocess.Popen[bytes]] = []


def workload() -> int:
    """A process that waits for its go."""
    WAITING.append(subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
    return WAITING[-1].pid


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    while WAITING:
        WAITING.pop().communicate()
    assert work_folders_of(os.getpid()) == []


def session(tool: str, folder: Path, words: str = "", counting: Counting = "itself") -> MonitorSession:
    """One that is not yet attached, with a script of these words."""
    script = folder / f"{CASE}.{tool}"
    script.write_text(f"# a script\n{words}\n", encoding="utf-8")
    (folder / "loop").touch()
    return MONITORS[tool].session(script, counting, folder / "loop")


def run(tool: str, folder: Path, words: str = "", counting: Counting = "itself", limit_s: float = LONG_S) -> Report:
    """What a whole run reports."""
    one = session(tool, folder, words, counting)
    try:
        one.attach(workload())
        one.ready(limit_s)
        return one.stop(limit_s)
    finally:
        one.end()


def test_a_tool_makes_its_refreshes_and_its_time_memory_and_output_are_told(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("top", f"{DRAWS}; sleep 0.1")
    found = run("top", tmp_path)
    assert (found.tracer_cpu_ns or 0) > 0
    assert (found.tracer_rss_bytes or 0) > 100_000
    assert found.output_bytes == REFRESHES * len("a table\r\n")
    assert (found.seen, found.lost, found.attach_ns, found.detach_ns) == (None, None, None, None)


def test_the_time_of_what_a_tool_starts_is_its_own(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("top", "sh -c 'number=0; while [ $number -lt 100000 ]; do number=$((number + 1)); done'")
    assert (run("top", tmp_path).tracer_cpu_ns or 0) > 5_000_000


def test_a_tool_gets_the_words_of_its_script_and_a_terminal_of_a_fixed_size(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("top", f'echo "$@" > {tmp_path}/words; stty size > {tmp_path}/size; [ -t 0 ] && [ -t 1 ]')
    run("top", tmp_path, "-d 0.2 -n 10")
    assert (tmp_path / "words").read_text(encoding="utf-8") == "-d 0.2 -n 10\n"
    assert (tmp_path / "size").read_text(encoding="utf-8") == "40 120\n"


def test_a_tool_finds_an_empty_home_and_nobodys_settings(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("htop", f'ls -A "$HOME" > {tmp_path}/home; echo "$HTOPRC" > {tmp_path}/rc; touch "$HOME/written"')
    run("htop", tmp_path)
    assert (tmp_path / "home").read_text(encoding="utf-8") == ""
    assert (tmp_path / "rc").read_text(encoding="utf-8").startswith("/dev/shm/probe-effect-")


def test_a_tool_that_shows_processes_once_is_started_for_each_refresh(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("ps", f'echo "$@" >> {tmp_path}/starts')
    run("ps", tmp_path, "aux")
    assert (tmp_path / "starts").read_text(encoding="utf-8") == "aux\n" * REFRESHES


def test_a_tool_without_a_number_of_refreshes_is_ended_by_its_key_after_them(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("htop", DRAWS_UNTIL_Q)
    found = run("htop", tmp_path)
    drawn = (found.output_bytes or 0) / len("a table\r\n")
    assert REFRESHES <= drawn <= REFRESHES + 5  # on a busy machine some come without a pause


def test_the_script_of_btop_is_its_file_of_settings(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("btop", f'cp "$XDG_CONFIG_HOME/btop/btop.conf" {tmp_path}/conf; echo "$@" > {tmp_path}/words')
    run("btop", tmp_path, "update_ms=100")
    assert (tmp_path / "conf").read_text(encoding="utf-8") == "# a script\nupdate_ms=100\n"
    assert (tmp_path / "words").read_text(encoding="utf-8") == "--utf-force\n"


def test_much_output_does_not_make_a_tool_wait_for_ever(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("top", "head -c 1000000 /dev/zero | tr '\\0' x")
    assert run("top", tmp_path).output_bytes == 1_000_000


def test_a_tool_that_hangs_is_ended_and_said_to_hang(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("top", "echo 'a table'; exec sleep 1000")
    with pytest.raises(TracerFailed, match=r"top had not made its refreshes after 0 s: a table") as failed:
        run("top", tmp_path, limit_s=AT_ONCE_S)
    assert failed.value.status == "timeout"
    assert not [one for one in started_by(os.getpid()) if "sleep 1000" in one]


def test_a_tool_that_fails_is_told_in_its_own_words_without_what_moves_the_cursor(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("top", r"printf '\033[2J\033[1;1Hno such option'; exit 3")
    with pytest.raises(TracerFailed, match=r"^top exit status 3: no such option$") as failed:
        run("top", tmp_path)
    assert "\x1b" not in str(failed.value)


def test_errors_come_before_what_was_drawn(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("top", "echo 'a table'; echo 'no terminal' >&2; exit 1")
    with pytest.raises(TracerFailed, match=r"top exit status 1: no terminal$"):
        run("top", tmp_path)


def test_an_absent_tool_is_said_to_be_absent_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert {name: tracer.available() for name, tracer in MONITORS.items()}["pidstat"] == (
        "pidstat is not installed; on Debian and Ubuntu: apt install sysstat"
    )
    assert all(tracer.available() for tracer in MONITORS.values())


def test_monitors_stand_on_nothing_of_the_kernel() -> None:
    assert {tracer.missing("kprobe") for tracer in MONITORS.values()} == {
        f"{name} has no kprobe: it reads /proc" for name in MONITORS
    }


def test_in_a_run_apart_perf_counts_the_system_calls_and_nothing_else_is_told(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("perf", FAKE_PERF)
    fake("ps", f"echo started >> {tmp_path}/starts")
    found = run("ps", tmp_path, "aux", counting="calls")
    assert (found.seen, found.lost, found.tracer_cpu_ns, found.tracer_rss_bytes) == (5210, 0, None, None)
    assert (tmp_path / "starts").read_text(encoding="utf-8").count("started") == REFRESHES


def test_a_recorded_counter_is_the_number_of_calls() -> None:
    assert count_counters(COUNTER) == 5210


def test_what_perf_did_not_count_is_no_number(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("perf", FAKE_PERF.replace(COUNTER, "<not supported>,,raw_syscalls:sys_enter,0,100.00,,"))
    fake("top", DRAWS)
    with pytest.raises(TracerFailed, match="not supported"):
        run("top", tmp_path, counting="calls")


def test_bpftrace_ends_by_itself_where_it_is_measured_itself(fake: Callable[[str, str], None], tmp_path: Path) -> None:
    fake("bpftrace", f'echo "$@" > {tmp_path}/words; {DRAWS}')
    script = tmp_path / "a.bt"
    script.touch()
    one = Bpftrace().session(script, "itself", tmp_path / "loop")
    try:
        one.attach(workload())
        one.ready(LONG_S)
        assert (one.stop(LONG_S).output_bytes or 0) > 0
    finally:
        one.end()
    assert (tmp_path / "words").read_text(encoding="utf-8") == f"{script}\n"


def test_a_session_that_is_ended_before_its_time_leaves_no_process(
    fake: Callable[[str, str], None], tmp_path: Path
) -> None:
    fake("top", "exec sleep 999")
    one = session("top", tmp_path)
    one.attach(workload())
    one.end()
    one.end()
    assert not [one for one in started_by(os.getpid()) if "sleep 999" in one]


@needs("cc")
def test_our_reader_reads_every_process_once_for_each_refresh(tmp_path: Path) -> None:
    tracer = ProcReader(cache=tmp_path)
    script = script_path(SUITE, CASE, "proc-reader")
    assert script is not None
    assert tracer.available() is None
    one = tracer.session(script, "itself", script)
    try:
        one.attach(workload())
        one.ready(LONG_S)
        found = one.stop(LONG_S)
        said = (one.work.path / "out").read_text(encoding="utf-8")
    finally:
        one.end()
    numbers = [int(word) for word in re.findall(r"(\d+) processes", said)]
    assert len(numbers) == REFRESHES
    assert min(numbers) > 1
    assert (found.tracer_cpu_ns or 0) > 0


def test_a_reader_that_the_compiler_refuses_is_told_with_its_words(tmp_path: Path) -> None:
    script = tmp_path / "a.proc-reader.c"
    script.write_text("no C at all", encoding="utf-8")
    with pytest.raises(TracerFailed, match="the compiler refused it"):
        ProcReader(cache=tmp_path).session(script, "itself", script)


def test_scripts_and_suite_agree_on_the_number_of_refreshes() -> None:
    suite, _ = read_suite(SUITE, "monitors")
    assert suite is not None
    assert suite.workload.operations == REFRESHES
    for tool in ("top", "pidstat", "vmstat", "atop", "glances", "bpftrace", "proc-reader"):
        script = script_path(SUITE, CASE, tool)
        assert script is not None
        text = script.read_text(encoding="utf-8")
        code = re.sub(r"(?s:/\*.*?\*/)|(?m:^# .*$)", "", text)
        assert re.search(rf"\b{REFRESHES}\b", code), tool


def test_every_monitor_has_its_script_in_this_suite_and_in_no_other() -> None:
    for name in MONITORS:
        with_script = [
            folder.name for folder in SUITE.parent.iterdir() if folder.is_dir() and list(folder.glob(f"*.{name}*"))
        ]
        assert with_script == ["monitors"]


REAL = [pytest.param(name, marks=pytest.mark.tracer) for name in (*MONITORS, "bpftrace")]


@pytest.mark.parametrize("name", REAL)
def test_the_real_tool_makes_its_refreshes_and_ends(name: str, tmp_path: Path) -> None:
    tracer = Bpftrace() if name == "bpftrace" else MONITORS[name]
    if reason := tracer.available():
        pytest.skip(f"cannot run here: {reason}")
    script = script_path(SUITE, CASE, name)
    assert script is not None
    counting: Counting = "calls" if calls_uncounted() is None else "itself"
    one = tracer.session(script, counting, tmp_path / "loop")
    try:
        one.attach(workload())
        one.ready(LONG_S)
        found = one.stop(LONG_S)
    finally:
        one.end()
    assert (found.output_bytes or 0) > 0
    assert counting == "itself" or (found.seen or 0) > REFRESHES
