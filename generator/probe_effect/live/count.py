"""How often probes would fire, counted before anything expensive is attached, under a budget of its own.

A small BPF program counts by probe, thread and CPU, in short windows spread over the whole time (`window.py`). The
cost of that is known while it goes on: the kernel times the runs of our programs. The cost of the probe itself is
measured before (`own_cost.py`).
"""

import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from probe_effect import units
from probe_effect.live.attachment import Attachments, Countable, CountableProbe
from probe_effect.live.bpf_program import ELSEWHERE, REST
from probe_effect.live.kernel_calls import CpuClock, explained
from probe_effect.live.own_cost import MOST_TAKEN_RATIO, Rates, event_costs
from probe_effect.live.target import Target, TargetProcesses, ThreadUse
from probe_effect.live.window import Windows

__all__ = ["MOST_PROBES", "CountResult", "Countable", "CountableProbe", "ProbeRate", "Target", "ThreadUse", "count"]

MOST_PROBES = 10_000
"""The most probes that are counted; of more, a random sample: each takes time to attach, and kernel memory."""

SAMPLE_SEED = 20261120

AT_ONCE_SHARE = 0.25
"""Share of a command's budget that is spent on its first events, all of which are counted: it may end soon."""

GRACE_S = 0.02
"""Attaching waits for the end of an RCU grace period since the last detaching; windows are further apart than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRate:
    """How often one probe fired for the target.

    `events` in all windows, which have `seconds` together; `by_thread` lacks those of threads for which there was no
    room, `by_cpu` has all. `thread_hz`: the rate that each thread would have if nobody counted; it has the relative
    interval of `hz`. `low_hz`, `high_hz`: the ends of that interval, of 95 %; None where it is not known.
    `busiest_hz`: the mean of the busiest tenth of the time; None where there was only one window. `at_least`: counting
    took so much of the windows that the true rate may be far higher. `elsewhere_events`: in the same windows, of others
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
    low_hz: float | None = None
    high_hz: float | None = None
    busiest_hz: float | None = None
    at_least: bool = False

    @property
    def hz(self) -> float:
        """Events per second of the whole target, if nobody counted."""
        apart = self.events - sum(self.by_thread.values())
        return sum(self.thread_hz.values()) + (apart / self.seconds if self.seconds else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountResult:
    """What was counted.

    `threads`: of the target, the busiest first, with their CPU time in `threads_s`, both without what counting took.
    `busy_ratio`: the CPUs that all of it used, those threads that ended too; None where no clock tells. `alone_s`: how
    long it would have taken if nobody had counted. `counting_cpu_s`: CPU time that
    counting took from the watched programs, also while probes were attached and detached. It is the run time of our
    programs by the kernel, plus for each run the probe's own cost, as it was measured here before.
    `not_counted`: probe to the reason. `frames`: the mean number on the stacks of events; None where nobody asked for
    it.
    """

    rates: tuple[ProbeRate, ...]
    threads: tuple[ThreadUse, ...]
    threads_s: float
    elapsed_s: float
    counting_cpu_s: float
    not_counted: Mapping[str, str] = field(default_factory=dict)
    busy_ratio: float | None = None
    alone_s: float = 0.0
    frames: float | None = None


def count(
    countables: Sequence[Countable],
    target: Target,
    *,
    seconds: float,
    budget_ratio: float,
    stacks: bool = False,
    on_progress: Callable[[float, float], None] = lambda _elapsed_s, _cpu_s: None,
) -> CountResult:
    """Count how often probes fire, in windows spread over `seconds` at most, which take so little CPU time together.

    The windows take about `budget_ratio` times `seconds`, or less; what they took is in `counting_cpu_s`. A command is
    counted without gaps from its first instruction until a part of that is spent.

    Args:
        countables: of more than `MOST_PROBES` a random sample is counted, and the others are named.
        stacks: whether the stacks of some events are looked at.
        on_progress: told how long it went on and the CPU time that it took, some times a second.
    Raises: UsageError for a target that is not there; HostNotReady where the kernel refuses, with what would help.
    """
    asked, left_out = _sampled(countables)
    alike = {replace(countable, probe=""): countable for countable in reversed(asked)}
    chosen = list(reversed(alike.values()))  # what fires at the same places is counted once
    with (
        contextlib.closing(TargetProcesses(target)) as followed,
        contextlib.closing(CpuClock(followed)) as clock,
        explained("counting how often probes fire"),
    ):
        costs_ns, others_s = event_costs(chosen)
        with contextlib.closing(_attached(chosen, followed, stacks=stacks)) as attachments:
            attached_s = time.monotonic()
            attachments.detach()
            detach_s = time.monotonic() - attached_s
            time.sleep(GRACE_S)
            again_s = time.monotonic()
            attachments.attach()
            windows = Windows(
                attachments,
                followed,
                clock=clock,
                cost_ns=costs_ns,
                overhead_s=detach_s + time.monotonic() - again_s,
                seconds=seconds,
                budget_s=budget_ratio * seconds - others_s,
                at_once_s=AT_ONCE_SHARE * budget_ratio * seconds if target.command else 0.0,
            )
            before_cpu_s = clock.read_s()
            windows.run(on_progress)
            after_cpu_s = clock.read_s()
            counting_cpu_s = windows.spent_s() + others_s
            ran, frames = attachments.runs(), attachments.frames()
    event_ns = {means: costs_ns[means] + run_ns / runs for means, (runs, run_ns) in ran.items() if runs}
    refused = {chosen[index]: words for index, words in attachments.refused.items()}
    slots = dict(zip(chosen, attachments.slots, strict=True))
    busy = None
    if before_cpu_s is not None and after_cpu_s is not None:
        busy = (after_cpu_s - before_cpu_s) / windows.elapsed_s
    threads = windows.threads()
    rates = Rates(windows.observations, attachments.means, event_ns, threads, windows.watched_s, busy_ratio=busy)
    threads = [replace(thread, cpu_s=max(0.0, thread.cpu_s - rates.taken_s.get(thread.tid, 0.0))) for thread in threads]
    probe_rates, not_counted = [], left_out
    for countable in dict.fromkeys(asked):
        own = alike[replace(countable, probe="")]
        if own in refused:
            not_counted[countable.probe] = refused[own]
        elif countable.kind == "profile":
            probe_rates.append(_profile_rate(countable, windows, busy))
        else:
            probe_rates.append(_rate(countable.probe, slots[own], windows, rates))
    return CountResult(
        rates=tuple(probe_rates),
        threads=tuple(sorted(threads, key=lambda thread: (-thread.cpu_s, thread.tid))),
        threads_s=windows.watched_s * rates.alone_s / windows.elapsed_s,
        busy_ratio=rates.busy_ratio,
        alone_s=rates.alone_s,
        frames=frames,
        elapsed_s=windows.elapsed_s,
        counting_cpu_s=counting_cpu_s,
        not_counted=not_counted,
    )


def _sampled(countables: Sequence[Countable]) -> tuple[list[Countable], dict[str, str]]:
    """(the probes that are counted, those that are not with the reason)."""
    if len(countables) <= MOST_PROBES:
        return list(countables), {}
    places = set(random.Random(SAMPLE_SEED).sample(range(len(countables)), MOST_PROBES))  # noqa: S311 (no secret)
    why = f"not in the random sample of {MOST_PROBES} of {len(countables)} probes"
    left_out = {countable.probe: why for index, countable in enumerate(countables) if index not in places}
    return [countables[index] for index in sorted(places)], left_out


def _attached(chosen: Sequence[Countable], followed: TargetProcesses, *, stacks: bool) -> Attachments:
    target = followed.target
    if target.is_machine:
        return Attachments(chosen, None, follow=False, stacks=stacks)
    only = None if target.follows or target.everywhere else target.pid
    follow = target.pid is None or target.follows
    attachments = Attachments(chosen, followed.pids(), follow=follow, pid=only, stacks=stacks)
    if target.cgroup is not None:  # those who were forked before forks were followed
        attachments.watch(followed.pids())
    return attachments


def _rate(probe: str, slots: Sequence[int], windows: Windows, rates: Rates) -> ProbeRate:
    counts, rate = windows.counts(slots), rates.rate(slots)
    elsewhere = counts.pop(ELSEWHERE, Counter[int]())
    by_cpu = sum(counts.values(), Counter[int]())
    return ProbeRate(
        probe=probe,
        events=by_cpu.total(),
        seconds=windows.counted_s,
        by_thread={thread: counter.total() for thread, counter in counts.items() if thread != REST},
        by_cpu=by_cpu,
        thread_hz=rate.thread_hz,
        elsewhere_events=elsewhere.total(),
        complete=windows.is_complete and windows.ended is None,
        note="; ".join(_notes(windows, rates, at_least=rate.at_least)) or None,
        low_hz=rate.sampled.low_hz,
        high_hz=None if rate.at_least else rate.sampled.high_hz,
        busiest_hz=rate.sampled.busiest_hz,
        at_least=rate.at_least,
    )


def _notes(windows: Windows, rates: Rates, *, at_least: bool) -> list[str]:
    notes = []
    if not windows.is_complete:
        whole, counted = units.duration(windows.elapsed_s * 1e9), units.duration(windows.counted_s * 1e9)
        number = len(windows.observations)
        notes.append(f"counted in {number} windows, {counted} of {whole}, because more would exceed the budget")
    if windows.ended is not None:
        notes.append(f"counted for {windows.elapsed_s:.3g} s only, because {windows.ended}")
    if at_least and rates.is_hardly_seen:
        notes.append("it ended before there were windows enough to say what happens between them: at least this rate")
    elif at_least:
        notes.append(f"counting took over {MOST_TAKEN_RATIO:.0%} of a thread's time in the windows: at least this rate")
    return notes


def _profile_rate(profile: Countable, window: Windows, busy_ratio: float | None) -> ProbeRate:
    """A profile fires so often on each CPU; a thread sees those of the time that it runs, a command those of all."""
    per_thread = {use.tid: profile.hz * use.cpu_s / window.watched_s for use in window.threads() if use.cpu_s > 0}
    if window.target.is_machine:
        total_hz = profile.hz * (os.cpu_count() or 1)
    else:
        total_hz = max(profile.hz * (busy_ratio or 0), sum(per_thread.values()))
    return ProbeRate(
        probe=profile.probe,
        events=round(total_hz * window.elapsed_s),
        seconds=window.elapsed_s,
        by_thread={tid: round(hz * window.elapsed_s) for tid, hz in per_thread.items()},
        by_cpu={},
        thread_hz=per_thread,
        note="computed from its frequency and the CPU time of the threads, not counted",
    )
