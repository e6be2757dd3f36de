"""What the page `/explore/` works with: its choices, and every current cost once, with what is to be said of it."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import (
    COUNTED_MACHINE,
    MACHINE,
    changed,
    counted_values,
    machine_values,
    many_blocks,
    skipped_row,
    traced_row,
    write_counted_submission,
    write_submission,
)
from helpers.evidence_builder import rows_of
from probe_effect.compare.subjects import subjects
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.numbers.shown import MOST_MACHINES
from probe_effect.site.assemble import LIST, script_data
from probe_effect.site.pages import addresses
from probe_effect.site.script_values import FORM, explore_files
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample
    from probe_effect.numbers.catalogue import Catalogue

MAX_BYTES = 24_000
"""Compressed, of each file, so that a phone has the numbers at once."""


def files(data: Path) -> dict[str, str]:
    catalogue = read_catalogue(DataFolder(data))
    return dict(explore_files(catalogue, subjects(catalogue)))


def form(data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(data)[FORM])
    return found


def rows(data: Path, machine: str = MACHINE) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(files(data)[f"explore/{machine}.json"])["numbers"]
    return found


def test_a_cost_has_its_interval_and_what_is_to_be_said_with_it(data: Path) -> None:
    (row,) = rows(data)
    assert row["cost"] == pytest.approx([50, 50, 50])
    assert (row["case"], row["tracer"], row["tool"], row["level"]) == ("02-kprobe", "bpftrace", "bpftrace 0.23", None)
    assert (row["clear"], row["sound"], row["text"]) == (True, True, "50.0\u00a0ns")
    assert row["href"] == f"/results/{MACHINE}/2026-11-20-per-event/02-kprobe/bpftrace/#cost"


def test_of_two_submissions_the_newest_that_has_the_case_is_shown(data: Path) -> None:
    later = changed(machine_values(), "run.started", "2026-11-22T10:00:00Z")
    write_submission(data, many_blocks(cost_ns=70), later, folder="2026-11-22-per-event")
    (row,) = rows(data)
    assert row["cost"][0] == pytest.approx(70)
    assert row["submission"] == f"{MACHINE}/2026-11-22-per-event"


def test_events_that_do_not_add_up_are_marked(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    found = {row["case"]: (row["sound"], row["text"]) for row in rows(data)}
    assert found == {"02-kprobe": (True, "50.0\u00a0ns"), "05-tracepoint-return": (False, "50.0\u00a0ns †")}


def test_a_case_without_a_cost_has_no_row(data: Path) -> None:
    write_submission(data, [*many_blocks(), skipped_row(99)], folder="2026-11-22-per-event")
    assert [row["case"] for row in rows(data)] == ["02-kprobe"]


def of_two(block: int) -> list[Sample]:
    """A block with a second tracer, whose cost is higher by more than its interval is wide."""
    more = traced_row(block, 3, 200 + block % 2, tracer="libbpf")
    return [*(row for row in many_blocks() if row.block == block), more]


def test_a_cost_has_its_place_among_the_tracers_of_its_case_and_machine(tmp_path: Path) -> None:
    write_submission(tmp_path, [row for block in range(8) for row in of_two(block)])
    assert {row["tracer"]: row["place"] for row in rows(tmp_path)} == {"bpftrace": "1", "libbpf": "2"}


def test_a_cost_that_nothing_stands_beside_has_no_place(data: Path) -> None:
    assert [row["place"] for row in rows(data)] == [None]


def test_instructions_are_of_machines_of_their_own(data: Path) -> None:
    write_counted_submission(data)
    assert {row["case"] for row in rows(data)} == {"02-kprobe"}
    counted = rows(data, COUNTED_MACHINE)
    assert {row["submission"].partition("/")[0] for row in counted} == {COUNTED_MACHINE}
    assert [row["cost"][0] for row in counted if row["tracer"] == "libbpf"] == pytest.approx([95])
    assert all(row["grade"] is None and row["floor"] is None for row in counted)


def test_the_page_begins_with_the_reference_machine_and_the_newest_kernel(data: Path) -> None:
    write_counted_submission(data)
    newer = counted_values("6.12.1-amd64", "qemu-tcg-6-12")
    write_counted_submission(data, values=newer)
    usual = form(data)["usual"]
    assert {metric: machines["per-event"] for metric, machines in usual.items()} == {
        "time": MACHINE,
        "instructions": "qemu-tcg-6-12",
    }


def test_counts_of_arm64_are_offered_behind_those_of_x86_64_and_the_page_does_not_begin_with_them(data: Path) -> None:
    arm64 = counted_values("6.12.1-arm64", "qemu-tcg-6-12-arm64")
    arm64["machine"]["architecture"] = "aarch64"
    write_counted_submission(data, values=arm64)
    write_counted_submission(data)
    found = form(data)
    labels = [one["label"] for one in found["machines"] if one["metric"] == "instructions"]
    assert labels == ["Linux 6.1.0-50, emulated, 50", "Linux 6.12.1 arm64, emulated, arm64"]
    assert found["usual"]["instructions"]["per-event"] != "qemu-tcg-6-12-arm64"


def test_machines_that_count_are_called_by_their_kernel_and_told_apart(data: Path) -> None:
    write_counted_submission(data)
    write_counted_submission(data, values=counted_values("6.1.0-99-amd64", "qemu-tcg-6-1-0-99"))
    labels = [one["label"] for one in form(data)["machines"] if one["metric"] == "instructions"]
    assert labels == ["Linux 6.1.0-50, emulated, 50", "Linux 6.1.0-99, emulated, 99"]


def test_nothing_measured_is_no_fault(tmp_path: Path) -> None:
    found = files(tmp_path)
    assert found.keys() == {FORM}
    assert (form(tmp_path)["machines"], form(tmp_path)["usual"]) == ([], {"time": {}, "instructions": {}})


def test_a_suite_that_the_reference_machine_did_not_run_begins_with_another(data: Path) -> None:
    values = changed(changed(machine_values(), "machine.id", "another"), "run.suite", "usdt")
    write_submission(data, many_blocks(), values, folder="2026-11-20-usdt")
    assert form(data)["usual"]["time"] == {"all": MACHINE, "per-event": MACHINE, "usdt": "another"}


def test_a_form_offers_few_of_many_machines_and_each_has_a_file(data: Path) -> None:
    ids = {f"another-{number}" for number in range(MOST_MACHINES)}
    for machine in ids:
        write_submission(data, many_blocks(), changed(machine_values(), "machine.id", machine))
    for number in range(MOST_MACHINES + 1):
        write_counted_submission(data, values=counted_values(f"6.{number}.1-amd64", f"qemu-tcg-6-{number}"))
    whole = dict(script_data(read_catalogue(DataFolder(data))))
    found = json.loads(whole[FORM])
    offered = [one["id"] for one in found["machines"]]
    assert len(offered) == 2 * MOST_MACHINES
    assert MACHINE in offered
    assert "qemu-tcg-6-0" not in offered, "the oldest kernel"
    listed = {one["id"] for one in json.loads(whole[LIST])}
    assert len(listed) == found["all"] == 2 * MOST_MACHINES + 2
    assert {f"explore/{machine}.json" for machine in listed} <= whole.keys()
    assert {f"guidance/{machine}.json" for machine in (MACHINE, *ids)} <= whole.keys()


def test_each_number_leads_to_its_own_page(catalogue: Catalogue) -> None:
    machines = subjects(catalogue)
    whole = dict(explore_files(catalogue, machines))
    known = {addresses.number(number) for one in catalogue.active for number in one.numbers}
    made = [
        row["href"].partition("#")[0]
        for machine in machines
        for row in json.loads(whole[f"explore/{machine.name}.json"])["numbers"]
    ]
    assert len(made) > 100
    assert set(made) <= known


def test_every_file_loads_at_once(catalogue: Catalogue) -> None:
    sizes = {name: len(gzip.compress(text.encode())) for name, text in explore_files(catalogue, subjects(catalogue))}
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES} == {}
