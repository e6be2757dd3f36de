"""What was measured of a case on all machines, in one cell: a number, or the least and the greatest of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.pages import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.guidance.catalogue import Catalogue, MeasuredSubmission
    from probe_effect.model import CaseSummary, Interval
    from probe_effect.pages.addresses import Quantity
    from probe_effect.store.suite_file import Case, Suite


@dataclass(frozen=True, slots=True)
class End:
    """One number as it stands in a cell, and whose it is."""

    submission: MeasuredSubmission
    case: CaseSummary
    quantity: Quantity
    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """One number, or the least and the greatest of `count`; without any, `words` say why."""

    ends: tuple[End, ...] = ()
    count: int = 0
    words: str = ""


def measured_range(catalogue: Catalogue, suite: Suite, case: Case) -> Range:
    """What the newest submissions measured for a case; costs that are no difference stand alone or not at all."""
    found = list(catalogue.measured(case.id))
    timed = [(submission, one) for submission, one in found if one.cost is not None]
    if not timed:
        return Range(words=found[0][1].status if found else "not yet")
    if suite.measures == "start":
        return _range("start", [(*both, both[1].attach) for both in timed])
    clear = [(*both, both[1].cost) for both in timed if both[1].distinguishable]
    if len(timed) == 1 or not clear:
        submission, one = timed[0]
        return Range((End(submission, one, "cost", wording.cost(one)),), 1)
    return _range("cost", clear)


def _range(quantity: Quantity, found: list[tuple[MeasuredSubmission, CaseSummary, Interval | None]]) -> Range:
    ends = [end for _, end in sorted(_ends(quantity, found), key=lambda one: one[0])]
    if not ends:
        return Range(words=units.MISSING)
    return Range((ends[0],) if len(ends) == 1 else (ends[0], ends[-1]), len(ends))


def _ends(
    quantity: Quantity, found: list[tuple[MeasuredSubmission, CaseSummary, Interval | None]]
) -> Iterator[tuple[float, End]]:
    for submission, case, interval in found:
        if interval is not None:
            yield interval.value, End(submission, case, quantity, units.duration(interval.value))
