"""The rate tiers of 2011 in words: as printed, and as they come out with each cost that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect import units
from probe_effect.numbers.names import machine_label, tool_with_version
from probe_effect.numbers.published import figure_text, with_unit

if TYPE_CHECKING:
    from probe_effect.answer.rate_tiers import TierCost, Tiers
    from probe_effect.pages.addresses import Quantity


def label(one: TierCost) -> str:
    """What a cost is of, and who found it."""
    if one.measured is not None:
        return f"{one.measured.title}, {tool_with_version(one.measured)}: measured here"
    if one.figure is None:
        return "published"
    is_printed = not one.figure.is_derived and one.cost.value == float(one.figure.base_value)
    return f"{one.figure.what}: {'published' if is_printed else 'derived from what was published'}"


def rates(found: Tiers) -> list[str]:
    """The tiers' rates, as printed."""
    return [figure_text(rate) for rate in found.rates]


def printed(found: Tiers) -> list[str]:
    """The slowdowns as printed; in words where the source prints none."""
    return [figure_text(one) if one.printed is not None else "none printed" for one in found.slowdowns]


def slowdown_heads(found: Tiers) -> list[tuple[str, str]]:
    """The columns of slowdowns, one for each rate."""
    return [("tier-slowdown", f"Slowdown at {rate}") for rate in rates(found)]


def cells(one: TierCost) -> list[tuple[Quantity | None, str]]:
    """Cost, slowdown at each rate, and the cost over the one that the tiers assume.

    Each with the quantity that it follows from, where that is one that was measured.
    """
    return [
        ("cost", _cost(one)),
        *(("cost", units.interval(slowdown, units.SHARE)) for slowdown in one.slowdowns),
        (None, units.interval(one.of_assumed, units.TIMES)),
    ]


def _cost(one: TierCost) -> str:
    """Ours as its interval allows; one without an interval as its source's run times give it, to four digits."""
    return with_unit(one.cost.value, "ns") if one.measured is None else units.interval(one.cost, units.DURATION)


def assumed(found: Tiers) -> str:
    """The cost that the tiers are worked out with, as printed."""
    figure = found.costs[0].figure
    return units.MISSING if figure is None else figure_text(figure)


def pessimism(found: Tiers) -> str:
    """By which factor the tiers overstate what the source's own run times give."""
    others = [one for one in found.costs[1:] if one.measured is None]
    parts = [
        f"{units.significant(1 / one.of_assumed.value, 3)} for “{one.figure.what}” ({_cost(one)})"
        for one in others
        if one.figure is not None
    ]
    return f"At {assumed(found)} a probe the tiers were too pessimistic, by a factor of {' and of '.join(parts)}."


def against_ours(found: Tiers) -> str | None:
    """How many of our user probes cost less than the tiers assume, and more; None where none was measured."""
    ours = [one for one in found.costs if one.measured is not None]
    if not ours or ours[0].measured is None:
        return None
    below = [one for one in ours if one.of_assumed.high is not None and one.of_assumed.high < 1]
    above = [one for one in ours if one.of_assumed.low is not None and one.of_assumed.low > 1]
    where = machine_label(ours[0].measured.submission)
    return (
        f"Of {len(ours)} plain user probes measured here, on {where}, {len(below)} cost less than the tiers assume "
        f"and {len(above)} cost more."
    )
