"""References: facts about kernels and tools, each with a place that shows the same tomorrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from helpers.builders import PROJECT, REAL_DATA
from probe_effect.checks.run import check_all
from probe_effect.store.beside_files import read_explanations, read_references
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

MARK = re.compile(r'\{\{<\s*reference\s+"([^"]+)"')


def one(name: str, url: str = "https://example.org/blob/v1/a.c") -> str:
    return f'[[reference]]\nid = "{name}"\nsays = "It does."\nproject = "A"\nplace = "a.c"\nurl = "{url}"\n'


def written(folder: Path, *entries: str) -> DataFolder:
    (folder / "references.toml").write_text("\n".join(["schema_version = 1", *entries]), encoding="utf-8")
    return DataFolder(folder)


def test_references_are_read_in_their_order(tmp_path: Path) -> None:
    found, problems = read_references(written(tmp_path, one("a"), one("b")))
    assert [reference.id for reference in found] == ["a", "b"]
    assert problems == []


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert read_references(DataFolder(tmp_path)) == ((), [])


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([one("b"), one("a")], "sort by id"),
        ([one("a"), one("a")], "sort by id"),
        ([one("a", "https://github.com/a/b/blob/master/c.c")], "shows another text tomorrow"),
        ([one("a", "javascript:alert(1)")], "pattern"),
        ([one("a").replace("says", "said")], "says"),
    ],
)
def test_an_unsound_reference_is_a_problem_with_its_place(data: Path, entries: list[str], fault: str) -> None:
    problems = check_all(written(data, *entries))
    assert any(fault in problem.message and problem.file.endswith("references.toml") for problem in problems)


def test_pages_refer_to_what_is_there_and_every_reference_is_used() -> None:
    marks = {found for path in (PROJECT / "content").rglob("*.md") for found in MARK.findall(path.read_text("utf-8"))}
    found, problems = read_references(DataFolder(REAL_DATA))
    assert problems == []
    explanations, _ = read_explanations(DataFolder(REAL_DATA))
    explaining = {name for one in explanations for name in one.references}
    assert {reference.id for reference in found} == marks | explaining
