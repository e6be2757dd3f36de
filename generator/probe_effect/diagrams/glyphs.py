"""How wide text is in the site's own typeface, so that boxes fit their words before any browser has seen them.

Source Serif 4 is served by the site, so its widths are the reader's: in thousandths of an em, of the printable ASCII
characters in their order, at the optical size of small text. `tests/built_site/test_drawn_diagrams.py` holds
the boxes to what a browser draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Style = Literal["plain", "strong", "muted", "code"]

SIZE = 13
CODE_SIZE = 11
"""px. Letters of a fixed pitch look larger than they are."""
LEADING = 16
"""px from line to line."""

CODE_WIDTH = 0.62
"""em: the widest of the usual fixed-pitch faces."""

SPARE = 1.02
"""What a stand-in for the typeface may be wider, until it arrives."""

_REGULAR = """
237 288 385 525 521 941 729 181 365 365 461 535 302 321 302 342 534 534 534 534 534 534 534 534 534 534 302 302 535
535 535 414 833 720 656 667 744 643 617 730 818 376 382 717 622 940 773 743 626 743 696 549 637 763 715 1012 676 672
591 337 342 337 534 514 400 546 625 525 621 537 349 563 647 334 307 601 334 963 649 583 628 608 461 470 364 635 591
848 576 598 496 361 289 361 535
"""
_STRONG = """
229 313 427 544 542 961 742 206 388 388 462 549 308 337 308 365 552 552 552 552 552 552 552 552 552 552 308 308 549
549 549 429 868 719 673 669 751 640 615 732 814 388 396 733 621 935 762 748 643 748 714 566 656 762 712 1028 683 673
597 360 365 360 549 528 400 560 636 532 630 544 355 580 656 341 317 623 341 971 659 595 638 620 480 480 373 647 592
862 592 603 503 369 301 369 549
"""
_FIRST = 32
_WIDEST = 900
"""Of a character that the tables do not have."""

WIDTHS = {
    "plain": tuple(map(int, _REGULAR.split())),
    "strong": tuple(map(int, _STRONG.split())),
}
BLANKS = {"\u00a0": " ", "\u202f": " "}


def width_px(text: str, style: Style) -> float:
    """How wide a line of text is, px, and never less than a browser makes it."""
    if style == "code":
        return len(text) * CODE_WIDTH * CODE_SIZE
    widths = WIDTHS["strong" if style == "strong" else "plain"]
    places = (ord(BLANKS.get(one, one)) - _FIRST for one in text)
    em = sum(widths[place] if 0 <= place < len(widths) else _WIDEST for place in places)
    return em / 1000 * SIZE * SPARE


def wrapped(text: str, style: Style, most_px: float) -> list[str]:
    """The words of `text` in lines of at most `most_px`. Raises: ValueError for a word that is wider than a line."""
    return list(_lines(text, style, most_px))


def _lines(text: str, style: Style, most_px: float) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width_px(longer, style) <= most_px:
            line = longer
            continue
        if width_px(word, style) > most_px:
            msg = f"{word!r} is wider than {most_px:.0f} px: shorten it, or widen its column"
            raise ValueError(msg)
        yield line
        line = word
    yield line
