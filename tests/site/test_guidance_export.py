"""The files of each machine's measured costs, and what the forms have of all machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import MACHINE, changed, machine_values, many_blocks, write_submission
from helpers.evidence_builder import rows_of
from probe_effect.answer.prediction import WORDS
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.advising import ADVISING, FIRST, advise_files
from probe_effect.site.costs import cost_files
from probe_effect.site.script_values import guidance_files
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


def files(data: Path) -> dict[str, Any]:
    catalogue = read_catalogue(DataFolder(data))
    return {name: json.loads(text) for make in (guidance_files, advise_files) for name, text in make(catalogue)}


def test_every_cost_that_guides_is_there_with_its_interval(data: Path) -> None:
    (cost,) = files(data)[f"guidance/{MACHINE}.json"]["costs"]
    assert (cost["tracer"], cost["case"], cost["clear"]) == ("bpftrace", "02-kprobe", True)
    assert cost["cost"] == pytest.approx([50, 50, 50])


def test_what_does_not_guide_is_left_out(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    assert [cost["case"] for cost in files(data)[f"guidance/{MACHINE}.json"]["costs"]] == ["02-kprobe"]


def test_a_machine_without_a_cost_that_guides_has_a_file_without_any_and_is_not_offered(data: Path) -> None:
    write_submission(data, rows_of("02-kprobe", seen=10), changed(machine_values(), "machine.id", "unsound"))
    whole = files(data)
    assert whole["guidance/unsound.json"]["costs"] == []
    assert [one["id"] for one in whole[ADVISING]["machines"]] == [MACHINE]


def test_the_forms_have_the_words_of_the_terminal(data: Path) -> None:
    words = files(data)[ADVISING]["words"]
    assert {key: words[key] for key in ("slows", "band", "limits")} == {
        key: WORDS[key] for key in ("slows", "band", "limits")
    }


def test_the_forms_offer_the_kind_of_the_home_machine_first(data: Path) -> None:
    write_submission(data, many_blocks(cost_ns=60), changed(machine_values(), "machine.id", "another"))
    whole = files(data)
    first, *others = whole[FIRST]["machines"]
    assert first == ["", "Any of 2 machines (range)"]
    assert {machine for machine, _ in others} == {MACHINE, "another"}
    assert whole[ADVISING]["kind"] == "physical, x86-64"


def test_without_any_machine_there_is_no_first_answer(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    assert files(tmp_path)[FIRST] == {}


def test_a_cost_table_has_the_form_of_its_schema_and_what_was_measured(data: Path) -> None:
    found = {name: json.loads(text) for name, text in cost_files(read_catalogue(DataFolder(data)))}
    schema = found.pop("costs/schema.json")
    assert found.keys() == {"costs/physical-x86-64.json", f"costs/{MACHINE}.json"}
    for whole in found.values():
        assert set(whole) == set(schema["properties"]) == set(schema["required"])
        assert whole["format"] == schema["properties"]["format"]["const"]
        for table in whole["tracers"].values():
            assert set(table) == set(schema["$defs"]["table"]["properties"])
        rows = [row for table in whole["tracers"].values() for own in table["rows"].values() for row in own.values()]
        assert all(len(whole["columns"]) >= len(row) >= schema["$defs"]["row"]["minItems"] for row in rows)
        row = whole["tracers"]["bpftrace"]["rows"]["kprobe"]["nothing"]
        assert (row[:4], whole["machines"][row[4]]) == ([50.0, 50.0, 50.0, "measured"], [MACHINE])
