"""One word, one meaning: the names that programs and people read, against the glossary and the vocabulary of prose."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from helpers import prose
from helpers.builders import PROJECT
from helpers.json_keys import OF_ADVISE, OF_PREDICT
from probe_effect.site.pages.parts import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLISHED = {"band-deed", "stands_in"}
"""Names that others may use already."""

SCHEMAS = sorted((PROJECT / "data" / "schema").glob("*.json"))


def properties(schema: dict[str, Any]) -> Iterator[str]:
    """Every key that a schema knows, at any depth."""
    for key, value in schema.items():
        if key == "properties":
            yield from value
        elif key == "fields":
            yield from (field["name"] for field in value)
        if isinstance(value, dict):
            yield from properties(value)


NAMES = {
    "keys of predict and advise": {*OF_PREDICT, *OF_ADVISE},
    "columns": {word for one in COLUMNS.values() for word in (one.id, one.label)},
    **{path.name: set(properties(json.loads(path.read_text(encoding="utf-8")))) for path in SCHEMAS},
}


@pytest.mark.parametrize("of", NAMES)
def test_no_key_or_column_is_a_word_that_the_project_does_not_use(of: str) -> None:
    assert NAMES[of]
    words = {name: re.sub(r"[_-]", " ", name) for name in NAMES[of] - PUBLISHED}
    assert {name: list(prose.problems(text)) for name, text in words.items() if list(prose.problems(text))} == {}


def test_each_term_of_the_glossary_is_defined_once_and_in_order() -> None:
    text = (PROJECT / "content" / "glossary.md").read_text(encoding="utf-8")
    terms = [term.casefold() for term in re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)]
    assert len(set(terms)) == len(terms) > 0
    assert terms == sorted(terms)
