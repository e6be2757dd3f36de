"""What a site of many submissions may take, and whether it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.scale_measured import ADDED, AGAIN, COLD, seconds, table
from probe_effect import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evidence.scale_measured import Measured

RATIOS = {COLD: 4.0, AGAIN: 1.4, ADDED: 1.5}
"""Build to the most that it may take, over Hugo alone."""

MOST_MEMORY_BYTES = 1.2e9
MOST_SITE_BYTES = 1e9
MOST_PAGE_BYTES = 150_000

COMMANDS_S = {"predict": 1.0, "cite": 1.0, "compare": 1.0, "check": 10.0, "review": 10.0}
"""Command to the most that it may take."""

TODAY_S = {"predict": 0.4, "cite": 0.4, "compare": 0.4}
"""The same with the data of today alone."""


@dataclass(frozen=True, slots=True)
class Target:
    """One quantity, the most that it may be, and what it is; None where it was not measured."""

    name: str
    most: float
    found: float | None
    form: Callable[[float], str]

    @property
    def row(self) -> list[str]:
        """Its row of the table."""
        if self.found is None:
            return [self.name, self.form(self.most), units.MISSING, units.MISSING]
        return [self.name, self.form(self.most), self.form(self.found), "yes" if self.found <= self.most else "**no**"]


def targets(sizes: Sequence[Measured]) -> str:
    """The table of the largest size, with what today's data alone have a target for; nothing before it was built."""
    built = [one for one in sizes if one.builds]
    if not built:
        return ""
    today = next((one for one in built if one.submissions == 0), None)
    rows = [one.row for one in (*_of_largest(built[-1]), *(_commands(today, TODAY_S) if today else ()))]
    title = f"## Targets at {units.count(built[-1].submissions)} submissions"
    return f"{title}\n\n{table(['', 'At most', 'Found', 'Met'], rows)}"


def _of_largest(one: Measured) -> Iterator[Target]:
    for name, most in RATIOS.items():
        build = one.builds.get(name)
        yield Target(f"build, {name}, over Hugo alone", most, build.ratio if build else None, units.significant)
    memory = [build.whole.beside_hugo_bytes for build in one.builds.values()]
    yield Target("memory without Hugo's", MOST_MEMORY_BYTES, max(memory, default=None), _megabytes)
    yield Target("the whole site", MOST_SITE_BYTES, one.site.total_bytes if one.site else None, _megabytes)
    largest = one.site.largest_page_bytes if one.site else None
    yield Target("the largest page, gzip", MOST_PAGE_BYTES, largest, _kilobytes)
    yield from _commands(one, COMMANDS_S)


def _commands(one: Measured, most_s: dict[str, float]) -> Iterator[Target]:
    where = "" if one.submissions else ", today's data alone"
    for command, most in most_s.items():
        found = next((timing.seconds for name, timing in one.commands.items() if name.startswith(command)), None)
        yield Target(f"`{command}`{where}", most, found, seconds)


def _megabytes(value_bytes: float) -> str:
    return f"{units.count(round(value_bytes / 1e6))} MB"


def _kilobytes(value_bytes: float) -> str:
    return f"{units.count(round(value_bytes / 1e3))} kB"
