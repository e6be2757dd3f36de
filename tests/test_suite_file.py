"""`suite.toml`: levels are told apart and fit what they count; a workload names the headers that it shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import REAL_DATA
from probe_effect.store.suite_file import Suite, own_headers, read_suite

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
