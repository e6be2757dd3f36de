"""Counting in short windows at random moments, spread over the whole time so that the budget is spent evenly.

The time is divided into strata, each with one window at a random place. What the last windows cost says before a window
how long it may be, so that its own events do not choose its length: from `LEAST_S` to the whole stratum. A window that
costs far more than it may is cut, and a short one elsewhere in its rest stands for that. Nothing is attached between
windows: a probe that is there but switched off costs nearly as much as one that counts.

A command may end at any moment. Until a part of the budget is spent every moment of it is counted, so that a burst is
counted whole; of the rest every doubling of its time gets as much.
"""

import math
import random
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from statistics import mean

from probe_effect.live.attachment import Attachments, Means
from probe_effect.live.kernel_calls import CpuClock, be_prompt
from probe_effect.live.target import TargetProcesses, ThreadUse, threads_of, used_between

FEWEST_STRATA, MOST_STRATA = 10, 100
OVERHEAD_RATIO = 0.4
"""Share of a stratum that attaching and detaching may take."""

FIRST_S, GROWTH_RATIO = 0.002, 0.1
"""The first stratum, and how long another may be by the time gone by: a command may end soon."""

LEAST_S = 0.001
"""Of a shorter one, what the kernel does on all CPUs as probes are attached would be too large a part.

A probe of a program fires for some ms while it is detached, for the kernel waits before it removes the breakpoints.
"""

RECENT = 8
"""Windows whose cost says how long the next may be."""

CUT_RATIO = 3
"""A window that costs so many times what it may is cut."""

POLL_S, SLOW_POLL_S, POLL_RATIO = 0.001, 0.004, 0.2
"""How often a window's cost is looked at, which takes 0.1 ms of a CPU: each ms, or more rarely in a long window."""

SHORT_S = 0.002
"""What is waited for by a timer alone, because poll(2) waits for whole ms."""

LOOK_AT_THREADS_S = 0.25
"""Interval at which the threads' CPU time is read, because some end before the counting does."""

LEAST_LOOK_S = 0.2
"""The kernel keeps a thread's time by ticks of 1 to 10 ms: less than this says little of how busy it is."""

COMPLETE_RATIO = 0.999
"""What is counted completely lacks no more than the time that it takes to begin and to end."""

SEED = 20261123
ENDED = "the process ended"


@dataclass(frozen=True, slots=True)
class Observation:
    """What was counted in `counted_s`, which is taken for `length_s`: events by key of the counts and thread.

    `cpu_s`: CPU time of the target meanwhile; None where no clock tells.
    """

    length_s: float
    counted_s: float
    counts: Mapping[tuple[int, int], int]
    cpu_s: float | None = None


