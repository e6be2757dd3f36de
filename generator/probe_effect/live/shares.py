"""The share of each thread's time that counting took, from which follows its rate without counting."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.live.countable import Countable
    from probe_effect.live.target import ThreadUse
    from probe_effect.live.window import Snapshot

BUSY_RATIO = 0.9
"""A thread that wants a CPU for this share of its time does less because it is counted; others wait less instead."""

MOST_TAKEN_RATIO = 0.5
"""The most that counting may take: with more, a thread's other time says too little about its own rate."""


class Shares:
    """The time that counting took from the threads of a target, which were observed for `watched_s`."""

    def __init__(self, chosen: Sequence[Countable], threads: Sequence[ThreadUse], watched_s: float) -> None:
        self._chosen, self._watched_s = chosen, watched_s
        self._process_s: dict[int, float] = defaultdict(float)
        for one in threads:
            self._process_s[one.pid] += one.cpu_s
        wanting = [one for one in threads if one.cpu_s > 0 and one.cpu_s + one.waited_s >= BUSY_RATIO * watched_s]
        self._wanting = {one.tid: one for one in wanting}
        self._taken: dict[int, dict[int, float]] = {}

    def hz(self, tid: int, events: int, seen: Snapshot) -> float:
        """Events per second of a thread if nobody counted.

        For a thread that always wants a CPU: its events per CPU time without the part that counting took, times the
        share of a CPU that it got over the whole time. A short sample may have had more of a CPU, or less.
        """
        used_s = self._used_s(tid, seen)
        if not used_s:
            return events / seen.seconds
        left_s = used_s * (1 - min(self.taken_ratio(tid, seen), MOST_TAKEN_RATIO))
        return events / left_s * min(1.0, self._wanting[tid].cpu_s / self._watched_s)

    def taken_ratio(self, tid: int, seen: Snapshot) -> float:
        """Share of a thread's CPU time that counting took; 0 for a thread that waits anyway, or that ended unseen."""
        used_s = self._used_s(tid, seen)
        if not used_s:
            return 0.0
        if id(seen) not in self._taken:
            self._taken[id(seen)] = self._taken_s(seen)
        return self._taken[id(seen)].get(tid, 0.0) / used_s

    def _used_s(self, tid: int, seen: Snapshot) -> float:
        """CPU time, s, in which a thread's events were counted: its usual share of its process's CPU time then."""
        one = self._wanting.get(tid)
        return seen.cpu_s.get(one.pid, 0.0) * one.cpu_s / self._process_s[one.pid] if one else 0.0

    def _taken_s(self, seen: Snapshot) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        for one, counts in zip(self._chosen, seen.counts, strict=True):
            for tid, events in counts.by_thread.items():
                found[tid] += events * seen.event_ns[one.kind] / 1e9
        return found
