"""`suite.toml`: levels are told apart and fit what they count; a workload names the headers that it shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers.builders import REAL_DATA
from helpers.evidence_builder import case, suite
from probe_effect.store.places import own_headers
from probe_effect.store.suite_file import Suite, read_suite, script_path, script_paths

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Problem

FACTOR = '[factor]\nname = "work"\ntitle = "Work"\nunit = "turns"\n{keys}\n\n[[cases]]'


def suite_with(folder: Path, keys: str) -> tuple[Suite | None, list[Problem]]:
    """The suite `per-event` with a factor of these keys."""
    text = (REAL_DATA / "suites" / "per-event" / "suite.toml").read_text(encoding="utf-8")
    (folder / "suite.toml").write_text(text.replace("[[cases]]", FACTOR.format(keys=keys), 1), encoding="utf-8")
    return read_suite(folder, "suite.toml")


def test_levels_are_text_or_whole_numbers_and_keep_their_order(tmp_path: Path) -> None:
    suite, problems = suite_with(tmp_path, 'levels = [10, 0, "all-of-them"]')
    assert problems == []
    assert suite is not None
    assert suite.levels == ("10", "0", "all-of-them")


@pytest.mark.parametrize(("levels", "words"), [("[1, 2]", "a level counts turns"), ('["a", 2]', "a level names turns")])
def test_a_level_counts_what_it_is_a_number_of_and_names_the_rest(tmp_path: Path, levels: str, words: str) -> None:
    suite, _ = suite_with(tmp_path, f"levels = {levels}")
    assert suite is not None
    assert suite.factor is not None
    assert suite.factor.meaning == words


def test_a_suite_without_a_factor_has_no_levels() -> None:
    suite, _ = read_suite(REAL_DATA / "suites" / "per-event", "suite.toml")
    assert suite is not None
    assert suite.levels == ()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        pytest.param("levels = []", "at least 1", id="none"),
        pytest.param('levels = [1, "1"]', "has a level twice", id="twice"),
        pytest.param("levels = [-1]", "greater than or equal to 0", id="below 0"),
        pytest.param('levels = ["a b"]', "match pattern", id="no id"),
        pytest.param("levels = [0, 1]\noccupies_cpus = true", "numbers of threads, 1 or more", id="no thread"),
        pytest.param('levels = ["many"]\noccupies_cpus = true', "numbers of threads, 1 or more", id="no number"),
    ],
)
def test_levels_that_cannot_be_are_told(tmp_path: Path, keys: str, words: str) -> None:
    suite, problems = suite_with(tmp_path, keys)
    assert suite is None
    assert any(words in problem.message for problem in problems), problems


def test_a_workload_shares_the_headers_that_it_names_no_higher_than_beside_the_suites(tmp_path: Path) -> None:
    source = tmp_path / "suites" / "one" / "workload" / "loop.c"
    source.parent.mkdir(parents=True)
    for header in (tmp_path / "above.h", tmp_path / "suites" / "shared.h", source.with_name("own.h")):
        header.touch()
    names = ("../../../above.h", "../../shared.h", "own.h", "absent.h", "/etc/own.h")
    lines = ["#include <stdio.h>", *(f'#include "{name}"' for name in names)]
    source.write_text("\n".join(lines), encoding="utf-8")
    assert [path.name for path in own_headers(source)] == ["shared.h", "own.h"]


@pytest.mark.parametrize(
    ("names", "level", "taken"),
    [
        pytest.param(["a.bt", "a.100.bt"], "100", "a.100.bt", id="its own"),
        pytest.param(["a.bt", "a.100.bt"], "10", "a.bt", id="that of the case"),
        pytest.param(["a.bt", "a.100.bt"], None, "a.bt", id="no level"),
        pytest.param(["a.100.bt"], "10", None, id="another level's"),
        pytest.param(["a.100.bt"], None, None, id="no level, and only scripts of levels"),
        pytest.param(["a.100.check.bt", "a.check.bt"], "100", None, id="twins are no scripts"),
    ],
)
def test_a_level_takes_its_own_script_or_that_of_the_case(
    tmp_path: Path, names: list[str], level: str | None, taken: str | None
) -> None:
    for name in names:
        (tmp_path / name).touch()
    found = script_path(tmp_path, "a", "bpftrace", level=level)
    assert (found and found.name) == taken


def test_a_level_may_have_a_twin_of_its_own(tmp_path: Path) -> None:
    for name in ("a.check.bt", "a.100.check.bt"):
        (tmp_path / name).touch()
    twins = [script_path(tmp_path, "a", "bpftrace", level=level, check=True) for level in ("10", "100")]
    assert [path and path.name for path in twins] == ["a.check.bt", "a.100.check.bt"]


def test_all_scripts_of_a_case_are_known_with_the_levels_that_they_are_for(tmp_path: Path) -> None:
    suite, problems = suite_with(tmp_path, "levels = [1, 10, 100]")
    assert problems == []
    assert suite is not None
    for name in ("a.bt", "a.100.bt"):
        (tmp_path / name).touch()
    found = {path.name: levels for path, levels in script_paths(tmp_path, suite, "a", "bpftrace").items()}
    assert found == {"a.bt": ("1", "10"), "a.100.bt": ("100",)}
    assert script_paths(tmp_path, suite, "a", "dtrace") == {}


@pytest.mark.parametrize("seconds", ["0", "-1", "3601", '"long"'])
def test_a_patience_without_sense_is_refused(tmp_path: Path, seconds: str) -> None:
    text = (REAL_DATA / "suites" / "attach" / "suite.toml").read_text(encoding="utf-8")
    (tmp_path / "suite.toml").write_text(
        text.replace("patience_seconds = 600", f"patience_seconds = {seconds}"), encoding="utf-8"
    )
    suite, (problem,) = read_suite(tmp_path, "suite.toml")
    assert suite is None
    assert "patience_seconds" in problem.message


@pytest.mark.parametrize(
    ("architecture", "cases"),
    [
        pytest.param("x86_64", ["on-all", "on-x86"], id="Linux, x86-64"),
        pytest.param("amd64", ["on-all", "on-x86"], id="FreeBSD, x86-64"),
        pytest.param("aarch64", ["on-all", "on-arm"], id="Linux, arm64"),
        pytest.param("arm64", ["on-all", "on-arm"], id="FreeBSD, arm64"),
        pytest.param("riscv64", ["on-all"], id="another"),
    ],
)
def test_a_machine_has_the_cases_of_its_architecture_and_those_of_all(architecture: str, cases: list[str]) -> None:
    whole = suite(
        "some", case("on-all"), case("on-x86", architectures=["x86_64"]), case("on-arm", architectures=["aarch64"])
    )
    assert [one.id for one in whole.on(architecture).cases] == cases