class Windows:
    """Counting from its beginning to its end, of probes that are attached already.

    `ended`: why it ended before its time, None where it did not.

    Args:
        clock: the target's CPU time.
        cost_ns: what an event costs, beside the run time of our programs, by the means of attaching.
        overhead_s: how long it takes to detach and attach again.
        at_once_s: of a command, the CPU time of the budget that is spent before anything is left out.
    """

    def __init__(
        self,
        attachments: Attachments,
        followed: TargetProcesses,
        *,
        clock: CpuClock,
        cost_ns: Mapping[Means, float],
        overhead_s: float,
        seconds: float,
        budget_s: float,
        at_once_s: float = 0.0,
    ) -> None:
        self.ended: str | None = None
        self.observations: list[Observation] = []
        self.elapsed_s = self._ended_s = 0.0
        self.target = followed.target
        self._attachments, self._followed, self._clock, self._cost_ns = attachments, followed, clock, cost_ns
        self._seconds, self._budget_s, self._overhead_s = seconds, budget_s, overhead_s
        self._at_once_s = at_once_s
        strata = min(MOST_STRATA, max(FEWEST_STRATA, OVERHEAD_RATIO * seconds / overhead_s))
        self._longest_s = seconds / strata
        self._recent: deque[tuple[float, float]] = deque(maxlen=RECENT)
        """CPU time of windows: per second while they counted, and in all while they were attached before and after."""
        self._random = random.Random(SEED)  # noqa: S311 (no secret)
        self._threads: dict[int, ThreadUse] = {}
        self._by_cpu: dict[int, dict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
        self._is_on, self._since_s, self._before_s, self._attach_cost_s = False, 0.0, 0.0, 0.0
        self._cpu_since_s: float | None = None

    def run(self, on_progress: Callable[[float, float], None]) -> None:
        self._before, self._last = threads_of(self._followed.pids()), self._attachments.read()
        self._looked_s = self._began_s = time.monotonic()
        self._start()
        self._followed.go_on()
        while self.ended is None and self.elapsed_s < self._seconds:
            self._stratum()
            self._look_at_threads(on_progress)
        self._stop()
        if self.ended is None:  # long enough to read the threads' CPU time a last time
            self._followed.wait(max(0.0, min(LEAST_LOOK_S, self._seconds) - (time.monotonic() - self._began_s)))
        self._threads |= threads_of(self._followed.pids()) | self._attachments.ended()
        self._looked_s = time.monotonic()

    def spent_s(self) -> float:
        """CPU time, s, that counting took until now from the programs that it watches."""
        ran = self._attachments.runs().items()
        return sum(run_ns + runs * self._cost_ns[means] for means, (runs, run_ns) in ran) / 1e9

    def counts(self, slots: Iterable[int]) -> dict[int, Counter[int]]:
        """Events in all windows together by thread and CPU, of the probe whose counts have these keys."""
        by_thread: dict[int, Counter[int]] = defaultdict(Counter)
        for thread, by_cpu in (entry for slot in slots for entry in self._by_cpu[slot].items()):
            by_thread[thread] += by_cpu
        return by_thread

    @property
    def counted_s(self) -> float:
        return sum(observation.counted_s for observation in self.observations)

    @property
    def is_complete(self) -> bool:
        return self.counted_s >= COMPLETE_RATIO * self.elapsed_s

    def threads(self) -> list[ThreadUse]:
        return used_between(self._before, self._threads)

    @property
    def watched_s(self) -> float:
        return self._looked_s - self._began_s

    def _stratum(self) -> None:
        """Count one window of the next part of the time: all of it, or at a random place in it."""
        begin_s, left_s, spent_s = self.elapsed_s, self._seconds - self.elapsed_s, self.spent_s()
        length_s = min(left_s, self._longest_s, max(FIRST_S, 2 * self._overhead_s, GROWTH_RATIO * begin_s))
        if spent_s < self._at_once_s:  # every moment, or until the budget for that is spent
            self._start()
            counted_s, counts, cpu_s = self._count(begin_s + length_s, self._at_once_s - spent_s, stay=True)
            self._add(counted_s, counted_s, counts, cpu_s)
            self.elapsed_s = self._ended_s if self.ended else begin_s + counted_s
            return
        spread_s = begin_s * math.log(self._seconds / begin_s) if self._at_once_s and begin_s else left_s
        allowed_ratio = max(0.0, self._budget_s - spent_s) / spread_s
        ratio, fixed_s = map(mean, zip(*self._recent, strict=True)) if self._recent else (0.0, 0.0)
        shortest_s = max(LEAST_S, fixed_s / ratio) if ratio else LEAST_S  # as much as attaching and detaching take
        least_s = fixed_s + ratio * shortest_s
        if least_s > allowed_ratio * length_s:
            length_s = min(left_s, least_s / allowed_ratio) if allowed_ratio else left_s
        window_s = max(shortest_s, (allowed_ratio * length_s - fixed_s) / ratio) if ratio else length_s
        is_whole = window_s >= length_s - self._overhead_s
        if not is_whole:
            self._stop()
            self._pause_until(begin_s + self._random.random() * (length_s - window_s - self._overhead_s))
        if self.ended is None:
            self._start()
            end_s = begin_s + length_s if is_whole else self._since_s + window_s
            self._observe(begin_s, length_s, end_s, most_s=CUT_RATIO * allowed_ratio * length_s, stay=is_whole)
        else:
            self._stand_for(self._ended_s - begin_s)
        self.elapsed_s = self._ended_s if self.ended else max(self._now_s(), begin_s + length_s)

    def _observe(self, begin_s: float, length_s: float, end_s: float, *, most_s: float, stay: bool) -> None:
        """Count until a moment; if that was cut, count a short window for the rest."""
        counted_s, counts, cpu_s = self._count(end_s, most_s, stay=stay)
        if self.ended is not None:
            self._add(self._ended_s - begin_s, counted_s, counts, cpu_s)
            return
        rest_s = max(0.0, end_s - self._now_s())
        part = counted_s / (counted_s + rest_s)
        self._add(length_s * part, counted_s, counts, cpu_s)
        if rest_s > POLL_S:
            self._pause_until(self._now_s() + self._random.random() * max(0.0, rest_s - self._overhead_s - LEAST_S))
            if self.ended is None:
                self._start()
                self._add(length_s * (1 - part), *self._count(self._since_s + LEAST_S, most_s, stay=False))
            else:
                self._stand_for(self._ended_s - begin_s - length_s * part)

    def _add(
        self, length_s: float, counted_s: float, counts: Mapping[tuple[int, int], int], cpu_s: float | None
    ) -> None:
        if counted_s > 0:
            self.observations.append(Observation(max(length_s, counted_s), counted_s, counts, cpu_s))

    def _stand_for(self, length_s: float) -> None:
        """Let the last window stand for so much more time: the target ended before its own window began."""
        if self.observations and length_s > 0:
            last = self.observations[-1]
            self.observations[-1] = replace(last, length_s=last.length_s + length_s)

    def _count(
        self, end_s: float, most_s: float, *, stay: bool
    ) -> tuple[float, dict[tuple[int, int], int], float | None]:
        """(seconds, events, CPU time of the target) until a moment or until it has cost `most_s`.

        `stay`: go on counting for the next.
        """
        cpu_since_s = self._cpu_since_s
        began_s, before_s, fixed_s, is_cut = self._since_s, self._before_s, self._attach_cost_s, False
        poll_s = min(SLOW_POLL_S, max(POLL_S, POLL_RATIO * (end_s - began_s)))
        while self.ended is None and not is_cut and (rest_s := end_s - self._now_s()) > 0:
            self._pause(min(poll_s, rest_s))
            is_cut = rest_s > poll_s and self.spent_s() - before_s > most_s
        if stay and not is_cut and self.ended is None:
            be_prompt(is_prompt=False)
            self._since_s, self._before_s, self._attach_cost_s = self._now_s(), self.spent_s(), 0.0
            counted_s, cost_s = self._since_s - began_s, self._before_s - before_s
            self._cpu_since_s = cpu_now_s = self._clock.read_s()
        else:
            counted_s, cost_s, detach_cost_s, cpu_now_s = self._detach()
            fixed_s += detach_cost_s
        self._recent.append((cost_s / counted_s, fixed_s))
        cpu_s = None if cpu_now_s is None or cpu_since_s is None else cpu_now_s - cpu_since_s
        return counted_s, self._read(), cpu_s

    def _start(self) -> None:
        if not self._is_on:
            be_prompt(is_prompt=True)
            before_s = self.spent_s()
            self._attachments.attach()
            self._before_s = self.spent_s()
            self._attach_cost_s = self._before_s - before_s
            self._attachments.switch(on=True)
            self._cpu_since_s = self._clock.read_s()
            self._since_s, self._is_on = self._now_s(), True

    def _stop(self) -> None:
        """Detach, if that is not so already. What was counted since the last window belongs to none."""
        if self._is_on:
            self._detach()
            self._last = self._attachments.read()

    def _detach(self) -> tuple[float, float, float, float | None]:
        """(seconds since it was on, CPU time, s, that this took, CPU time, s, that detaching took, the target's)."""
        self._attachments.switch(on=False)
        counted_s, cpu_s = self._now_s() - self._since_s, self._clock.read_s()
        off_s = self.spent_s()
        self._attachments.detach()
        self._is_on = False
        detached_s = self.spent_s()
        be_prompt(is_prompt=False)
        return counted_s, off_s - self._before_s, detached_s - off_s, cpu_s

    def _read(self) -> dict[tuple[int, int], int]:
        before, self._last = self._last, self._attachments.read()
        new_events = {}
        for (slot, thread), values in self._last.items():
            earlier = before.get((slot, thread), ())
            if events := sum(values) - sum(earlier):
                new_events[slot, thread] = events
                by_cpu = self._by_cpu[slot][thread]
                for cpu, (now, then) in enumerate(zip_longest(values, earlier, fillvalue=0)):
                    by_cpu[cpu] += now - then
        return new_events

    def _now_s(self) -> float:
        return time.monotonic() - self._began_s

    def _pause_until(self, at_s: float) -> None:
        while self.ended is None and (rest_s := at_s - self._now_s()) > 0:
            self._pause(rest_s)

    def _pause(self, seconds: float) -> None:
        """Wait, at most so long; of a long time all but its end, and less if the target ends."""
        if seconds < SHORT_S:
            time.sleep(seconds)
            seconds = SHORT_S
        if self._followed.wait(seconds - SHORT_S):
            self.ended, self._ended_s = ENDED, self._now_s()

    def _look_at_threads(self, on_progress: Callable[[float, float], None]) -> None:
        """Some times a second; of the whole machine, where it takes long, at the end only."""
        is_due = time.monotonic() - self._looked_s > LOOK_AT_THREADS_S
        if is_due:
            on_progress(self.elapsed_s, self.spent_s())
        if (is_due and not self.target.is_machine) or self.ended:
            self._threads |= threads_of(self._followed.pids())
            self._looked_s = time.monotonic()
