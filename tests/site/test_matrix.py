"""The matrices of `/explore/`: which number each cell has, its colour, and what it says where it has no clear one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import (
    COUNTED_MACHINE,
    MACHINE,
    block_rows,
    changed,
    machine_values,
    many_blocks,
    traced_row,
    write_counted_submission,
    write_submission,
)
from helpers.evidence_builder import rows_of
from probe_effect.compare.subjects import subjects
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.shown import MOST_MACHINES
from probe_effect.site.script_values import MATRIX, STEPS, matrix_file
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "another-00aa"


def matrices(data: Path) -> list[dict[str, Any]]:
    catalogue = read_catalogue(DataFolder(data))
    ((name, text),) = matrix_file(catalogue, subjects(catalogue))
    assert name == MATRIX
    found: list[dict[str, Any]] = json.loads(text)["matrices"]
    return found


def rows(table: dict[str, Any]) -> dict[str, list[dict[str, str] | None]]:
    """Title of a row to its cells."""
    return {row["title"]: row["cells"] for suite in table["suites"] for row in suite["rows"]}


def texts(table: dict[str, Any]) -> dict[str, list[str]]:
    return {title: [cell["text"] if cell else "" for cell in cells] for title, cells in rows(table).items()}


def test_a_cell_is_one_number_without_its_unit_and_leads_to_its_page(data: Path) -> None:
    (matrix,) = matrices(data)
    (table,) = matrix["tables"]
    assert (matrix["unit"], table["tool"]) == ("ns", "bpftrace 0.23")
    (cell,) = rows(table)["Kprobe"]
    assert cell is not None
    assert cell["text"] == "50.0"
    assert cell["href"] == f"/results/{MACHINE}/2026-11-20-per-event/02-kprobe/bpftrace/#cost"


def test_machines_are_columns_and_what_was_not_measured_is_empty(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return"), changed(machine_values(), "machine.id", OTHER))
    (matrix,) = matrices(data)
    columns = [one["id"] for one in matrix["columns"]]
    assert sorted(columns) == sorted([MACHINE, OTHER])
    found = texts(matrix["tables"][0])
    assert [found["Kprobe"][columns.index(one)] for one in (MACHINE, OTHER)] == ["50.0", ""]
    assert found["Tracepoint on a system call's return"][columns.index(MACHINE)] == ""


@pytest.mark.parametrize(("cost_ns", "colour"), [(10, 0), (STEPS[0], 1), (150, 2), (5_000, 5), (20_000, 6)])
def test_a_colour_is_a_step_of_the_cost(tmp_path: Path, cost_ns: int, colour: int) -> None:
    write_submission(tmp_path, many_blocks(cost_ns=cost_ns))
    ((cell,),) = rows(matrices(tmp_path)[0]["tables"][0]).values()
    assert cell is not None
    assert cell["colour"] == f"heat-{colour}"


def test_a_cost_that_is_not_distinguishable_has_its_bound_and_no_colour(tmp_path: Path) -> None:
    write_submission(tmp_path, [row for block in range(8) for row in block_rows(block, 1, (100, 104))])
    ((cell,),) = rows(matrices(tmp_path)[0]["tables"][0]).values()
    assert cell is not None
    assert cell["text"].startswith("≤ ")
    assert cell["colour"] is None


def test_events_that_do_not_add_up_are_marked_and_have_no_colour(tmp_path: Path) -> None:
    write_submission(tmp_path, rows_of("05-tracepoint-return", seen=10))
    ((cell,),) = rows(matrices(tmp_path)[0]["tables"][0]).values()
    assert cell is not None
    assert cell["text"].endswith("†")
    assert cell["colour"] is None


def test_a_raw_tracepoint_says_that_its_cost_is_per_call(tmp_path: Path) -> None:
    write_submission(tmp_path, rows_of("21-raw-tracepoint"))
    assert list(rows(matrices(tmp_path)[0]["tables"][0])) == ["Raw tracepoint, per call"]


def test_each_tracer_has_a_table_and_the_one_with_most_numbers_the_first(tmp_path: Path) -> None:
    more = [traced_row(block, 3, 200 + block % 2, tracer="libbpf") for block in range(8)]
    another = [traced_row(block, 4, 200, case="05-tracepoint-return", tracer="libbpf") for block in range(8)]
    write_submission(tmp_path, [*many_blocks(), *more, *another])
    assert [one["id"] for one in matrices(tmp_path)[0]["tables"]] == ["libbpf", "bpftrace"]


def test_counts_are_in_matrices_of_their_own_one_for_each_architecture(data: Path) -> None:
    write_counted_submission(data)
    times, counts = matrices(data)
    assert [one["id"] for one in times["columns"]] == [MACHINE]
    assert ([one["id"] for one in counts["columns"]], counts["metric"]) == ([COUNTED_MACHINE], "instructions")
    assert counts["unit"] == "instructions, x86-64"


def test_a_matrix_has_no_more_columns_than_a_page_shows(data: Path) -> None:
    for number in range(MOST_MACHINES):
        write_submission(data, many_blocks(), changed(machine_values(), "machine.id", f"another-{number}"))
    assert len(matrices(data)[0]["columns"]) == MOST_MACHINES


def test_nothing_measured_is_no_fault(tmp_path: Path) -> None:
    assert matrices(tmp_path) == []
