"""`probe-effect lend`: one command from a machine to a submission, which sets nothing and loses nothing."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fakes.project import FakeProject, asked_by, document
from probe_effect.checks import run as checks
from probe_effect.cli.wanted import lend, wanted
from probe_effect.measure import one_run
from probe_effect.measure.bench import Bench
from probe_effect.measure.one_run import Interrupted
from probe_effect.measure.testbed import state_file
from probe_effect.model import BadData, HostNotReady, ProbeEffectError, Problem
from probe_effect.numbers.wanted import FEWEST
from probe_effect.store.places import submissions_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe_effect.store.machine_file import PlanFile


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    made = asked_by(monkeypatch, tmp_path, "measure_settings")
    monkeypatch.setattr("probe_effect.cli.doctor_run.known_tracers", lambda: made.tracers)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("probe_effect.numbers.wanted.MOST", FEWEST)  # more blocks prove nothing more
    monkeypatch.setattr(checks, "check", lambda *_: [])  # it sees that the times of our fakes are made up
    made.case("01-plain")
    made.case("02-kernel-function", needs="kprobe")
    made.copy_suite("other")
    for name in ("tiny", "other"):
        text = (made.data.root / "suites" / name / "suite.toml").read_text(encoding="utf-8")
        own = text.replace("01-plain", f"{name}-plain").replace("02-kernel", f"{name}-kernel")
        (made.data.root / "suites" / name / "suite.toml").write_text(own, encoding="utf-8")
        for script in (made.data.root / "suites" / name).glob("*.bt"):
            script.rename(script.with_name(script.name.replace("01-", f"{name}-").replace("02-", f"{name}-")))
    return made


def run(project: FakeProject, *arguments: str) -> Result:
    words = ["--data", str(project.data.root), *arguments]
    return CliRunner().invoke(lend, words, catch_exceptions=False, standalone_mode=False)


def test_it_measures_each_suite_and_ends_with_what_to_type(project: FakeProject) -> None:
    outcome = run(project, "--minutes", "10")
    suites = [document(one).run.suite for one in project.data.submissions()]
    assert sorted(suites) == ["other", "tiny"]
    assert "probe-effect submit" in outcome.stderr.splitlines()[-1]
    assert "What will be published" in outcome.stderr
    assert "looked for in the files" in outcome.stderr


def test_a_dry_run_says_what_it_would_do_and_does_nothing(project: FakeProject) -> None:
    outcome = run(project, "--dry-run")
    assert "This machine" in outcome.stdout
    assert "1 case, 1 new on such a machine, 1 that no machine has" in " ".join(outcome.stdout.split())
    assert project.data.submissions() == []


@pytest.mark.deep
def test_credits_and_provenance_are_those_that_were_given(project: FakeProject) -> None:
    run(project, "--minutes", "5", "--name", "Alice", "--provenance", "project")
    found = document(project.data.submissions()[0])
    assert (found.submitter.name, found.provenance.kind) == ("Alice", "project")


def test_little_time_has_fewer_blocks_and_less_than_that_says_what_it_takes(project: FakeProject) -> None:
    outcome = run(project, "--minutes", "1", "--dry-run")
    assert "blocks" in outcome.stdout
    for name in ("tiny", "other"):
        suite = project.data.root / "suites" / name / "suite.toml"
        many = "".join(
            f'\n[[cases]]\nid = "{name}-{number}"\ntitle = "{name} {number}"\nprobe = "p"\naction = "a"\nwhat = "w."\n'
            'counted_by = "nothing"\n'
            for number in range(60)
        )
        suite.write_text(suite.read_text(encoding="utf-8") + many, encoding="utf-8")
        for number in range(60):
            (suite.parent / f"{name}-{number}.bt").write_text("", encoding="utf-8")
    with pytest.raises(HostNotReady, match=r"nothing fits into 1 min: the shortest plan, of \w+, takes 2\.\d min"):
        run(project, "--minutes", "1", "--dry-run")
    assert "6 blocks, quick" in run(project, "--minutes", "3", "--dry-run").stdout


def test_a_second_time_leaves_out_what_is_measured(project: FakeProject) -> None:
    run(project, "--minutes", "5")
    with pytest.raises(HostNotReady, match="no suite can run here, or this machine has measured all"):
        run(project, "--minutes", "5")
    assert len(project.data.submissions()) == 2


@pytest.mark.deep
def test_a_hosted_runner_leaves_out_what_its_folder_has_and_no_run_of_its_kind_elsewhere(
    project: FakeProject, tmp_path: Path
) -> None:
    words = ("--minutes", "5", "--provenance", "hosted")
    run(project, *words)
    with pytest.raises(HostNotReady, match="this machine has measured all"):
        run(project, *words)
    run(project, *words, "--out", str(tmp_path / "of-another-day"))
    assert len(submissions_in(tmp_path / "of-another-day")) == 2


def ended_at(monkeypatch: pytest.MonkeyPatch, number: int, end: Callable[[], None]) -> None:
    """Have something end the program in its traced run of that number, counted over all suites."""
    whole, made = one_run._traced, 0

    def traced(*arguments: object, **named: object) -> object:
        nonlocal made
        made += 1
        if made == number:
            end()
        return whole(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(one_run, "_traced", traced)


def test_what_was_cut_short_is_continued_and_nothing_is_lost(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended_at(monkeypatch, 6, partial(os.kill, os.getpid(), signal.SIGINT))
    with pytest.raises(Interrupted, match="or all of it: probe-effect lend --out"):
        run(project, "--minutes", "5")
    (begun,) = project.data.submissions()
    rows = begun.samples.read_bytes()
    outcome = run(project, "--minutes", "5")
    assert "cut short earlier, and continued first" in outcome.stderr
    assert begun.samples.read_bytes().startswith(rows)
    assert len(project.data.submissions()) == 2
    assert not any(one.plan_file.exists() for one in project.data.submissions())


@pytest.mark.deep
def test_a_suite_that_is_not_done_when_the_time_is_over_is_cut_short_and_continued_later(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = partial(os.kill, os.getpid(), signal.SIGALRM)  # what the timer does
    ended_at(monkeypatch, 6, end)  # trials of the first suite, its runs, and those of the second
    timers = []
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: timers.append((which, seconds)))
    with pytest.raises(HostNotReady, match="nothing was measured to its end"):
        run(project, "--minutes", "5")
    assert timers == [(signal.ITIMER_REAL, pytest.approx(330)), (signal.ITIMER_REAL, 0)]
    assert [one.plan_file.exists() for one in project.data.submissions()] == [True]
    outcome = run(project, "--minutes", "5")
    assert "cut short earlier, and continued first" in outcome.stderr
    assert not any(one.plan_file.exists() for one in project.data.submissions())


def test_a_suite_that_fails_does_not_keep_the_others_from_being_measured(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Bench.calibrate

    def calibrate(bench: Bench) -> PlanFile:
        if bench.work.suite.id == "other":
            msg = "the loop broke"
            raise ProbeEffectError(msg)
        return whole(bench)

    monkeypatch.setattr(Bench, "calibrate", calibrate)
    outcome = run(project, "--minutes", "5")
    assert [document(one).run.suite for one in project.data.submissions()] == ["tiny"]
    assert "not measured: other: the loop broke" in outcome.stderr


@pytest.mark.deep
def test_what_check_refuses_is_said_and_kept(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem("error", "samples.csv", 2, 1, "two-signs", "is made up", "measure it")
    monkeypatch.setattr(checks, "check", lambda *_: [problem])
    with pytest.raises(BadData) as refusal:
        run(project, "--minutes", "5")
    assert problem in refusal.value.problems
    assert len(project.data.submissions()) == 2


@pytest.mark.deep
def test_a_root_whom_git_does_not_know_has_lent_the_machine_all_the_same(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        msg = "git: does not know who you are"
        raise HostNotReady(msg)

    monkeypatch.setattr("probe_effect.cli.intake_run.run_submit", refuse)
    outcome = run(project, "--minutes", "5")
    assert "it cannot be submitted: git: does not know who you are" in outcome.stderr
    assert "to publish it: probe-effect submit" in outcome.stderr.splitlines()[-1]


@pytest.mark.deep
def test_nothing_is_set_on_the_machine_without_being_told(project: FakeProject) -> None:
    outcome = run(project, "--minutes", "5")
    assert "set: " not in outcome.stderr
    assert not state_file().exists()


def test_restore_puts_back_and_does_no_more(project: FakeProject, tmp_path: Path) -> None:
    setting = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    setting.parent.mkdir(parents=True)
    setting.write_text("performance", encoding="utf-8")
    state_file().parent.mkdir(parents=True)
    state_file().write_text(json.dumps({str(setting): "powersave"}), encoding="utf-8")
    outcome = run(project, "--restore")
    assert setting.read_text(encoding="utf-8") == "powersave"
    assert f"set: {setting} to powersave" in outcome.stderr
    assert project.data.submissions() == []


def test_wanted_gives_programs_the_order_of_this_machine(project: FakeProject) -> None:
    words = ["--data", str(project.data.root), "--format", "json", "--minutes", "10"]
    found = json.loads(CliRunner().invoke(wanted, words, catch_exceptions=False, standalone_mode=False).stdout)
    assert {one["suite"] for one in found["here"]} == {"tiny", "other"}
    assert found["here"][0]["first"] == [f"{found['here'][0]['suite']}-plain"]
