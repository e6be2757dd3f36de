"""Published costs beside measured ones of the same case and tool: their ratio, and whether they order cases alike.

Instructions per event are set against published costs by their order alone, kernel by kernel.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from probe_effect.compare.kernels import CountedCase, KernelColumn, Matrix
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import shown
from probe_effect.numbers.submission import Number
from probe_effect.numbers.trends import MIN_PAIRS, Correlation, kendall
from probe_effect.store.beside_files import Figure


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


@dataclass(frozen=True, slots=True)
class CountedOrder:
    """The order of the counts of a column against that of a source on one of its platforms.

    `pairings`: published ns per event and counted instructions per event, one a case; `correlation` is None where they
    are too few, or all alike.
    """

    source: PublishedSource
    platform: str
    column: KernelColumn
    pairings: tuple[tuple[float, float], ...]
    correlation: Correlation | None


def of_case(catalogue: Catalogue, case_id: str, measured: Sequence[Number]) -> list[Pairing]:
    """Every published cost of a case against those of `measured` that are of the same tool.

    Published costs of 0 have no ratio, and those that name no tool, or one that was not measured, have no partner.
    Measured costs are left out that are not distinguishable from 0, or whose events do not add up.
    """
    return [
        found
        for source, figure in catalogue.published(case_id)
        for one in measured
        if (found := _pairing(source, figure, one))
    ]


def of_source(catalogue: Catalogue, source: PublishedSource) -> list[Pairing]:
    """The pairings of every case of a source, in the order of its figures."""
    found = [
        one
        for case in dict.fromkeys(case for _, case, _ in _costs(source))
        for one in of_case(catalogue, case, shown(catalogue.numbers.of_case(case), catalogue.numbers)[0])
        if one.source is source
    ]
    order = {figure.figure: place for place, figure in enumerate(source.figures)}
    return sorted(found, key=lambda one: order[one.figure.figure])


def orders(source: PublishedSource, pairings: Iterable[Pairing]) -> list[Order]:
    """For each platform on which the source prints enough cases to rank, and each machine and tracer of ours.

    Enough are as many as an interval needs (`stats.trends`); fewer would never be enough to tell.
    """
    groups: dict[tuple[str, str, str], dict[str, Pairing]] = {}
    for one in pairings:
        place = (one.figure.platform or "", one.measured.submission.machine, one.measured.tracer)
        groups.setdefault(place, {}).setdefault(one.measured.case, one)
    printed: dict[str, set[str]] = defaultdict(set)
    for figure, case, _ in _costs(source):
        printed[figure.platform or ""].add(case)
    return [
        Order(
            platform,
            len(printed[platform]),
            tuple(found.values()),
            _correlation((float(one.figure.cost_ns or 0), one.measured.known_cost.value) for one in found.values()),
        )
        for (platform, _, _), found in groups.items()
        if len(printed[platform]) >= MIN_PAIRS
    ]


def counted_orders(catalogue: Catalogue, found: Matrix) -> list[CountedOrder]:
    """For each platform on which a source prints enough costs of a tool to rank, each kernel and version of that tool.

    Enough are as many as an interval needs (`stats.trends`). Costs of 0, cases without events and counts that are
    not sound have no place in an order.
    """
    tools = {column: tool_of(one.tracer) for (_, column), one in found.cells.items()}
    columns = [KernelColumn(kernel, tracer) for tracer in found.tracers for kernel in found.kernels]
    return [
        _counted_order(found, source, platform, costs_ns, column)
        for source, platform, tool, costs_ns in _published(catalogue, found)
        for column in columns
        if tools.get(column) == tool
    ]


def _published(catalogue: Catalogue, found: Matrix) -> Iterator[tuple[PublishedSource, str, str, dict[str, float]]]:
    """Source, platform and tool with its costs by case, ns per event, where there are enough of them."""
    cases = {row.case for row in found.events() if row.level is None}
    for source in catalogue.sources:
        places: dict[tuple[str, str], dict[str, float]] = {}
        for figure, case, cost_ns in _costs(source):
            if case in cases and figure.tracer:
                places.setdefault((figure.platform or "", figure.tracer), {}).setdefault(case, cost_ns)
        yield from ((source, *place, costs_ns) for place, costs_ns in places.items() if len(costs_ns) >= MIN_PAIRS)


def _counted_order(
    found: Matrix, source: PublishedSource, platform: str, costs_ns: dict[str, float], column: KernelColumn
) -> CountedOrder:
    counts = ((cost_ns, found.cell(CountedCase(case, None), *column)) for case, cost_ns in costs_ns.items())
    pairings = tuple((cost_ns, one.known_cost.value) for cost_ns, one in counts if one is not None and one.is_sound)
    return CountedOrder(source, platform, column, pairings, _correlation(pairings))


def _correlation(pairs: Iterable[tuple[float, float]]) -> Correlation | None:
    """The rank correlation of pairs of a published cost and our number."""
    published, ours = np.array(list(pairs), dtype=np.float64).reshape(-1, 2).T
    return kendall(published, ours)


def _costs(source: PublishedSource) -> Iterator[tuple[Figure, str, float]]:
    """The costs of a source above 0 that have a case, each with the case and the ns per event."""
    for figure in source.figures:
        if figure.case and figure.cost_ns is not None and figure.cost_ns > 0:
            yield figure, figure.case, float(figure.cost_ns)


def _pairing(source: PublishedSource, figure: Figure, one: Number) -> Pairing | None:
    cost, published = one.cost, figure.cost_ns
    if cost is None or published is None or published <= 0 or figure.tracer != tool_of(one.tracer):
        return None
    if not one.distinguishable or one.event.reconciled is False:
        return None
    return Pairing(source, figure, one, cost.mapped(lambda cost_ns: cost_ns / float(published)))
