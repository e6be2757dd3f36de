"""How often probes would fire, counted before anything expensive is attached, under a budget of its own.

A small BPF program counts by probe, thread and CPU. What that costs is known while it goes on: the kernel times the
runs of our programs, and the caller says what the probe itself costs. Counting that runs ahead of its budget takes the
probes that cost most off again, and their rates come from the short time that they were on (`window.py`).
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from probe_effect.live.attachment import Attachments
from probe_effect.live.countable import Countable, CountableProbe
from probe_effect.live.refusal import explained
from probe_effect.live.shares import MOST_TAKEN_RATIO, Shares
from probe_effect.live.statistics import own_cost
from probe_effect.live.target import Target, TargetProcesses, ThreadUse
from probe_effect.live.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probe_effect.live.window import Snapshot

__all__ = ["MOST_PROBES", "CountResult", "Countable", "CountableProbe", "ProbeRate", "Target", "ThreadUse", "count"]

MOST_PROBES = 10_000
"""The most probes that are counted; of more, a random sample: each takes time to attach, and kernel memory."""

SAMPLE_SEED = 20261120

STATISTICS_TRIALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRate:
    """How often one probe fired for the target.

    `events` in `seconds`; `by_thread` lacks those of threads for which there was no room, `by_cpu` has all.
    `thread_hz`: the rate that each thread would have if nobody counted. `elsewhere_events`: in the same time, of others
    than the target, for whom the probe fires too. `complete`: whether it was counted for the whole time; `note` says
    why not, or what else there is to know.
    """

    probe: str
    events: int
    seconds: float
    by_thread: Mapping[int, int]
    by_cpu: Mapping[int, int]
    thread_hz: Mapping[int, float]
    elsewhere_events: int = 0
    complete: bool = True
    note: str | None = None

    @property
    def hz(self) -> float:
        """Events per second of the whole target, if nobody counted."""
        apart = self.events - sum(self.by_thread.values())
        return sum(self.thread_hz.values()) + (apart / self.seconds if self.seconds else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountResult:
    """What was counted.

    `threads`: of the target, the busiest first, with their CPU time in `threads_s`. `counting_cpu_s`: CPU time that
    counting took from the watched programs, also while probes were attached and detached. It is the run time of our
    programs by the kernel, plus for each run the probe's own cost, by the caller, and that of the statistics.
    `own_cpu_s`: CPU time of our own process. `attach_s`, `detach_s`: how long that took. `stopped_early`: before its
    time, because the target ended or no probe was left within the budget. `not_counted`: probe to the reason.
    """

    rates: tuple[ProbeRate, ...]
    threads: tuple[ThreadUse, ...]
    threads_s: float
    elapsed_s: float
    counting_cpu_s: float
    own_cpu_s: float
    attach_s: float
    detach_s: float
    stopped_early: bool
    not_counted: Mapping[str, str] = field(default_factory=dict)


def count(
    countables: Sequence[Countable],
    target: Target,
    *,
    seconds: float,
    budget_ratio: float,
    probe_cost_ns: Mapping[CountableProbe, float],
    on_progress: Callable[[float, float], None] = lambda _elapsed_s, _cpu_s: None,
) -> CountResult:
    """Count how often probes fire, for `seconds` at most, and with `budget_ratio` times as much CPU time at most.

    What fires while a hot probe is taken off comes on top of that, and is in `counting_cpu_s`.

    Args:
        countables: of more than `MOST_PROBES` a random sample is counted, and the others are named.
        probe_cost_ns: of each kind among them, what a probe costs an event by itself; for `profile` none is needed.
        on_progress: told how long it went on and the CPU time that it took, some times a second.
    Raises: UsageError for a target that is not there; HostNotReady where the kernel refuses, with what would help;
        KeyError for a kind without a cost.
    """
    chosen, left_out = _sampled(countables)
    costs_ns: dict[CountableProbe, float] = {
        one.kind: probe_cost_ns[one.kind] for one in chosen if one.kind != "profile"
    }
    own_before_s = time.process_time()
    with contextlib.closing(TargetProcesses(target)) as followed, explained("counting how often probes fire"):
        unseen_ns = own_cost(STATISTICS_TRIALS).unseen_ns
        costs_ns = {kind: cost_ns + unseen_ns for kind, cost_ns in costs_ns.items()}
        began_s = time.monotonic()
        with contextlib.closing(_attached(chosen, followed)) as attachments:
            window = Window(
                attachments,
                followed,
                chosen,
                probe_cost_ns=costs_ns,
                seconds=seconds,
                budget_s=budget_ratio * seconds,
            )
            attach_s = time.monotonic() - began_s
            last = window.run(on_progress)
            began_s = time.monotonic()
            attachments.detach(attachments.live)
            detach_s, counting_cpu_s = time.monotonic() - began_s, window.spent_s()
    threads = window.threads()
    refused = {chosen[index].probe: words for index, words in attachments.refused.items()}
    share = Shares(chosen, threads, window.watched_s)
    return CountResult(
        rates=tuple(
            _rate(one, index, window, last, share) for index, one in enumerate(chosen) if one.probe not in refused
        ),
        threads=tuple(threads),
        threads_s=window.watched_s,
        elapsed_s=window.elapsed_s,
        counting_cpu_s=counting_cpu_s,
        own_cpu_s=time.process_time() - own_before_s,
        attach_s=attach_s,
        detach_s=detach_s,
        stopped_early=window.ended is not None,
        not_counted={**left_out, **refused},
    )


def _sampled(countables: Sequence[Countable]) -> tuple[list[Countable], dict[str, str]]:
    """(the probes that are counted, those that are not with the reason)."""
    if len(countables) <= MOST_PROBES:
        return list(countables), {}
    places = set(random.Random(SAMPLE_SEED).sample(range(len(countables)), MOST_PROBES))  # noqa: S311 (no secret)
    why = f"not in the random sample of {MOST_PROBES} of {len(countables)} probes"
    left_out = {one.probe: why for place, one in enumerate(countables) if place not in places}
    return [countables[place] for place in sorted(places)], left_out


def _attached(chosen: Sequence[Countable], followed: TargetProcesses) -> Attachments:
    target = followed.target
    if target.is_machine:
        return Attachments(chosen, None, follow=False)
    found = Attachments(chosen, followed.pids(), follow=target.pid is None, pid=target.pid)
    if target.cgroup is not None:  # those who were forked before forks were followed
        found.watch(followed.pids())
    return found


def _rate(one: Countable, index: int, window: Window, last: Snapshot, share: Shares) -> ProbeRate:
    """What was seen of a probe: until it was taken off, or else until the end."""
    if one.kind == "profile":
        return _profile_rate(one, window)
    seen = window.taken_off.get(index, last)
    counts = seen.counts[index]
    taken = {tid: share.taken_ratio(tid, seen) for tid in counts.by_thread}
    return ProbeRate(
        probe=one.probe,
        events=counts.events,
        seconds=seen.seconds,
        by_thread=counts.by_thread,
        by_cpu=counts.by_cpu,
        thread_hz={tid: share.hz(tid, events, seen) for tid, events in counts.by_thread.items()},
        elsewhere_events=counts.elsewhere,
        complete=index not in window.taken_off and window.ended is None,
        note="; ".join(_notes(index, window, seen, max(taken.values(), default=0.0))) or None,
    )


def _notes(index: int, window: Window, seen: Snapshot, taken_ratio: float) -> list[str]:
    notes = []
    if index in window.taken_off:
        notes.append(f"counted for {seen.seconds * 1e3:.3g} ms only, because more would have cost more than the budget")
    elif window.ended is not None:
        notes.append(f"counted for {seen.seconds:.3g} s only, because {window.ended}")
    if taken_ratio > MOST_TAKEN_RATIO:
        notes.append(f"counting took {taken_ratio:.0%} of a thread's time, so its rate may be far higher than told")
    return notes


def _profile_rate(one: Countable, window: Window) -> ProbeRate:
    """A profile fires so often on each CPU; a thread sees those of the time that it runs."""
    per_thread = {use.tid: one.hz * use.cpu_s / window.watched_s for use in window.threads() if use.cpu_s > 0}
    is_machine = window.target.is_machine
    total_hz = one.hz * (os.cpu_count() or 1) if is_machine else sum(per_thread.values())
    return ProbeRate(
        probe=one.probe,
        events=round(total_hz * window.elapsed_s),
        seconds=window.elapsed_s,
        by_thread={tid: round(hz * window.elapsed_s) for tid, hz in per_thread.items()},
        by_cpu={},
        thread_hz=per_thread,
        note="computed from its frequency and the CPU time of the threads, not counted",
    )
