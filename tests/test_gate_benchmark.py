"""The benchmark of the gate: its scripts make a suite, and its tables say what was found."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest
from benchmarks import gate

from builders import PROJECT
from probe_effect.store.places import DataFolder
from probe_effect.store.suite_file import known_suites

if TYPE_CHECKING:
    from pathlib import Path

REGRESSIONS = tomllib.loads((PROJECT / "benchmarks" / "gate.toml").read_text(encoding="utf-8"))["regression"]


@pytest.mark.parametrize("state", ["before", "after"])
def test_the_scripts_of_each_state_are_a_suite_with_a_twin_for_each(tmp_path: Path, state: str) -> None:
    data = gate.scripts(tmp_path, REGRESSIONS, state)
    suite = known_suites(DataFolder(data))["gate"]
    assert [case.id for case in suite.cases] == [one["id"] for one in REGRESSIONS]
    folder = data / "suites" / "gate"
    assert {path.name for path in folder.glob("*.bt")} == {
        f"{one['id']}{kind}.bt" for one in REGRESSIONS for kind in ("", ".check")
    }


def test_a_regression_that_the_gate_let_through_and_an_alarm_are_both_in_the_text() -> None:
    found = [gate.Pair("01-lookup", 400.0, 404.0, failed=False, grown="")]
    equal = [gate.Pair("01-lookup", 400.0, 410.0, failed=True, grown="")]
    text = gate.tables(REGRESSIONS, found, equal, 2)
    assert "| a lookup more | 400.0 | 404.0 | +1.0 % | no |  |" in text
    assert "Of 1 pairs of equal scripts, from 2 runs each with each, 1 raised an alarm" in text
    assert "differ by 2.50 %" in text
