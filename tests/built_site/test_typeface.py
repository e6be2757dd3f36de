"""The typeface that the site serves: cut to what pages use, and no further."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from fontTools.ttLib import TTFont

from helpers.site_build import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.site

WHOLE = PROJECT / "site/typeface/source-serif-4-latin-opsz-normal.woff2"
NOT_SET_IN_IT = re.compile(r"<(script|style|pre|code|svg|head)\b.*?</\1>", re.DOTALL)
MARKUP = re.compile(r"<[^>]*>")
TOGETHER_BYTES = 50_000


def characters(font: Path) -> set[str]:
    return set(map(chr, TTFont(font).getBestCmap()))


def printed(page: Path) -> set[str]:
    """The characters that a page sets in the typeface; accented letters, which only names have, are left out."""
    text = html.unescape(MARKUP.sub(" ", NOT_SET_IN_IT.sub(" ", page.read_text(encoding="utf-8"))))
    return {one for one in set(text) if one.isascii() or not unicodedata.category(one).startswith("L")}


@pytest.fixture(scope="module")
def used(site: Path) -> set[str]:
    """The characters of all pages."""
    return set().union(*map(printed, site.rglob("*.html")))


@pytest.mark.parametrize("name", ["text", "display", "italic"])
def test_every_character_of_every_page_that_the_whole_typeface_has_is_in_what_is_served(
    site: Path, used: set[str], name: str
) -> None:
    served, whole = characters(site / f"fonts/source-serif-4-{name}.woff2"), characters(WHOLE)
    assert sorted((used & whole) - served - {"\n"}) == [], "add them to SIGNS in site/typeface/cut.py, and run it"


def test_the_fonts_are_light(site: Path) -> None:
    assert sum(font.stat().st_size for font in (site / "fonts").glob("*.woff2")) < TOGETHER_BYTES
