"""`probe-effect lab`: what it tells, what it keeps, and when it refuses."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from fakes.project import FakeProject, asked_by, document
from helpers.builders import REAL_DATA
from probe_effect.cli.measure import lab as command
from probe_effect.cli.measure_settings import LABORATORIES, Laboratory
from probe_effect.measure.one_run import Interrupted
from probe_effect.model import HostNotReady
from probe_effect.store.places import DataFolder, SubmissionFolder
from probe_effect.tracers.tool import known_tracers

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.numbers.catalogue import Catalogue

TINY = Laboratory(
    question="What does a case for tests cost?",
    suite="tiny",
    cases=("01-plain",),
    tracers=("bpftrace",),
    printed={"01-plain": ("gregg-2011-pid-provider.cost_count", "gone.cost")},
    next=(("Another experiment", "probe-effect lab dd"),),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    made = asked_by(monkeypatch, tmp_path, "measure_run")
    made.case("01-plain")
    made.case("02-other")
    (made.data.root / "published").symlink_to(REAL_DATA / "published")
    monkeypatch.setitem(LABORATORIES, "looper", TINY)
    return made


def run(project: FakeProject, *arguments: str) -> Result:
    options = ["looper", "--blocks", "2", "--data", str(project.data.root), *arguments]
    return CliRunner().invoke(command, options, catch_exceptions=False, standalone_mode=False)


def test_it_tells_what_was_measured_beside_what_was_printed_and_what_to_try_next(project: FakeProject) -> None:
    lines = [line.strip() for line in run(project).stdout.splitlines()]
    assert lines[0] == TINY.question
    assert "01-plain" in lines
    assert "02-other" not in lines
    assert any(line.startswith("here: bpftrace") for line in lines)
    (then,) = (line for line in lines if line.startswith("then:"))
    assert "0.598" in then
    assert "Brendan Gregg" in then
    assert lines[-3:] == ["To try next", "Another experiment:", "probe-effect lab dd"]


def test_no_row_is_kept_that_nobody_asked_for(project: FakeProject, tmp_path: Path) -> None:
    run(project)
    assert list(tmp_path.rglob("samples.csv")) == []


def test_rows_that_are_asked_for_are_a_submission_with_the_command_that_measures_the_same(
    project: FakeProject, tmp_path: Path
) -> None:
    outcome = run(project, "--out", str(tmp_path / "mine"), "--seed", "3")
    (folder,) = (tmp_path / "mine").glob("*/*")
    assert str(folder) in outcome.stdout
    words = "probe-effect measure tiny --tracer bpftrace --case 01-plain --quick --blocks 2 --seed 3"
    assert " ".join(document(SubmissionFolder(folder)).run.command) == words


def test_without_root_it_refuses_with_the_reason(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(HostNotReady, match="bpftrace needs root"):
        run(project)


def test_without_a_tool_it_refuses_with_the_reason(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HostNotReady, match="bpftrace"):
        run(project)


def test_one_that_is_stopped_says_that_nothing_is_kept(project: FakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        msg = "stopped by SIGINT; the rows so far are kept in /tmp/somewhere"
        raise Interrupted(msg)

    monkeypatch.setattr("probe_effect.cli.measure_run.measure_suite", stopped)
    with pytest.raises(Interrupted, match=r"^stopped; no rows are kept without --out$"):
        run(project)


@pytest.mark.parametrize("name", LABORATORIES)
def test_a_laboratory_names_cases_tracers_and_figures_that_there_are(name: str, catalogue: Catalogue) -> None:
    laboratory = LABORATORIES[name]
    cases = {case.id for case in catalogue.by_suite[laboratory.suite].suite.cases}
    figures = {f"{source.id}.{one.figure}" for source in catalogue.sources for one in source.figures}
    assert set(laboratory.cases) <= cases
    assert set(laboratory.tracers) <= set(known_tracers())
    assert set(laboratory.printed) <= set(laboratory.cases)
    assert {key for keys in laboratory.printed.values() for key in keys} <= figures


def reason_not_to_measure() -> str | None:
    return known_tracers()["bpftrace"].available() or known_tracers()["bpftrace"].missing("uprobe")


@pytest.mark.tracer
@pytest.mark.skipif(reason_not_to_measure() is not None, reason=f"cannot trace here: {reason_not_to_measure()}")
@pytest.mark.deep
def test_a_real_laboratory_measures_here_what_was_printed_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("probe_effect.cli.measure_display.leftovers", list)
    monkeypatch.setitem(LABORATORIES, "usdt", replace(LABORATORIES["usdt"], cases=("04-usdt-enabled",)))
    arguments = ["usdt", "--blocks", "2", "--out", str(tmp_path / "rows"), "--data", str(REAL_DATA)]
    outcome = CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)
    assert "then:" in outcome.stdout
    assert len(DataFolder(tmp_path).submissions()) == 0
    assert len(list((tmp_path / "rows").glob("*/*/samples.csv"))) == 1
