"""Counting events in what DTrace prints: aggregations at the end, printed lines, and the drops that it reports.

A script counts its events in one aggregation: DTrace prints aggregations without their names, so a second one could
not be told apart, and would be added.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LIVE = "probe-effect: every probe is live"
"""The line that we have DTrace print from BEGIN."""

VALUE = re.compile(r"^\s.*?(?<=\s)(\d+)\s*$")
"""An aggregation's row: keys and a count, or a histogram's bucket and its count. Frames of a stack end otherwise."""

DISTRIBUTION = "- Distribution -"
"""In the line above a histogram's buckets; the row above that one holds its keys, of which the last may be a number."""

DROPS = re.compile(r"^dtrace: (\d+) (?:[a-z]+ )*drops?\b", re.MULTILINE)
"""Source: libdtrace's dt_handle.c, where both the drops on a CPU and those of the whole are put in words."""


def count_aggregations(lines: Iterable[str]) -> int:
    """Events in the printed aggregation, whatever it gathers: a count, counts by key, or histograms."""
    rows = (row for row, following in pairwise(chain(lines, [""])) if DISTRIBUTION not in following)
    return sum(int(match[1]) for row in rows if (match := VALUE.match(row)))


def count_lines(lines: Iterable[str]) -> int:
    """Lines that the script printed."""
    return sum(1 for line in lines if line.strip() not in {"", LIVE})


def count_drops(errors: str) -> int:
    """Events that DTrace says it dropped: of its buffers, its aggregations, its variables.

    An action that needs a variable which is dropped ends there, so that each of those is an event too.
    """
    return sum(int(match[1]) for match in DROPS.finditer(errors))
