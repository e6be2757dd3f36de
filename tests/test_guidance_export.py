"""What the calculator of the home page works with."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from builders import MACHINE, REAL_DATA, changed, machine_values, many_blocks, write_submission
from evidence_builder import rows_of
from probe_effect.answer.words import WORDS
from probe_effect.exports import guidance
from probe_effect.exports.guidance import CALCULATOR, FIRST, guidance_files
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


def files(data: Path) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in guidance_files(read_catalogue(DataFolder(data)))}


def made(data: Path) -> dict[str, Any]:
    found: dict[str, Any] = files(data)[CALCULATOR]
    return found


def costs(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = made(data)["machines"][MACHINE]["costs"]
    return found


def test_every_cost_that_guides_is_there_with_its_interval(data: Path) -> None:
    (cost,) = costs(data)
    assert (cost["tracer"], cost["case"], cost["clear"]) == ("bpftrace", "02-kprobe", True)
    assert cost["cost"] == pytest.approx([50, 50, 50])
    assert cost["tool"] == "bpftrace 0.23"


def test_what_does_not_guide_is_left_out(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    assert [cost["case"] for cost in costs(data)] == ["02-kprobe"]


def test_suites_offer_only_cases_that_have_a_cost(data: Path) -> None:
    (suite,) = made(data)["suites"]
    assert suite["cases"] == [["02-kprobe", "Kprobe", "kprobe", "nothing", "/costs/02-kprobe/"]]


def test_what_costs_less_is_the_place_of_its_cost_with_its_note(data: Path) -> None:
    suite = "suites/per-event/suite.toml"  # with what its cases could be replaced by, also of suites that are not here
    shutil.copyfile(REAL_DATA / suite, data / suite)
    write_submission(data, rows_of("19-fentry", 20), folder="2026-11-22-per-event")
    by_case = {cost["case"]: cost for cost in costs(data)}
    ((place, note, is_paired),) = by_case["02-kprobe"]["ways"]
    assert costs(data)[place]["case"] == "19-fentry"
    assert "trampolines" in made(data)["notes"][note]
    assert is_paired == 0
    assert by_case["19-fentry"]["ways"] == []


def test_a_machine_says_what_it_may_be_compared_with(data: Path) -> None:
    found = made(data)
    machine = found["machines"][MACHINE]
    assert (machine["kind"], machine["alike"]) == ("like.physical.x86_64", "physical, x86-64")
    assert machine["where"] == "Example, machine"
    assert (found["kinds"], found["all"]) == ({machine["kind"]: 1}, 1)


def test_the_page_has_the_words_of_the_terminal(data: Path) -> None:
    assert made(data)["words"].items() >= WORDS.items()


def test_each_machine_has_a_file_with_the_costs_that_the_page_has_of_it(data: Path) -> None:
    whole = files(data)
    assert whole[f"guidance/{MACHINE}.json"] == whole[CALCULATOR]["machines"][MACHINE]


def test_the_page_begins_with_as_many_machines_as_have_few_costs_together(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guidance, "MOST_COSTS", 2)
    others = {f"another-{number}" for number in range(3)}
    for machine in others:
        write_submission(data, many_blocks(cost_ns=60), changed(machine_values(), "machine.id", machine))
    whole = files(data)
    assert len(whole[CALCULATOR]["machines"]) == 2
    assert (whole[CALCULATOR]["all"], whole[CALCULATOR]["kinds"]) == (4, {"like.physical.x86_64": 4})
    assert whole.keys() == {CALCULATOR, FIRST, *(f"guidance/{machine}.json" for machine in (MACHINE, *others))}


def test_a_machine_without_a_cost_that_guides_has_a_file_without_any(data: Path) -> None:
    values = changed(machine_values(), "machine.id", "unsound")
    write_submission(data, rows_of("02-kprobe", seen=10), values)
    whole = files(data)
    assert whole["guidance/unsound.json"]["costs"] == []
    assert whole[CALCULATOR]["machines"].keys() == {MACHINE}
