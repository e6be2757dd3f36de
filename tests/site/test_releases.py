"""Releases: made once, the same bytes each time, and watched afterwards; the files that describe them to others."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner

from helpers.builders import FOLDER, MACHINE, PROJECT, REAL_DATA, rules, write_data
from probe_effect.checks.run import check_all
from probe_effect.cli.build import release as command
from probe_effect.model import BadData, UsageError
from probe_effect.numbers.catalogue import read_catalogue
from probe_effect.site.pages import changes_page
from probe_effect.site.releases import copy_releases, make_release
from probe_effect.store.places import DataFolder
from probe_effect.store.release_file import Release, read_releases

if TYPE_CHECKING:
    from pathlib import Path

ROWS = f"results/{MACHINE}/{FOLDER}/samples.csv"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path)


def make(data: Path, version: str = "2026.11") -> Release:
    folder = DataFolder(data)
    return make_release(folder, read_catalogue(folder), version, "2026-11-21")


def problems(data: Path) -> list[str]:
    return [one.message for one in check_all(DataFolder(data)) if one.rule == "release-files"]


def test_a_release_holds_every_file_as_it_was(data: Path) -> None:
    made = make(data)
    with zipfile.ZipFile(made.archive) as archive:
        assert archive.testzip() is None
        for one in made.document.files:
            content = archive.read(f"probe-effect-2026.11/data/{one.path}")
            assert content == (data / one.path).read_bytes()
            assert (hashlib.sha256(content).hexdigest(), len(content)) == (one.sha256, one.bytes)
    parts = {one.path.split("/")[0] for one in made.document.files}
    assert parts == {"results", "published", "suites"}


def test_the_same_data_make_the_same_bytes(data: Path, tmp_path: Path) -> None:
    first, second = make(data), make(write_data(tmp_path / "other"))
    assert first.names == second.names
    for name in first.names:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_its_numbers_are_in_a_table(data: Path) -> None:
    with (make(data).folder / "costs.csv").open(encoding="utf-8") as file:
        rows = {(row["case"], row["tracer"]): row for row in csv.DictReader(file)}
    assert float(rows["02-kprobe", "bpftrace"]["cost_ns"]) == 50


def test_other_programs_can_check_it(data: Path) -> None:
    folder = make(data).folder
    program = shutil.which("sha256sum")
    assert program, "coreutils are everywhere"
    subprocess.run([program, "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)


def test_a_release_is_never_made_again(data: Path) -> None:
    make(data)
    with pytest.raises(UsageError, match="was released before"):
        make(data)


@pytest.mark.parametrize("version", ["1.0", "2026.13", "2026.11.0", "2026-11", "../x", "2026.11/x", ""])
def test_a_version_is_year_and_month(data: Path, version: str) -> None:
    with pytest.raises(UsageError, match="is not a version"):
        make(data, version)
    assert not (data / "releases").exists()


def test_unsound_data_are_not_released(data: Path) -> None:
    (data / "published" / "a-talk" / "figures.csv").write_text("nonsense\n")
    with pytest.raises(BadData):
        CliRunner().invoke(command, ["2026.11", "--data", str(data)], catch_exceptions=False, standalone_mode=False)
    assert not (data / "releases").exists()


def test_the_command_says_where_the_release_is(data: Path) -> None:
    found = CliRunner().invoke(command, ["2026.11", "--data", str(data)], catch_exceptions=False, standalone_mode=False)
    assert found.stdout.strip() == str(data / "releases" / "2026.11")
    assert rules(check_all(DataFolder(data))) == set()


def test_a_later_suite_and_a_corrected_figure_leave_a_release_sound(data: Path) -> None:
    make(data)
    with (data / "suites" / "per-event" / "02-kprobe.bt").open("a") as script:
        script.write("// later\n")
    with (data / "published" / "a-talk" / "source.toml").open("a") as source:
        source.write("# later\n")
    assert problems(data) == []


def test_rows_that_were_released_must_stay(data: Path) -> None:
    make(data)
    with (data / ROWS).open("a") as rows:
        rows.write("\n")
    assert problems(data) == [f"{ROWS} is no longer as it was released"]


def test_a_changed_release_is_told_by_file(data: Path) -> None:
    folder = make(data).folder
    (folder / "costs.csv").write_text("case,cost_ns\n")
    (folder / "counts.csv").unlink()
    (folder / "extra").touch()
    found = problems(data)
    assert "is missing" in found
    assert "is not a file of a release" in found


def test_a_changed_table_is_told(data: Path) -> None:
    folder = make(data).folder
    (folder / "costs.csv").write_text("case,cost_ns\n")
    assert problems(data) == ["does not have the hash of costs.csv"]


def test_another_archive_is_told(data: Path) -> None:
    made = make(data)
    made.archive.write_bytes(b"PK nonsense")
    assert "is not a sound zip archive" in problems(data)


@pytest.mark.parametrize(
    ("at", "value"), [pytest.param(10, 99, id="packed in an unknown way"), pytest.param(8, 1, id="encrypted")]
)
def test_an_archive_that_cannot_be_unpacked_is_told(data: Path, at: int, value: int) -> None:
    """`at` is the place of the field in a central directory's entry (APPNOTE 6.3.10, section 4.3.12)."""
    made = make(data)
    packed = bytearray(made.archive.read_bytes())
    for entry in re.finditer(b"PK\x01\x02", bytes(packed)):
        packed[entry.start() + at : entry.start() + at + 2] = value.to_bytes(2, "little")
    made.archive.write_bytes(packed)
    assert "is not a sound zip archive" in problems(data)


