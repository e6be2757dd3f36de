"""What `/explore/` and `/compare/` show without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import baseline_row, changed, machine_values, many_blocks, traced_row, write_submission
from evidence_builder import rows_of
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.kinds import MOST_MACHINES
from probe_effect.pages import explore_page, instructions
from probe_effect.pages.markdown import escape
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample


HOSTILE = "bpftrace <b>new</b> | x"


def fragments(data: Path) -> dict[str, str]:
    return explore_page.write_all(read_catalogue(DataFolder(data)))


def test_every_cost_is_in_the_table_and_leads_to_its_number(data: Path) -> None:
    table = fragments(data)["explore-tables.md"]
    assert "(/results/test-machine/2026-11-20-per-event/02-kprobe/bpftrace/#cost)" in table


def test_a_number_whose_events_do_not_add_up_is_marked_and_not_drawn(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    assert fragments(data)["explore-tables.md"].count(instructions.FLAG) == 1
    (chart,) = explore_page.charts(read_catalogue(DataFolder(data)))
    assert len(chart.rows) == 1
    assert chart.note == "Left out: 1 not distinguishable from 0, or whose events do not add up."


def test_many_machines_are_shown_as_a_few_with_a_way_to_all(data: Path) -> None:
    for number in range(MOST_MACHINES):
        values = changed(machine_values(), "machine.id", f"another-{number}")
        write_submission(data, many_blocks(), values)
    table = fragments(data)["explore-tables.md"]
    assert table.startswith(f"These tables have {MOST_MACHINES} machines of each case")
    assert table.count("| [Kprobe](/costs/02-kprobe/) |") == MOST_MACHINES
    assert "(/machines/test-machine/)" in table, "the home machine is always among them"


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


@pytest.mark.parametrize("name", ["explore-chart.md", "explore-tables.md", "compare-tracers.md"])
def test_nothing_measured_leaves_a_fragment_empty(tmp_path: Path, name: str) -> None:
    assert fragments(tmp_path)[name].strip() == ""


def test_text_from_data_stays_text(data: Path) -> None:
    values = machine_values()
    values["tools"]["bpftrace"] = HOSTILE
    values["run"]["started"] = "2026-11-22T10:00:00Z"
    write_submission(data, many_blocks(), values, folder="2026-11-22-per-event")
    table = fragments(data)["explore-tables.md"]
    assert str(escape(HOSTILE)) in table
    assert "<b>" not in table
