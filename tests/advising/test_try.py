"""`probe-effect try`: a command with and without a script, what goes wrong, and what is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fakes.project import as_root, on_the_path, started_by, wait_until, work_folders_of
from helpers.json_keys import undescribed
from helpers.live_programs import compiled, needs_bpf
from helpers.needs import needs
from helpers.tiers import deep_but
from probe_effect.advising.result import SaidBefore, TrialResult, said, trial_csv, trial_json, trial_spec
from probe_effect.advising.runs import CommandTree, TrialRun, TrialScript, TrialSettings
from probe_effect.cli import commands
from probe_effect.live.target import stopped
from probe_effect.model import Estimate, HostNotReady, ProbeEffectError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.testing import Result

    from probe_effect.store.places import DataFolder

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks proc(5)")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as bpftrace does")
SCRIPT = "t:syscalls:sys_enter_read { @ = count(); }"
SETTINGS = TrialSettings(
    scripts=(TrialScript("A", "one.bt", SCRIPT),), command=("true",), pairs=10, seed=1, limit_s=60.0
)
TWO = replace(SETTINGS, scripts=(*SETTINGS.scripts, TrialScript("B", "two.bt", SCRIPT)))


def made(settings: TrialSettings, pairs: int, **cpu_ms: float) -> TrialResult:
    """A result of so many pairs, in which a run without a script takes 100 ms and the n-th pair n % more."""
    result = TrialResult(settings, way="a cgroup")
    for pair in range(1, pairs + 1):
        for label in (None, *result.labels):
            cpu_ns = round((cpu_ms[label] if label else 100) * (1 + pair / 100) * 1e6)
            run = TrialRun(pair=pair, script=label, wall_ns=2 * cpu_ns, cpu_ns=cpu_ns, exit_status=0)
            result.runs.append(replace(run, tracer_cpu_ns=7, lost=pair) if label else run)
    return result


# What the runs say


def test_the_slowdown_is_that_of_pairs_with_an_interval_whatever_changes_from_pair_to_pair() -> None:
    slowdown = made(SETTINGS, 10, A=130).more("A")
    assert slowdown == pytest.approx((0.3, 0.3, 0.3), abs=1e-6)


def test_a_pair_that_is_not_complete_does_not_count() -> None:
    result = made(SETTINGS, 7, A=130)
    result.runs = [run for run in result.runs if (run.pair, run.script) != (7, None)]
    assert len(result.ratios("A")) == 6


def test_fewer_than_six_pairs_have_no_interval_and_none_has_no_value() -> None:
    assert said(made(SETTINGS, 5, A=130).more("A"), "CPU time").endswith("an interval needs 6 pairs.")
    assert made(SETTINGS, 0).more("A") is None
    assert "no pair is complete" in said(None, "CPU time")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (Estimate(0.31, 0.25, 0.36), "CPU time: 31 % (25 to 36) more."),
        (Estimate(0.004, -0.005, 0.013), "CPU time: no difference was seen; up to 1.3 % more could hide"),
        (Estimate(0.31), "CPU time: 31 % more so far; an interval needs 6 pairs."),
    ],
)  # fmt: skip
def test_a_sentence_says_the_difference_or_what_could_hide(more: Estimate, words: str) -> None:
    assert said(more, "CPU time").replace("\u00a0", " ").startswith(words)


def test_of_two_scripts_it_is_said_which_costs_more() -> None:
    result = made(TWO, 8, A=110, B=121)
    assert result.more("B", "A") == pytest.approx((0.1, 0.1, 0.1), abs=1e-6)
    assert "CPU time with B, compared with A: 10" in "\n".join(result.sentences())


def test_runs_that_differ_by_a_factor_of_two_are_warned_of_with_what_to_do() -> None:
    result = made(SETTINGS, 6, A=130)
    result.runs[0] = replace(result.runs[0], cpu_ns=300_000_000)
    (warning,) = result.warnings()
    assert "no script" in warning
    assert all(word in warning for word in ("caches", "--prepare", "--pairs"))


def test_what_kept_the_runs_from_their_cpu_is_warned_of() -> None:
    result = made(SETTINGS, 6, A=130)
    result.disturbed = ["a CPU quota stopped the run"]
    assert "a CPU quota stopped the run" in list(result.warnings())


def test_a_script_that_never_fired_and_a_short_run_are_warned_of() -> None:
    result = made(SETTINGS, 6, A=1)
    result.runs.append(TrialRun(pair=0, script="A", wall_ns=1, cpu_ns=1, exit_status=0, events=0))
    warnings = "\n".join(result.warnings())
    assert "no probe of A fired" in warnings
    assert "less than 20 ms" in warnings


def test_json_has_the_keys_that_are_promised() -> None:
    result = made(SETTINGS, 6, A=130)
    result.predicted["A"] = SaidBefore(Estimate(0.2, 0.1, 0.4), "measured")
    found = trial_json(result, Path("journal"))
    assert undescribed("try", found) == set()
    assert [found[f"slowdown{end}_ratio"] for end in ("", "_low", "_high")] == pytest.approx([0.3] * 3)
    assert [found[f"wall{end}_ratio"] for end in ("", "_low", "_high")] == pytest.approx([0.3] * 3)
    assert found["predicted"] == {
        "slowdown_ratio": 0.2,
        "slowdown_low_ratio": 0.1,
        "slowdown_high_ratio": 0.4,
        "basis": "measured",
        "why": None,
    }
    assert (found["pairs"], found["lost"], found["events"], found["tracer_cpu_ns"], found["seed"]) == (6, 6, None, 7, 1)
    assert (len(found["runs"]), found["difference_ratio"]) == (12, None)
    assert found["runs"][0].keys() == dict.fromkeys(trial_csv(result).splitlines()[0].split(",")).keys()


def test_csv_has_a_line_for_each_run_and_the_plot_a_point() -> None:
    result = made(TWO, 6, A=110, B=121)
    assert len(trial_csv(result).splitlines()) == 19
    assert len(trial_spec(result)["data"]["values"]) == 18


# The CPU time of all processes

ORPHAN = """
import os, pathlib, sys, time
if os.fork() == 0:
    os.setsid()
    while time.process_time() < 0.05: pass
    pathlib.Path(sys.argv[1]).write_text("ended")
