"""Products in tables, for people and for programs that cut and sort lines, and in titled sections of short rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MIN_TABLE_WIDTH = 210
MAX_SECTION_WIDTH = 120
"""Longer lines are hard to read."""

# A table is never cut or folded: a narrow terminal folds its lines, a pipe gets them whole.
# rich honours NO_COLOR, FORCE_COLOR and a missing terminal by itself.
console = Console(highlight=False, width=MIN_TABLE_WIDTH)


def show_table(
    labels: Iterable[str], values: Iterable[str], rows: Iterable[Sequence[str]], remarks: Iterable[str] = ()
) -> None:
    """A table on stdout, each row whole on a line of its own; arguments as for `table_of`."""
    console.print(table_of(labels, values, rows, remarks))


def table_of(
    labels: Iterable[str], values: Iterable[str], rows: Iterable[Sequence[str]], remarks: Iterable[str] = ()
) -> Table:
    """The same table, for the caller to show.

    Args:
        labels: titles of the first columns, written from the left.
        values: titles of those behind them, written to the right, digits below each other.
        remarks: titles of the last columns, written from the left again.
    """
    table = Table(box=None, pad_edge=False)
    for title in labels:
        table.add_column(Text(title))
    for title in values:
        table.add_column(Text(title), justify="right")
    for title in remarks:
        table.add_column(Text(title))
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def show_section(title: str, rows: Iterable[Sequence[str]], *, aside: bool = False) -> None:
    """A title and its rows on stdout; nothing when there are none. The last cell of a row is the one that is folded.

    Args:
        aside: to stderr instead, where the section is not the product.
    """
    narrow = _narrow(aside=aside)
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for row in rows:
        table.add_row("", *(Text(cell, overflow="fold") for cell in row))
    if table.row_count == 0:
        return
    for column in table.columns[:-1]:
        column.no_wrap = True
    narrow.print(Text(title, style="bold"), soft_wrap=True)
    narrow.print(table)
    narrow.print()


def show_commands(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """A title and, for each purpose, the command on a line of its own, whole, so that it can be copied."""
    narrow = _narrow()
    narrow.print(Text(title, style="bold"))
    for purpose, command in rows:
        narrow.print(Text(f"  {purpose}:"))
        narrow.print(Text(f"    {command}"), soft_wrap=True)


def _narrow(*, aside: bool = False) -> Console:
    """A console whose lines are folded to the terminal."""
    narrow = Console(stderr=aside, highlight=False)
    narrow.width = min(narrow.width, MAX_SECTION_WIDTH)
    return narrow
