"""The data format in writing is what the code checks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, get_args

import pytest
from pydantic import BaseModel

from helpers.site_build import PROJECT
from probe_effect.site.data_folder import DOCUMENTS, written_files
from probe_effect.store.beside_files import SourceFile
from probe_effect.store.documents import keys_said
from probe_effect.store.machine_file import MachineFile

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


def every(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A document and all that is inside it."""
    yield model
    for field in model.model_fields.values():
        for inner in models(field.annotation):
            yield from every(inner)


def test_each_row_of_what_keys_say_is_of_a_key_that_one_model_has() -> None:
    known = {model for document in DOCUMENTS.values() for model in every(document)}
    by_name = {model.__name__: model.model_fields.keys() for model in known}
    assert len(by_name) == len(known)
    assert [name for name, own in keys_said().items() if own.keys() - by_name.get(name, set())] == []


@pytest.mark.parametrize("document", [MachineFile, SourceFile])
def test_a_problem_that_sends_its_reader_to_the_dictionary_sends_him_to_a_row(document: type[BaseModel]) -> None:
    rows = re.findall(r"^\| `(?:\w+\.)?(\w+)` \|", written_files()["README.md"], re.MULTILINE)
    assert [f"{model.__name__}.{key}" for model, key in keys(document) if key not in rows] == []
