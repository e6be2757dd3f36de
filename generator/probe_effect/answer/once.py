"""What is worked out once for each evidence, however many ask."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from probe_effect.answer.evidence import Evidence

P = ParamSpec("P")
T = TypeVar("T")


def once(work: Callable[Concatenate[Evidence, P], T]) -> Callable[Concatenate[Evidence, P], T]:
    """The same function, which remembers in the evidence what it returned for each set of arguments.

    So the evidence must be complete when it is first asked, and nobody may change what is returned.
    """

    @wraps(work)
    def remembered(found: Evidence, /, *asked: P.args, **named: P.kwargs) -> T:
        key = (work, asked, tuple(named.items()))
        if key not in found.worked_out:
            found.worked_out[key] = work(found, *asked, **named)
        made: T = found.worked_out[key]
        return made

    return remembered
