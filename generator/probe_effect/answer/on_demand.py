"""A mapping whose values are looked for when they are asked for."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

K = TypeVar("K")
V = TypeVar("V")


class OnDemand(MutableMapping[K, V]):
    """A dictionary; before it says whether it has a key, or which keys it has, `look` is called.

    Args:
        look: puts what there is of a key into the mapping, or all that there is where the key is None.
    """

    def __init__(self, look: Callable[[K | None], None] = lambda _: None) -> None:
        self.look = look
        self.known: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        self.look(key)
        return self.known[key]

    def __setitem__(self, key: K, value: V) -> None:
        self.known[key] = value

    def __delitem__(self, key: K) -> None:
        self.look(key)
        del self.known[key]

    def __iter__(self) -> Iterator[K]:
        self.look(None)
        return iter(self.known)

    def __len__(self) -> int:
        self.look(None)
        return len(self.known)
