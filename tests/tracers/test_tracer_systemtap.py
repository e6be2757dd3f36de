"""SystemTap is started with its BPF runtime, proved live, stopped and read; why it cannot run is said in full."""

from __future__ import annotations

import gzip
import os
import resource
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from fakes.project import as_root
from probe_effect.host.workloads import NOT_PINNED, WorkloadTask, build
from probe_effect.measure.one_run import Limits, PlannedRun, TracerTask, run_once
from probe_effect.model import Key
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.systemtap import Systemtap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.tracers.protocol import Counting
    from probe_effect.tracers.tool import ToolSession


class Starter(Protocol):
    """Starts the fake on a script of such comment lines."""

    def __call__(self, *lines: str, counting: Counting = "maps") -> ToolSession: ...


HERE = Path(__file__).parents[1]
SUITES = HERE.parent / "data" / "suites"
SDT_HEADERS = ("usr/include/sys/sdt.h", "usr/include/*/sys/sdt.h")
EIGHT_MIB = 8 << 20
OPERATIONS = 5000
LONG_S = 30.0
AT_ONCE_S = 0.2
"""For fakes that never answer: the shorter, the sooner the test ends."""


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{HERE / 'fakes' / 'systemtap'}:{os.environ['PATH']}")
    as_root(monkeypatch)


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Starter]:
    request.getfixturevalue("fakes")
    sessions: list[ToolSession] = []

    def starter(*lines: str, counting: Counting = "maps") -> ToolSession:
        script = tmp_path / "script.stp"
        script.write_text("".join(f"// {line}\n" for line in lines), encoding="utf-8")
        session = Systemtap(root=tmp_path).session(script, counting, tmp_path / "loop")
        sessions.append(session)
        session.attach(os.getpid())
        return session

    yield starter
    for session in sessions:
        session.end()


def test_the_number_that_a_script_prints_is_what_it_has_seen(start: Starter) -> None:
    session = start("print: events 7")
    session.ready(LONG_S)
    report = session.stop(LONG_S)
    assert (report.seen, report.lost) == (7, None)
    assert all((report.attach_ns, report.detach_ns, report.tracer_rss_bytes, report.output_bytes))


def test_a_script_that_counts_nothing_reports_no_counts(start: Starter) -> None:
    session = start(counting="nothing")
    session.ready(LONG_S)
    assert session.stop(LONG_S).seen is None


def test_a_script_that_prints_no_number_is_a_failure(start: Starter) -> None:
    session = start("print: 7")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="expected a line `events N`"):
        session.stop(LONG_S)


def test_systemtap_that_refuses_a_script_is_quoted(start: Starter) -> None:
    session = start("fake: dies")
    with pytest.raises(TracerFailed, match="ended before its probes were live: semantic error: the fake refuses"):
        session.ready(LONG_S)


def test_the_line_of_begin_alone_proves_nothing(start: Starter) -> None:
    session = start("fake: never-loads")
    with pytest.raises(TracerFailed, match="no probe was live") as failure:
        session.ready(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_systemtap_that_falls_over_at_the_end_has_failed(start: Starter) -> None:
    session = start("fake: dies-at-stop")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="exit status 1: ERROR: the fake fell over"):
        session.stop(LONG_S)


def test_systemtap_that_does_not_stop_is_ended(start: Starter) -> None:
    session = start("fake: hangs-at-stop")
    session.ready(LONG_S)
    with pytest.raises(TracerFailed, match="had not exited") as failure:
        session.stop(AT_ONCE_S)
    assert failure.value.status == "timeout"


