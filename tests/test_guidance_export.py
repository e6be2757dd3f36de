"""What the calculator of the home page works with."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from builders import MACHINE, REAL_DATA, write_submission
from evidence_builder import rows_of
from probe_effect.exports.guidance import guidance
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.guidance.words import WORDS
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path


def made(data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(guidance(read_catalogue(DataFolder(data))))
    return found


def test_every_cost_that_guides_is_there_with_its_interval(data: Path) -> None:
    (cost,) = made(data)["costs"]
    assert (cost["machine"], cost["tracer"], cost["case"], cost["clear"]) == (MACHINE, "bpftrace", "02-kprobe", True)
    assert cost["cost"] == pytest.approx([50, 50, 50])
    assert cost["tool"] == "bpftrace 0.23"


def test_what_does_not_guide_is_left_out(data: Path) -> None:
    write_submission(data, rows_of("05-tracepoint-return", seen=10), folder="2026-11-22-per-event")
    assert [cost["case"] for cost in made(data)["costs"]] == ["02-kprobe"]


def test_suites_offer_only_cases_that_have_a_cost(data: Path) -> None:
    assert [suite["cases"] for suite in made(data)["suites"]] == [[["02-kprobe", "Kprobe", "kprobe", "nothing"]]]


def test_what_costs_less_is_the_place_of_its_cost_with_its_note(data: Path) -> None:
    suite = "suites/per-event/suite.toml"  # with what its cases could be replaced by, also of suites that are not here
    shutil.copyfile(REAL_DATA / suite, data / suite)
    write_submission(data, rows_of("19-fentry", 20), folder="2026-11-22-per-event")
    whole = made(data)
    by_case = {cost["case"]: cost for cost in whole["costs"]}
    ((place, note, is_paired),) = by_case["02-kprobe"]["ways"]
    assert whole["costs"][place]["case"] == "19-fentry"
    assert "trampolines" in whole["notes"][note]
    assert is_paired == 0
    assert by_case["19-fentry"]["ways"] == []


def test_a_machine_says_what_it_may_be_compared_with(data: Path) -> None:
    found = made(data)["machines"][MACHINE]
    assert (found["tier"], found["architecture"]) == ("physical", "x86_64")
    assert found["where"].startswith(f"{MACHINE} (Example CPU 9000")


def test_the_page_has_the_words_of_the_terminal(data: Path) -> None:
    assert made(data)["words"] == WORDS
