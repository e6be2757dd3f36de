"""What is looked for, or worked out, when somebody asks for it, and then once."""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")
T = TypeVar("T")


class Remembering(Protocol):
    """What has a place for what was worked out from it."""

    worked_out: dict[object, Any]


E = TypeVar("E", bound=Remembering)


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


def once(work: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """The same function, which remembers in the evidence what it returned for each set of arguments.

    So the evidence must be complete when it is first asked, and nobody may change what is returned.
    """

    @wraps(work)
    def remembered(found: E, /, *asked: P.args, **named: P.kwargs) -> T:
        key = (work, asked, tuple(named.items()))
        if key not in found.worked_out:
            found.worked_out[key] = work(found, *asked, **named)
        made: T = found.worked_out[key]
        return made

    return remembered
