"""What `/explore/` and `/compare/` show without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import baseline_row, changed, machine_values, many_blocks, traced_row, write_submission
from helpers.evidence_builder import rows_of
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import ladder_page
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample


def fragments(data: Path) -> dict[str, str]:
    return ladder_page.write(read_catalogue(DataFolder(data)))


def test_a_number_whose_events_do_not_add_up_is_not_drawn(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    (chart,) = ladder_page.explore_charts(read_catalogue(DataFolder(data)))
    assert len(chart.rows) == 1
    assert chart.note == "Left out: 1 not distinguishable from 0, or whose events do not add up or were lost."


def test_the_chart_has_a_colour_for_each_machine_and_one_tracer(data: Path) -> None:
    more = [traced_row(block, 3, 200 + block % 2, tracer="libbpf") for block in range(8)]
    write_submission(data, [*many_blocks(), *more], changed(machine_values(), "machine.id", "another-00aa"))
    (chart,) = ladder_page.explore_charts(read_catalogue(DataFolder(data)))
    assert {str(row["series"]).rpartition(", ")[2] for row in chart.rows} == {"machine", "00aa"}
    assert chart.title == "The cost of one event with bpftrace, by case and machine"


def block_of_two(block: int) -> list[Sample]:
    """One block with two tracers, of which bpftrace has a case more."""
    return [
        baseline_row(block, 0),
        traced_row(block, 1, 150),
        traced_row(block, 2, 190, tracer="libbpf"),
        traced_row(block, 3, 150, case="05-tracepoint-return"),
        baseline_row(block, 4),
    ]


def test_each_other_tracer_stands_against_the_one_with_most_costs(tmp_path: Path) -> None:
    write_submission(tmp_path, [row for block in range(8) for row in block_of_two(block)])
    text = fragments(tmp_path)["compare-tracers.md"]
    assert text.startswith("## libbpf against bpftrace")
    assert "1 has higher overhead with libbpf" in text


@pytest.mark.parametrize("name", ["explore-chart.md", "compare-tracers.md"])
def test_nothing_measured_leaves_a_fragment_empty(tmp_path: Path, name: str) -> None:
    assert fragments(tmp_path)[name].strip() == ""
