"""The fastest run: the least traced time minus the least untraced time, the statistic of the book and of the talk.

It estimates the cost on an undisturbed machine where every disturbance only adds time: the least of many runs then
comes near the undisturbed time in both arms (Chen and Revels 2016, arXiv 1608.04295). It is biased
- upward where more runs are untraced than traced, because the least of more runs is lower;
- upward where disturbance is frequent or lasts, because then not even the least traced run is undisturbed;
- downward where the cost itself varies from run to run (full buffers, wake-ups, another state after attaching),
  because it takes the luckiest run;
- either way where one run can be too fast, because a single run decides.
It has no interval.
"""

from probe_effect.stats.signed_rank import Floats


def fastest(traced_ns: Floats, baseline_ns: Floats) -> float | None:
    """The least traced time minus the least untraced time, ns per event; None where an arm has no run.

    Args:
        traced_ns: (n,) float64, ns per event.
        baseline_ns: (m,) float64, ns per event: an operation's time over the events that it makes when traced.
    """
    if len(traced_ns) == 0 or len(baseline_ns) == 0:
        return None
    return float(traced_ns.min() - baseline_ns.min())
