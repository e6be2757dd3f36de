"""Counting events in what bpftrace prints (`-f json`, or text for scripts that print every event).

A script counts its events in the map without a name, `@`, whatever it gathers there: a count, counts by key, or
histograms. Maps with a name are the script's own business: 16-timing keeps its start times in one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTED = "@"
LIVE = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"
"""The variable that has bpftrace say when all probes are attached, and the line that it prints then."""
LOST = re.compile(r"Lost (\d+) events?$")
FRAME = re.compile(rf"Attaching \d+ probes?\.\.\.$|Attached \d+ probes?$|{LIVE}$|\s*$")
"""Lines of bpftrace itself."""


def count_json(lines: Iterable[str]) -> tuple[int, int]:
    """(events in the map `@`, events that bpftrace says it lost).

    Raises: ValueError when a line in braces is not JSON as bpftrace 0.17 writes it.
    """
    seen = lost = 0
    for line in lines:
        if not line.startswith("{"):
            continue
        message = json.loads(line)
        kind, data = message.get("type"), message.get("data")
        if kind == "lost_events":
            lost += int(data["events"])
        elif kind in ("map", "hist", "stats") and COUNTED in data:
            seen += _events(data[COUNTED])
    return seen, lost


def _events(value: Any) -> int:  # noqa: ANN401 (JSON, of a shape that depends on the map)
    """Events that one map's value stands for: a count, statistics, histogram buckets, or any of these by key."""
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return sum(int(bucket["count"]) for bucket in value)
    if isinstance(value, dict):
        return int(value["count"]) if value.keys() >= {"count", "average"} else sum(map(_events, value.values()))
    msg = f"a map holds {type(value).__name__}, which is no count"
    raise ValueError(msg)


def count_lines(lines: Iterable[str]) -> tuple[int, int]:
    """(lines that the script printed, events that bpftrace says it lost)."""
    seen = lost = 0
    for line in lines:
        if match := LOST.match(line):
            lost += int(match[1])
        elif not FRAME.match(line):
            seen += 1
    return seen, lost
