"""The time while probes are counted: it observes what counting costs, and detaches the costliest if that is too much.

At a moment counting may have used a share of the budget that is there from the start, `AHEAD_RATIO`, and the rest in
proportion to the time gone by. So a burst is allowed, a hot probe has its short sample, and rare ones still count:
they may take `SPARE_RATIO` of the budget after a hot one has used it up. Events while probes are detached come on top.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.live.target import threads_of, used_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from probe_effect.live.attachment import Attachments, ProbeCounts
    from probe_effect.live.countable import Countable, CountableProbe
    from probe_effect.live.target import TargetProcesses, ThreadUse

AHEAD_RATIO = 0.25
"""Share of the budget that may be used at once."""

SPARE_RATIO = 0.1
"""Share of the budget that is left to those probes that stay, each time when others were taken off."""

QUICK_S, SLOW_S, QUICK_FOR_S = 0.001, 0.005, 0.02
"""Intervals at which the cost is observed: at first each ms, because a hot probe shows at once."""

LOOK_AT_THREADS_S = 0.25
"""Interval at which the threads' CPU time is read, because some end before the counting does."""

LEAST_LOOK_S = 0.2
"""The kernel keeps a thread's time by ticks of 1 to 10 ms: less than this says little of how busy it is."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was counted of all probes, and in which time.

    `event_ns`: what each event cost, by kind of probe. `cpu_s`: CPU time of each process in that time.
    """

    counts: Sequence[ProbeCounts]
    seconds: float
    event_ns: Mapping[CountableProbe, float]
    cpu_s: Mapping[int, float]


