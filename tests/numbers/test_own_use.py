"""What a tracer takes itself: measured, checked, reduced to numbers, and shown, with no cost anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fakes.project import FAKES, FakeProject, on_the_path
from helpers.builders import REAL_DATA
from helpers.number_builder import reduced
from helpers.submission_patches import good_data
from helpers.written_pages import split, written
from probe_effect.checks.run import check
from probe_effect.cli import commands
from probe_effect.costs.evidence import evidence_of
from probe_effect.measure.bench import Tally
from probe_effect.model import Estimate, Key, Sample
from probe_effect.numbers.catalogue import Catalogue, read_catalogue
from probe_effect.numbers.rows import tracer_cpu_ns
from probe_effect.site.charts.curves import Axes, TimePoint, times_chart
from probe_effect.site.pages.results import tracer as own_use
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import read_suite
from probe_effect.tracers.tool import known_tracers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.numbers.submission import Number

SUITE = """\
schema_version = 1
id = "tiny"
version = 3
title = "Tiny"
question = "Does the harness work?"
description = "A suite for tests."
measures = "tracer"

[workload]
program = "loop.c"
operations = 10
operation = "a refresh"
events = "counted"

[factor]
name = "processes"
title = "Processes"
unit = "processes"
levels = [5, 50]

[[cases]]
id = "01-show"
title = "Show"
probe = "none"
action = "show-processes"
what = "A case for tests."
counted_by = "calls"
"""

WATCHING = "results/test-machine/2026-11-20-watching"
MS = 1e6


def use(block: int, level: str, cpu_ms: float, tracer: str = "top") -> Sample:
    """A run of ten refreshes."""
    return Sample(
        block=block,
        position=int(level),
        case="01-show",
        tracer=tracer,
        arm="traced",
        level=level,
        events=10,
        tracer_cpu_ns=round(cpu_ms * 10 * MS),
        tracer_rss_bytes=4_000_000,
    )


def counted(level: str, calls: int, tracer: str = "top") -> Sample:
    """The run that counts."""
    return Sample(
        block=0,
        position=10_000 + int(level),
        case="01-show",
        tracer=tracer,
        arm="check",
        level=level,
        events=calls,
        seen=calls,
        lost=0,
        operations=10,
    )


def rows(tracer: str = "top") -> list[Sample]:
    """Eight blocks at two levels: 2 ms and 11 ms a refresh, 100 and 1000 calls."""
    found = [use(block, level, ms, tracer) for block in range(8) for level, ms in (("100", 2.0), ("1000", 11.0))]
    return [*found, counted("100", 1000, tracer), counted("1000", 10_000, tracer)]


def numbers(samples: Sequence[Sample]) -> dict[str | None, Number]:
    return {one.level: one for one in reduced(samples).numbers}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProject:
    on_the_path(monkeypatch)
    made = FakeProject(tmp_path)
    (made.suite / "suite.toml").write_text(SUITE, encoding="utf-8")
    (made.suite / "01-show.top").write_text("-n 10\n", encoding="utf-8")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "top").write_text('#!/bin/sh\n[ "$1" = -V ] && echo "top 1.0"; echo "a table"\n', encoding="utf-8")
    (folder / "top").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{FAKES / 'bin'}:/usr/bin:/bin")
    made.tracers = {name: known_tracers()[name] for name in ("top", "atop")}
    return made


def test_each_run_makes_the_operations_of_the_suite_and_has_the_time_of_the_tool_and_none_of_the_workload(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe_effect.measure.request.calls_uncounted", lambda: "no perf")
    found = project.measure(blocks=2)
    assert {row.events for row in found} == {10}
    timed = [row for row in found if row.arm == "traced"]
    assert [(row.status, row.note) for row in timed] == [("ok", None)] * 4
    assert all(row.tracer_cpu_ns and row.wall_ns is None and row.user_ns is None for row in timed)
    assert all(row.attach_ns is None and row.detach_ns is None for row in timed)
    assert all(row.wall_ns for row in found if row.arm == "baseline")
    assert {row.tracer for row in timed} == {"top"}  # atop has no script there


def test_its_calls_are_counted_once_at_each_level_and_the_submission_is_sound(
    project: FakeProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("probe_effect.measure.request.calls_uncounted", lambda: None)
    perf = tmp_path / "bin" / "perf"
    perf.write_text(
        '#!/bin/sh\nout=; while [ "$1" != -- ]; do [ "$1" = -o ] && out=$2; shift; done; shift\n'
        'echo "5210,,raw_syscalls:sys_enter,101,100.00,," > "$out"; exec "$@"\n',
        encoding="utf-8",
    )
    perf.chmod(0o755)
    found = project.measure(blocks=2)
    apart = [row for row in found if row.arm == "check"]
    assert [(row.level, row.events, row.seen, row.operations) for row in apart] == [
        ("5", 5210, 5210, 10),
        ("50", 5210, 5210, 10),
    ]
    assert all(row.tracer_cpu_ns is None for row in apart)
    (submission,) = project.data.submissions()
    assert [one for one in check([submission.folder], project.data) if one.severity == "error"] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("operations = 10\n", "", id="no number of operations"),
        pytest.param('events = "counted"\n', "", id="events that are made"),
        pytest.param('counted_by = "calls"', 'counted_by = "nothing"', id="a case of another kind"),
        pytest.param('measures = "tracer"\n', "", id="calls in a suite of costs"),
    ],
)
def test_a_suite_that_measures_two_things_is_refused(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "suite.toml").write_text(SUITE.replace(old, new), encoding="utf-8")
    suite, problems = read_suite(tmp_path, "suite.toml")
    assert suite is None
    assert "measures: expected `tracer` with" in problems[0].message


def test_a_number_is_the_time_of_the_tool_over_its_operations_with_its_interval() -> None:
    found = numbers(rows())["100"]
    assert found.own_use.cpu == Estimate(2 * MS, 2 * MS, 2 * MS)
    assert (found.own_use.memory, found.own_use.calls, found.blocks) == (
        Estimate(4_000_000, 4_000_000, 4_000_000),
        100,
        8,
    )
    assert (found.cost, found.time.slowdown, found.status) == (None, None, "ok")
    assert found.is_known
    assert not found.is_sound


def test_the_interval_of_times_that_vary_holds_them() -> None:
    times_ms = (9.0, 10.0, 10.5, 11.0, 9.5, 10.2, 9.9, 10.1)
    cpu = numbers([use(block, "100", ms) for block, ms in enumerate(times_ms)])["100"].own_use.cpu
    assert cpu is not None
    assert cpu.low is not None
    assert cpu.high is not None
    assert 9 * MS <= cpu.low < cpu.value < cpu.high <= 11 * MS


def test_calls_that_nobody_counted_are_none_and_said_to_be() -> None:
    found = numbers([row for row in rows() if row.arm == "traced"])["100"]
    assert found.own_use.calls is None
    assert "its system calls were not counted" in (found.note or "")


def test_a_run_with_a_time_of_its_workload_measured_that_and_not_the_tracer() -> None:
    row = use(0, "100", 2.0)
    assert tracer_cpu_ns(row) == 2 * MS
    changed: dict[str, Any] = {"wall_ns": 5}
    assert tracer_cpu_ns(Sample(**{name: getattr(row, name) for name in Sample.__slots__} | changed)) is None


def test_there_is_no_cost_so_far() -> None:
    assert Tally().add(use(0, "100", 2.0)) is None


def test_what_one_more_adds_is_the_difference_over_how_many_more() -> None:
    (growth,) = own_use.slopes(reduced(rows()).numbers)
    assert [str(column.text(growth)) for column in own_use.SLOPES[1:]] == ["10.0\u00a0µs", "1.00"]


def test_one_level_says_nothing_of_one_more() -> None:
    assert own_use.slopes(reduced([row for row in rows() if row.level == "100"]).numbers) == []


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    data = good_data(tmp_path)
    for suite, program in (("calls", "dd-loop.c"), ("watching", "idle.c")):
        (data / "suites" / suite / "workload").mkdir()
        (data / "suites" / suite / "workload" / program).touch()
    return read_catalogue(DataFolder(data))


def test_pages_show_what_the_tool_takes_and_no_cost(catalogue: Catalogue) -> None:
    made = {path: split(text)[1] for path, text in written(catalogue).items() if path.endswith(".md")}
    number = f"/{WATCHING}/01-show/top/"
    assert f"]({number}#tracer-cpu)" in made["costs/01-show.md"]
    assert f"]({number}#tracer-calls)" in made[f"{WATCHING}.md"]
    assert f"]({number}#tracer-cpu)" in made["suites/watching.md"]
    page = made[f"{WATCHING}/01-show/top.md"]
    assert "the tool itself takes 9.26" in page
    assert "tracer_cpu_ns" in page
    for text in (made["costs/01-show.md"], made[f"{WATCHING}.md"], page):
        assert "Cost of one event" not in text
        assert "Baseline against baseline" not in text


def test_guidance_refuses_it_with_the_reason(catalogue: Catalogue) -> None:
    found = evidence_of(catalogue)
    assert found.refused["test-machine", "top", "01-show"] == "its suite measures the tracer itself, not costs"


def test_it_is_current_and_has_no_cost_in_tables(catalogue: Catalogue) -> None:
    (one,) = catalogue.numbers.of_case("01-show")
    assert (one.key, one.cost, one.own_use.calls) == (Key("01-show", "top"), None, 520)


def test_summarise_prints_what_the_tool_takes(tmp_path: Path) -> None:
    data = good_data(tmp_path)
    outcome = CliRunner().invoke(
        commands, ["summarise", str(data / WATCHING), "--data", str(data)], catch_exceptions=False
    )
    assert "CPU time of the tool" in outcome.stdout
    assert "9.26" in outcome.stdout
    assert "cost of one event" not in outcome.stdout


def test_figures_of_others_stand_on_the_page_of_the_case(tmp_path: Path) -> None:
    for part in ("suites", "published"):
        (tmp_path / part).symlink_to(REAL_DATA / part)
    catalogue = read_catalogue(DataFolder(tmp_path))
    found = {one.figure for _, one in catalogue.published("01-refresh", are_costs=False)}
    assert {"top_cpu_per_update", "prstat_cpu_per_update", "top_cpu_per_process"} <= found


def test_a_chart_has_a_line_for_each_tool_on_axes_that_hold_all_of_them() -> None:
    points = [
        TimePoint(
            tool, tool, level, Estimate(ns, None if tool == "ps" else ns / 2, None if tool == "ps" else ns * 2), (tool,)
        )
        for tool, ns in (("top", 5e6), ("ps", 2e7))
        for level in (100, 3000)
    ]
    axes = Axes(quantity="cpu", number="idle processes", time="CPU time", columns=("Tool",))
    made = times_chart("use-x", "Title", "A sentence.", points, axes)
    assert [row["series"] for row in made.rows] == ["top", "top", "ps", "ps"]
    low, high = made.specs["wide"]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low < 5e6 / 1e9
    assert high > 2e7 / 1e9
    assert made.table.rows[2] == ("ps",)
