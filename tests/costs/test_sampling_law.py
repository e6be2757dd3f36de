"""The page of the suite that varies the depth of a stack: what a sample costs by the line through all depths."""

from __future__ import annotations

import html
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.builders import REAL_DATA, changed, machine_values, write_submission
from helpers.evidence_builder import rows_of
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages.parts import Table, markdown
from probe_effect.site.pages.results.cost import of_suite
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample

STACK, DEPTH = "06-sample-record-stack", "02-depth-record-stack"


def at_depths(*depths: int) -> list[Sample]:
    """The rows of eight blocks where a sample costs 1 000 ns and 10 ns for each frame walked."""
    rows = [
        replace(
            row,
            level=str(frames),
            position=row.position + 3 * place,
            wall_ns=(row.wall_ns or 0) + row.block * (row.arm == "traced"),  # a sample's cost has an interval
        )
        for place, frames in enumerate(depths)
        for row in rows_of(DEPTH, 1_000 + 10 * min(frames, 127), tracer="perf-record")
    ]
    return sorted(rows, key=lambda row: (row.block, row.position))


def test_each_tracer_and_machine_has_a_row_with_what_the_line_leaves_over(tmp_path: Path) -> None:
    for name in ("sampling", "sampling-depth"):
        shutil.copytree(REAL_DATA / "suites" / name, tmp_path / "suites" / name)
    rows = rows_of(STACK, 1_300, tracer="perf-record")
    for suite, samples in (("sampling", rows), ("sampling-depth", at_depths(1, 10, 100, 1000))):
        values = changed(machine_values(), "run.suite", suite)
        write_submission(tmp_path, samples, values, folder=f"2026-11-20-{suite}")
    catalogue = read_catalogue(DataFolder(tmp_path))
    found = {name: of_suite(catalogue.by_suite[name].suite, catalogue) for name in ("sampling", "sampling-depth")}
    assert not found["sampling"]
    (table,) = [part for part in found["sampling-depth"] if isinstance(part, Table)]
    ((_, tracer, machine, base, frame, left),) = [[html.unescape(markdown(cell)) for cell in row] for row in table.rows]
    assert tracer == "perf-record"
    assert machine == "Example, machine"
    assert base.startswith("1\u202f000")
    assert frame.startswith("10")
    assert [part.partition(":")[0] for part in left.split(", ")] == ["1", "10", "100", "1000"]