def test_its_files_are_with_ours_and_go_with_them(start: Starter) -> None:
    session = start("print: events 1")
    assert set(session.environment().values()) == {str(session.work.path)}
    session.ready(LONG_S)
    session.stop(LONG_S)
    session.end()
    assert not session.work.path.exists()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a system on which SystemTap can run."""
    for path, text in {
        "proc/sys/kernel/osrelease": "6.1.0-1\n",
        "lib/modules/6.1.0-1/build/.config": "CONFIG_MODULES=y\n",
        "proc/self/status": "Name:\tx\nCapEff:\t000001ffffffffff\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (EIGHT_MIB, EIGHT_MIB))
    return tmp_path


@pytest.mark.usefixtures("fakes")
def test_on_a_machine_that_has_all_it_can_run(machine: Path) -> None:
    assert Systemtap(root=machine).available() is None


@pytest.mark.usefixtures("fakes")
def test_without_the_build_tree_the_reason_says_what_to_install(machine: Path) -> None:
    (machine / "lib/modules/6.1.0-1/build/.config").unlink()
    reason = str(Systemtap(root=machine).available())
    assert f"there is no {machine}/lib/modules/6.1.0-1/build/.config; on Debian" in reason
    assert "linux-headers" in reason


@pytest.mark.usefixtures("fakes")
def test_a_kernel_without_modules_has_no_build_tree_to_install(machine: Path) -> None:
    (machine / "lib/modules/6.1.0-1/build/.config").unlink()
    (machine / "proc/config.gz").write_bytes(gzip.compress(b"# CONFIG_MODULES is not set\n"))
    reason = str(Systemtap(root=machine).available())
    assert "CONFIG_MODULES is not set" in reason
    assert "apt install" not in reason


@pytest.mark.usefixtures("fakes")
def test_a_limit_that_cannot_be_lifted_is_told_with_its_size(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "proc/self/status").write_text("CapEff:\t000000fffeffffff\n", encoding="utf-8")
    reason = str(Systemtap(root=machine).available())
    assert "it is 8388608 bytes, and CAP_SYS_RESOURCE is missing" in reason
    monkeypatch.setattr(resource, "getrlimit", lambda _: (EIGHT_MIB, resource.RLIM_INFINITY))
    assert Systemtap(root=machine).available() is None


@pytest.mark.usefixtures("fakes")
def test_every_reason_is_given_at_once(machine: Path) -> None:
    (machine / "lib/modules/6.1.0-1/build/.config").unlink()
    (machine / "proc/self/status").unlink()
    reason = str(Systemtap(root=machine).available())
    assert "build tree" in reason
    assert "locked memory" in reason


@pytest.mark.usefixtures("fakes")
def test_without_root_the_reason_says_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in str(Systemtap().available())


def test_without_systemtap_the_reason_says_what_to_install() -> None:
    assert "apt install systemtap" in str(Systemtap(program="no-stap").available())


@pytest.mark.usefixtures("fakes")
def test_the_version_is_what_the_tool_prints() -> None:
    assert Systemtap().version() == "Systemtap translator/driver (version 0.0/0.0, fake)"


def test_the_kernel_is_asked_for_what_the_bpf_runtime_can_use(tmp_path: Path) -> None:
    assert "has no fentry" in str(Systemtap(root=tmp_path).missing("fentry"))
    assert "uprobes" in str(Systemtap(root=tmp_path).missing("uprobe"))


def test_every_script_that_counts_prints_its_number_of_events() -> None:
    scripts = [path for path in SUITES.glob("*/*.stp") if "control" not in path.name]
    assert scripts
    for script in scripts:
        assert 'printf("events %d\\n"' in script.read_text(encoding="utf-8"), script


# From here on, with the real one.


@pytest.mark.tracer
def test_every_event_of_a_real_run_is_counted(tmp_path: Path) -> None:
    systemtap = Systemtap()
    if reason := systemtap.available() or systemtap.missing("uprobe"):
        pytest.skip(f"cannot trace here: {reason}")
    if shutil.which("cc") is None or not any(any(Path("/").glob(header)) for header in SDT_HEADERS):
        pytest.skip("no C compiler, or no header sys/sdt.h: apt install gcc systemtap-sdt-dev")
    program = build(SUITES / "usdt/workload/usdt-loop.c", tmp_path).path
    load = WorkloadTask(program=program, operations=OPERATIONS, cpu=NOT_PINNED, variant="usdt")
    watch = TracerTask(systemtap, SUITES / "usdt/04-usdt-enabled.stp", "maps")
    limits = Limits(start_s=LONG_S, run_s=LONG_S, stop_s=LONG_S)
    found = run_once(PlannedRun(0, 0, Key("04-usdt-enabled", "systemtap"), "traced"), load, watch, limits)
    assert (found.status, found.note, found.seen) == ("ok", None, OPERATIONS)
