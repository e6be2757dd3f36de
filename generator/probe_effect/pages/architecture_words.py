"""Two architectures beside each other in words: shares of an untraced operation, orders, and which cases exist."""

from collections.abc import Mapping, Sequence

from probe_effect import units
from probe_effect.compare.counts import ArchitecturePair, share
from probe_effect.compare.kernels import CountedCase
from probe_effect.numbers import names
from probe_effect.pages import agreement, instructions
from probe_effect.reduce.submission import Number

MOST_SAID = 3
"""Cases whose shares lie furthest apart that are told in a sentence."""


def sides(found: ArchitecturePair) -> tuple[str, str]:
    """The names of both architectures."""
    first, second = (names.architecture(one.architecture) for one in found.matrices)
    return first, second


def where(found: ArchitecturePair) -> str:
    """The kernel and the tracer that both have."""
    return f"Linux {found.series} with {instructions.short(found.tracer)}"


def sentences(found: ArchitecturePair) -> list[str]:
    """The two untraced operations, the order of the cases, and the shares that lie furthest apart."""
    said = [_untraced(found), _order(found)]
    return [one for one in said if one] + [_apart(found, pair) for pair in found.furthest(MOST_SAID)]


def only(found: ArchitecturePair, titles: Mapping[str, str]) -> list[str]:
    """Which cases were counted on one of the two alone, with whichever tracer."""
    return [
        f"On Linux {found.series} counted on {side} alone: {', '.join(_title(row, titles) for row in rows)}."
        for side, rows in zip(sides(found), found.only, strict=True)
        if rows
    ]


def cells(pair: Sequence[Number]) -> list[tuple[Number, str, str]]:
    """For each side its count, and what share of its untraced operation that is."""
    return [(one, instructions.cell(one), instructions.share(one)) for one in pair]


def _untraced(found: ArchitecturePair) -> str | None:
    first, second = found.pairs[0]
    if first.baseline is None or second.baseline is None:
        return None
    one, other = (units.count(number.baseline.value) for number in (first, second) if number.baseline)
    here, there = sides(found)
    return f"An untraced operation takes {one} instructions on {here} and {other} on {there}."


def _order(found: ArchitecturePair) -> str:
    both = f"{units.count(len(found.pairs))} cases were counted on both"
    if found.correlation is None:
        return f"{both}: too few to compare their order."
    return f"{both}; the rank correlation of their two orders is {agreement.tau(found.correlation)}."


def _apart(found: ArchitecturePair, pair: tuple[Number, Number]) -> str:
    first, second = (units.percent(share(one)) for one in pair)
    here, there = sides(found)
    return f"{instructions.subject(pair[0])} adds {first} of an untraced operation on {here}, and {second} on {there}."


def _title(row: CountedCase, titles: Mapping[str, str]) -> str:
    return f"{names.quoted(titles.get(row.case, row.case))}{names.at_level(row.level)}"
