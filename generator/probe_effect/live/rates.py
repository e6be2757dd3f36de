"""From the counts of windows to rates: what counting slowed in each window, and the mean over the whole time."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from probe_effect.live.attachment import Means
from probe_effect.live.bpf_program import ELSEWHERE, REST
from probe_effect.live.target import ThreadUse
from probe_effect.live.window import Observation
from probe_effect.stats.counted import SampledRate, Stratum, sampled_rate

BUSY_RATIO = 0.9
"""A thread that wants a CPU for this share of its time does less because it is counted; others wait less instead."""

MOST_TAKEN_RATIO = 0.7
"""The most that counting may take: with more, a thread's other time says too little about its own rate."""

SATURATED_RATIO = 0.1
"""Share of a probe's events in windows that were saturated, from which its rate is a lower bound."""

UNSURE_RATIO = 0.3
"""How far an event's cost may be wrong: in programs at work one takes up to so much longer than in a loop."""


@dataclass(slots=True)
class CountedRate:
    """The rate of a probe and of each thread, and whether counting took so much that they are lower bounds."""

    sampled: SampledRate
    thread_hz: dict[int, float] = field(default_factory=dict)
    at_least: bool = False


class Rates:
    """The rates that probes would have if nobody counted, from all windows.

    For a thread that always wants a CPU: its events by the time of a window without the part that counting took.

    Args:
        observations: all windows, at least one.
        means: how the probe of each key of the counts was attached.
        event_ns: what an event costs, by these means.
        threads: of the target, watched for `watched_s`; those that ended unseen are taken to have been busy.
        busy_ratio: the target's CPU time over the whole time; None where no clock tells.
    """

    def __init__(
        self,
        observations: Sequence[Observation],
        means: Sequence[Means],
        event_ns: Mapping[Means, float],
        threads: Sequence[ThreadUse],
        watched_s: float,
        *,
        busy_ratio: float | None = None,
    ) -> None:
        self._observations, self._busy_ratio = observations, busy_ratio
        self._is_clocked = busy_ratio is not None and all(one.cpu_s is not None for one in observations)
        wanted_s, waited_s = sum(one.cpu_s + one.waited_s for one in threads), sum(one.waited_s for one in threads)
        self._waiting_ratio = waited_s / wanted_s if wanted_s and not self._is_clocked else 0.0
        waiting = {one.tid for one in threads if one.cpu_s + one.waited_s < BUSY_RATIO * watched_s}
        self._by_slot: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
        """Key of the counts to (which window, thread, events, share of its time that counting took)."""
        for at, one in enumerate(observations):
            taken: dict[int, float] = defaultdict(float)
            for (slot, thread), events in one.counts.items():
                if thread == ELSEWHERE:
                    continue
                taken[thread] += events * event_ns.get(means[slot], 0.0) / 1e9
            for (slot, thread), events in one.counts.items():
                if self._is_clocked:
                    share = sum(taken.values()) / one.cpu_s if one.cpu_s else 0.0
                else:
                    share = 0.0 if thread in waiting else taken[thread] / one.counted_s
                self._by_slot[slot].append((at, thread, events, share))
        self._silent = CountedRate(sampled_rate([self._stratum(one, 0, 0.0) for one in observations]))

    def rate(self, slots: Iterable[int]) -> CountedRate:
        """The rate of the probe whose events have these keys."""
        found = [one for slot in slots for one in self._by_slot.get(slot, []) if one[1] != ELSEWHERE]
        if not found:
            return self._silent
        events = [0] * len(self._observations)
        without, saturated, thread_hz = [0.0] * len(events), 0, defaultdict[int, float](float)
        whole_s = sum(one.length_s for one in self._observations)
        for at, thread, number, taken in found:
            window = self._observations[at]
            alone = number / (1 - min(taken, MOST_TAKEN_RATIO))
            events[at] += number
            without[at] += alone
            saturated += number if taken > MOST_TAKEN_RATIO else 0
            if thread != REST:
                thread_hz[thread] += alone * window.length_s / window.counted_s / whole_s
        strata = [self._stratum(*one) for one in zip(self._observations, events, without, strict=True)]
        of_cpu = self._busy_ratio if self._is_clocked else None
        at_least = saturated > SATURATED_RATIO * sum(events)
        sampled = sampled_rate(strata, UNSURE_RATIO, self._waiting_ratio, of_cpu)
        scaled_hz = {thread: hz * sampled.cpu_scale for thread, hz in thread_hz.items()}
        return CountedRate(sampled, scaled_hz, at_least)

    @staticmethod
    def _stratum(window: Observation, events: int, without: float) -> Stratum:
        slowed = without / events if events else 1.0
        return Stratum(window.length_s, window.counted_s, events, slowed, (window.cpu_s or 0.0) / window.counted_s)
