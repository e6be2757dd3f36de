"""The line from cost to slowdown, for one CPU-bound thread: slowdown(rate) = rate x cost.

It stops holding where threads contend, where the tracer competes for the CPU, where events are dropped, and where
caches are cold; METHOD.md says more.
"""

from probe_effect.model import Estimate
from probe_effect.units import NS_PER_SECOND

THRESHOLDS = {1: "measurable", 5: "significant", 30: "expensive"}
"""Per cent of slowdown to its word, after the talk of 2023 (source `piotrowski-2023-tracing-overhead`)."""


def slowdown_at(cost: Estimate, rate_hz: float) -> Estimate:
    """Slowdown of a CPU-bound thread in which `rate_hz` events fire per second, as a ratio (0.05 = 5 % slower).

    The cost is in ns per event, the rate in events per second of untraced running time.
    """
    return cost.times(rate_hz / NS_PER_SECOND)


def threshold(cost: Estimate, percent: float, *, stops: bool = False) -> Estimate | None:
    """The rate in events/s at which slowdown reaches `percent`; None for a cost that is not above 0.

    A cost whose interval touches 0 has no upper end: no rate would be too high. `stops`: as `ThreadLoad` has it.
    """
    if cost.value <= 0:
        return None
    budget = percent / (100 + percent * stops) * NS_PER_SECOND
    return Estimate(
        budget / cost.value,
        budget / cost.high if cost.high is not None and cost.high > 0 else None,
        budget / cost.low if cost.low is not None and cost.low > 0 else None,
    )
