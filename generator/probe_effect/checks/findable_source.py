"""A reader can look for the source of a published figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.checks.rule import CheckedSource, Fault, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTHING = frozenset({"not stated", "unknown", "none", "n/a", "tbd", "todo", "?"})


def _faults(checked: CheckedSource) -> Iterator[Fault]:
    document = checked.document
    if all(said.strip().lower() in NOTHING for said in (document.title, document.author, document.where)):
        found = "neither title, author nor place of the source is stated"
        hint = "give the address or the printed place where the figures stand"
        yield Fault("source.toml", checked.line_of("where"), found, hint)


RULE = Rule(
    "findable-source",
    "A source of published figures can be looked for: by its place, its author or its title.",
    _faults,
    good='where = "slides of a talk given at BSDCan 2023"',
    bad='where = "not stated", and neither author nor title',
)
