"""Products to stdout, progress and problems to stderr: lines, JSON, tables and sections.

Tables are for people, and for programs that cut and sort lines.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

import click
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from probe_effect.model import Problem
from probe_effect.store.tables import FORBIDDEN_TEXT


def format_of(*formats: str, to: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option `--format` of a command that prints in these; the first is the default, and `to` says for whom."""
    choice = click.Choice(formats)
    return click.option("--format", "output_format", type=choice, default=formats[0], show_default=True, help=to)


format_option = format_of("text", "json", to="For people or programs.")


def product(text: str) -> None:
    click.echo(plain(text))


JSON_DIGITS = 12
"""The significant digits of a number in JSON: the last ones of a double differ between CPUs and counts of threads."""


def product_json(value: object) -> None:
    """Print `value` as JSON that other programs rely on, the same on every machine; NaN is refused."""
    takes_all = "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    product(json.dumps(_rounded(value), indent=2, ensure_ascii=not takes_all, allow_nan=False))


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return float(f"{value:.{JSON_DIGITS}g}") if isinstance(value, float) else value


def say(text: str) -> None:
    click.echo(plain(text), err=True)


def plain(text: str) -> str:
    """The lines of a text with control characters as JSON escapes them: words of others must not steer the terminal."""
    return FORBIDDEN_TEXT.sub(lambda match: match[0] if match[0] in "\n\t" else f"\\u{ord(match[0]):04x}", text)


def end(status: int) -> NoReturn:
    click.get_current_context().exit(status)


def show_problems(problems: Iterable[Problem]) -> None:
    """Each problem on stderr, in the form that editors jump to, and how to mend it."""
    for problem in problems:
        location = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part is not None)
        say(f"{location}: {problem.severity}: {problem.message} [{problem.rule}]\n    {problem.hint}")


MIN_TABLE_WIDTH = 210
MAX_SECTION_WIDTH = 120
"""Longer lines are hard to read."""
MIN_NAME_WIDTH = 30
"""A name is cut to no less, so that names of one library differ."""
GAP = 2

# rich honours NO_COLOR, FORCE_COLOR and a missing terminal by itself.
progress = Console(stderr=True, highlight=False, soft_wrap=True)


def tell(text: str) -> None:
    """Print lines on stderr, above one that changes."""
    progress.print(plain(text), markup=False)


def show_quota() -> None:
    """Say on stderr of a CPU quota that it disturbs the times of what is run here."""
    from probe_effect.host.this_machine import quotas

    for warning in quotas():
        tell(f"disturbs the times: {warning}")


def console() -> Console:
    """Stdout, as wide as the terminal; a pipe gets the rows of tables whole."""
    stdout = Console(highlight=False)
    if not stdout.is_terminal:
        stdout.width = MIN_TABLE_WIDTH
    return stdout


def show_text(text: str) -> None:
    console().print(Text(plain(text)), soft_wrap=not console().is_terminal)


def show_table(
    labels: Sequence[str], values: Sequence[str], rows: Iterable[Sequence[str]], remarks: Sequence[str] = ()
) -> None:
    console().print(table_of(labels, values, rows, remarks))


def table_of(
    labels: Sequence[str], values: Sequence[str], rows: Iterable[Sequence[str]], remarks: Sequence[str] = ()
) -> Table:
    """The same table, for the caller to show, as wide as the terminal: `labels`, `values` and `remarks` are titles.

    Only `values` are written to the right. Where it does not fit, names in the first column are cut in the middle;
    where that is not enough, each row has two lines: its labels on the first, the rest below them.
    """
    titles, cells = [*labels, *values, *remarks], [list(map(plain, row)) for row in rows]
    wide = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    width = console().width
    room = width - sum(wide[1:]) - GAP * len(wide[1:])
    if room >= min(wide[0], MIN_NAME_WIDTH):
        table = Table(box=None, pad_edge=False)
        for some in (labels, values, remarks):
            for title in some:
                table.add_column(Text(title), justify="right" if some is values else "left", overflow="fold")
        for row in cells:
            table.add_row(Text(_cut(row[0], room)), *map(Text, row[1:]))
        return table
    return _stacked(labels, values, cells, width)


def _stacked(labels: Sequence[str], values: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Table:
    """Two lines a row: the labels, the first of them cut; the values; and below them what there is to remark."""
    behind = len(labels) + len(values)
    below = [[" ", *row[len(labels) : behind]] for row in rows]
    wide = [max(map(cell_len, column)) for column in zip(["", *values], *below, strict=True)]
    whole = Table.grid()
    whole.add_row(Text((" " * GAP).join(labels)))
    whole.add_row(_line(["", *values], wide))
    for row, cells in zip(rows, below, strict=True):
        others = (" " * GAP).join(["", *row[1 : len(labels)]])
        whole.add_row(Text(_cut(row[0], max(MIN_NAME_WIDTH, width - cell_len(others))) + others, overflow="fold"))
        whole.add_row(_line(cells, wide))
        for remark in filter(None, row[behind:]):
            whole.add_row(Padding(Text(remark), (0, 0, 0, GAP)))
    return whole


def _line(cells: Sequence[str], wide: Sequence[int]) -> Text:
    return Text((" " * GAP).join(cell.rjust(width) for cell, width in zip(cells, wide, strict=True)), overflow="fold")


def _cut(name: str, room: int) -> str:
    """A name of at most so many columns: its middle is missing, and more of its end is kept, where names differ."""
    end = 2 * room // 3
    return name if cell_len(name) <= room else f"{name[: room - end - 1]}…{name[-end:]}"


def show_section(title: str, rows: Iterable[Sequence[str]], *, aside: bool = False) -> None:
    """A title and its rows, if any, on stdout, `aside` on stderr. The last cell of a row is the one that is folded."""
    narrow = _narrow(aside=aside)
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for row in rows:
        table.add_row("", *(Text(plain(cell), overflow="fold") for cell in row))
    if table.row_count == 0:
        return
    for column in table.columns[:-1]:
        column.no_wrap = max(cell_len(str(cell)) for cell in column.cells) < narrow.width / 2
    narrow.print(Text(title, style="bold"), soft_wrap=True)
    narrow.print(table)
    narrow.print()


def show_commands(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """A title and, for each purpose, the command on a line of its own, whole, so that it can be copied."""
    narrow = _narrow()
    narrow.print(Text(title, style="bold"))
    for purpose, command in rows:
        narrow.print(Text(f"  {purpose}:"))
        narrow.print(Text(plain(f"    {command}")), soft_wrap=True)


def _narrow(*, aside: bool = False) -> Console:
    narrow = Console(stderr=aside, highlight=False)
    narrow.width = min(narrow.width, MAX_SECTION_WIDTH)
    return narrow
