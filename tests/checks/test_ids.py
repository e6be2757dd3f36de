"""What may be an id, and that everything with an id has a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers.builders import changed, copy_suite, machine_values, many_blocks, write_source, write_submission
from probe_effect.checks.run import check, check_all
from probe_effect.model import ProbeEffectError
from probe_effect.site.assemble import ADDRESSES
from probe_effect.site.build import every_page_is_there
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.model import Problem

TAKEN = ("index", "con", "lpt1", "content", "anatomy", "changes", "series", "mechanisms", "x86-64", "aarch64")


def errors(data: Path) -> list[Problem]:
    return [problem for problem in check_all(DataFolder(data)) if problem.severity == "error"]


@pytest.mark.parametrize("name", TAKEN)
def test_a_machine_cannot_take_the_name_of_a_page_or_a_device(tmp_path: Path, name: str) -> None:
    data = tmp_path / "data"
    copy_suite(data)
    folder = write_submission(data, many_blocks(), changed(machine_values(), "machine.id", name))
    (problem,) = [one for one in check([folder], DataFolder(data)) if one.severity == "error"]
    assert (problem.file, problem.line) == (f"data/results/{name}/{folder.name}/machine.json", 4)
    assert f"`{name}` is a name" in problem.message


def test_a_suite_and_a_case_cannot_either(data: Path) -> None:
    path = data / "suites" / "per-event" / "suite.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('id = "02-kprobe"', 'id = "index"', 1), encoding="utf-8")
    told = [one for one in errors(data) if one.file == "data/suites/per-event/suite.toml"]
    assert told
    assert told[0].line == 1 + text[: text.index('id = "02-kprobe"')].count("\n")


def test_a_source_cannot_either(tmp_path: Path) -> None:
    data = tmp_path / "data"
    copy_suite(data)
    write_source(data, name="index")
    assert [one.rule for one in errors(data)] == ["folder-name"]


@pytest.mark.parametrize("architecture", ["../../x", "a/b", "", "x" * 31])
def test_an_architecture_is_a_word_because_it_names_a_page(tmp_path: Path, architecture: str) -> None:
    values: dict[str, Any] = changed(machine_values(), "machine.architecture", architecture)
    data = tmp_path / "data"
    copy_suite(data)
    write_submission(data, many_blocks(), values)
    assert {one.file.rpartition("/")[2] for one in errors(data)} == {"machine.json"}


def test_a_site_in_which_a_page_is_missing_is_not_published(tmp_path: Path) -> None:
    (tmp_path / ADDRESSES).write_text("machines/one\nmachines/other\n", encoding="utf-8")
    page = tmp_path / "site" / "machines" / "one" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    with pytest.raises(ProbeEffectError, match="1 of 2 pages are not in the site, /machines/other/ among them"):
        every_page_is_there(tmp_path / "site", tmp_path)
    (tmp_path / ADDRESSES).write_text("machines/one\n", encoding="utf-8")
    every_page_is_there(tmp_path / "site", tmp_path)
