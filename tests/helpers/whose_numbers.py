"""Whose the numbers of a built page are: its tables and sentences that mix machines and do not say so."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NUMBER = re.compile(r"(?:^|/)results/([a-z0-9-]+)/[^/]+/[^/]+/")
COUNTED = "qemu-"
"""How the id of an emulated machine begins: counts are named by their kernel."""
RANGE = "machines"
OVER_MACHINES = re.compile(r"\bto\s[\d.\s]+[nµm]?s\son\s\d+\s(?:virtual\s|physical\s)?machines\b")
"""What the header of a column says that has the range over all machines."""
TIME = re.compile(r"\d[\d.,\s]*(?:ns|µs|ms)\b")
BLOCKS = {"p", "li", "dt", "dd", "summary", "caption", "figcaption", "h1", "h2", "h3", "h4"}
SENTENCE = re.compile(r"[^.?!:]+(?:[.?!:](?!\s|$)[^.?!:]*)*")


@dataclass
class Cell:
    """A cell, paragraph or item: its text, that outside links, and by the place in it the machine of each number."""

    text: str = ""
    typed: str = ""
    machines: dict[int, str] = field(default_factory=dict)

    def add(self, address: str) -> None:
        """Note the machine of the number that the address leads to."""
        found = NUMBER.search(address)
        if found and not found[1].startswith(COUNTED):
            self.machines[len(self.text)] = found[1]

    def named(self, machine: str) -> bool:
        """Whether the text has the short id of the machine."""
        return machine.rpartition("-")[2] in self.text


class Page(HTMLParser):
    """The tables of a page, row by row, and what else has text: paragraphs, items, headings and captions."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: list[list[list[Cell]]] = []
        self.blocks: list[Cell] = []
        self.title = Cell()
        self.beside: list[int] = []
        """How many blocks are before each table."""
        self._open: list[tuple[str, Cell]] = []
        self._in_table = False
        self._unread = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._in_table = True
            self.tables.append([])
            self.beside.append(len(self.blocks))
        elif tag == "tr" and self._in_table:
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self._in_table:
            self._open.append((tag, Cell()))
            self.tables[-1][-1].append(self._open[-1][1])
        elif tag in BLOCKS and (not self._in_table or tag == "caption"):
            self._open.append((tag, Cell()))
            self.blocks.append(self._open[-1][1])
            self.title = self.blocks[-1] if tag == "h1" else self.title
        elif tag == "a" and self._open:
            self._open[-1][1].add(dict(attrs).get("href") or "")
        self._unread += tag in {"a", "code"}

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._in_table = False
        if self._open and self._open[-1][0] == tag:
            self._open.pop()
        self._unread -= tag in {"a", "code"}

    def handle_data(self, data: str) -> None:
        if self._open:
            cell = self._open[-1][1]
            cell.text += data
            cell.typed += "" if self._unread else data


def mixed_tables(page: Page) -> Iterator[str]:
    """The header of each table with numbers of several machines of which more than one is not named in its row."""
    for table in filter(None, page.tables):
        if len(unnamed_in_rows(table)) > 1:
            yield header(table)


def nameless_tables(page: Page, home: str) -> Iterator[str]:
    """The header of each table of another machine than home that nothing in or beside the table names."""
    for table, place in zip(page.tables, page.beside, strict=True):
        beside = page.blocks[max(0, place - 2) : place + 3]
        for machine in unnamed_in_rows(table) - {home}:
            if not any(block.named(machine) for block in beside):
                yield header(table)


def header(table: list[list[Cell]]) -> str:
    """The texts of the first row."""
    return " | ".join(cell.text.strip() for cell in table[0])


def unnamed_in_rows(table: list[list[Cell]]) -> set[str]:
    """The machines whose numbers are in rows or columns that do not name them."""
    return {
        machine
        for above, row in grouped(table[1:])
        for title, cell in zip(table[0], row, strict=False)
        if RANGE not in title.text
        for machine in cell.machines.values()
        if not title_or_row_names(machine, title, [*above, *row])
    }


def grouped(rows: Iterable[list[Cell]]) -> Iterator[tuple[list[Cell], list[Cell]]]:
    """Each row with the last one above it that is a single cell, which names those below it."""
    above: list[Cell] = []
    for row in rows:
        above = row if len(row) == 1 else above
        yield above, row


def title_or_row_names(machine: str, title: Cell, row: list[Cell]) -> bool:
    """Whether the header of a column or any cell of the row names the machine."""
    return title.named(machine) or any(cell.named(machine) for cell in row)


def unnamed_machines(page: Page, home: str) -> Iterator[str]:
    """Each sentence that does not name the machine of a number; home is named only beside another machine.

    The ends of a range over machines are of no one machine.
    """
    for block in page.blocks:
        for sentence in SENTENCE.finditer(block.text):
            start, end = sentence.span()
            machines = {machine for place, machine in block.machines.items() if start <= place < end}
            if OVER_MACHINES.search(sentence[0]):
                continue
            if machines != {home} and not all(Cell(sentence[0]).named(one) for one in machines):
                yield " ".join(sentence[0].split())


def typed_times(page: Page, machines: Iterable[str]) -> Iterator[str]:
    """Each block with a time that is no link to a number, and without a machine; the title and its citation aside.

    What others printed is of no machine of ours, and says so.
    """
    known = list(machines)
    for block in page.blocks:
        typed = block.typed.replace(page.title.text.strip(), "")
        if TIME.search(typed) and "others printed" not in typed and not any(block.named(machine) for machine in known):
            yield " ".join(typed.split())
