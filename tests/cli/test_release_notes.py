"""What a data release brings: told from its files and those of the one before, and put together to be fetched."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helpers.builders import FOLDER, MACHINE, PROJECT, write_data
from probe_effect.cli.build import program_notes, release_notes
from probe_effect.model import UsageError
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages.changes_page import notes
from probe_effect.site.releases import make_release
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from pathlib import Path

CORRECTED = """
[[changes]]
date = "2026-11-22"
kind = "corrected"
what = ["some-source#cost_ns"]
why = "A <b>digit</b> too many."
old = "600 ns"
new = "60 ns"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def release(data: Path, version: str, date: str) -> None:
    folder = DataFolder(data)
    make_release(folder, read_catalogue(folder), version, date)


def said(data: Path, version: str) -> str:
    catalogue = read_catalogue(DataFolder(data))
    [found] = [one for one in catalogue.releases if one.version == version]
    return notes(found, catalogue)


def test_the_first_release_says_what_it_holds(data: Path) -> None:
    release(data, "2026.11", "2026-11-21")
    text = said(data, "2026.11")
    assert "as it was on 21\N{NO-BREAK SPACE}November\N{NO-BREAK SPACE}2026" in text
    assert "## What it holds" in text
    assert f"{MACHINE}/{FOLDER}" in text


def test_the_next_one_says_what_is_new_since_and_nothing_else(data: Path) -> None:
    release(data, "2026.11", "2026-11-21")
    # An older run that is merged later is new all the same.
    shutil.copytree(data / "results" / MACHINE / FOLDER, data / "results" / MACHINE / f"{FOLDER}-2")
    log = data / "changes.toml"
    old = log.read_text(encoding="utf-8") if log.is_file() else "schema_version = 1\n"
    log.write_text(old + CORRECTED, encoding="utf-8")
    release(data, "2026.12", "2026-12-01")
    text = said(data, "2026.12")
    assert "## New since 2026.11" in text
    assert f"({MACHINE}/{FOLDER}-2)" in text
    assert f"({MACHINE}/{FOLDER})" not in text
    assert "Was 600 ns, is 60 ns." in text
    assert "<b>" not in text
    assert "Was 600 ns" not in said(data, "2026.11")


def test_a_release_without_news_says_so(data: Path) -> None:
    release(data, "2026.11", "2026-11-21")
    release(data, "2026.12", "2026-12-01")
    assert "Nothing but new rules or documents." in said(data, "2026.12")


def test_the_command_prints_them_and_names_the_releases_that_there_are(data: Path) -> None:
    release(data, "2026.11", "2026-11-21")
    ran = CliRunner().invoke(release_notes, ["2026.11", "--data", str(data)])
    assert ran.exit_code == 0
    assert "## What it holds" in ran.output
    missing = CliRunner().invoke(release_notes, ["2025.01", "--data", str(data)])
    assert isinstance(missing.exception, UsageError)
    assert "There are: 2026.11" in str(missing.exception)


FAKE = """#!/bin/sh
# probe-effect build --data DATA --out OUT
[ -d "$3/results" ] || exit 9
mkdir -p "$5/data" && echo parquet > "$5/data/costs.parquet"
"""


def put_together(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "probe-effect").write_text(FAKE, encoding="utf-8")
    (tools / "probe-effect").chmod(0o755)
    command = ["/bin/sh", str(PROJECT / ".ci" / "release-files"), version, "out"]
    environment = {**os.environ, "BIN": str(tools)}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def test_the_files_are_the_frozen_ones_and_parquet_of_the_frozen_data(data: Path) -> None:
    release(data, "2026.11", "2026-11-21")
    ran = put_together(data.parent, "2026.11")
    assert ran.returncode == 0, ran.stderr
    out = data.parent / "out"
    frozen = data / "releases" / "2026.11"
    assert {path.name for path in out.iterdir()} == {path.name for path in frozen.iterdir()} | {"costs.parquet"}
    sums = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    assert sums == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir() if path.name != "SHA256SUMS"
    }


@pytest.mark.parametrize("version", ["../../etc", "2026.11; id", "", "..", "2031.01"])
def test_a_version_that_is_none_ends_it(data: Path, version: str) -> None:
    ran = put_together(data.parent, version)
    assert (ran.returncode, (data.parent / "out").exists()) == (2, False)


UV = """#!/bin/sh
# uv build --quiet --wheel --out-dir DIR
echo wheel > "$5/probe_effect-1.2.0-py3-none-any.whl"
"""

CHANGES = """\
# Changelog

## 1.2.0, 2027-01-02

- A probe more.

## 1.1.0, 2027-01-01

- A probe less.
"""


def of_program(folder: Path, changes: str = CHANGES) -> subprocess.CompletedProcess[str]:
    """Put version 1.2.0 of a program together."""
    (folder / "pyproject.toml").write_text('[project]\nname = "probe-effect"\nversion = "1.2.0"\n', encoding="utf-8")
    (folder / "CITATION.cff").write_text("cff-version: 1.2.0\n", encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    uv = folder / "build" / "uv" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.write_text(UV, encoding="utf-8")
    uv.chmod(0o755)
    return put_together(folder, "1.2.0")


def test_the_program_is_released_as_its_wheel_with_how_to_cite_it_and_what_changed(data: Path) -> None:
    ran = of_program(data.parent)
    assert ran.returncode == 0, ran.stderr
    names = {"probe_effect-1.2.0-py3-none-any.whl", "CITATION.cff", "CHANGELOG.md"}
    assert {path.name for path in (data.parent / "out").iterdir()} == {*names, "SHA256SUMS"}
    sums = (data.parent / "out" / "SHA256SUMS").read_text(encoding="utf-8")
    assert {line.split("  ")[1] for line in sums.splitlines()} == names


def test_its_notes_are_its_part_of_the_change_log(data: Path) -> None:
    of_program(data.parent)
    ran = CliRunner().invoke(release_notes, ["1.2.0", "--data", str(data)])
    assert ran.output == "- A probe more.\n"
    missing = CliRunner().invoke(release_notes, ["1.3.0", "--data", str(data)])
    assert "There are: 1.2.0, 1.1.0" in str(missing.exception)


def test_a_version_of_the_program_without_a_word_on_what_changed_ends_it(data: Path) -> None:
    ran = of_program(data.parent, "# Changelog\n")
    assert ran.returncode == 2
    assert "## 1.2.0, DAY" in ran.stderr


def test_the_change_log_says_what_the_version_of_the_program_changed() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "### Method" in program_notes((PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"))[project["version"]]


def test_a_frozen_file_that_was_changed_ends_it(data: Path) -> None:
    release(data, "2026.11", "2026-11-21")
    (data / "releases" / "2026.11" / "costs.csv").write_text("changed\n", encoding="utf-8")
    ran = put_together(data.parent, "2026.11")
    assert ran.returncode == 1
    assert "costs.csv" in ran.stdout + ran.stderr
