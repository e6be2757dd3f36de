"""Each bad submission has one fault, and is told by exactly its rule, at its place, without a stack trace."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.submission_patches import Patch, good_data, patched, patches
from probe_effect.checks.run import ALL_RULES, check
from probe_effect.cli import commands
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from probe_effect.model import Problem

PATCHES = patches()
EACH = [pytest.param(patch, id=patch.name.removeprefix("bad-")) for patch in PATCHES]
SAMPLE = 12
"""So many of them stand for all where it is a form of the output that is tested, and not a rule."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder in which nothing is wrong."""
    return good_data(tmp_path)


def problems(folder: Path, data: Path) -> list[Problem]:
    return check([folder], DataFolder(data))


def test_there_is_nothing_wrong_with_the_good_ones(data: Path) -> None:
    assert check([data / "results", data / "published"], DataFolder(data)) == []


def test_every_rule_about_submissions_and_sources_is_broken_by_one() -> None:
    rules = {rule.id for of in ("a submission", "a published source") for rule in ALL_RULES[of]}
    assert rules <= {patch.rule for patch in PATCHES}


@pytest.mark.parametrize("patch", EACH)
def test_a_bad_one_is_told_by_exactly_its_rule_at_its_place_in_plain_lines(data: Path, patch: Patch) -> None:
    folder = patched(data, patch)
    found = problems(folder, data)
    assert Counter(problem.rule for problem in found) == Counter(
        {patch.rule: patch.times} | dict.fromkeys(patch.also, 1)
    ), found
    first = found[0]
    assert first.file == DataFolder(data).relative(folder / patch.file)
    assert (first.line, first.severity) == (patch.line, patch.severity)
    assert patch.says in first.message
    assert first.hint
    for text in (text for problem in found for text in (problem.file, problem.message, problem.hint)):
        assert re.sub("[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]", " ", text).isprintable()
        assert len(text) < 2000


def checked(data: Path, patch: Patch, form: str) -> Result:
    """What the command says of a bad one in a form."""
    arguments = ["check", "--data", str(data), "--format", form, str(patched(data, patch))]
    outcome = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert outcome.exit_code == (1 if patch.severity == "error" else 0)
    return outcome


@pytest.mark.parametrize("patch", EACH)
def test_a_bad_one_never_ends_in_a_stack_trace(data: Path, patch: Patch) -> None:
    told = [one["rule"] for one in json.loads(checked(data, patch, "json").stdout)["problems"]]
    assert told == [*[patch.rule] * patch.times, *patch.also]


@pytest.mark.parametrize("form", ["text", "github"])
@pytest.mark.parametrize("patch", EACH[:: len(EACH) // SAMPLE])
def test_the_other_forms_name_the_rule_too(data: Path, patch: Patch, form: str) -> None:
    assert patch.rule in checked(data, patch, form).output