def test_an_archive_with_other_content_is_told(data: Path) -> None:
    made = make(data)
    with zipfile.ZipFile(made.archive, "w") as archive:
        for one in made.document.files:
            archive.writestr(f"probe-effect-2026.11/data/{one.path}", b"\0" * one.bytes)
    assert f"{ROWS} is not as the manifest says" in problems(data)


def test_a_release_in_another_folder_is_told(data: Path) -> None:
    make(data).folder.rename(data / "releases" / "2026.12")
    assert "release/version" in rules(check_all(DataFolder(data)))


def test_releases_are_in_the_order_of_their_versions(data: Path) -> None:
    for version in ("2026.11.10", "2027.01", "2026.11", "2026.11.9"):
        make(data, version)
    found, _ = read_releases(DataFolder(data))
    assert [one.version for one in found] == ["2026.11", "2026.11.9", "2026.11.10", "2027.01"]
    listed = re.findall(r"\[(\d{4}\.[\d.]+)\]", changes_page.fragment(read_catalogue(DataFolder(data))))
    assert listed == ["2027.01", "2026.11.10", "2026.11.9", "2026.11"]


def test_the_site_has_a_release_as_it_was_made(data: Path, tmp_path: Path) -> None:
    made = make(data)
    copy_releases(read_catalogue(DataFolder(data)), tmp_path / "releases")
    for name in made.names:
        assert (tmp_path / "releases" / "2026.11" / name).read_bytes() == (made.folder / name).read_bytes()


@pytest.fixture
def cff() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def zenodo() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PROJECT / ".zenodo.json").read_text(encoding="utf-8"))
    return found


def test_the_citation_file_has_what_its_format_asks_for(cff: dict[str, Any]) -> None:
    # Citation File Format 1.2.0, schema-guide.md: required keys, and those that a data set may have.
    assert {"cff-version", "message", "title", "authors"} <= cff.keys()
    known = {
        "abstract",
        "date-released",
        "doi",
        "identifiers",
        "keywords",
        "license",
        "repository",
        "type",
        "url",
        "version",
    }
    assert cff.keys() <= known | {"cff-version", "message", "title", "authors"}
    assert cff["cff-version"] == "1.2.0"
    assert cff["type"] == "dataset"
    assert all(set(author) == {"name"} for author in cff["authors"])


def test_the_archive_file_has_what_zenodo_asks_for(zenodo: dict[str, Any]) -> None:
    # developers.zenodo.org, deposit metadata.
    assert {"title", "upload_type", "description", "creators", "access_right", "license"} <= zenodo.keys()
    assert zenodo["upload_type"] == "dataset"
    assert zenodo["access_right"] == "open"
    assert all(set(creator) <= {"name", "affiliation", "orcid", "gnd"} for creator in zenodo["creators"])


def test_both_say_the_same(cff: dict[str, Any], zenodo: dict[str, Any]) -> None:
    assert zenodo["title"] == cff["title"]
    assert re.sub(r"<[^>]+>", "", zenodo["description"]) == cff["abstract"]
    assert zenodo["creators"] == cff["authors"]
    assert zenodo["keywords"] == cff["keywords"]
    assert zenodo["license"] == cff["license"].lower()
    assert (zenodo["version"], zenodo["publication_date"]) == (cff["version"], str(cff["date-released"]))


def test_both_are_of_the_newest_release(cff: dict[str, Any]) -> None:
    releases, faults = read_releases(DataFolder(REAL_DATA))
    assert faults == []
    assert (releases[-1].version, releases[-1].document.date) == (cff["version"], str(cff["date-released"]))
