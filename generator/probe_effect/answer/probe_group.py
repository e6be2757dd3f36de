"""The probes of a script that are alike, with how often they fire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.model import Estimate
from probe_effect.stats import mover

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeGroup:
    """Probes of one attach point that fire in one way and do the same at each event.

    `matched`: how many there are. `has_filter`: whether only some events come to the actions. `unknown`: parts of the
    script whose cost `actions` do not name. `rates_hz`: events per second of elapsed time in each thread; None where
    nobody counted. `rate_hz`: those of all threads together; `rate_low_hz` and `rate_high_hz` are its interval, None of
    an exact one, and `busiest_hz` is the rate of its busiest time. `cpus`: those on which they fired. `why`: what keeps
    them from being attached or counted.
    """

    attach: str
    kind: str
    mechanism: str | None
    matched: int
    first_bytes: str | None
    actions: tuple[str, ...]
    has_filter: bool = False
    unknown: tuple[str, ...] = ()
    rates_hz: Mapping[int, float] | None = None
    rate_hz: float | None = None
    rate_low_hz: float | None = None
    rate_high_hz: float | None = None
    busiest_hz: float | None = None
    cpus: tuple[int, ...] = ()
    why: str | None = None

    def at_its_rate(self, cost: Estimate) -> Estimate:
        """A cost of an event whose interval has that of the rate in it, so that their product is cost times rate."""
        if not self.rate_hz or self.rate_low_hz is None or self.rate_high_hz is None:
            return cost
        return mover.product(cost, Estimate(1.0, self.rate_low_hz / self.rate_hz, self.rate_high_hz / self.rate_hz))
