"""Published costs beside measured ones of the same case and tool: their ratio, and whether they order cases alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.model import Estimate
from probe_effect.numbers.kinds import shown
from probe_effect.numbers.names import tool_of
from probe_effect.stats.correlation import MIN_PAIRS, Correlation, kendall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from probe_effect.numbers.catalogue import Catalogue, PublishedSource
    from probe_effect.reduce.submission import Number
    from probe_effect.store.source_file import Figure


@dataclass(frozen=True, slots=True)
class Pairing:
    """A published cost and a measured one; `ratio` is measured over published, with the interval of the measured."""

    source: PublishedSource
    figure: Figure
    measured: Number
    ratio: Estimate


@dataclass(frozen=True, slots=True)
class Order:
    """Whether a machine with a tracer orders the cases as a source does on one of its platforms.

    `published`: how many costs above 0 the source prints there; `pairings`: those that were measured, one a case;
    `correlation` is None where they are too few, or all alike.
    """

    platform: str
    published: int
    pairings: tuple[Pairing, ...]
    correlation: Correlation | None

    @property
    def missing(self) -> int:
        """How many more cases an interval needs; 0 where there are enough."""
        return max(0, MIN_PAIRS - len(self.pairings))


def of_case(catalogue: Catalogue, case_id: str, measured: Sequence[Number]) -> list[Pairing]:
    """Every published cost of a case against those of `measured` that are of the same tool.

    A cost of 0, a measured one that is no difference from 0, and one whose events do not add up have no ratio and are
    left out; so are published costs that name no tool, or one that was not measured.
    """
    return [
        found
        for source, figure in catalogue.published(case_id)
        for one in measured
        if (found := _pairing(source, figure, one))
    ]


def of_source(catalogue: Catalogue, source: PublishedSource) -> list[Pairing]:
    """The same for every case of a source, in the order of its figures."""
    cases = dict.fromkeys(figure.case for figure in _costs(source))
    found = [
        one
        for case in cases
        if case
        for one in of_case(catalogue, case, shown(catalogue.numbers.of_case(case), catalogue.numbers)[0])
        if one.source is source
    ]
    order = {figure.figure: place for place, figure in enumerate(source.figures)}
    return sorted(found, key=lambda one: order[one.figure.figure])


def orders(source: PublishedSource, pairings: Iterable[Pairing]) -> list[Order]:
    """For each platform on which the source prints enough cases to rank, and each machine and tracer of ours.

    Enough are as many as an interval needs (`stats.correlation`); fewer would never be enough to tell.
    """
    groups: dict[tuple[str, str, str], dict[str, Pairing]] = {}
    for one in pairings:
        place = (one.figure.platform or "", one.measured.submission.machine, one.measured.tracer)
        groups.setdefault(place, {}).setdefault(one.measured.case, one)
    printed = _cases_by_platform(source)
    return [
        Order(place[0], len(printed[place[0]]), tuple(found.values()), _correlation(found.values()))
        for place, found in groups.items()
        if len(printed[place[0]]) >= MIN_PAIRS
    ]


def _correlation(pairings: Iterable[Pairing]) -> Correlation | None:
    pairs = [
        (float(one.figure.cost_ns), one.measured.cost.value)
        for one in pairings
        if one.figure.cost_ns is not None and one.measured.cost is not None
    ]
    published_ns, measured_ns = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return kendall(published_ns, measured_ns)


def _cases_by_platform(source: PublishedSource) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for figure in _costs(source):
        found.setdefault(figure.platform or "", set()).add(figure.case or "")
    return found


def _costs(source: PublishedSource) -> Iterator[Figure]:
    """Its costs above 0 that are mapped to a case."""
    return (figure for figure in source.figures if figure.case and figure.cost_ns is not None and figure.cost_ns > 0)


def _pairing(source: PublishedSource, figure: Figure, one: Number) -> Pairing | None:
    cost, published = one.cost, figure.cost_ns
    if cost is None or published is None or published <= 0 or figure.tracer != tool_of(one.tracer):
        return None
    if not one.distinguishable or one.reconciled is False:
        return None
    low, high = (None if end is None else end / float(published) for end in (cost.low, cost.high))
    return Pairing(source, figure, one, Estimate(cost.value / float(published), low, high))