"""


@pytest.mark.parametrize("has_cgroup", [pytest.param(True, marks=needs_root), False])
def test_the_cpu_time_of_a_process_that_outlives_its_parent_is_waited_for(
    *, has_cgroup: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_cgroup:
        monkeypatch.setattr("probe_effect.advising.runs._cgroup", lambda: None)
    with closing(CommandTree(tmp_path / "of-this-test")) as tree:
        if has_cgroup and tree.way != "a cgroup":
            pytest.skip("no cgroup v2 that we may write to is mounted here, as in a container without --privileged")
        child = stopped((sys.executable, "-c", ORPHAN, str(tmp_path / "proof")))
        try:
            tree.begin(child.pid)
            child.send(signal.SIGCONT)
            cpu_ns = tree.wait(child, time.monotonic() + 60)
        finally:
            child.end()
    assert (tmp_path / "proof").read_text() == "ended"
    assert cpu_ns is not None
    assert cpu_ns > 50_000_000


# The command, with a tracer that is a fake


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and the fake tracer, as root; advise is not asked."""
    on_the_path(monkeypatch)
    as_root(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("probe_effect.tracers.bpftrace.tracefs_missing", lambda _: None)
    monkeypatch.setattr("probe_effect.cli.watch_run.mount_for_our_time", lambda: None)
    monkeypatch.setattr("probe_effect.cli.watch_run.show_leftovers", lambda: None)
    monkeypatch.setattr("probe_effect.cli.watch_run.predicted", lambda *_: SaidBefore(None, None, "not asked"))
    return tmp_path


def tried(*words: str, script: str = SCRIPT) -> Result:
    return CliRunner().invoke(commands, ["try", "-e", script, *words])


def journal(home: Path) -> list[dict[str, Any]]:
    (file,) = home.glob("cache/probe-effect/try/*/runs.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_run_is_in_the_journal_and_the_order_is_that_of_the_seed(home: Path) -> None:
    found = tried("--pairs", "4", "--seed", "7", "--format", "json", "--", "true")
    assert found.exit_code == 0
    head, *runs = journal(home)
    assert (head["seed"], head["command"]) == (7, ["true"])
    assert [(run["pair"], run["script"]) for run in runs[:2]] == [(0, "A"), (0, None)]
    order = [(run["pair"], run["script"]) for run in json.loads(found.stdout)["runs"]]
    assert order == [(run["pair"], run["script"]) for run in runs[2:]]
    assert sorted(order, key=str) == sorted(((pair, one) for pair in range(1, 5) for one in ("A", None)), key=str)
    assert "left" in found.stderr


def test_text_names_the_script_the_prediction_and_the_journal_in_lines_of_80(home: Path) -> None:
    found = tried("--pairs", "6", "--", "true")
    assert all(word in found.stdout for word in (SCRIPT, "advise said: not asked", "runs.jsonl"))
    assert max(len(line) for line in found.stdout.splitlines() if str(home) not in line) <= 80


def test_the_command_before_each_run_is_run_and_may_not_fail(home: Path) -> None:
    assert tried("--pairs", "1", "--prepare", f"echo x >>{home}/prepared", "--", "true").exit_code == 0
    assert (home / "prepared").read_text().count("x") == 5
    assert "--prepare, failed with exit status 3" in str(tried("--prepare", "exit 3", "--", "true").exception)


def test_a_command_that_fails_stops_it_with_the_run_and_its_words(home: Path) -> None:
    error = tried("--", "sh", "-c", "echo oh no >&2; exit 7").exception
    assert isinstance(error, ProbeEffectError)
    assert "pair 0, A script, failed with exit status 7" in str(error)
    assert str(error).endswith(": oh no")
    assert len(journal(home)) == 1


def test_failures_may_be_ignored_and_are_told(home: Path) -> None:
    found = tried("--pairs", "1", "--ignore-failure", "--format", "json", "--", "false")
    assert [run["exit_status"] for run in json.loads(found.stdout)["runs"]] == [1, 1]
    assert "2 of 2 runs failed, and count as the others." in json.loads(found.stdout)["warnings"]
    assert journal(home)


def test_a_script_that_does_not_compile_stops_it_with_the_tracers_words(home: Path) -> None:
    error = tried("--", "true", script=f"// fake: dies\n{SCRIPT}").exception
    assert "ERROR: the fake refuses" in str(error)
    assert len(journal(home)) == 1


def test_a_command_that_does_not_end_is_ended_after_its_time(home: Path) -> None:
    error = tried("--seconds", "0.1", "--", "tail", "-f", "/dev/null").exception
    assert "had not ended after 0.1 s; --seconds" in str(error)
    assert started_by(os.getpid()) == []
    assert len(journal(home)) == 1


def test_a_command_reads_nothing_from_the_terminal(home: Path) -> None:
    assert tried("--pairs", "1", "--", "sh", "-c", "! read -r line").exit_code == 0
    assert journal(home)


def test_the_command_s_process_id_is_put_into_the_script(home: Path) -> None:
    session = TrialScript("A", "a", f"{SCRIPT} // {{pid}}").session("bpftrace", home, 4711)
    session.end()
    assert session.script.read_text().endswith("// 4711")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["-e", SCRIPT, "--", "no-such-command"], UsageError, "no-such-command: no such command"),
        (["-e", SCRIPT], UsageError, "COMMAND: no such command"),
        (["--", "true"], UsageError, "0 scripts: expected one or two"),
        (["-e", "syscall::read:entry { @ = count(); }", "--", "true"], UsageError, "it is in D"),
        (["-e", SCRIPT, "--tracer", "/no/bpftrace", "--", "true"], HostNotReady, "/no/bpftrace is not installed"),
        (["/no/script", "--", "true"], UsageError, "/no/script: cannot be read as a script"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_cannot_be_tried_is_refused_before_anything_is_run(
    words: list[str], error: type[Exception], message: str
) -> None:
    refused = CliRunner().invoke(commands, ["try", *words]).exception
    assert isinstance(refused, error)
    assert message in str(refused)


def test_without_root_it_says_that_bpftrace_needs_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    error = tried("--", "true").exception
    assert isinstance(error, HostNotReady)
    assert "bpftrace needs root" in str(error)
    assert not (home / "cache").exists()


# Interrupted and killed, in each phase; a pipe says that the phase has come

WAIT = "echo >{pipe}; tail -f /dev/null"
LIVE_TRACER = "trap '{stop}' INT TERM; echo __BPFTRACE_NOTIFY_PROBES_ATTACHED >&2; while :; do read -r _ <{held}; done"
PHASES = {
    "the command before": (["--prepare", WAIT, "--", "true"], "exit 0"),
    "the tracer's start": (["--", "true"], WAIT),
    "the command": (["--", "sh", "-c", f"tail -f /dev/null & {WAIT}"], LIVE_TRACER.replace("{stop}", "exit 0")),
    "the tracer's end": (["--", "true"], LIVE_TRACER.replace("{stop}", WAIT)),
}


@pytest.fixture(params=deep_but(PHASES, ["the command"]))
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, once it is in that phase."""
    pipe, held = tmp_path / "pipe", tmp_path / "held"
    os.mkfifo(pipe)
    os.mkfifo(held)
    words, tracer = PHASES[request.param]
    words, tracer = [one.replace("{pipe}", str(pipe)) for one in words], tracer.replace("{pipe}", str(pipe))
    fake = tmp_path / "bpftrace"
    answer = '[ "$1" = --version ] && exit'  # whatever it waits for when it traces
    fake.write_text(f"#!/bin/sh\n{answer}\nexec 3<>{held}\n{tracer.replace('{held}', str(held))}\n")
    fake.chmod(0o755)
    (tmp_path / "data").mkdir()
    options = ["-e", SCRIPT, "--tracer", str(fake), "--data", str(tmp_path / "data"), *words]
    command = [sys.executable, "-c", "from probe_effect.cli import main; main()", "try", *options]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        pipe.read_text()
        yield process


@needs_root
def test_interrupted_it_says_what_it_has_and_leaves_nothing(running: subprocess.Popen[str], tmp_path: Path) -> None:
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, "stopped by SIGINT; this is what there is so far" in err) == (130, True), err
    assert "no pair is complete" in out
    assert "runs.jsonl" in out
    assert journal(tmp_path)
    assert (started_by(running.pid), work_folders_of(running.pid)) == ([], [])


@needs_root
def test_killed_it_leaves_its_journal_and_nothing_else(running: subprocess.Popen[str], tmp_path: Path) -> None:
    running.kill()
    running.communicate(timeout=60)
    assert journal(tmp_path)
    wait_until(lambda: (started_by(running.pid), work_folders_of(running.pid)) == ([], []))
    assert list(Path("/sys/fs/cgroup").glob(f"**/probe-effect-{running.pid}")) == []


# The real tracer


@needs_bpf
@needs("bpftrace")
def test_bpftrace_counts_the_events_of_a_command_and_adds_to_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_data: DataFolder
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["--data", str(real_data.root), "--pairs", "1", "--format", "json", "--", str(compiled(tmp_path))]
    found = tried(*words, "20000", "0", "0")
    answer = json.loads(found.stdout)
    assert answer["events"] >= 20_000
    assert (answer["lost"], answer["pairs"], len(answer["runs"])) == (0, 1, 2)
    assert answer["tracer_cpu_ns"] > 0
    assert (answer["predicted"]["why"] is None) == (answer["predicted"]["slowdown_ratio"] is not None)


@needs_bpf
@needs("bpftrace")
def test_bpftrace_s_own_words_say_why_a_script_does_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    error = tried("--", "true", script="t:syscalls:sys_enter_read { @ = nothing(); }").exception
    assert "nothing" in str(error)


@needs("strace")
@needs_root
def test_a_command_line_of_another_tool_is_live_before_the_command_begins(home: Path) -> None:
    line = f"strace -f -e trace=openat -o {home}/traced -p {{pid}}"
    found = tried("--pairs", "1", "--format", "json", "--", "cat", "/etc/hostname", script=line)
    assert len(json.loads(found.stdout)["runs"]) == 2
    assert "/etc/hostname" in (home / "traced").read_text()
