"""`data/explanations.toml`: why counts of instructions changed between kernels, or between versions of a tracer."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from probe_effect.model import series_of
from probe_effect.store.documents import DocumentEntry, Slug, Text, entries_file
from probe_effect.store.suite_file import Architecture

Certainty = Literal["bisected", "read", "inferred"]

Series = Annotated[str, Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")]
"""The first two numbers of a version: `6.18`."""


class Explanation(DocumentEntry):
    """One cause: what it made more or fewer, from which version to which, and where that can be checked."""

    id: Slug = Field(description="Its id; the file is sorted by it.")
    cases: tuple[Slug, ...] = Field(min_length=1, max_length=50, description="The cases that it changed, of any suite.")
    tools: tuple[Slug, ...] = Field(
        default=(), max_length=20, description="The tools whose counts it explains, without versions; empty: of all."
    )
    of: Literal["kernel", "tool"] = Field(description="Whose versions `before` and `since` are.")
    before: Series = Field(description="The last version known without it, as major.minor.")
    since: Series = Field(description="The first version known with it; a change from outside both includes it.")
    change: Literal["more", "fewer"] = Field(description="What became of the instructions.")
    architectures: tuple[Architecture, ...] = Field(
        default=(),
        max_length=2,
        description="The architectures that it holds for, as `x86_64` and `aarch64`; none named where for all.",
    )
    says: Text = Field(max_length=500, description="What happened, in one or two sentences.")
    references: tuple[Slug, ...] = Field(
        min_length=1, max_length=10, description="Ids in `references.toml` of where that can be checked."
    )
    certainty: Certainty = Field(
        description="`bisected` (counted between the two that differ too, on both sides of `since`), `read` (is so "
        "in the source or its notes) or `inferred` (follows from both)."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if series_of(self.before) >= series_of(self.since):
            msg = f"`before` {self.before} is no older than `since` {self.since}"
            raise ValueError(msg)
        return self

    def lies_between(self, first: str, second: str) -> bool:
        """Whether it came between two versions of what it is of, written in full."""
        return series_of(first) <= series_of(self.before) and series_of(self.since) <= series_of(second)


ExplanationsFile, read_explanations = entries_file(Explanation, 500)
