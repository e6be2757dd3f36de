"""Putting together what has something in common."""

from collections.abc import Callable, Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def grouped_by(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Each value of `key` to the items that have it; values by their first item, items in the order given."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
