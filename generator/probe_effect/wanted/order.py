"""In which order a machine measures its suites: what the site lacks most first; and how much of it fits into a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from probe_effect.numbers.catalogue import Catalogue
from probe_effect.numbers.shown import machine_kind
from probe_effect.wanted.lacking import measured

FEWEST, MOST = 6, 20
"""Blocks of a suite: fewest that carry a 95 % interval, and as many as `measure` makes by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTurn:
    """A suite on this machine: which of its cases it can give the site, and how it is measured."""

    suite: str
    cases: int
    first: Sequence[str]
    """The cases that no machine has a sound time of."""
    own: Sequence[str]
    """Those that no machine of its kind has one of, the first ones among them."""
    block_s: float
    quick_block_s: float
    blocks: int = FEWEST
    is_quick: bool = False

    @property
    def takes_s(self) -> float:
        """About how long it takes; its trials are as one more block."""
        return self.quick_s if self.is_quick else (self.blocks + 1) * self.block_s

    @property
    def quick_s(self) -> float:
        """About how long its quick plan takes."""
        return (FEWEST + 1) * self.quick_block_s


def new_here(catalogue: Catalogue, kind: Sequence[str], cases: Iterable[str]) -> tuple[list[str], list[str]]:
    """Of `cases`, those that no machine has a sound time of, and those that no machine of a kind has one of."""
    known = measured(catalogue)
    own = [case for case in cases if all(machine_kind(one) != kind for one in known.get(case, ()))]
    return [case for case in own if case not in known], own


def by_want(turns: Iterable[SuiteTurn]) -> list[SuiteTurn]:
    """Most first times a minute first, then most cases new to the kind of machine a minute, then the shortest."""
    return sorted(turns, key=lambda one: (-len(one.first) / one.block_s, -len(one.own) / one.block_s, one.block_s))


def fitted(turns: Sequence[SuiteTurn], budget_s: float) -> list[SuiteTurn]:
    """What fits into a time, in its order: as many suites as can be with fewest blocks, then more blocks of each.

    Where not even the first fits so, its quick plan does, or the quick plan of the next that fits; empty: nothing does.
    """
    chosen, left_s = [], budget_s
    for turn in turns:
        if turn.takes_s <= left_s:
            chosen.append(turn)
            left_s -= turn.takes_s
    if not chosen:
        quick = (replace(turn, is_quick=True) for turn in turns)
        return [turn for turn in quick if turn.takes_s <= budget_s][:1]
    for place, turn in enumerate(chosen):
        more = min(MOST - FEWEST, int(left_s / turn.block_s))
        chosen[place] = replace(turn, blocks=FEWEST + more)
        left_s -= more * turn.block_s
    return chosen
