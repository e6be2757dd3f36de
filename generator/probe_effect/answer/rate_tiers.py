"""The rate tiers of the source `gregg-2011-pid-provider`, worked out again with the costs that it measured, and ours.

It calls 1 000 events a second harmless, 10 000 noticeable and 100 000 painful, at a cost per event that is not the one
which its own run times give; see its findings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.model import Estimate
from probe_effect.reduce.thresholds import slowdown_at
from probe_effect.store.source_file import UNIT_SCALE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probe_effect.numbers.catalogue import Catalogue, PublishedSource
    from probe_effect.reduce.submission import Number
    from probe_effect.store.source_file import Figure

SOURCE = "gregg-2011-pid-provider"
ASSUMED = "tier_cost"
RATES = ("tier_1_rate", "tier_2_rate", "tier_3_rate")
SLOWDOWNS = ("tier_1_slowdown", "tier_2_slowdown", "tier_3_slowdown")
RECOMPUTED = ("cost_count", "cost_copyinstr")
"""Figures of the source: what the tiers assume and give, and the costs that follow from its run times."""

OUR_CASE = "06-uprobe"
PROBES = ("uprobe", "usdt")
"""What is closest to a counting probe of the pid provider among our cases."""

PLAIN_ACTIONS = ("nothing", "count")
"""Of cases that are about their probe."""


@dataclass(frozen=True, slots=True)
class TierCost:
    """A cost in ns per event, published (`figure`) or measured here (`measured`), and what it makes of the tiers.

    `slowdowns`: at each of the tiers' rates, as a ratio; `of_assumed`: the cost over the one that the tiers assume.
    """

    cost: Estimate
    slowdowns: tuple[Estimate, ...]
    of_assumed: Estimate
    figure: Figure | None = None
    measured: Number | None = None


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tiers as printed, and each cost: the assumed one first, then those from its run times, then ours."""

    source: PublishedSource
    rates: tuple[Figure, ...]
    slowdowns: tuple[Figure, ...]
    costs: tuple[TierCost, ...]


def tiers(catalogue: Catalogue) -> Tiers | None:
    """The tiers and what becomes of them; None where the source is not in the data."""
    source = next((one for one in catalogue.sources if one.id == SOURCE), None)
    if source is None:
        return None
    figures = {figure.figure: figure for figure in source.figures}
    rates = tuple(figures[name] for name in RATES)
    rates_hz = [float(rate.value) for rate in rates]
    assumed = Estimate(float(figures[ASSUMED].base_value))
    from_runs = [(figures[name], _recomputed_ns(source, name)) for name in RECOMPUTED]
    costs = [
        _tier_cost(assumed, rates_hz, assumed, figure=figures[ASSUMED]),
        *(_tier_cost(Estimate(cost_ns), rates_hz, assumed, figure=figure) for figure, cost_ns in from_runs),
        *(_tier_cost(one.known_cost, rates_hz, assumed, measured=one) for one in measured(catalogue)),
    ]
    return Tiers(source, rates, tuple(figures[name] for name in SLOWDOWNS), tuple(costs))


def measured(catalogue: Catalogue) -> list[Number]:
    """`06-uprobe` on the machine that measured it last, and every other plain user probe there with the same tracer.

    Of its tracers the one that has most of them; after `06-uprobe` the highest comes first. Costs that are no
    difference from 0, or whose events do not add up, are left out.
    """
    plain = [
        one.id for one in catalogue.cases() if one.probe in PROBES and one.action in PLAIN_ACTIONS and not one.like
    ]
    groups: dict[tuple[str, str], list[Number]] = {}
    for one in (number for case in plain for number in catalogue.numbers.of_case(case)):
        if one.distinguishable and one.reconciled is not False:
            groups.setdefault((one.submission.machine, one.tracer), []).append(one)
    known = [found for found in groups.values() if any(one.case == OUR_CASE for one in found)]
    newest = max((_measured_last(found) for found in known), default="")
    machine = {found[0].submission.machine for found in known if _measured_last(found) == newest}
    chosen = max((found for found in known if found[0].submission.machine in machine), key=len, default=[])
    return sorted(chosen, key=lambda one: (one.case != OUR_CASE, -one.known_cost.value))


def _measured_last(found: Sequence[Number]) -> str:
    """When `06-uprobe` was measured."""
    return next(one.submission.started for one in found if one.case == OUR_CASE)


def _recomputed_ns(source: PublishedSource, name: str) -> float:
    """What the run times give, ns per event: more digits than the source prints."""
    found = source.recomputed[name]
    return float(found.value * UNIT_SCALE[found.figure.unit])


def _tier_cost(
    cost: Estimate,
    rates_hz: Iterable[float],
    assumed: Estimate,
    figure: Figure | None = None,
    measured: Number | None = None,
) -> TierCost:
    return TierCost(
        cost,
        tuple(slowdown_at(cost, rate_hz) for rate_hz in rates_hz),
        cost.mapped(lambda cost_ns: cost_ns / assumed.value),
        figure,
        measured,
    )
