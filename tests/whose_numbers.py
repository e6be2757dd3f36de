"""Whose the numbers of a built page are: its tables and sentences that mix machines and do not say so."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER = re.compile(r"(?:^|/)results/([a-z0-9-]+)/[^/]+/[^/]+/")
COUNTED = "qemu-"
"""How the id of an emulated machine begins: counts are named by their kernel."""
RANGE = "machines"
"""What the header of a column says that has the range over all machines."""
SENTENCE = re.compile(r"[^.?!:]+(?:[.?!:](?!\s|$)[^.?!:]*)*")


@dataclass
class Cell:
    """A cell, paragraph or item: its text, and by the place in it the machine of each number."""

    text: str = ""
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
    """The tables of a page, row by row, and its paragraphs and items."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: list[list[list[Cell]]] = []
        self.blocks: list[Cell] = []
        self._cell: Cell | None = None
        self._in_table = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._in_table = True
            self.tables.append([])
        elif tag == "tr" and self._in_table:
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self._in_table:
            self._cell = Cell()
            self.tables[-1][-1].append(self._cell)
        elif tag in {"p", "li"} and not self._in_table:
            self._cell = Cell()
            self.blocks.append(self._cell)
        elif tag == "a" and self._cell is not None:
            self._cell.add(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._in_table = False
        if tag in {"td", "th", "p", "li"}:
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text += data


def mixed_tables(page: Page) -> Iterator[str]:
    """The header of each table with numbers of several machines of which more than one is not named in its row."""
    for head, *rows in filter(None, page.tables):
        unnamed = {
            machine
            for row in rows
            for title, cell in zip(head, row, strict=False)
            if RANGE not in title.text
            for machine in cell.machines.values()
            if not title_or_row_names(machine, title, row)
        }
        if len(unnamed) > 1:
            yield " | ".join(cell.text.strip() for cell in head)


def title_or_row_names(machine: str, title: Cell, row: list[Cell]) -> bool:
    """Whether the header of a column or any cell of the row names the machine."""
    return title.named(machine) or any(cell.named(machine) for cell in row)


def unnamed_machines(page: Page, home: str) -> Iterator[str]:
    """Each sentence that does not name the machine of a number; home is named only beside another machine."""
    for block in page.blocks:
        for sentence in SENTENCE.finditer(block.text):
            start, end = sentence.span()
            machines = {machine for place, machine in block.machines.items() if start <= place < end}
            if machines != {home} and not all(Cell(sentence[0]).named(one) for one in machines):
                yield " ".join(sentence[0].split())
