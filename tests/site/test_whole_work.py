"""Suites whose result is the slowdown of a whole work: what their pages show, and that their costs guide nobody."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.evidence_builder import case, suite
from helpers.number_builder import altered, number, submission
from probe_effect import units
from probe_effect.checks.rows import COST_RULES, JudgedSubmission
from probe_effect.checks.rule import CheckedSubmission
from probe_effect.costs.evidence import evidence_of
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.site.pages import case_page, fragments, number_page, submission_page
from probe_effect.site.pages.parts import Table, fragment, markdown
from probe_effect.site.pages.results import slowdown as whole_work
from probe_effect.site.pages.results import view_of
from probe_effect.store.suite_file import Factor

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Number

BUILD = suite("build", case("01-calls"), case("02-opens"), case("03-stacks"), measures="slowdown")
UNTRACED_NS = 20e9


def catalogue(*found: Number, folder: Path = Path("build")) -> Catalogue:
    runs = tuple({one.submission: None for one in found})
    return Catalogue(suites=(SuiteFolder(folder, BUILD),), active=runs)


def some() -> list[Number]:
    """Three of one run: 10 % by 2,000,000 events of 347 probes, 2 % by 1,000, and one that is noise."""
    run = submission(suite="build", baseline=Estimate(UNTRACED_NS), document={"run__packages": {"tree": "busybox-1.0"}})
    values = (
        ("01-calls", Estimate(0.1, 0.09, 0.11), 2e6, 347, 0.0),
        ("02-opens", Estimate(0.02, 0.01, 0.03), 1e3, None, 0.0),
        ("03-stacks", Estimate(0.001, -0.01, 0.02), 5e3, 1, 1e12),
    )
    return [
        number(
            run,
            slowdown.times(UNTRACED_NS / events) if slowdown.low and slowdown.low > 0 else Estimate(1.0, -2.0, 3.0),
            name,
            slowdown=slowdown,
            baseline=Estimate(UNTRACED_NS / events),
            probes=probes,
            reconciled=True,
            noise_floor_ns=floor_ns,
            grade="B",
        )
        for name, slowdown, events, probes, floor_ns in values
    ]


def test_events_are_those_of_a_whole_operation() -> None:
    assert [round(whole_work.events(one) or 0) for one in some()] == [2_000_000, 1000, 5000]


def test_the_sentence_says_how_many_are_visible_and_which_slows_most() -> None:
    found = some()
    words = whole_work.sentence(found, {"01-calls": "All calls"}) or ""
    assert "3 pairs of a set of probes and a tracer were measured" in words
    assert "2 of them slow the work by more than" in words
    assert "“All calls” with bpftrace" in words
    assert whole_work.sentence([], {}) is None


def test_only_the_machine_that_ran_it_last_is_shown() -> None:
    older = number(submission("other", started="2020-01-01T10:00:00Z", suite="build"), Estimate(1.0), "01-calls")
    found = some()
    shown = whole_work.measured(BUILD, catalogue(older, *found))
    assert {one.submission.machine for one in shown} == {found[0].submission.machine}


def test_the_page_of_the_suite_has_slowdown_probes_events_cost_and_what_was_built(tmp_path: Path) -> None:
    (tmp_path / "workload").mkdir()
    (tmp_path / "workload/loop.c").touch()
    known = catalogue(*some(), folder=tmp_path)
    text = submission_page.write_suite(known.suites[0], known, fragments.case_table(known.suites[0], known))
    (line,) = [
        one
        for one in text.splitlines()
        if one.startswith("| [") and "/01-calls/bpftrace/#slowdown" in one and "347" in one
    ]
    assert "busybox" in text
    for words in ("347", "2\u202f000\u202f000", "0.90 to 1.10"):
        assert words in line.replace("\u00a0", " "), words


def test_the_page_of_a_case_has_them_too_and_no_rate_at_which_a_thread_slows() -> None:
    known = catalogue(*some())
    text = case_page.write(known, evidence_of(known), known.suites[0], BUILD.cases[0])
    assert "347" in text
    assert "5 % at" not in text


def test_a_number_of_a_whole_work_says_first_by_how_much_it_is_slower() -> None:
    first, *_ = some()
    assert "longer" in number_page.sentence(first, view_of(BUILD))
    columns = [line.id for line in number_page.quantities(first, view_of(BUILD))]
    assert columns[:2] == ["slowdown", "probes"]
    assert not [column for column in columns if column.startswith("threshold")]


def test_the_range_of_a_case_is_of_slowdowns() -> None:
    known = catalogue(*some())
    found = view_of(BUILD).range_of(BUILD.cases[0], known.numbers)
    assert re.fullmatch("\\[10\u00a0%\\]\\(.*#slowdown\\)", markdown(found))


def test_without_a_count_of_events_no_cost_of_one_is_said() -> None:
    first = altered(some()[0], reconciled=None)
    assert whole_work.event(first) == units.MISSING
    assert "for each event" not in number_page.sentence(first, view_of(BUILD))
    assert "for each event" in number_page.sentence(some()[0], view_of(BUILD))


def test_a_suite_with_levels_has_a_row_for_each_with_the_time_of_the_tracer() -> None:
    levels = Factor(name="depth", title="Frames of the stack", unit="frames", levels=(10, 200))
    found = [replace(one, key=one.key._replace(level="200")) for one in some()]
    table, _ = view_of(BUILD).table(found, levels)
    assert isinstance(table, Table)
    assert [one.id for one in table.columns] == ["case", "level", "tracer", "slowdown", "cost", "tracer-cpu", "grade"]
    assert "3 sets of a case, a tracer and a level" in (whole_work.sentence(found, {}) or "")


def test_where_a_benchmark_varies_each_has_its_slowdown_and_less_time_than_untraced_is_a_result_too() -> None:
    factor = {"name": "benchmark", "title": "Benchmark", "unit": "the benchmark", "levels": ["calls", "json"]}
    builds = suite("compiled", case("01-probes"), measures="slowdown", factor=factor)
    run = submission(suite="compiled", baseline=Estimate(1000.0))
    for level, slowdown in (("calls", Estimate(0.1, 0.09, 0.11)), ("json", Estimate(-0.03, -0.04, -0.02))):
        number(run, slowdown.times(1000.0), "01-probes", level=level, slowdown=slowdown, baseline=Estimate(1000.0))
    known = Catalogue(suites=(SuiteFolder(Path("compiled"), builds),), active=(run,))
    found = fragment(whole_work.of_suite(builds, known))
    assert "(calls) with bpftrace" in found
    assert "[Benchmark](/data/dictionary/#level) |" in found
    assert [one for one in ("probes", "events-fired", "tree") if f"/#{one})" in found] == []
    text = case_page.write(known, evidence_of(known), known.suites[0], builds.cases[0]).replace("\u00a0", " ")
    assert re.search(r"The work takes \*\*\[−3\.0\]\(.*\) to \[10 %\]\(.*\)\*\* longer", text)


@pytest.mark.parametrize(("variant", "doubts"), [("sorted", 0), (None, 1)])
def test_less_time_than_untraced_is_doubted_unless_another_build_was_run(variant: str | None, doubts: int) -> None:
    builds = suite("compiled", case("01-order", variant=variant), measures="slowdown")
    run = submission(suite="compiled")
    number(run, Estimate(-30.0, -40.0, -20.0), "01-order")
    judged = JudgedSubmission(CheckedSubmission(run.files, run.document, (), builds), run)
    assert len([fault for one in COST_RULES if one.id == "negative-cost" for fault in one.check(judged)]) == doubts


def test_costs_of_a_whole_work_guide_nobody() -> None:
    found = evidence_of(catalogue(*some()))
    assert found.costs == {}
    assert "slowdown of the whole work" in found.refused["test-machine", "bpftrace", "01-calls"]


@pytest.mark.deep
def test_the_published_builds_stand_beside_the_suite_of_the_real_data(catalogue: Catalogue) -> None:
    folder = catalogue.by_suite["build"]
    found = submission_page.beside(folder.suite, catalogue)
    assert found is not None
    assert len(found[1].platforms) == 3
    text = submission_page.write_suite(folder, catalogue, fragments.case_table(folder, catalogue))
    assert "#build_pct_bpftrace_8" in text
    assert "386" in text
