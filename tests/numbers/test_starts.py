"""Start and stop at levels: what a page says, shows and draws of tracers with more and more probes."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.builders import (
    FIGURES,
    REAL_DATA,
    block_rows,
    changed,
    copy_suite,
    machine_values,
    traced_row,
    write_source,
    write_submission,
)
from helpers.number_builder import altered, number, reduced, submission
from helpers.written_pages import with_fragments
from probe_effect import units
from probe_effect.cli import commands
from probe_effect.costs.evidence import Evidence
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages.results import start as starts
from probe_effect.site.pages.results.view import CaseResults
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import read_suite

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.submission import Number, Submission

CASE = "02-attach-uprobes"
OWN = submission(suite="attach")
LABELS = {(OWN.machine, tracer): tracer for tracer in ("bpftrace", "ftrace")}
SECOND_NS = 1e9


def started(
    level: str | None, seconds: float, tracer: str = "bpftrace", own: Submission = OWN, probes: int | None = None
) -> Number:
    """A number of a tracer that took so long to start, and may say how many probes it attached."""
    time = Estimate(seconds * SECOND_NS, seconds * SECOND_NS * 0.9, seconds * SECOND_NS * 1.1)
    return number(own, Estimate(0.0), CASE, tracer, level=level, attach=time, probes=probes)


def attaching(*measured: Number) -> CaseResults:
    """What the first case of the real suite shows of some numbers."""
    suite, _ = read_suite(REAL_DATA / "suites" / "attach", "attach")
    assert suite is not None
    return CaseResults(Evidence((suite,)), suite, suite.cases[0], measured)


def plain(text: str) -> str:
    return unescape(text).replace("\u00a0", " ").replace("\u202f", " ")


def each(*numbers: Number) -> list[str]:
    """What one more adds to start and stop, for the one tracer of some numbers."""
    (slope,) = starts.slopes(numbers)
    return [plain(str(column.text(slope) or units.MISSING)) for column in starts.SLOPES[1:]]


def test_each_more_takes_its_share_from_the_fewest_probes_to_the_most() -> None:
    numbers = [started("1000", 20.5, probes=1001), started("1", 0.5, probes=1), started("10", 0.7, probes=10)]
    assert each(*numbers) == ["20 ms", "—"]


def test_what_stopping_takes_is_said_too_where_the_tool_stops() -> None:
    first, last = started("1", 1, probes=1), started("10", 1, probes=10)
    stopping = [altered(one, detach=Estimate(ns)) for one, ns in ((first, SECOND_NS), (last, 10.0 * SECOND_NS))]
    assert each(*stopping) == ["—", "1.0 s"]


def test_start_and_stop_have_a_chart_each_where_they_were_measured_at_levels() -> None:
    starting = attaching(started("1", 1), started("10", 2))
    case = starting.case.id
    assert [one.name for one in starts.charts(starting)] == [f"starts-{case}"]
    both = starts.charts(attaching(*(altered(one, detach=one.event.attach) for one in starting.measured)))
    assert [one.name for one in both] == [f"starts-{case}", f"stops-{case}"]
    assert both[1].rows[1]["stop_s"] == 2.0


def test_each_tracer_on_each_machine_has_its_own_row() -> None:
    other = submission("other", suite="attach")
    numbers = [started(level, 1, tracer, own) for own in (OWN, other) for tracer in ("a", "b") for level in ("1", "2")]
    assert len(starts.slopes(numbers)) == 4


@pytest.mark.parametrize(
    "probes", [pytest.param(None, id="it does not say how many"), pytest.param(1, id="one for all")]
)
def test_without_more_probes_there_is_nothing_for_each_more(probes: int | None) -> None:
    assert each(started("1", 1, probes=probes), started("1000", 2, probes=probes)) == ["—", "—"]


def test_a_tracer_that_takes_no_longer_has_nothing_for_each_more() -> None:
    assert each(started("1", 2, probes=1), started("1000", 1, probes=1000)) == ["—", "—"]


def test_one_level_alone_or_no_start_has_no_row() -> None:
    without = altered(started("10", 1), attach=None)
    assert starts.slopes([started("1", 1), without]) == starts.slopes([started(None, 1)]) == []


def test_a_level_that_is_no_number_of_probes_or_a_start_of_no_time_is_no_point() -> None:
    numbers = [started("10", 1, probes=9), started("some", 1), started("0", 1), started(None, 1), started("1", 0)]
    (point,) = starts.points(numbers, LABELS)
    assert (point.series, point.at, point.words[2], point.time.value) == ("bpftrace", 10, "9", SECOND_NS)


def test_the_chart_has_a_point_for_each_start_and_says_in_words_what_it_draws() -> None:
    numbers = [started("1", 1), started("1000", 20, probes=720), started("1", 0.01, "ftrace", probes=1)]
    (chart,) = starts.charts(attaching(*numbers))
    assert [(row["series"], row["number"], row["start_s"]) for row in chart.rows] == [
        ("bpftrace", 1, 1.0),
        ("bpftrace", 1000, 20.0),
        ("ftrace", 1, 0.01),
    ]
    assert [tuple(map(plain, row)) for row in chart.table.rows][:2] == [
        ("bpftrace", "1", "—", "1.00 s (0.90 to 1.10)"),
        ("bpftrace", "1 000", "720", "20.0 s (18.0 to 22.0)"),
    ]
    assert chart.note is None


def test_more_series_than_colours_are_counted_in_a_note_and_stand_in_the_table() -> None:
    tracers = [f"tool-{place}" for place in range(10)]
    (chart,) = starts.charts(attaching(*(started("1", 1, name) for name in tracers)))
    assert chart.note == "2 more lines are not drawn; the table has them all."
    assert len(chart.table.rows) == 10
    assert len(chart.rows) == 8


def rows(attach_s: dict[str, float]) -> list[Sample]:
    """The rows of eight blocks in which bpftrace takes so long at each level to start, and a tenth of it to stop."""
    found = []
    for block in range(8):
        for place, (level, seconds) in enumerate(attach_s.items()):
            for row in block_rows(block, 0.0, level=level):
                placed = replace(row, position=3 * place + row.position)
                if row.arm == "traced":
                    ns = round(seconds * SECOND_NS)
                    placed = replace(placed, case=CASE, attach_ns=ns, detach_ns=ns // 10, tracer_cpu_ns=ns // 2)
                    placed = replace(placed, tracer_rss_bytes=(30 + int(level)) << 20, probes=int(level))
                found.append(placed)
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a run of the suite."""
    data = tmp_path / "data"
    copy_suite(data)
    (data / "suites" / "attach").symlink_to(REAL_DATA / "suites" / "attach")
    write_source(data)
    values = changed(machine_values(), "run.suite", "attach")
    write_submission(data, rows({"1": 0.5, "10": 0.7, "1000": 20.5}), values, folder="2026-11-20-attach")
    return data


