"""`data/changes.toml`: what became of the data beside new submissions. Entries are appended and stay."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from probe_effect.model import Problem
from probe_effect.store.documents import Document, Text, read_document
from probe_effect.store.places import DataFolder

CHANGES_FILE = "changes.toml"

ChangeKind = Literal["added", "corrected", "withdrawn", "accepted"]

Day = Annotated[str, Field(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")]

ID = r"^[a-z0-9]+(-[a-z0-9]+)*((/[a-z0-9]+(-[a-z0-9]+)*)*|#[a-z][a-z0-9_]*)$"
"""A source, a figure `<source>#<figure>`, a submission `<machine>/<folder>`, or a number below one."""


class Change(Document):
    """One entry. A submission is added by being there, so only sources are added here."""

    date: Day
    kind: ChangeKind
    what: tuple[Annotated[str, Field(pattern=ID, max_length=300)], ...] = Field(min_length=1)
    why: Text
    old: Text | None = None
    new: Text | None = None

    @model_validator(mode="after")
    def _values_of_a_correction(self) -> Self:
        if (self.kind == "corrected") != (self.old is not None and self.new is not None) or (
            (self.old is None) != (self.new is None)
        ):
            raise ValueError("`old` and `new` come together, with a correction and only there")
        return self


class ChangesFile(Document):
    """The whole document."""

    schema_version: Literal[1]
    changes: tuple[Change, ...] = ()


def read_changes(data: DataFolder) -> tuple[ChangesFile | None, list[Problem]]:
    """The change log of `data`, empty where there is no file; None with every problem found."""
    path = data.root / CHANGES_FILE
    if not path.exists() and not path.is_symlink():
        return ChangesFile(schema_version=1), []
    return read_document(path, data.relative(path), "changes", ChangesFile)


def changed_ids(changes: Sequence[Change], kind: ChangeKind) -> frozenset[str]:
    """The ids of all to which a kind of change happened."""
    return frozenset(one for change in changes if change.kind == kind for one in change.what)
