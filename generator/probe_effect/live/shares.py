"""What counting took of each thread's time, from which follows how fast it would go otherwise."""

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
"""Where counting took more of a thread's time, what is left says too little of how fast the thread would go."""


class Shares:
    """What counting took of the threads of a target, which were looked at for `watched_s`."""

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

        Of one that wants a CPU all the time: the events in its CPU time less what counting took of that, at the share
        of a CPU that it got over the whole time; a short sample may have had more of a CPU, or less.
        """
        used_s = self._used_s(tid, seen)
        if not used_s:
            return events / seen.seconds
        left_s = used_s * (1 - min(self.taken_ratio(tid, seen), MOST_TAKEN_RATIO))
        return events / left_s * min(1.0, self._wanting[tid].cpu_s / self._watched_s)

    def taken_ratio(self, tid: int, seen: Snapshot) -> float:
        """Share of the CPU time of a thread that counting took; 0 of one that waits anyway, or that ended unseen."""
        used_s = self._used_s(tid, seen)
        if not used_s:
            return 0.0
        if id(seen) not in self._taken:
            self._taken[id(seen)] = self._taken_s(seen)
        return self._taken[id(seen)].get(tid, 0.0) / used_s

    def _used_s(self, tid: int, seen: Snapshot) -> float:
        """CPU time in which a thread's events were counted: of its process then, the part that it has of it always."""
        one = self._wanting.get(tid)
        return seen.cpu_s.get(one.pid, 0.0) * one.cpu_s / self._process_s[one.pid] if one else 0.0

    def _taken_s(self, seen: Snapshot) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        for one, counts in zip(self._chosen, seen.counts, strict=True):
            for tid, events in counts.by_thread.items():
                found[tid] += events * seen.event_ns[one.kind] / 1e9
        return found
