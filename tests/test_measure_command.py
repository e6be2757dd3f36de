"""`probe-effect measure`: its words, its exit statuses, and how it stops."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fakes.project import FakeProject, document, rows
from probe_effect.cli.measure import measure as command
from probe_effect.errors import HostNotReady, UsageError
from probe_effect.store.places import DataFolder, Submission
from probe_effect.tracers.bpftrace import Bpftrace

FAKES = Path(__file__).parent / "fakes"
SUITES = Path(__file__).parent.parent / "data" / "suites"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    monkeypatch.setenv("PATH", f"{FAKES / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    made = FakeProject(tmp_path)
    made.case("01-plain")
    made.case("02-kernel-function", needs="kprobe")
    monkeypatch.setattr("probe_effect.cli.measure.known_tracers", lambda: made.tracers)
    return made


def run(project: FakeProject, *arguments: str) -> Result:
    options = ["--data", str(project.data.root), "--quick", *arguments]
    return CliRunner().invoke(command, options, catch_exceptions=False, standalone_mode=False)


def test_the_product_is_the_folder_and_the_rest_is_told_on_the_side(project: FakeProject) -> None:
    outcome = run(project, "tiny", "--blocks", "2", "--seed", "5")
    (submission,) = project.data.submissions()
    assert outcome.stdout == f"{submission.folder}\n"
    assert document(submission).run.blocks == 2


def test_the_recorded_command_repeats_the_run_and_names_no_folder(project: FakeProject, tmp_path: Path) -> None:
    out = tmp_path / "home" / "alice"
    run(project, "tiny", "--blocks", "1", "--seed", "5", "--out", str(out), "--name", "Alice", "--case", "01-plain")
    (folder,) = out.glob("*/*")
    found = document(Submission(folder))
    words = ("probe-effect", "measure", "tiny", "--case", "01-plain", "--quick", "--blocks", "1", "--seed", "5")
    assert found.run.command == words
    assert found.submitter.name == "Alice"
    assert found.provenance.kind == "third-party"


def test_without_a_number_of_blocks_a_quick_run_makes_as_many_as_carry_an_interval(project: FakeProject) -> None:
    run(project)
    (submission,) = project.data.submissions()
    assert {row.block for row in rows(submission)} == set(range(6))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["tinny"], "tinny: no such suite; did you mean tiny", id="suite"),
        pytest.param(["--case", "01-plane"], "did you mean 01-plain", id="case"),
        pytest.param(["--tracer", "bpftrase"], "did you mean bpftrace", id="tracer"),
        pytest.param(["--tracer", "zzz"], "known: bpftrace", id="nothing near"),
    ],
)
def test_an_unknown_name_is_wrong_usage_with_the_nearest_ones(
    project: FakeProject, arguments: list[str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run(project, *arguments)


def test_without_root_the_host_is_not_ready(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostNotReady, match="sudo"):
        run(project)


def test_without_tracefs_the_host_is_not_ready(project: FakeProject, tmp_path: Path) -> None:
    project.tracers["bpftrace"] = Bpftrace(root=tmp_path / "nowhere")
    with pytest.raises(HostNotReady, match="mount -t tracefs"):
        run(project)


def test_an_unusable_credit_is_wrong_usage(project: FakeProject) -> None:
    outcome = CliRunner().invoke(command, ["--data", str(project.data.root), "--url", "javascript:alert(1)"])
    assert outcome.exit_code == 2
    assert "https://example.org/me" in outcome.output


PROGRAM = """
import os
import sys
from pathlib import Path
from probe_effect.cli import measure
from probe_effect.cli.group import main
from probe_effect.tracers.bpftrace import Bpftrace
kernel = Path(sys.argv.pop(1))
os.geteuid = lambda: 0
measure.known_tracers = lambda: {"bpftrace": Bpftrace(root=kernel)}
main()
"""


def processes_of(folder: Path) -> list[str]:
    """Command lines of processes that name something in `folder`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


@pytest.mark.parametrize("demand", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_its_rows_and_leaves_no_tracer(
    project: FakeProject, tmp_path: Path, demand: signal.Signals
) -> None:
    arguments = ["measure", "tiny", "--data", str(project.data.root), "--quick", "--blocks", "1000"]
    whole = [sys.executable, "-c", PROGRAM, str(tmp_path / "kernel"), *arguments]
    with subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        next(line for line in running.stderr if line.startswith("block 2 "))
        running.send_signal(demand)
        out, err = running.communicate(timeout=60)
    (submission,) = project.data.submissions()
    assert running.returncode == 1
    assert out == ""
    assert f"stopped by {demand.name}; the rows so far are kept in {submission.folder}" in err
    assert {row.block for row in rows(submission)} >= {0}
    assert document(submission).run.ended is None
    assert processes_of(tmp_path / "data" / "suites") == []


def reason_not_to_measure() -> str | None:
    if shutil.which("cc") is None:
        return "no C compiler: `cc` is not on the PATH"
    return Bpftrace().available() or Bpftrace().missing("tracepoint")


@pytest.mark.tracer
@pytest.mark.skipif(reason_not_to_measure() is not None, reason=f"cannot trace here: {reason_not_to_measure()}")
def test_a_real_tracepoint_is_measured_and_its_events_add_up(tmp_path: Path) -> None:
    shutil.copytree(SUITES, tmp_path / "suites")
    arguments = ["per-event", "--case", "04-tracepoint-entry", "--quick", "--blocks", "2", "--data", str(tmp_path)]
    CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)
    (submission,) = DataFolder(tmp_path).submissions()
    found = rows(submission)
    assert [row.status for row in found] == ["ok"] * 7
    (check,) = (row for row in found if row.arm == "check")
    assert check.events is not None
    assert check.seen is not None
    # Other programs read too while this one runs; what may not happen is that events go missing.
    assert check.seen >= check.events
    assert document(submission).run.ended is not None
