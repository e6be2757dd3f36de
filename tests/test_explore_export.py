"""What the page `/explore/` works with: every current cost once, with what is to be said of it."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from builders import (
    COUNTED_MACHINE,
    MACHINE,
    REAL_DATA,
    counted_values,
    machine_values,
    many_blocks,
    skipped_row,
    write_counted_submission,
    write_submission,
)
from evidence_builder import rows_of
from probe_effect.exports.explore import LABELS, explore
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.pages import addresses
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 50_000
"""Compressed, so that a phone has the numbers at once."""


def made(data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(explore(read_catalogue(DataFolder(data))))
    return found


def rows(found: dict[str, Any], metric: str = "time") -> list[dict[str, Any]]:
    """The numbers as objects, as the page makes them."""
    columns = found[metric]
    plain = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [row | {label: found["lists"][label][row[label]] for label in LABELS} for row in plain]


def test_a_cost_has_its_interval_and_what_is_to_be_said_with_it(data: Path) -> None:
    (row,) = rows(made(data))
    assert [row[end] for end in ("value", "low", "high")] == pytest.approx([50, 50, 50])
    assert (row["case"], row["tracer"], row["tool"], row["level"]) == ("02-kprobe", "bpftrace", "bpftrace 0.23", None)
    assert (row["clear"], row["sound"]) == (1, 1)


def test_of_two_submissions_the_newest_that_has_the_case_is_shown(data: Path) -> None:
    later = machine_values()
    later["run"]["started"] = "2026-11-22T10:00:00Z"
    write_submission(data, many_blocks(cost_ns=70), later, folder="2026-11-22-per-event")
    (row,) = rows(made(data))
    assert row["value"] == pytest.approx(70)
    assert row["submission"] == f"{MACHINE}/2026-11-22-per-event"


def test_events_that_do_not_add_up_are_marked(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    assert {row["case"]: row["sound"] for row in rows(made(data))} == {"02-kprobe": 1, "05-tracepoint-return": 0}


def test_a_case_without_a_cost_has_no_row(data: Path) -> None:
    write_submission(data, [*many_blocks(), skipped_row(99)], folder="2026-11-22-per-event")
    assert [row["case"] for row in rows(made(data))] == ["02-kprobe"]


def test_instructions_have_a_table_of_their_own(data: Path) -> None:
    write_counted_submission(data)
    found = made(data)
    assert {row["case"] for row in rows(found)} == {"02-kprobe"}
    counted = rows(found, "instructions")
    assert {row["submission"].partition("/")[0] for row in counted} == {COUNTED_MACHINE}
    assert [row["value"] for row in counted if row["tracer"] == "libbpf"] == pytest.approx([95])
    assert all(row["grade"] is None and row["floor"] is None for row in counted)


def test_the_page_begins_with_the_reference_machine_and_the_newest_kernel(data: Path) -> None:
    write_counted_submission(data)
    newer = counted_values("6.12.1-amd64", "qemu-tcg-6-12")
    write_counted_submission(data, values=newer)
    assert made(data)["reference"] == {"time": MACHINE, "instructions": "qemu-tcg-6-12"}


def test_machines_that_count_are_called_by_their_kernel_and_told_apart(data: Path) -> None:
    write_counted_submission(data)
    write_counted_submission(data, values=counted_values("6.1.0-99-amd64", "qemu-tcg-6-1-0-99"))
    labels = [one["label"] for one in made(data)["machines"] if one["metric"] == "instructions"]
    assert labels == ["Linux 6.1 (50)", "Linux 6.1 (99)"]


def test_nothing_measured_is_no_fault(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert (found["time"]["value"], found["instructions"]["value"], found["reference"]) == ([], [], {})


def test_the_address_of_each_number_is_made_of_its_columns() -> None:
    """The page's script puts addresses together from them."""
    catalogue = read_catalogue(DataFolder(REAL_DATA))
    found = json.loads(explore(catalogue))
    known = {addresses.number(one.summary.id, case) for one in catalogue.submissions for case in one.summary.cases}
    known |= {addresses.number(one.summary.id, case) for one in catalogue.counted for case in one.summary.cases}
    parts = [
        [row["submission"], row["case"], row["tracer"], *([] if row["level"] is None else [row["level"]])]
        for metric in ("time", "instructions")
        for row in rows(found, metric)
    ]
    assert len(parts) > 100
    assert {f"/results/{'/'.join(one)}/" for one in parts} <= known


def test_all_numbers_of_today_load_at_once() -> None:
    whole = explore(read_catalogue(DataFolder(REAL_DATA))).encode()
    assert len(gzip.compress(whole)) < MAX_BYTES
