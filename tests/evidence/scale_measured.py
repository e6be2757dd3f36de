"""What `scale` measures of each size, and how its pages write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from evidence.scale_site import SiteSize
from evidence.scale_watch import Used
from probe_effect import units
from probe_effect.store.documents import Document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLD, AGAIN, ADDED = "cold", "again", "one added"
BUILDS: Mapping[str, str] = {
    COLD: "nothing kept from earlier builds",
    AGAIN: "nothing changed since",
    ADDED: "one submission more than before",
}
"""Name of a build to what was there before it."""


ALL, ONE = "all, nothing kept", "one new"
SIGNS: Mapping[str, str] = {
    ALL: "each submission beside all others of its suite",
    ONE: "the same where only the last one is new",
}


class Build(Document):
    """One build of the site, and Hugo alone on the work folder that it left."""

    whole: Used
    steps: tuple[tuple[str, float], ...]
    """What the build said that it does, to how long that took, s."""
    hugo: Used

    @property
    def ratio(self) -> float:
        """The whole over Hugo alone, in time."""
        return self.whole.seconds / self.hugo.seconds


class Timing(Document):
    """A command: medians of its runs."""

    seconds: float
    peak_bytes: float
    runs: int


class Measured(BaseModel):
    """Everything about one size; what is not measured yet is absent."""

    submissions: int
    """How many were made; those of the checkout are beside them."""
    machines: int
    """Of all submissions."""
    builds: dict[str, Build] = {}
    site: SiteSize | None = None
    commands: dict[str, Timing] = {}
    signs_s: dict[str, float] = {}
    """What the signs of forged data take of the CPU, by `SIGNS`, s."""
    is_whole: bool = False
    """Whether all of it was measured."""


def seconds(value_s: float | None) -> str:
    """A duration given in seconds."""
    return units.duration(None if value_s is None else value_s * units.NS_PER_SECOND)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column left, all others right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
