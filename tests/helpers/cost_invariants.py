"""What must hold of every cost: pairs of questions of which the second asks for more work, and what an answer may be.

A cost is asked for as a function of scope, tracer and probe, so that whatever engine answers can be swept.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from probe_effect.model import Estimate

KINDS = """tracepoint tracepoint-entry tracepoint-return raw-tracepoint kprobe kretprobe fentry fexit uprobe uretprobe
usdt profile software hardware system-call function-tracer function-graph""".split()
ACTIONS = """filter count count-by-pid count-by-name count-by-pid-and-name count-by-string count-by-kernel-stack
count-by-user-stack histogram histogram-of-time print record record-stack""".split()
MECHANISMS = ("emulated", "stepped", "called", "ftrace", "jump", "trap")
OF_USER, OF_KERNEL = {"uprobe", "uretprobe"}, {"kprobe", "kretprobe"}
NEAR = 1e-6


class Asked(NamedTuple):
    """A probe with all that it does."""

    kind: str
    mechanism: str | None = None
    actions: tuple[str, ...] = ()
    has_filter: bool = False
    unknown: tuple[str, ...] = ()
    frames: int | None = None
    threads: int = 1


class Said(NamedTuple):
    """An answer: ns an event, and what it rests on."""

    cost: Estimate
    basis: str


@dataclass(frozen=True)
class Violation:
    """Two questions of which the second asks for more, and costs less; or one whose answer may not be."""

    rule: str
    less: Asked
    more: Asked
    was: Said | None
    found: Said | None


def pairs() -> Iterator[tuple[str, Asked, Asked]]:
    """Every pair that differs in one thing, the one with less work first."""
    for kind in KINDS:
        own = MECHANISMS[:3] if kind in OF_USER else MECHANISMS[3:] if kind in OF_KERNEL else ()
        for mechanism in (None, *own):
            plain = Asked(kind, mechanism)
            yield from (("an action", plain, plain._replace(actions=(one,))) for one in ACTIONS)
            for one, other in combinations(ACTIONS, 2):
                both = plain._replace(actions=(one, other))
                yield "a second action", plain._replace(actions=(one,)), both
                yield "a second action", plain._replace(actions=(other,)), both
            for one in ACTIONS[1:]:
                single = plain._replace(actions=(one,))
                yield "a filter", single, single._replace(has_filter=True)
                yield "a part that is not understood", single, single._replace(unknown=("frobnicate(1)",))
                yield "more threads", single, single._replace(threads=2)
                yield "more threads", single._replace(threads=2), single._replace(threads=4)
        for mechanism, action in product(own if kind in OF_USER else (), ("", *ACTIONS)):
            done = (action,) if action else ()
            yield "an instruction that is not known", Asked(kind, mechanism, done), Asked(kind, None, done)
    for action in ACTIONS:
        for less, more in ((None, 60), (20, 60), (60, 200)):
            sampled = Asked("profile", None, (action,))
            if less is not None or more > 30:
                yield "a deeper stack", sampled._replace(frames=less or 20), sampled._replace(frames=more)


def violations(ask: Callable[[Asked], Said | None]) -> tuple[int, list[Violation]]:
    """How many pairs have two answers, and those of which more work has the lower value or the lower high end."""
    known: dict[Asked, Said | None] = {}

    def told(one: Asked) -> Said | None:
        if one not in known:
            known[one] = ask(one)
        return known[one]

    count, wrong = 0, []
    for rule, less, more in pairs():
        was, found = told(less), told(more)
        if was is not None and found is not None:
            count += 1
            if _is_less(found.cost, was.cost):
                wrong.append(Violation(rule, less, more, was, found))
    return count, wrong


def turned(ask: Callable[[Asked], Said | None], some: Sequence[str] = ACTIONS) -> list[Violation]:
    """Pairs of actions whose order changes the answer."""
    wrong = []
    for kind, (one, other) in product(KINDS, combinations(some, 2)):
        first, last = Asked(kind, None, (one, other)), Asked(kind, None, (other, one))
        was, found = ask(first), ask(last)
        if (was and was.cost) != (found and found.cost):
            wrong.append(Violation("the order of actions", first, last, was, found))
    return wrong


def _is_less(one: Estimate, other: Estimate) -> bool:
    ends = ((one.value, other.value), (one.high, other.high))
    return any(a is not None and b is not None and a < b - NEAR * abs(b) for a, b in ends)