@pytest.fixture
def pages(data: Path) -> dict[str, str]:
    return with_fragments(read_catalogue(DataFolder(data)))


def test_summarise_prints_start_and_stop_and_no_cost(data: Path) -> None:
    folder = data / "results" / "test-machine" / "2026-11-20-attach"
    outcome = CliRunner().invoke(commands, ["summarise", str(folder), "--data", str(data)], catch_exceptions=False)
    shown = plain(outcome.stdout)
    (row,) = (line for line in shown.splitlines() if " 1000 " in line)
    assert [word in row for word in ("20.5 s", "2.05 s", " 1 000 ", "10.3 s", "1.01 GiB")] == [True] * 5
    assert "cost of one event" not in shown


def test_the_page_of_a_case_has_chart_and_a_row_for_each_level_and_what_each_more_takes(pages: dict[str, str]) -> None:
    text = plain(pages[f"costs/{CASE}.md"])
    assert re.search(r"> \| bpftrace [0-9.]+ \| 20 ms \|", text)
    assert '{{< chart "starts-02-attach-uprobes" >}}' in text
    (row,) = (line for line in text.splitlines() if "| 1 000 | 1 000 |" in line)
    assert [word in row for word in ("20 500 ms", "2 050 ms", "10 300 ms")] == [True] * 3


def test_the_pages_of_run_machine_and_number_have_probes_and_use_too(pages: dict[str, str]) -> None:
    for name in ("results/test-machine/2026-11-20-attach.md", "machines/test-machine.md"):
        assert "| 1 000 | 1 000 |" in plain(pages[name]), name
    own = plain(pages[f"results/test-machine/2026-11-20-attach/{CASE}/bpftrace/1000.md"])
    assert "Its memory" in own
    assert "/scripts/attach/02-attach-uprobes.1000.bt" in own


def test_a_case_shows_the_scripts_of_all_its_levels(pages: dict[str, str]) -> None:
    text = pages[f"costs/{CASE}.md"]
    assert all(f"attach/{CASE}.{level}.bt" in text for level in (1, 10, 100, 1000))
    assert f"[bpftrace 1000](/scripts/attach/{CASE}.1000.bt)" in pages["suites/attach.md"]


def test_use_and_probes_are_of_the_traced_runs_alone() -> None:
    with_use = [
        replace(row, tracer_cpu_ns=2_000_000, tracer_rss_bytes=1 << 20, probes=10 + row.block)
        for row in rows({"1": 0.5})
        if row.arm == "traced"
    ]
    untraced = [row for row in rows({"1": 0.5}) if row.arm != "traced"]
    check = replace(traced_row(0, 9, 0.0, CASE, level="1"), arm="check", probes=99, tracer_cpu_ns=1)
    (one,) = reduced(sorted([*with_use, *untraced, check], key=lambda row: (row.block, row.position))).numbers
    assert one.time.cpu is not None
    assert one.time.cpu.value == pytest.approx(2_000_000)
    assert one.time.memory is not None
    assert one.time.memory.value == pytest.approx(1 << 20)
    assert one.time.probes == 13


def test_without_what_a_tracer_says_there_is_none() -> None:
    (one,) = reduced([replace(row, probes=None, tracer_cpu_ns=None) for row in rows({"1": 0.5})]).numbers
    assert (one.time.probes, one.time.cpu) == (None, None)


def test_what_others_printed_of_starts_stands_beside_a_case_as_they_printed_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    copy_suite(data)
    (data / "suites" / "attach").symlink_to(REAL_DATA / "suites" / "attach")
    whole = {"figure": "run", "what": "whole <b>run</b>", "printed": "0m44.312s", "value": "44.312", "unit": "s"}
    each = {"figure": "each", "what": "for each probe", "value": "40653", "unit": "us", "formula": "run / probes"}
    probes = {"figure": "probes", "what": "probes in it", "printed": "1090", "value": "1090", "unit": "count"}
    write_source(data, [*FIGURES, *(one | {"case": CASE, "tracer": "bpftrace"} for one in (whole, each, probes))])
    pages = with_fragments(read_catalogue(DataFolder(data)))
    text = pages[f"costs/{CASE}.md"]
    _, _, beside = plain(text).partition("[!fold]- Printed by others")
    assert "[0m44.312s](/sources/a-talk/#run)" in beside
    assert "[1090](/sources/a-talk/#probes)" in beside
    assert "40 650 µs" in beside
    assert "<b>" not in text
    assert "Printed by others" not in pages["costs/01-attach-tracepoints.md"]
