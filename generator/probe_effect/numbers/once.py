"""What is worked out once for each catalogue or evidence, however many ask."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable


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
