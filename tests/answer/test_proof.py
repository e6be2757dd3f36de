"""Does the number hold? Slowdowns of real programs beside what rate x cost predicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.evidence_builder import TRACER, case, evidence, measured, suite
from helpers.number_builder import number, submission
from probe_effect.answer.proof import verdict
from probe_effect.answer.spread import left_out
from probe_effect.answer.spread import program_pairs as pairs
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, SuiteFolder
from probe_effect.site.charts.draw import draw_svg
from probe_effect.site.charts.slowdown import PredictedPair, predicted_chart
from probe_effect.site.pages import proof
from probe_effect.store.kept import NOWHERE

if TYPE_CHECKING:
    from probe_effect.numbers.submission import Number

PER_EVENT = suite("per-event", case("06-uprobe"))
FACTOR = {"name": "program", "title": "-", "unit": "-"}
PROGRAMS = suite(
    "programs",
    case("07-malloc", like="06-uprobe"),
    case("08-stacks"),
    factor={**FACTOR, "levels": ["tar", "cc", "xz"]},
)
THREADS = suite(
    "threads",
    case("01-threads", like="06-uprobe"),
    factor={"name": "threads", "title": "-", "unit": "-", "levels": [1]},
)
SUITES = (PER_EVENT, PROGRAMS, THREADS)
COST = measured("06-uprobe", Estimate(1000.0, 900.0, 1100.0))
EVERY_MS = Estimate(1e6)
"""Untraced time of an event, ns: at 1 000 a second a cost of 1 000 ns predicts a slowdown of 0.1 %."""


def traced(level: str, slowdown: Estimate, *, every_ns: float = 1e6, name: str = "07-malloc") -> Number:
    return measured(name, Estimate(1200.0), level=level, baseline=Estimate(every_ns), slowdown=slowdown)


def test_a_program_is_set_beside_the_rate_of_its_events_times_the_cost_in_the_loop() -> None:
    (found,) = pairs(evidence(SUITES, COST, traced("tar", Estimate(0.0012, 0.001, 0.0014))))
    assert found.measured.level == "tar"
    assert found.point.rate_hz == pytest.approx(1000)
    assert found.point.predicted.value == pytest.approx(0.001)
    assert found.ratio == pytest.approx(1.2)
    assert found.is_near
    assert not found.is_visible
    assert found.point.holds


@pytest.mark.parametrize("slowdown", [Estimate(0.0126, 0.01, 0.02), Estimate(0.0074, 0.005, 0.009)])
def test_what_is_further_than_a_quarter_from_the_prediction_is_not_near(slowdown: Estimate) -> None:
    (found,) = pairs(evidence(SUITES, COST, traced("tar", slowdown, every_ns=1e5)))
    assert not found.is_near


def test_only_programs_are_pairs_and_only_where_the_loop_was_measured_there_with_that_tracer() -> None:
    slow = Estimate(0.001, 0.0009, 0.0011)
    other = number(
        submission("other"), Estimate(1.0), "07-malloc", TRACER, level="tar", baseline=EVERY_MS, slowdown=slow
    )
    stacks, threads = traced("tar", slow, name="08-stacks"), traced("1", slow, name="01-threads")
    assert pairs(evidence(SUITES, COST, other, stacks, threads)) == []
    assert pairs(evidence(SUITES, traced("tar", slow))) == []


def test_a_program_that_the_tracer_did_not_see_is_no_pair() -> None:
    slow = Estimate(0.001, 0.0009, 0.0011)
    unseen = evidence(SUITES, COST, traced("tar", slow, every_ns=1.1e8))
    assert pairs(unseen) == []
    assert "saw hardly an event" in left_out(unseen)[0].why
    assert len(pairs(evidence(SUITES, COST, traced("tar", slow, every_ns=0.9e8)))) == 1


def test_a_slowdown_without_an_interval_is_no_pair() -> None:
    assert pairs(evidence(SUITES, COST, traced("tar", Estimate(0.001)))) == []


def test_the_verdict_counts_what_is_visible_near_and_meets() -> None:
    found = pairs(
        evidence(
            SUITES,
            COST,
            traced("tar", Estimate(0.011, 0.0105, 0.012), every_ns=1e5),  # near, meets
            traced("cc", Estimate(0.04, 0.03, 0.05), every_ns=1e5),  # four times as much
            traced("xz", Estimate(0.0001, -0.01, 0.01)),  # too small to ask
        )
    )
    came = verdict(found)
    assert (came.pairs, came.visible) == (3, 2)
    assert came.near_ratio == 0.5
    assert came.middle_ratio == pytest.approx(2.55)
    assert came.meet_ratio == 0.5


def test_the_page_shows_the_pairs_of_one_machine_the_furthest_first_with_links_to_their_numbers() -> None:
    far, near = Estimate(0.04, 0.03, 0.05), Estimate(0.011, 0.0105, 0.012)
    made = [COST, traced("tar", near, every_ns=1e5), traced("cc", far, every_ns=1e5)]
    folders = tuple(SuiteFolder(Path(one.id), one) for one in SUITES)
    catalogue = Catalogue(suites=folders, active=tuple(one.submission for one in made))
    text = proof.write(catalogue)["does-it-hold.md"]
    assert "2 pairs of a program and a probe have a prediction, and 2 of them show" in text
    assert text.index("| cc |") < text.index("| tar |")
    assert "/07-malloc/bpftrace/cc/#slowdown" in text
    (chart,) = proof.charts(catalogue, evidence(SUITES, *made))
    assert f'{{{{< chart "{chart.name}" >}}}}' in text
    assert draw_svg(chart, "narrow", NOWHERE).startswith("<svg")


def test_before_programs_were_traced_the_page_says_how_to_do_it() -> None:
    none = Catalogue(suites=tuple(SuiteFolder(Path(one.id), one) for one in SUITES))
    assert "probe-effect measure programs" in proof.write(none)["does-it-hold.md"]
    assert proof.charts(none, evidence(SUITES)) == []


CALLS = suite(
    "programs",
    case("01-reads", "tracepoint-entry", like="04-entry", silent="11-silent"),
    case("03-calls", "tracepoint-entry"),
    case("05-switches", "tracepoint-entry", like="04-entry"),
    case("11-silent", "tracepoint-entry"),
    factor={**FACTOR, "levels": ["tar"]},
    workload={"program": "loop.c", "operation": "-", "system_calls": "03-calls"},
)
LOOP = suite(
    "per-event",
    case("04-entry", "tracepoint-entry", silent="28-silent"),
    case("28-silent", "tracepoint-silent"),
    workload={"program": "loop.c", "operation": "-", "system_calls": 2},
)


def test_a_program_pays_for_all_its_system_calls_where_the_probe_stands_on_one_and_for_none_elsewhere() -> None:
    slow = Estimate(0.01, 0.009, 0.011)
    found = pairs(
        evidence(
            (LOOP, CALLS),
            measured("04-entry", Estimate(200.0, 190.0, 210.0)),
            measured("28-silent", Estimate(80.0, 70.0, 90.0)),
            traced("tar", slow, every_ns=1e5, name="01-reads"),
            traced("tar", slow, every_ns=1e4, name="03-calls"),  # ten for each read
            traced("tar", slow, every_ns=1e5, name="05-switches"),
        )
    )
    predicted = {one.measured.case: one.point.predicted.value for one in found}
    assert predicted["01-reads"] == pytest.approx((200 + 8 * 40) / 1e5)
    assert predicted["05-switches"] == pytest.approx((200 - 2 * 40) / 1e5)
    assert all(one.plain.predicted.value == pytest.approx(200 / 1e5) for one in found)


def test_nothing_comes_to_nothing() -> None:
    none = verdict([])
    assert (none.near_ratio, none.middle_ratio, none.meet_ratio) == (None, None, None)


ONE, TWO, NONE = Estimate(0.01, 0.009, 0.011), Estimate(120.0, 115.0, 125.0), Estimate(-0.001, -0.01, 0.01)
READS = PredictedPair("tar", "Reads, bpftrace", "the kernel", ONE, TWO)
MALLOC = PredictedPair("cc", "malloc, bpftrace", "programs", TWO, ONE)
UNCLEAR = PredictedPair("xz", "malloc, bpftrace", "programs", ONE, NONE, is_told=False)


def test_the_chart_has_a_row_for_each_pair_and_a_colour_for_each_family() -> None:
    chart = predicted_chart("held", "Title", "A sentence.", [READS, MALLOC], near_ratio=0.25)
    assert [row["program"] for row in chart.rows] == ["tar", "cc"]
    assert chart.rows[0]["predicted_ratio"] == 0.01
    assert chart.rows[0]["measured_high_ratio"] == 125.0
    assert [row[1] for row in chart.table.rows] == ["Reads, bpftrace", "malloc, bpftrace"]
    assert set(chart.specs) == {"wide", "narrow", "card"}
    assert '"domain": ["programs", "the kernel"]' in json.dumps(chart.specs["wide"])


def test_pairs_without_a_clear_slowdown_are_drawn_only_where_the_reader_asks() -> None:
    clear = predicted_chart("held", "Title", "A sentence.", [READS, MALLOC], near_ratio=0.25)
    every = predicted_chart("held", "Title", "A sentence.", [READS, MALLOC, UNCLEAR], near_ratio=0.25)
    assert draw_svg(every, "wide", NOWHERE).count("<path") == draw_svg(clear, "wide", NOWHERE).count("<path")
    assert len(every.table.rows) == 3
    (wish,) = every.specs["wide"]["params"]
    assert wish["bind"]["input"] == "checkbox"
    assert "bind" not in clear.specs["wide"]["params"][0]


def test_the_axes_go_as_far_as_the_largest_slowdown() -> None:
    chart = predicted_chart("held", "Title", "A sentence.", [READS, MALLOC], near_ratio=0.25)
    assert "10,000 %" in draw_svg(chart, "wide", NOWHERE).replace("\N{NARROW NO-BREAK SPACE}", ",")
