"""LTTng's daemon is started, the workload proved to be registered, its events recorded, counted and removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from fakes.project import as_root
from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key, ProbeEffectError
from probe_effect.tracers.in_process import LttngSession, LttngUst, count_recorded, read_commands
from probe_effect.tracers.protocol import TracerFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.model import Sample
    from probe_effect.tracers.protocol import Counting


class Starter(Protocol):
    """Starts the fake daemon with a script of such lines, to watch this very process."""

    def __call__(self, *lines: str, counting: Counting = "maps", fake: str = "") -> LttngSession: ...


HERE = Path(__file__).parents[1]
SUITE = HERE.parent / "data" / "suites" / "lttng-ust"
HEADER = "usr/include/**/lttng/tracepoint.h"
LONG_S = 30.0
AT_ONCE_S = 0.2
"""For fakes that never answer: the shorter, the sooner the test ends."""

OPERATIONS = 20_000

CHANNEL = "enable-channel --userspace --fake-discards=3 channel"
EVENT = "enable-event --userspace --channel=channel --fake-events=40 fake:work"


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{HERE / 'fakes' / 'lttng'}:{os.environ['PATH']}")
    as_root(monkeypatch)


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starter]:
    request.getfixturevalue("fakes")
    sessions: list[LttngSession] = []

    def starter(*lines: str, counting: Counting = "maps", fake: str = "") -> LttngSession:
        monkeypatch.setenv("FAKE_LTTNG", fake)
        session = LttngUst().session(written(tmp_path, *lines), counting, tmp_path / "loop")
        sessions.append(session)
        session.attach(os.getpid())
        return session

    yield starter
    for session in sessions:
        session.end()


def written(folder: Path, *lines: str) -> Path:
    script = folder / "script.lttng"
    script.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return script


def test_what_was_recorded_is_seen_and_what_was_discarded_is_lost(start: Starter) -> None:
    session = start(CHANNEL, EVENT)
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (40, 3)
    assert all((report.attach_ns, report.detach_ns, report.tracer_rss_bytes, report.output_bytes))


def test_a_script_that_counts_nothing_reports_no_counts(start: Starter) -> None:
    session = start("enable-channel --userspace channel", counting="nothing")
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (None, None)


def test_the_commands_of_a_script_come_between_the_making_of_a_session_and_its_start(start: Starter) -> None:
    session = start("# a comment", CHANNEL, "", EVENT)
    session.ready(LONG_S)
    commands = (session.work.path / "commands").read_text(encoding="utf-8").splitlines()
    name = session.work.path.name
    made = [line.split()[0] for line in commands if not line.startswith("list ")]
    assert made == ["create", "enable-channel", "enable-event", "start"]
    assert all(name in line for line in commands if not line.startswith("list "))


def test_the_name_of_the_current_session_stays_out_of_the_users_home(start: Starter) -> None:
    session = start()
    assert session.environment() == {"LTTNG_HOME": str(session.work.path)}


def test_without_root_the_daemon_is_where_the_workload_looks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    session = LttngUst().session(written(tmp_path), "maps", tmp_path / "loop")
    assert session.environment() == {}
    session.end()


def test_a_workload_that_is_never_registered_is_given_up(start: Starter) -> None:
    session = start(EVENT, fake="unregistered")
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_a_daemon_that_dies_is_quoted_without_its_harmless_complaint(start: Starter) -> None:
    session = start(EVENT, fake="dies")
    with pytest.raises(TracerFailed, match="ended before its probes were live: Error: the fake refuses") as failure:
        session.ready(LONG_S)
    assert "open files" not in str(failure.value)


def test_a_command_that_lttng_refuses_is_quoted(start: Starter) -> None:
    session = start("enable-event --userspace --fake-refuses fake:work")
    with pytest.raises(TracerFailed, match=r"`lttng enable-event .*` ended with status 1: Error: the fake refuses"):
        session.ready(LONG_S)


def test_a_tracepoint_that_the_workload_lacks_is_named_with_those_that_it_has(start: Starter) -> None:
    session = start(CHANNEL, "enable-event --userspace fake:other")
    with pytest.raises(TracerFailed, match=r"the workload has no tracepoint fake:other; it has: fake:work$"):
        session.ready(LONG_S)


def test_tracepoints_may_be_chosen_by_a_pattern(start: Starter) -> None:
    session = start(CHANNEL, "enable-event --userspace --fake-events=2 fake:*")
    session.ready(LONG_S)
    assert session.stop(LONG_S).seen == 2


def test_a_daemon_that_falls_over_at_the_end_has_failed(start: Starter) -> None:
    session = start(CHANNEL, EVENT, fake="dies-at-stop")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="exit status 1: Error: the fake fell over"):
        session.stop(LONG_S)


def test_a_daemon_that_does_not_stop_is_ended(start: Starter) -> None:
    session = start(CHANNEL, EVENT, fake="hangs-at-stop")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="had not exited") as failure:
        session.stop(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_a_recording_that_cannot_be_read_is_a_failure(start: Starter) -> None:
    session = start(CHANNEL, EVENT, fake="unreadable")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match=r"not understood: `babeltrace2 .*: ERROR: the fake cannot read"):
        session.stop(LONG_S)


def test_nothing_is_left_in_memory_after_a_session(start: Starter) -> None:
    session = start(CHANNEL, EVENT)
    folder = session.work.path
    session.ready(LONG_S)
    session.stop(LONG_S)
    session.end()
    assert not folder.exists()


@pytest.mark.usefixtures("fakes")
def test_a_daemon_that_runs_already_is_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LttngUst().available() is None
    monkeypatch.setenv("FAKE_LTTNG", "daemon-of-others")
    assert "systemctl stop lttng-sessiond" in str(LttngUst().available())


@pytest.mark.parametrize("lacking", ["lttng", "lttng-sessiond", "babeltrace2"])
def test_without_one_of_its_programs_the_reason_says_what_to_install(
    lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for fake in (HERE / "fakes" / "lttng").iterdir():
        if fake.name != lacking:
            (tmp_path / fake.name).symlink_to(fake)
    monkeypatch.setenv("PATH", str(tmp_path))
    expected = f"{lacking} is not installed; on Debian and Ubuntu: apt install lttng-tools babeltrace2 liblttng-ust-dev"
    assert LttngUst().available() == expected


@pytest.mark.usefixtures("fakes")
def test_the_version_is_what_the_tool_prints() -> None:
    assert LttngUst().version() == "lttng (LTTng Trace Control) 0.0.0 - Fake"


def test_lttng_sees_no_probe_of_the_kernel() -> None:
    assert "it traces programs that are built with its tracepoints" in str(LttngUst().missing("kprobe"))


def test_a_script_with_an_open_quote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TracerFailed, match=r"script\.lttng: expected words as on a command line"):
        LttngUst().session(written(tmp_path, "enable-event 'fake:work"), "maps", tmp_path / "loop")


def test_every_script_of_the_suites_is_a_list_of_commands() -> None:
    scripts = list(SUITE.parent.glob("*/*.lttng"))
    assert scripts
    for script in scripts:
        assert all(command in {"enable-channel", "enable-event"} for command, *_ in read_commands(script)), script


# From here on, with the real one.


@pytest.fixture
def real() -> Iterator[LttngUst]:
    lttng = LttngUst()
    # One session daemon at a time: tests may run side by side.
    with (Path(tempfile.gettempdir()) / "probe-effect-test-lttng.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if reason := lttng.available():
            pytest.skip(f"cannot trace here: {reason}")
        yield lttng


@pytest.fixture(scope="module")
def program(compiled_cache: Path) -> Path:
    if shutil.which("cc") is None or not any(Path("/").glob(HEADER)):
        pytest.skip("no C compiler, or no headers of LTTng-UST: apt install gcc liblttng-ust-dev")
    return build(SUITE / "workload/lttng-loop.c", compiled_cache, ("lttng-ust", "dl")).path


def row(lttng: LttngUst, script: Path, program: Path, variant: str, operations: int = OPERATIONS) -> Sample:
    load = WorkloadTask(program=program, operations=operations, cpu=NOT_PINNED, variant=variant)
    watch = TracerTask(lttng, script, "nothing" if script.name.startswith("01") else "maps")
    limits = Limits(start_s=LONG_S, run_s=LONG_S, stop_s=LONG_S)
    return run_once(PlannedRun(0, 0, Key("case", lttng.id), "traced"), load, watch, limits)


@pytest.mark.tracer
@pytest.mark.parametrize(("case", "variant"), [("03-lttng-recorded", "work"), ("04-lttng-recorded-string", "string")])
def test_every_event_of_a_real_run_is_recorded(real: LttngUst, program: Path, case: str, variant: str) -> None:
    found = row(real, SUITE / f"{case}.lttng", program, variant)
    assert (found.status, found.note) == ("ok", None)
    assert (found.seen, found.lost) == (OPERATIONS, 0)
    assert all((found.tracer_cpu_ns, found.tracer_rss_bytes, found.attach_ns, found.detach_ns))
    assert found.output_bytes is not None
    assert found.output_bytes > OPERATIONS * 8


@pytest.mark.tracer
def test_events_of_a_real_run_for_which_buffers_are_too_small_add_up(
    real: LttngUst, program: Path, tmp_path: Path
) -> None:
    small = "enable-channel --userspace --subbuf-size=4k --num-subbuf=2 channel"
    script = written(tmp_path, small, "enable-event --userspace --channel=channel probe_effect:work")
    found = row(real, script, program, "work", 1_000_000)
    assert (found.status, found.note) == ("ok", None)
    assert found.seen is not None
    assert found.lost is not None
    assert found.seen + found.lost == 1_000_000


@pytest.mark.tracer
def test_a_real_session_without_tracepoints_counts_nothing(real: LttngUst, program: Path) -> None:
    found = row(real, SUITE / "01-lttng-control.lttng", program, "plain")
    assert (found.status, found.note, found.seen, found.lost) == ("ok", None, None, None)


@pytest.mark.tracer
def test_a_real_workload_without_the_tracepoint_is_refused(real: LttngUst, program: Path, tmp_path: Path) -> None:
    found = row(real, written(tmp_path, "enable-event --userspace probe_effect:other"), program, "work")
    assert found.status == "failed"
    assert "it has: probe_effect:" in str(found.note)


@pytest.mark.tracer
def test_a_real_folder_without_a_recording_is_not_counted(real: LttngUst, tmp_path: Path) -> None:
    del real
    with pytest.raises(ValueError, match="babeltrace2"):
        count_recorded(tmp_path)


def test_a_workload_without_the_headers_says_what_to_install(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: apt install gcc libc6-dev")
    source = tmp_path / "lttng-loop.c"
    text = (SUITE / "workload/lttng-loop.c").read_text(encoding="utf-8")
    source.write_text(text.replace("lttng/tracepoint.h", "absent/tracepoint.h"), encoding="utf-8")
    with pytest.raises(ProbeEffectError, match="apt install liblttng-ust-dev"):
        build(source, tmp_path / "cache")
