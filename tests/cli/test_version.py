"""The version of the data: the same for the same files, another for any other."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from helpers.builders import FOLDER, MACHINE, many_blocks, write_data, write_submission
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import data_files, data_version

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def version(data: Path) -> str:
    return data_version(DataFolder(data))


def test_it_is_the_day_of_the_newest_submission_and_a_digest(data: Path) -> None:
    assert re.fullmatch(r"2026-11-20\.[0-9a-f]{8}", version(data))
    write_submission(data, many_blocks(), folder="2026-12-01-per-event")
    assert version(data).startswith("2026-12-01.")


def test_a_later_correction_gives_its_day(data: Path) -> None:
    text = '[[changes]]\ndate = "2027-01-05"\nkind = "added"\nwhat = ["a-talk"]\nwhy = "New."\n'
    (data / "changes.toml").write_text(f"schema_version = 1\n\n{text}")
    assert version(data).startswith("2027-01-05.")


def test_the_same_files_elsewhere_have_the_same_version(data: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(data, tmp_path / "elsewhere" / "other-name")
    for path in copied.rglob("*"):
        os.utime(path, (0, 0))
    assert version(copied) == version(data)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(f"results/{MACHINE}/{FOLDER}/samples.csv", id="a row"),
        pytest.param("published/a-talk/figures.csv", id="a figure"),
        pytest.param("suites/per-event/02-kprobe.bt", id="a script"),
    ],
)
def test_one_byte_more_is_another_version(data: Path, name: str) -> None:
    before = version(data)
    with (data / name).open("a") as file:
        file.write("\n")
    assert version(data) != before


def test_a_file_that_moved_is_another_version(data: Path) -> None:
    before = version(data)
    (data / "results" / MACHINE / FOLDER).rename(data / "results" / MACHINE / f"{FOLDER}-2")
    assert version(data) != before


def test_what_lies_beside_the_data_changes_nothing(data: Path) -> None:
    before = version(data)
    (data / "README.md").write_text("dictionary")
    (data / "results" / ".DS_Store").write_text("an editor's")
    (data / "releases" / "2026.11").mkdir(parents=True)
    (data / "releases" / "2026.11" / "manifest.json").write_text("{}")
    assert version(data) == before


def test_nothing_dated_leaves_the_digest_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert re.fullmatch(r"[0-9a-f]{8}", version(tmp_path / "data"))


def test_a_link_out_of_the_data_is_not_read(data: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not data")
    (data / "results" / MACHINE / "link").symlink_to(tmp_path / "secret")
    assert not [one for one in data_files(DataFolder(data)) if one[0].endswith("link")]
