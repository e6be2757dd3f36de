"""One meaning of *current*: whatever a newer run is, every table, export and command stands on the same number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helpers.builders import MACHINE, changed, machine_document, machine_values, many_blocks, write_submission
from helpers.identities import become
from probe_effect.cli.advise import predict
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.assemble import script_data
from probe_effect.site.files import number_rows
from probe_effect.site.script_values import shard_name
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Sample

OLD, NEW = "2026-11-20", "2026-11-22"
CASE, TRACER = "02-kprobe", "bpftrace"
COSTS_NS = {OLD: 50.0, NEW: 70.0}

FAILED = many_blocks(cost_ns=COSTS_NS[NEW], status="failed", note="the tool died", wall_ns=None)
FLAGGED = many_blocks(cost_ns=COSTS_NS[NEW], seen=10)
SOUND = many_blocks(cost_ns=COSTS_NS[NEW])


def add(data: Path, rows: list[Sample], day: str = NEW) -> None:
    """A run of the machine on that day."""
    values = changed(machine_values(), "run.started", f"{day}T10:00:00Z")
    write_submission(data, rows, values, folder=f"{day}-per-event")


def withdraw(data: Path, day: str) -> None:
    """Say of a run that it does not count."""
    what = json.dumps([f"{MACHINE}/{day}-per-event"])
    change = f'[[changes]]\ndate = "2026-11-22"\nkind = "withdrawn"\nwhat = {what}\nwhy = "Another job was running."\n'
    (data / "changes.toml").write_text(f"schema_version = 1\n\n{change}", encoding="utf-8")


def scripts(data: Path) -> dict[str, Any]:
    """What the scripts of pages get."""
    return {name: json.loads(text) for name, text in script_data(read_catalogue(DataFolder(data)))}


def of_explore(data: Path) -> list[str]:
    found = scripts(data)[f"explore/{MACHINE}.json"]["numbers"]
    return [one["submission"] for one in found if one["case"] == CASE]


def of_compare(data: Path) -> list[str]:
    shard = scripts(data)[shard_name(MACHINE, TRACER)]
    current = shard["numbers"][: shard["current"]]
    return [shard["runs"][one["run"]]["id"] for one in current if one["case"] == CASE]


def of_tables(data: Path) -> list[str]:
    catalogue = read_catalogue(DataFolder(data))
    rows = number_rows(catalogue.timed, catalogue.numbers)
    return [str(row["submission"]) for row in rows if row["current"] and row["case"] == CASE]


def of_calculator(data: Path) -> list[str]:
    machines = [one for name, one in scripts(data).items() if name.startswith("guidance/")]
    days = {names.date_words(day): day for day in (OLD, NEW)}
    found = [one for machine in machines for one in machine["costs"] if one["case"] == CASE]
    assert [one["cost"][0] for one in found] == pytest.approx([COSTS_NS[days[one["date"]]] for one in found])
    return [f"{MACHINE}/{days[one['date']]}-per-event" for one in found]


def of_predict(data: Path) -> list[str]:
    options = ["--data", str(data), "--rate", "50k", "--case", CASE, "--format", "json"]
    outcome = CliRunner().invoke(predict, options, catch_exceptions=False, standalone_mode=False)
    found = json.loads(outcome.stdout)
    (probe,) = found["probes"]
    (day,) = found["dates"]
    assert probe["cost_ns"] == pytest.approx(COSTS_NS[day])
    return [f"{MACHINE}/{day}-per-event"]


SHOW = (of_explore, of_compare, of_tables)
"""What shows a number whatever it is, as long as it has a cost."""

GUIDE = (of_calculator, of_predict)


@pytest.fixture(autouse=True)
def _this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine like the one that was measured, and not the one that runs the tests."""
    become(monkeypatch, machine_document(machine__id="here"))


def everywhere(data: Path) -> dict[str, list[str]]:
    """Which run each of them names."""
    return {one.__name__: one(data) for one in (*SHOW, *GUIDE)}


def all_name(day: str) -> dict[str, list[str]]:
    """What that is where all name the run of one day."""
    return {one.__name__: [f"{MACHINE}/{day}-per-event"] for one in (*SHOW, *GUIDE)}


def test_a_newer_sound_run_stands(data: Path) -> None:
    add(data, SOUND)
    assert everywhere(data) == all_name(NEW)


@pytest.mark.parametrize("rows", [pytest.param(FAILED, id="failed"), pytest.param(FLAGGED, id="flagged")])
def test_a_newer_run_that_is_not_sound_does_not_take_the_place_of_one_that_is(data: Path, rows: list[Sample]) -> None:
    add(data, rows)
    assert everywhere(data) == all_name(OLD)


def test_a_newer_run_that_was_withdrawn_is_asked_by_nobody(data: Path) -> None:
    add(data, SOUND)
    withdraw(data, NEW)
    assert everywhere(data) == all_name(OLD)


def test_where_no_run_is_sound_the_newest_with_a_cost_is_shown_and_guides_nobody(tmp_path: Path) -> None:
    for day in (OLD, NEW):
        add(tmp_path, FLAGGED, day)
    add(tmp_path, FAILED, "2026-11-23")
    assert [one(tmp_path) for one in SHOW] == [[f"{MACHINE}/{NEW}-per-event"]] * len(SHOW)
    assert of_calculator(tmp_path) == []
