"""Whether what a command writes as JSON is described, key by key, in `advising/json_keys.toml`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from builders import PROJECT
from probe_effect.toml import beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEYS = beside(str(PROJECT / "generator" / "probe_effect" / "advising" / "json_keys.py"))
SAME = {"others": "comparable.", "threads": "busiest_thread.", "scripts": ""}
"""Keys whose objects have the keys of others; a script has a label and a name too."""


def _paths(found: Any, before: str = "") -> Iterator[str]:  # noqa: ANN401
    if isinstance(found, dict):
        for key, value in found.items():
            name = re.sub("_(?:low|high)_", "_", before + key)
            yield name
            yield from _paths(value, SAME.get(name, f"{name}."))
    elif isinstance(found, list):
        for one in found:
            yield from _paths(one, before)


def undescribed(command: str, found: Mapping[str, Any]) -> set[str]:
    """Keys without a description, and the first keys that are described and are not there."""
    described: set[str] = set(KEYS[command])
    first = {key for key in described if "." not in key} - {"here"}
    return (set(_paths(found)) - described - {"label", "name"}) | (first - set(_paths(found)))
