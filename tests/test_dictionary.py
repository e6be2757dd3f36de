"""The data format in writing is what the code checks."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from probe_effect.exports.dictionary import data_package, written_files
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.store.places import DataFolder
from site_build import PROJECT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", written_files())
def test_the_committed_dictionary_is_what_the_schema_makes(name: str) -> None:
    text = (PROJECT / "data" / name).read_text(encoding="utf-8")
    assert text == written_files()[name], "run: probe-effect dictionary --write"


def test_the_data_package_names_every_table_with_the_columns_that_it_has(data: Path) -> None:
    package = json.loads(data_package(read_catalogue(DataFolder(data))))
    paths = [path for resource in package["resources"] for path in resource["path"]]
    assert sorted(paths) == sorted(str(path.relative_to(data)) for path in data.rglob("*.csv"))
    for resource in package["resources"]:
        names = [field["name"] for field in resource["schema"]["fields"]]
        for path in resource["path"]:
            with (data / path).open(encoding="utf-8", newline="") as table:
                assert next(csv.reader(table)) == names


def test_every_column_and_key_is_explained() -> None:
    for name in ("samples.csv", "figures.csv"):
        fields = json.loads(written_files()[f"schema/{name}.schema.json"])["fields"]
        assert all(field["description"].endswith((".", "`.")) for field in fields), name
