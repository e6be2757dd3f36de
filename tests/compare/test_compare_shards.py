"""What the page `/compare/` works with, and the examples that its script shares with the generator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helpers import comparison_examples
from helpers.builders import (
    COUNTED_MACHINE,
    MACHINE,
    baseline_row,
    counted_values,
    machine_values,
    many_blocks,
    traced_row,
    write_counted_submission,
    write_submission,
)
from probe_effect.compare.comparison import OUTCOMES, Side, between_tracers
from probe_effect.compare.subjects import subjects
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.script_values import INDEX, compare_files, shard_name
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample


def made(data: Path) -> dict[str, Any]:
    catalogue = read_catalogue(DataFolder(data))
    return {name: json.loads(text) for name, text in compare_files(catalogue, subjects(catalogue))}


def both_tracers(block: int) -> list[Sample]:
    """One block with two tracers, the second of which costs a little more in each block."""
    rows = [baseline_row(block, 0), traced_row(block, 1, 150), traced_row(block, 2, 170 + block, tracer="libbpf")]
    return [*rows, baseline_row(block, 3)]


def test_the_committed_examples_are_those_that_their_generator_makes() -> None:
    assert comparison_examples.FILE.read_text(encoding="utf-8") == comparison_examples.text()


def test_the_examples_have_every_outcome() -> None:
    assert {one["outcome"] for one in comparison_examples.outcomes()} == set(OUTCOMES)
    assert {one["outcome"] for one in comparison_examples.changes()} == set(OUTCOMES)


def test_each_machine_and_tracer_has_a_file_and_is_in_the_index(data: Path) -> None:
    write_counted_submission(data)
    found = made(data)
    listed = {
        shard_name(machine["id"], tracer) for machine in found[INDEX]["machines"] for tracer, _ in machine["tracers"]
    }
    assert listed == found.keys() - {INDEX}
    assert listed == {
        shard_name(*one) for one in ((MACHINE, "bpftrace"), (COUNTED_MACHINE, "bpftrace"), (COUNTED_MACHINE, "libbpf"))
    }


def test_a_number_has_all_that_its_comparison_asks_for(data: Path) -> None:
    shard = made(data)[shard_name(MACHINE, "bpftrace")]
    (number,) = shard["numbers"]
    assert number["cost"] == pytest.approx([50, 50, 50])
    assert number["floor"] is not None
    assert number["faults"] == []
    assert number["text"] == "50.0\u00a0ns"
    assert number["href"] == f"/results/{MACHINE}/2026-11-20-per-event/02-kprobe/bpftrace/#cost"
    assert shard["runs"][number["run"]]["id"].startswith(MACHINE)
    assert shard["runs"][number["run"]]["traits"]["tier"] == "physical"


def test_the_current_number_of_a_case_comes_first(data: Path) -> None:
    later = machine_values()
    later["run"]["started"] = "2026-11-22T10:00:00Z"
    write_submission(data, many_blocks(cost_ns=70), later, folder="2026-11-22-per-event")
    shard = made(data)[shard_name(MACHINE, "bpftrace")]
    assert [number["cost"][0] for number in shard["numbers"]] == pytest.approx([70, 50])
    assert shard["current"] == 1


def test_tracers_of_common_blocks_have_the_difference_of_those(tmp_path: Path) -> None:
    rows = [row for block in range(8) for row in both_tracers(block)]
    write_submission(tmp_path, rows)
    found = made(tmp_path)
    side = Side(MACHINE, read_catalogue(DataFolder(tmp_path)).active)
    (expected,) = between_tracers(side, "bpftrace", "libbpf")
    assert expected.is_paired
    difference = expected.difference
    ends = [pytest.approx(end) for end in difference]
    assert found[shard_name(MACHINE, "bpftrace")]["beside"] == {"libbpf": [[0, 0, ends]]}
    ((_, _, swapped),) = found[shard_name(MACHINE, "libbpf")]["beside"]["bpftrace"]
    assert [-swapped[place] for place in (0, 2, 1)] == ends


def test_a_fault_is_told_with_the_submission_that_has_it(data: Path) -> None:
    write_counted_submission(data)
    lossy = [*many_blocks(2)]
    values = machine_values()
    values["run"]["started"] = "2026-11-22T10:00:00Z"
    write_submission(data, lossy, values, folder="2026-11-22-per-event")
    numbers = made(data)[shard_name(MACHINE, "bpftrace")]["numbers"]
    assert numbers[0]["faults"] == [f"{MACHINE}/2026-11-22-per-event, bpftrace: too few blocks for an interval"]


def test_the_page_begins_with_one_tracer_on_the_oldest_and_the_newest_kernel(data: Path) -> None:
    write_counted_submission(data)
    write_counted_submission(data, values=counted_values("6.12.1-amd64", "qemu-tcg-6-12"))
    arm64 = counted_values("6.12.1-arm64", "qemu-tcg-6-12-arm64")
    arm64["machine"]["architecture"] = "aarch64"
    write_counted_submission(data, values=arm64)
    first = made(data)[INDEX]["first"]
    assert first["instructions"] == [f"{COUNTED_MACHINE}:bpftrace", "qemu-tcg-6-12:bpftrace"]


def test_words_of_outcomes_are_in_the_order_of_outcomes(data: Path) -> None:
    words = made(data)[INDEX]["words"]
    assert tuple(words["time"]["outcomes"]) == OUTCOMES
    assert tuple(words["instructions"]["outcomes"]) == OUTCOMES


def test_nothing_measured_leaves_an_index_without_machines(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found.keys() == {INDEX}
    assert (found[INDEX]["machines"], found[INDEX]["first"]) == ([], {})
