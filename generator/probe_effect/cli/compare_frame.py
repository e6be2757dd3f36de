"""What comparisons of times and of counts print alike: the order of parts, and the columns that tell rows apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from probe_effect.cli import output
from probe_effect.cli.compare_sides import tracers_by_case
from probe_effect.cli.sections import show_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.table import Table

    from probe_effect.guidance.rows import CaseKey


class Keyed(Protocol):
    """Something that was measured or counted."""

    @property
    def key(self) -> CaseKey:
        """Which case, tracer and level it is."""


class Shown(Protocol):
    """Two sides by name, and what has no counterpart."""

    @property
    def first(self) -> str:
        """The first side."""

    @property
    def second(self) -> str:
        """The second side."""

    @property
    def only_first(self) -> Sequence[Keyed]:
        """What only the first side has."""

    @property
    def only_second(self) -> Sequence[Keyed]:
        """What only the second side has."""

    def differing(self) -> list[tuple[str, str, str]]:
        """What else is not the same on both sides."""


def show(found: Shown, table: Table, sentences: Iterable[str]) -> None:
    """The table, what it comes to, what differs besides, and what has no counterpart."""
    console = output.tables
    console.print(table)
    console.print()
    for sentence in sentences:
        console.print(sentence, markup=False)
    console.print()
    show_section(f"What differs: {found.first} | {found.second}", _differing(found))
    show_section(f"Only {found.first}", tracers_by_case(one.key for one in found.only_first))
    show_section(f"Only {found.second}", tracers_by_case(one.key for one in found.only_second))


def labels(keys: Iterable[CaseKey], *, of_tracers: bool) -> Iterator[str]:
    """Which columns tell the rows apart."""
    yield "case"
    if any(key.level is not None for key in keys):
        yield "level"
    if not of_tracers:
        yield "tracer"


def _differing(found: Shown) -> list[tuple[str, str]]:
    return [(what, f"{first or 'not known'} | {second or 'not known'}") for what, first, second in found.differing()]
