"""The data format in writing is what the code checks."""

from __future__ import annotations

import json

import pytest

from probe_effect.exports.dictionary import written_files
from site_build import PROJECT


@pytest.mark.parametrize("name", written_files())
def test_the_committed_dictionary_is_what_the_schema_makes(name: str) -> None:
    text = (PROJECT / "data" / name).read_text(encoding="utf-8")
    assert text == written_files()[name], "run: probe-effect dictionary --write"


def test_every_column_and_key_is_explained() -> None:
    for name in ("samples.csv", "figures.csv"):
        fields = json.loads(written_files()[f"schema/{name}.schema.json"])["fields"]
        assert all(field["description"].endswith((".", "`.")) for field in fields), name
