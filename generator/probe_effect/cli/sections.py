"""Products in words: titled sections of short rows, folded to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_WIDTH = 120
"""Longer lines are hard to read."""


def show_section(title: str, rows: Iterable[Sequence[str]], *, aside: bool = False) -> None:
    """A title and its rows on stdout; nothing when there are none. The last cell of a row is the one that is folded.

    Args:
        aside: to stderr instead, where the section is not the product.
    """
    console = _console(aside=aside)
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for row in rows:
        table.add_row("", *(Text(cell, overflow="fold") for cell in row))
    if table.row_count == 0:
        return
    for column in table.columns[:-1]:
        column.no_wrap = True
    console.print(Text(title, style="bold"))
    console.print(table)
    console.print()


def show_commands(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """A title and, for each purpose, the command on a line of its own, whole, so that it can be copied."""
    console = _console()
    console.print(Text(title, style="bold"))
    for purpose, command in rows:
        console.print(Text(f"  {purpose}:"))
        console.print(Text(f"    {command}"), soft_wrap=True)


def _console(*, aside: bool = False) -> Console:
    console = Console(stderr=aside, highlight=False)
    console.width = min(console.width, MAX_WIDTH)
    return console
