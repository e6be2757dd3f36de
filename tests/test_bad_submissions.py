"""Each bad submission has one fault, and is told by exactly its rule, at its place, without a stack trace."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from probe_effect.checks.run import ALL_RULES, check
from probe_effect.cli.group import commands
from probe_effect.store.places import DataFolder
from submission_patches import Patch, good_data, patched, patches

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Problem

PATCHES = patches()
EACH = [pytest.param(patch, id=patch.name.removeprefix("bad-")) for patch in PATCHES]
OTHERWISE_TESTED = {"suite-scripts", "unique-cases", "known-changes", "release-files"}
"""Rules about what nobody submits."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder in which nothing is wrong."""
    return good_data(tmp_path)


def problems(folder: Path, data: Path) -> list[Problem]:
    return check([folder], DataFolder(data))


def test_there_is_nothing_wrong_with_the_good_ones(data: Path) -> None:
    assert check([data / "results", data / "published"], DataFolder(data)) == []


def test_there_are_at_least_sixty() -> None:
    assert len(PATCHES) >= 60


def test_every_rule_about_submissions_and_sources_is_broken_by_one() -> None:
    rules = {rule.id for of in ("a submission", "a published source") for rule in ALL_RULES[of]}
    assert rules <= {patch.rule for patch in PATCHES}


@pytest.mark.parametrize("patch", EACH)
def test_a_bad_one_is_told_by_exactly_its_rule_at_its_place(data: Path, patch: Patch) -> None:
    folder = patched(data, patch)
    found = problems(folder, data)
    assert Counter(problem.rule for problem in found) == {patch.rule: patch.times}, found
    first = found[0]
    assert first.file == DataFolder(data).relative(folder / patch.file)
    assert (first.line, first.severity) == (patch.line, patch.severity)
    assert patch.says in first.message
    assert first.hint


@pytest.mark.parametrize("form", ["text", "json", "github"])
@pytest.mark.parametrize("patch", EACH)
def test_a_bad_one_never_ends_in_a_stack_trace(data: Path, patch: Patch, form: str) -> None:
    folder = patched(data, patch)
    arguments = ["check", "--data", str(data), "--format", form, str(folder)]
    outcome = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert outcome.exit_code == (1 if patch.severity == "error" else 0)
    if form == "json":
        assert [one["rule"] for one in json.loads(outcome.stdout)["problems"]] == [patch.rule] * patch.times


@pytest.mark.parametrize("patch", EACH)
def test_what_is_told_of_a_bad_one_is_one_plain_line(data: Path, patch: Patch) -> None:
    for problem in problems(patched(data, patch), data):
        for text in (problem.file, problem.message, problem.hint):
            assert re.sub("[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]", " ", text).isprintable()
            assert len(text) < 2000
