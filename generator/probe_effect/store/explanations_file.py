"""`data/explanations.toml`: why counts changed between kernels, or between versions of a tracer; and `references.toml`.

References are facts about kernels and tools that the guide states, each with where it can be checked.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from probe_effect.model import series_of
from probe_effect.store.documents import DocumentEntry, Slug, Text, entries_file, without
from probe_effect.store.suite_file import Architecture

Certainty = Literal["bisected", "read", "inferred"]

Series = Annotated[str, Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")]
"""The first two numbers of a version: `6.18`."""


class Explanation(DocumentEntry):
    """One cause: what it made more or fewer, from which version to which, and where that can be checked."""

    cases: tuple[Slug, ...] = Field(min_length=1, max_length=50)
    tools: tuple[Slug, ...] = Field(default=(), max_length=20)
    of: Literal["kernel", "tool"]
    before: Series
    since: Series
    change: Literal["more", "fewer"]
    architectures: tuple[Architecture, ...] = Field(default=(), max_length=2)
    says: Text = Field(max_length=500)
    references: tuple[Slug, ...] = Field(min_length=1, max_length=10)
    certainty: Certainty

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if series_of(self.before) >= series_of(self.since):
            raise ValueError(f"`before` {self.before} is no older than `since` {self.since}")
        return self

    def lies_between(self, first: str, second: str) -> bool:
        """Whether it came between two versions of what it is of, written in full."""
        return series_of(first) <= series_of(self.before) and series_of(self.since) <= series_of(second)


ExplanationsFile, read_explanations = entries_file(Explanation, 500)


PERMANENT = without(
    re.compile(r"/(?:blob|tree|plain|source)/(?:master|main|HEAD|latest)/"),
    "shows another text tomorrow: name a tag or a commit",
)
"""Of the address of a repository's file."""


class Reference(DocumentEntry):
    """One fact with its source."""

    says: Text = Field(max_length=400)
    project: Text = Field(max_length=60)
    place: Text = Field(max_length=200)
    url: Annotated[str, Field(pattern=r"^https://[^\s<>\"]+$", max_length=300), PERMANENT]
    since: Text | None = Field(default=None, max_length=60)
    architectures: tuple[Slug, ...] = Field(default=(), max_length=20)


ReferencesFile, read_references = entries_file(Reference, 1000)
