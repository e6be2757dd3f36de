"""The data format in writing is what the code checks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, get_args

import pytest
from pydantic import BaseModel

from probe_effect.exports.dictionary import written_files
from probe_effect.store.machine_file import MachineFile
from probe_effect.store.source_file import SourceFile
from site_build import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize("name", written_files())
def test_the_committed_dictionary_is_what_the_schema_makes(name: str) -> None:
    text = (PROJECT / "data" / name).read_text(encoding="utf-8")
    assert text == written_files()[name], "run: probe-effect dictionary --write"


def test_every_column_and_key_is_explained() -> None:
    for name in ("samples.csv", "figures.csv"):
        fields = json.loads(written_files()[f"schema/{name}.schema.json"])["fields"]
        assert all(field["description"].endswith((".", "`.")) for field in fields), name


def keys(model: type[BaseModel]) -> Iterator[tuple[type[BaseModel], str]]:
    """Every key of a document and of those inside it, each with the model that has it."""
    for name, field in model.model_fields.items():
        inner = models(field.annotation)
        if not inner:
            yield model, name
        for one in inner:
            yield from keys(one)


def models(kind: object) -> list[type[BaseModel]]:
    """The models in a type: of `tuple[Finding, ...] | None` it is Finding."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [one for argument in get_args(kind) for one in models(argument)]


@pytest.mark.parametrize("document", [MachineFile, SourceFile])
def test_a_problem_that_sends_its_reader_to_the_dictionary_sends_him_to_a_row(document: type[BaseModel]) -> None:
    rows = re.findall(r"^\| `(?:\w+\.)?(\w+)` \|", written_files()["README.md"], re.MULTILINE)
    assert [f"{model.__name__}.{key}" for model, key in keys(document) if key not in rows] == []
