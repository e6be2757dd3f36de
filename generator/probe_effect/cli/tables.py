"""Products in tables: each row whole on a line of its own, for people and for programs that cut and sort lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MIN_TABLE_WIDTH = 210

# A table is never cut or folded: a narrow terminal folds its lines, a pipe gets them whole.
# rich honours NO_COLOR, FORCE_COLOR and a missing terminal by itself.
console = Console(highlight=False, width=MIN_TABLE_WIDTH)


def show_table(
    labels: Iterable[str], values: Iterable[str], rows: Iterable[Sequence[str]], remarks: Iterable[str] = ()
) -> None:
    """A table on stdout.

    Args:
        labels: titles of the first columns, written from the left.
        values: titles of those behind them, written to the right, so that digits stand below each other.
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
    console.print(table)
