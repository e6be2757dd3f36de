"""`data/references.toml`: facts about kernels and tools that the guide states, each with where it can be checked."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from probe_effect.store.documents import DocumentEntry, Slug, Text, entries_file

MOVING = re.compile(r"/(?:blob|tree|plain|source)/(?:master|main|HEAD|latest)/")
"""In the address of a repository's file: what shows another text tomorrow."""


def _permanent(url: str) -> str:
    if MOVING.search(url):
        msg = "shows another text tomorrow: name a tag or a commit"
        raise ValueError(msg)
    return url


class Reference(DocumentEntry):
    """One fact with its source."""

    id: Slug = Field(description="Its id, by which pages refer to it; the file is sorted by it.")
    says: Text = Field(max_length=400, description="The fact, in one sentence.")
    project: Text = Field(max_length=60, description="Whose source or manual says it: `Linux`, `bpftrace`, `DTrace`.")
    place: Text = Field(max_length=200, description="Where it is written: file and function, manual page, or commit.")
    url: Annotated[str, Field(pattern=r"^https://[^\s<>\"]+$", max_length=300), AfterValidator(_permanent)] = Field(
        description="Its permanent address: of a file at a tag or commit, never at a branch."
    )
    since: Text | None = Field(default=None, max_length=60, description="The first version that it holds for.")
    architectures: tuple[Slug, ...] = Field(
        default=(), max_length=20, description="The instruction sets that it holds for; none named where for all."
    )


ReferencesFile, read_references = entries_file(Reference, 1000)
