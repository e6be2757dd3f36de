"""What `scale` measures of each size, and how its pages write it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probe_effect import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.scale_site import SiteSize
    from benchmarks.scale_watch import Used

COLD, AGAIN, ADDED = "cold", "again", "one added"
BUILDS: Mapping[str, str] = {
    COLD: "nothing kept from earlier builds",
    AGAIN: "nothing changed since",
    ADDED: "one submission more than before",
}
"""Name of a build to what was there before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One build of the site, and Hugo alone on the work folder that it left."""

    whole: Used
    steps: tuple[tuple[str, float], ...]
    """What the build said that it does, to how long that took, s."""
    hugo: Used


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """A command: medians of its runs."""

    seconds: float
    peak_bytes: float
    runs: int


@dataclass(kw_only=True)
class Measured:
    """Everything about one size; what is not measured yet is absent."""

    submissions: int
    machines: int
    numbers: int
    builds: dict[str, Build] = field(default_factory=dict)
    site: SiteSize | None = None
    commands: dict[str, Timing] = field(default_factory=dict)


def seconds(value_s: float | None) -> str:
    """A duration given in seconds."""
    return units.duration(None if value_s is None else value_s * units.NS_PER_SECOND)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column left, all others right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
