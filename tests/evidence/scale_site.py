"""How large a built site is, as a whole and as a reader's browser gets it."""

from __future__ import annotations

import gzip
import heapq
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.store.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = "index.html"
CALCULATOR_DATA = "advise-data"
"""Class of the link to the costs that the calculator fetches when it is used."""

NUMBER_DEPTH = 5
"""Folders above the page of a number, at least: `results/MACHINE/RUN/CASE/TRACER`."""

CANDIDATES = 50
"""The largest page, compressed, is looked for among so many of the largest ones."""


class SiteSize(Document):
    """Sizes of a site; those of pages are compressed by gzip, as hosts send them."""

    pages: int
    files: int
    total_bytes: int
    numbers: int
    """Pages of numbers."""
    numbers_bytes: int
    """All of these together, as they are on disk."""
    largest_page: str
    """Its place in the site."""
    largest_page_bytes: int
    home_bytes: int
    home_scripts_bytes: int
    """All scripts that the home page asks for, also those of the calculator, which wait for its reader."""
    calculator_data_bytes: int | None
    """None where the home page names none."""

    @property
    def calculator_bytes(self) -> int:
        """What a reader loads to use the calculator."""
        return self.home_bytes + self.home_scripts_bytes + (self.calculator_data_bytes or 0)


class Linked(HTMLParser):
    """The scripts of a page, and its calculator's data."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the address that the tag has."""
        found = {name: value or "" for name, value in attrs}
        if tag == "script" and "src" in found:
            self.scripts.append(found["src"])
        if "data-scripts" in found:
            self.scripts.append(f"js/{found['data-scripts']}")
        if tag == "a" and CALCULATOR_DATA in found.get("class", "").split():
            self.data.append(found.get("href", ""))


def site_size(site: Path) -> SiteSize:
    """The sizes of the site at the folder `site`."""
    sizes = list(_files(site))
    pages = [(size_bytes, path) for size_bytes, path in sizes if path.endswith(".html")]
    numbers = [size_bytes for size_bytes, path in pages if _is_of_number(Path(path).relative_to(site))]
    largest = max((_gzipped_bytes(Path(path)), path) for _, path in heapq.nlargest(CANDIDATES, pages))
    home = Linked()
    home.feed((site / HOME).read_text(encoding="utf-8"))
    return SiteSize(
        pages=len(pages),
        files=len(sizes),
        total_bytes=sum(size_bytes for size_bytes, _ in sizes),
        numbers=len(numbers),
        numbers_bytes=sum(numbers),
        largest_page=Path(largest[1]).relative_to(site).as_posix(),
        largest_page_bytes=largest[0],
        home_bytes=_gzipped_bytes(site / HOME),
        home_scripts_bytes=sum(_gzipped_bytes(_place(site, address)) for address in set(home.scripts)),
        calculator_data_bytes=_gzipped_bytes(_place(site, home.data[0])) if home.data else None,
    )


def _files(folder: Path) -> Iterator[tuple[int, str]]:
    """Size and path of every file below `folder`."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = f"{parent}/{name}"
            yield Path(path).stat().st_size, path


def _is_of_number(page: Path) -> bool:
    return page.parts[0] == "results" and len(page.parts) > NUMBER_DEPTH


def _place(site: Path, address: str) -> Path:
    """The file that an address of the home page leads to."""
    return site / address.partition("?")[0].removeprefix("./").lstrip("/")


def _gzipped_bytes(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), mtime=0))
