"""What tests ask of a page: its elements, by the standard library's parser."""

from __future__ import annotations

import re
from functools import cached_property
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Attributes = dict[str, str]

NO_TEXT = {"script", "style", "svg"}
TYPED = {"code", "pre", "script", "style"}
"""What holds text to type, or none to read."""
SAID = ("alt", "aria-label", "title")
"""Attributes that readers are told."""
OPENED = re.compile(r'<[a-z][a-z0-9]*(?: class="[^"]*")?')
"""The beginning of an element as our templates write it."""
DATA_BLOCK = "application/ld+json"
"""The type of a script element that browsers do not run."""


class Page(HTMLParser):
    """Every element with its attributes, all ids, and the text that a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Attributes]] = []
        self.inline_code: list[str] = []
        self.data_blocks: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self._holds_data = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag in NO_TEXT:
            self._open.append(tag)
            self._holds_data = dict(attrs).get("type") == DATA_BLOCK

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open:
            self.words.append(data)
        elif self._open[-1] in {"script", "style"} and data.strip():
            (self.data_blocks if self._holds_data else self.inline_code).append(data)

    @cached_property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @cached_property
    def ids(self) -> set[str]:
        return {attributes["id"] for _, attributes in self.elements if "id" in attributes}

    def all(self, tag: str) -> list[Attributes]:
        return [attributes for name, attributes in self.elements if name == tag]


class Prose(HTMLParser):
    """Every piece of text that a reader sees or is told, also in drawings, but for what is there to be typed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._typed: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.pieces += [value for name, value in attrs if name in SAID and value]
        if tag in TYPED:
            self._typed.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._typed and self._typed[-1] == tag:
            self._typed.pop()

    def handle_data(self, data: str) -> None:
        if not self._typed:
            self.pieces.append(data)


def one_of_each(site: Path) -> dict[str, str]:
    """The pages of the site that are made of other elements than all before them, by their path.

    Two pages are alike where any element and the next one of either are neighbours in the other too: of thousands of
    pages of numbers most differ in their words alone.
    """
    found: dict[frozenset[tuple[str, str]], tuple[str, str]] = {}
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        found.setdefault(frozenset(pairwise(OPENED.findall(text))), (str(path.relative_to(site)), text))
    return dict(found.values())


def with_new_neighbours(texts: dict[str, str]) -> list[str]:
    """The paths of pages where elements are neighbours that are so on no page before."""
    known: set[tuple[str, str]] = set()
    found = []
    for name, text in texts.items():
        if new := set(pairwise(OPENED.findall(text))) - known:
            known |= new
            found.append(name)
    return found
