"""What is worked out once for each catalogue or evidence, and things put together by what they have in common."""

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Remembering(Protocol):
    """What keeps in `worked_out` what was made of it."""

    @property
    def worked_out(self) -> dict[object, Any]:
        """The work and its arguments, to what it returned."""


R = TypeVar("R", bound=Remembering)
P = ParamSpec("P")
T = TypeVar("T")


def once(work: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """The same function, which remembers in its first argument what it returned for each set of the others.

    So what remembers must be complete when it is first asked, and nobody may change what is returned.
    """

    @wraps(work)
    def remembered(found: R, /, *asked: P.args, **named: P.kwargs) -> T:
        key = (work, asked, tuple(named.items()))
        if key not in found.worked_out:
            found.worked_out[key] = work(found, *asked, **named)
        made: T = found.worked_out[key]
        return made

    return remembered


K = TypeVar("K")
V = TypeVar("V")


class OnDemand(MutableMapping[K, V]):
    """A dictionary; before it says whether it has a key, `look` puts that into it, or everything where that is None."""

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


def grouped_by(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Each value of `key` to the items that have it; values by their first item, items in the order given."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
