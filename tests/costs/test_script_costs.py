"""`calibration.csv`: what scripts cost in a loop of ours is written once, before they run over programs, and read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fakes.project import FakeProject, as_root, on_the_path
from helpers.live_programs import needs_bpf
from probe_effect.advising.calibrate import asked, placed, recorded
from probe_effect.checks.run import check
from probe_effect.cli.measure_settings import command_words
from probe_effect.measure.one_run import Interrupted
from probe_effect.model import Estimate, HostNotReady, Key
from probe_effect.scripts.script import read_script
from probe_effect.store.result_tables import CALIBRATION_COLUMNS, ProbeCalibration, read_calibration
from probe_effect.store.tables import TableWriter
from probe_effect.tracers.bpftrace import Bpftrace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.measure.bench import Progress, Settings
    from probe_effect.tracers.protocol import Tracer

COST, CALL = Estimate(200.0, 180.0, 220.0), Estimate(40.0, -5.0, 50.0)
TIMED = ProbeCalibration("01-a", "bpftrace", "tar", "uprobe:libc:malloc", "emulated", COST, CALL, "on a busy CPU")
REFUSED = ProbeCalibration("02-b", "bpftrace", None, note="the kernel has no kprobes")
needs_bpftrace = pytest.mark.skipif(Bpftrace().available() is not None, reason=str(Bpftrace().available()))


def written(path: Path, *rows: ProbeCalibration) -> Path:
    with TableWriter(path, CALIBRATION_COLUMNS) as table:
        table.put(row.cells for row in rows)
    return path


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = written(tmp_path / "calibration.csv", TIMED, REFUSED, replace_cost(TIMED, Estimate(1.0)))
    assert read_calibration(path, "-") == ([TIMED, REFUSED, replace_cost(TIMED, Estimate(1.0))], [])
    assert read_calibration(tmp_path / "none.csv", "-") == ([], [])


def replace_cost(row: ProbeCalibration, cost: Estimate) -> ProbeCalibration:
    return row._replace(cost=cost)


@pytest.mark.parametrize(
    ("was", "becomes", "place", "says"),
    [
        ("200.0", "2e2", (2, 47), "cost_ns: `2e2` is not a plain decimal"),
        ("200.0", "nan", (2, 47), "cost_ns: `nan` is not a plain decimal"),
        ("02-b", "", (3, 1), "case: is empty"),
        ("180.0", "230.0", (2, None), "`cost_ns` 200 is not between 230 and 220"),
        ("180.0", "", (2, None), "`cost_ns` has one part of an interval"),
        ("the kernel has no kprobes", "", (3, None), "neither a cost nor a note"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_a_bad_cell_with_its_column(
    tmp_path: Path, was: str, becomes: str, place: tuple[int, int | None], says: str
) -> None:
    path = written(tmp_path / "calibration.csv", TIMED, REFUSED)
    path.write_text(path.read_text(encoding="utf-8").replace(was, becomes), encoding="utf-8")
    rows, (problem,) = read_calibration(path, "-")
    assert (problem.line, problem.column) == place
    assert says in problem.message
    assert len(rows) == 1


# The harness


class Calibrations:
    """Times nothing; knows which scripts were asked of it, and is interrupted at one."""

    def __init__(self, interrupted_at: int | None = None) -> None:
        self.asked: list[Key] = []
        self.interrupted_at = interrupted_at

    def __call__(self, key: Key, path: Path, tool: Tracer, cpu: int) -> Sequence[ProbeCalibration]:
        assert path.name.startswith(key.case)
        assert tool.tool == "bpftrace"
        assert cpu >= 0
        if len(self.asked) == self.interrupted_at:
            msg = "stopped"
            raise Interrupted(msg)
        self.asked.append(key)
        return [ProbeCalibration(*key, "tracepoint:a", None, COST, CALL), ProbeCalibration(*key, note="no such probe")]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    """A suite of two programs, 1 and 2: they share a script of the first case, and have their own of the second."""
    on_the_path(monkeypatch)
    as_root(monkeypatch)
    made = FakeProject(tmp_path)
    made.factor(1, 2)
    path = made.suite / "suite.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('"work"', '"program"'), encoding="utf-8")
    made.case("01-shared")
    made.case("02-own")
    for level in (1, 2):
        (made.suite / f"02-own.{level}.bt").write_text("// own\n", encoding="utf-8")
    return made


SCRIPTS = [Key("01-shared", "bpftrace"), Key("02-own", "bpftrace", "1"), Key("02-own", "bpftrace", "2")]


def with_calibrations(project: FakeProject, how: Calibrations | None) -> None:
    usual = project.settings

    def settings(blocks: int = 2) -> Settings:
        return replace(usual(blocks), calibrate=how)

    project.settings = settings  # type: ignore[method-assign]


def test_each_script_is_timed_once_before_the_runs_and_the_progress_says_so(project: FakeProject) -> None:
    calibrations, told = Calibrations(), list[str]()

    def tell(progress: Progress) -> None:
        told.append(progress.phase)

    with_calibrations(project, calibrations)
    project.measure(tell=tell)
    assert calibrations.asked == SCRIPTS
    assert told.count("scripts") == len(SCRIPTS)
    assert told.index("scripts") < told.index("measuring")
    (place,) = project.data.submissions()
    rows, problems = read_calibration(place.calibration, "-")
    assert problems == []
    assert [row.key for row in rows] == [key for key in SCRIPTS for _ in range(2)]
    assert place.calibration in place.content
    assert [one for one in check([place.folder], project.data) if one.severity == "error"] == []


def test_a_run_that_goes_on_does_not_time_a_script_again(project: FakeProject) -> None:
    with_calibrations(project, Calibrations(interrupted_at=2))
    with pytest.raises(Interrupted):
        project.measure()
    (place,) = project.data.submissions()
    with place.calibration.open("a", encoding="utf-8") as file:
        file.write("02-own,bpftr")  # torn by a loss of power
    again = Calibrations()
    with_calibrations(project, again)
    project.resume()
    assert again.asked == SCRIPTS[2:]
    assert {row.key for row in read_calibration(place.calibration, "-")[0]} == set(SCRIPTS)


def test_without_a_calibration_and_in_other_suites_there_is_no_file(project: FakeProject) -> None:
    project.measure()
    path = project.suite / "suite.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('"program"', '"work"'), encoding="utf-8")
    with_calibrations(project, Calibrations())
    project.measure()
    assert [place.calibration.exists() for place in project.data.submissions()] == [False, False]


def test_the_command_that_repeats_a_run_says_that_scripts_were_not_timed() -> None:
    nothing = dict.fromkeys(("vm", "accelerator", "blocks", "source", "quick"))
    options = nothing | {"tracers": (), "cases": (), "calibrate": False, "anyway": False}
    assert "--no-calibrate" in command_words("programs", options, 1)  # type: ignore[arg-type]


# The script


def test_the_probes_of_a_script_are_asked_where_they_are_here() -> None:
    script = read_script("BEGIN { } uprobe:/no/such/file:f { @ = count() } profile:hz:99 { @ = count() }")
    probes = asked(placed(script, None), "x86_64", "6.12.0")
    assert [(one.at, one.key, one.places) for one in probes] == [
        (1, ("uprobe:/no/such/file:f", None), ()),
        (2, ("profile:hz:99", None), ()),
    ]


def test_a_script_that_cannot_be_timed_has_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> None:
        msg = "bpftrace: needs root"
        raise HostNotReady(msg)

    monkeypatch.setattr("probe_effect.advising.calibrate.measured", refused)
    path = tmp_path / "01-a.bt"
    path.write_text("tracepoint:sched:sched_switch { @ = count() }", encoding="utf-8")
    (row,) = recorded(Key("01-a", "bpftrace"), path, Bpftrace(), 0)
    assert row == ProbeCalibration("01-a", "bpftrace", None, note="bpftrace: needs root")


@needs_bpf
@needs_bpftrace
def test_a_real_script_has_a_row_for_each_probe(tmp_path: Path) -> None:
    path = tmp_path / "01-a.bt"
    path.write_text("tracepoint:syscalls:sys_enter_read { @ = count() } profile:hz:99 { @x = count() }", "utf-8")
    timed, missing = recorded(Key("01-a", "bpftrace"), path, Bpftrace(), 0)
    assert timed.cost is not None
    assert timed.call is not None
    assert missing.cost is None
    assert "it samples" in str(missing.note)
