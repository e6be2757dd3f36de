"""Published costs beside measured ones of the same case and tool: their ratio, and whether they order cases alike.

Instructions per event are set against published costs by their order alone, kernel by kernel.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from probe_effect.compare.kernels import CountedCase, KernelColumn, Matrix
from probe_effect.model import Estimate
from probe_effect.numbers.catalogue import Catalogue, PublishedSource
from probe_effect.numbers.names import tool_of
from probe_effect.numbers.shown import shown
from probe_effect.numbers.submission import Number
from probe_effect.numbers.trends import MIN_PAIRS, Correlation, kendall
from probe_effect.store.beside_files import Figure


class Pairing(NamedTuple):
    """A published cost and a measured one; `ratio` is measured over published, with the interval of the measured."""

    source: PublishedSource
    figure: Figure
    measured: Number
    ratio: Estimate


class Order(NamedTuple):
    """Whether a machine with a tracer orders the cases as a source does on one of its platforms.

    `published`: how many costs above 0 the source prints there; `pairings`: those that were measured, one a case.
    """

    platform: str
    published: int
    pairings: tuple[Pairing, ...]
    correlation: Correlation | None


class CountedOrder(NamedTuple):
    """The order of the counts of a column against that of a source on one of its platforms.

    `pairings`: published ns per event and counted instructions per event, one a case.
    """

    source: PublishedSource
    platform: str
    column: KernelColumn
    pairings: tuple[tuple[float, float], ...]
    correlation: Correlation | None


def of_case(catalogue: Catalogue, case_id: str, measured: Sequence[Number]) -> list[Pairing]:
    """Every published cost of a case, above 0, against those of `measured` that are of the same tool.

    Measured costs are left out that are not distinguishable from 0, or whose events do not add up.
    """
    sound = [
        number for number in measured if number.cost and number.distinguishable and number.event.reconciled is not False
    ]
    return [
        Pairing(source, figure, number, _over(number.known_cost, float(figure.cost_ns)))
        for source, figure in catalogue.published(case_id)
        if figure.cost_ns is not None and figure.cost_ns > 0
        for number in sound
        if figure.tracer == tool_of(number.tracer)
    ]


def _over(cost: Estimate, published_ns: float) -> Estimate:
    return cost.mapped(lambda cost_ns: cost_ns / published_ns)


def of_source(catalogue: Catalogue, source: PublishedSource) -> list[Pairing]:
    """The pairings of every case of a source, in the order of its figures."""
    cases = dict.fromkeys(case for _, case, _ in _costs(source))
    numbers = catalogue.numbers
    each = (of_case(catalogue, case, shown(numbers.of_case(case), numbers)[0]) for case in cases)
    own = (pairing for pairings in each for pairing in pairings if pairing.source is source)
    return sorted(own, key=lambda pairing: source.figures.index(pairing.figure))


def orders(source: PublishedSource, pairings: Iterable[Pairing]) -> list[Order]:
    """For each platform on which the source prints enough cases to rank, and each machine and tracer of ours.

    Enough are as many as an interval needs; fewer would never be enough to tell.
    """
    groups: dict[tuple[str, str, str], dict[str, Pairing]] = {}
    for pairing in pairings:
        key = (pairing.figure.platform or "", pairing.measured.submission.machine, pairing.measured.tracer)
        groups.setdefault(key, {}).setdefault(pairing.measured.case, pairing)
    printed: dict[str, set[str]] = defaultdict(set)
    for figure, case, _ in _costs(source):
        printed[figure.platform or ""].add(case)
    made = []
    for (platform, _, _), own in groups.items():
        if len(printed[platform]) >= MIN_PAIRS:
            costs = [
                (float(pairing.figure.cost_ns or 0), pairing.measured.known_cost.value) for pairing in own.values()
            ]
            made.append(Order(platform, len(printed[platform]), tuple(own.values()), _correlation(costs)))
    return made


def counted_orders(catalogue: Catalogue, matrix: Matrix) -> list[CountedOrder]:
    """For each platform on which a source prints enough costs of a tool to rank, each kernel and version of that tool.

    Costs of 0, cases without events and counts that are not sound have no place in an order.
    """
    tools = {column: tool_of(number.tracer) for (_, column), number in matrix.cells.items()}
    columns = [KernelColumn(kernel, tracer) for tracer in matrix.tracers for kernel in matrix.kernels]
    made = []
    for source, platform, tool, costs_ns in _published(catalogue, matrix):
        for column in (kernel_column for kernel_column in columns if tools.get(kernel_column) == tool):
            counts = ((cost_ns, matrix.cell(CountedCase(case, None), *column)) for case, cost_ns in costs_ns.items())
            pairs = tuple(
                (cost_ns, number.known_cost.value) for cost_ns, number in counts if number and number.is_sound
            )
            made.append(CountedOrder(source, platform, column, pairs, _correlation(pairs)))
    return made


def _published(catalogue: Catalogue, matrix: Matrix) -> Iterator[tuple[PublishedSource, str, str, dict[str, float]]]:
    """Source, platform and tool with its costs by case, ns per event, where there are enough of them."""
    cases = {row.case for row in matrix.events() if row.level is None}
    for source in catalogue.sources:
        places: dict[tuple[str, str], dict[str, float]] = {}
        for figure, case, cost_ns in _costs(source):
            if case in cases and figure.tracer:
                places.setdefault((figure.platform or "", figure.tracer), {}).setdefault(case, cost_ns)
        yield from ((source, *key, costs_ns) for key, costs_ns in places.items() if len(costs_ns) >= MIN_PAIRS)


def _correlation(pairs: Sequence[tuple[float, float]]) -> Correlation | None:
    """The rank correlation of pairs of a published cost and our number."""
    published, ours = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return kendall(published, ours)


def _costs(source: PublishedSource) -> Iterator[tuple[Figure, str, float]]:
    """The costs of a source above 0 that have a case, each with the case and the ns per event."""
    for figure in source.figures:
        if figure.case and figure.cost_ns is not None and figure.cost_ns > 0:
            yield figure, figure.case, float(figure.cost_ns)
