"""`data/references.toml`: facts about kernels and tools that the guide states, each with where it can be checked."""

import re
from typing import Annotated

from pydantic import Field

from probe_effect.store.documents import DocumentEntry, Slug, Text, entries_file, without

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