class Window:
    """Counting from its beginning to its end. `ended`: why it ended before its time, None where it did not."""

    def __init__(
        self,
        attachments: Attachments,
        followed: TargetProcesses,
        countables: Sequence[Countable],
        *,
        probe_cost_ns: Mapping[CountableProbe, float],
        seconds: float,
        budget_s: float,
    ) -> None:
        self.ended: str | None = None
        self.taken_off: dict[int, Snapshot] = {}
        """Probes that cost too much, by their place in `countables`: what was known as they were taken off."""
        self.elapsed_s = 0.0
        self.target = followed.target
        self._attachments, self._followed, self._countables = attachments, followed, countables
        self._probe_cost_ns, self._seconds, self._budget_s = probe_cost_ns, seconds, budget_s
        self._threads: dict[int, ThreadUse] = {}
        self._spared_s = 0.0

    def run(self, on_progress: Callable[[float, float], None]) -> Snapshot:
        """Count until the time is over, the target has ended or every probe that fires was taken off."""
        self._before = self._look()
        self._looked_s = time.monotonic()
        self._began_s = self._looked_s
        self._clocks = _CpuClocks(self._followed.pids())
        self._attachments.switch(on=True)
        self._followed.go_on()
        since_s, gone_s = time.monotonic(), 0.0
        while self.ended is None and self.elapsed_s < self._seconds:
            if self._followed.wait(min(self._step_s(), self._seconds - self.elapsed_s)):
                self.ended = "the process ended"
            self.elapsed_s = gone_s + time.monotonic() - since_s
            self._look_at_threads(on_progress)
            if self.ended is None and self.spent_s() > self._allowed_s():
                self._attachments.switch(on=False)
                gone_s = self.elapsed_s = gone_s + time.monotonic() - since_s
                self._take_off()
                self._clocks.skip()
                self._attachments.switch(on=True)
                since_s = time.monotonic()
        self._attachments.switch(on=False)
        last = self._snapshot()
        self._watch_threads_on()
        return last

    def spent_s(self) -> float:
        """CPU time, s, that counting took until now from the programs that it watches."""
        return (
            sum(one.run_ns + one.runs * self._probe_cost_ns[kind] for kind, one in self._attachments.runs().items())
            / 1e9
        )

    def threads(self) -> list[ThreadUse]:
        """The CPU time of the target's threads, the busiest first."""
        return used_between(self._before, self._threads)

    @property
    def watched_s(self) -> float:
        """The time, s, during which threads were observed."""
        return self._looked_s - self._began_s

    def _step_s(self) -> float:
        return QUICK_S if self.elapsed_s < QUICK_FOR_S else SLOW_S

    def _allowed_s(self) -> float:
        by_now_s = self._budget_s * (AHEAD_RATIO + (1 - AHEAD_RATIO) * self.elapsed_s / self._seconds)
        return max(by_now_s, self._spared_s)

    def _snapshot(self) -> Snapshot:
        """The counts until now; for a kind that never ran, the cost of an event is the caller's."""
        runs = self._attachments.runs()
        event_ns = {
            kind: cost_ns + (runs[kind].run_ns / runs[kind].runs if kind in runs and runs[kind].runs else 0.0)
            for kind, cost_ns in self._probe_cost_ns.items()
        }
        return Snapshot(self._attachments.counts(), self.elapsed_s, event_ns, self._clocks.read())

    def _take_off(self) -> None:
        """Keep the probes of lowest cost that fit into the rest, and those that never fire; never the costliest."""
        now = self._snapshot()
        used_s = {
            index: (now.counts[index].events + now.counts[index].elsewhere)
            * now.event_ns[self._countables[index].kind]
            / 1e9
            for index in self._attachments.live
        }
        spare_s = SPARE_RATIO * self._budget_s
        left_s = max(self._budget_s - self.spent_s(), spare_s)
        left_ratio = (self._seconds - self.elapsed_s) / self.elapsed_s
        firing = sorted((index for index, one in used_s.items() if one), key=lambda index: used_s[index])
        off = set(firing[-1:])
        for index in firing:
            left_s -= used_s[index] * left_ratio
            if left_s < 0:
                off.add(index)
        self._attachments.detach(off)
        self.taken_off |= dict.fromkeys(off, now)
        self._spared_s = self.spent_s() + spare_s
        if not self._attachments.live:
            self.ended = "the budget was used up"

    def _look(self) -> dict[int, ThreadUse]:
        return threads_of(self._followed.pids())

    def _look_at_threads(self, on_progress: Callable[[float, float], None]) -> None:
        """Some times a second; of the whole machine, where it takes long, at the end only."""
        is_due = time.monotonic() - self._looked_s > LOOK_AT_THREADS_S
        if is_due:
            on_progress(self.elapsed_s, self.spent_s())
        if (is_due and not self.target.is_machine) or self.ended:
            self._threads |= self._look()
            self._looked_s = time.monotonic()

    def _watch_threads_on(self) -> None:
        """Read the threads' CPU time a last time, after long enough."""
        if self.ended != "the process ended":
            self._followed.wait(max(0.0, min(LEAST_LOOK_S, self._seconds) - (time.monotonic() - self._began_s)))
        self._threads |= self._look()
        self._looked_s = time.monotonic()


class _CpuClocks:
    """CPU time of processes while probes are counted, to the ns, which the times of threads are not.

    Source: clock_getcpuclockid(3); the clock's id is made of the process id as in include/linux/posix-timers_types.h
    (MAKE_PROCESS_CPUCLOCK with CPUCLOCK_SCHED).
    """

    def __init__(self, pids: Iterable[int]) -> None:
        self._from_s = _cpu_s(pids)
        self._at_s = dict(self._from_s)

    def read(self) -> dict[int, float]:
        """The CPU time, s, of each process while probes were counted; the last known one if it has ended."""
        self._at_s |= _cpu_s(self._from_s)
        return {pid: self._at_s[pid] - began_s for pid, began_s in self._from_s.items()}

    def skip(self) -> None:
        """Exclude the time since `read`, in which nothing was counted."""
        for pid, now_s in _cpu_s(self._from_s).items():
            self._from_s[pid] += now_s - self._at_s[pid]
            self._at_s[pid] = now_s


def _cpu_s(pids: Iterable[int]) -> dict[int, float]:
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            found[pid] = time.clock_gettime(~pid << 3 | 2)
    return found
