"""Published costs beside measured ones, in words."""

from collections.abc import Iterable, Sequence

from probe_effect import units
from probe_effect.compare.agreement import CountedOrder, Order, Pairing
from probe_effect.model import Estimate
from probe_effect.numbers.index import grouped_by
from probe_effect.numbers.published import DERIVED_MARK, PUBLISHED_MARK
from probe_effect.stats.trends import MIN_PAIRS, Correlation
from probe_effect.store.beside_files import Figure


def published(pairing: Pairing) -> str:
    """The cost that others printed, and that it was derived where it was."""
    figure = pairing.figure
    cost = units.duration(None if figure.cost_ns is None else float(figure.cost_ns))
    return f"{cost} (derived)" if figure.cost_from == "derived" else cost


def published_range(figures: Sequence[Figure]) -> str:
    """The least and the greatest cost of `figures`, each with the mark of what it is."""
    ordered = sorted((one for one in figures if one.cost_ns is not None), key=lambda one: float(one.cost_ns or 0))
    ends = [ordered[0]] if ordered[0].cost_ns == ordered[-1].cost_ns else [ordered[0], ordered[-1]]
    return " to ".join(
        f"{units.duration(float(one.cost_ns or 0))}{DERIVED_MARK if one.cost_from == 'derived' else PUBLISHED_MARK}"
        for one in ends
    )


def ratios(pairings: Iterable[Pairing]) -> dict[tuple[str, str], str]:
    """Source and figure to the least and the greatest ratio of what was measured here, with how many those are."""
    groups = grouped_by(pairings, lambda one: (one.source.id, one.figure.figure))
    return {key: _range([one.ratio for one in own]) for key, own in groups.items()}


def _range(found: Sequence[Estimate]) -> str:
    values = [one.value for one in found]
    if len(found) == 1:
        return units.interval(found[0], units.TIMES)
    return f"{units.span(Estimate(values[0], min(values), max(values)), units.TIMES)} ({len(found)})"


def extent(orders: Sequence[Order]) -> str:
    """How many of the published costs could be measured at all, over the platforms and machines of `orders`."""
    most = max(orders, key=lambda one: len(one.pairings))
    fewest = min(orders, key=lambda one: len(one.pairings))
    spread = "" if len(fewest.pairings) == len(most.pairings) else f"{len(fewest.pairings)} to "
    measured_here = f"{spread}{len(most.pairings)} were measured here"
    return f"Of the {most.published} costs above 0 that it prints for a platform, {measured_here}."


def rank_correlation(order: Order | CountedOrder) -> str:
    """Kendall's tau with its interval, or why it has none."""
    found = order.correlation
    if found is None:
        return "no order to compare"
    if found.low is not None:
        return tau(found)
    if len(order.pairings) < MIN_PAIRS:
        return f"{tau(found)}; {len(order.pairings)} rows: too few for an interval, which needs {MIN_PAIRS}"
    return f"{tau(found)}; no interval, because every pair is in one order"


def tau(found: Correlation) -> str:
    """Kendall's tau to two decimals, with its interval where it has one."""
    value, low, high = (end if end is None else units.at_place(end, -2) for end in (found.tau, found.low, found.high))
    return f"{value} ({low} to {high})" if low and high else f"{value}"


def chance(order: Order | CountedOrder) -> str:
    """How likely so much order would be if the two lists had nothing to do with each other."""
    return units.percent(order.correlation.p_value if order.correlation else None)
