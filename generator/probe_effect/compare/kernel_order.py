"""Whether instructions per event order the cases as costs do that others have published, kernel by kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probe_effect.compare.kernels import Column, Row
from probe_effect.numbers.names import tool_of
from probe_effect.stats.correlation import MIN_PAIRS, Correlation, kendall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.compare.kernels import Matrix
    from probe_effect.numbers.catalogue import Catalogue, PublishedSource


@dataclass(frozen=True, slots=True)
class CountedOrder:
    """The order of the counts of a column against that of a source on one of its platforms.

    `pairings`: published ns per event and counted instructions per event, one a case; `correlation` is None where they
    are too few, or all alike.
    """

    source: PublishedSource
    platform: str
    column: Column
    pairings: tuple[tuple[float, float], ...]
    correlation: Correlation | None

    @property
    def missing(self) -> int:
        """How many more cases an interval needs; 0 where there are enough."""
        return max(0, MIN_PAIRS - len(self.pairings))


def counted_orders(catalogue: Catalogue, found: Matrix) -> list[CountedOrder]:
    """For each platform on which a source prints enough costs of a tool to rank, each kernel and version of that tool.

    Enough are as many as an interval needs (`stats.correlation`). Costs of 0, cases without events and counts that are
    not sound have no place in an order.
    """
    tools = {column: tool_of(one.tracer) for (_, column), one in found.cells.items()}
    columns = [Column(kernel, tracer) for tracer in found.tracers for kernel in found.kernels]
    return [
        _order(found, source, platform, costs_ns, column)
        for source, platform, tool, costs_ns in _published(catalogue, found)
        for column in columns
        if tools.get(column) == tool
    ]


def _published(catalogue: Catalogue, found: Matrix) -> Iterator[tuple[PublishedSource, str, str, dict[str, float]]]:
    """Source, platform and tool with its costs by case, ns per event, where there are enough of them."""
    cases = {row.case for row in found.events() if row.level is None}
    for source in catalogue.sources:
        places: dict[tuple[str, str], dict[str, float]] = {}
        for figure in source.figures:
            if figure.case in cases and figure.tracer and figure.cost_ns is not None and figure.cost_ns > 0:
                costs_ns = places.setdefault((figure.platform or "", figure.tracer), {})
                costs_ns.setdefault(str(figure.case), float(figure.cost_ns))
        yield from ((source, *place, costs_ns) for place, costs_ns in places.items() if len(costs_ns) >= MIN_PAIRS)


def _order(
    found: Matrix, source: PublishedSource, platform: str, costs_ns: dict[str, float], column: Column
) -> CountedOrder:
    pairings = []
    for case, cost_ns in costs_ns.items():
        one = found.cell(Row(case, None), *column)
        if one is not None and one.is_sound:
            pairings.append((cost_ns, one.known_cost.value))
    published_ns, counted = np.array(pairings, dtype=np.float64).reshape(-1, 2).T
    return CountedOrder(source, platform, column, tuple(pairings), kendall(published_ns, counted))
