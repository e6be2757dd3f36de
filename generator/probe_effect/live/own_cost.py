"""What counting costs on this system, measured on events of our own, and the rates of probes corrected for it.

A tracepoint or kprobe is measured on a system call that we make. A probe of a program is measured on a function of a
few bytes that we write into a file in memory. Its first instruction is one that the kernel gets past as in the target.
"""

import contextlib
import ctypes
import mmap
import os
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from probe_effect.live.attachment import IN_FILES, Attachments, Countable, CountableProbe, Means
from probe_effect.live.bpf_program import ELSEWHERE, REST
from probe_effect.live.kernel_calls import be_prompt
from probe_effect.live.target import ThreadUse
from probe_effect.live.window import Observation
from probe_effect.model import NOP10_CALLED_SINCE, HostNotReady, series_of
from probe_effect.numbers.counted import SampledRate, Stratum, sampled_rate, shares

CALLS, TRIALS_S = 100, 0.02
"""Events of a loop, and how long such loops go on.

Short, because probes of the kernel fire for all others meanwhile. Not shorter, because a shared host is slow for some
ms now and then.
"""

CALLS_NOP10 = series_of(platform.release()) >= NOP10_CALLED_SINCE
"""Whether a nop of ten bytes becomes a call here, and not one of five."""

FUNCTIONS = {
    "x86_64": {
        "emulated": "55 5d c3",
        "stepped": "89 f8 c3",
        "called": "66 2e 0f 1f 84 00 00 00 00 00 c3" if CALLS_NOP10 else "0f 1f 44 00 00 c3",
    },
    "aarch64": {"emulated": "01 00 00 14 c0 03 5f d6", "stepped": "e0 03 01 2a c0 03 5f d6"},
}
"""Functions of one instruction and a return: a push (and its pop), a move between registers, a nop of five or ten
bytes; on arm64 a branch to the next instruction, and a move.
"""

ENTRIES = {"x86_64": "__x64_sys_getppid", "aarch64": "__arm64_sys_getppid"}
"""The kernel's function for the system call that we make (arch/*/include/asm/syscall_wrapper.h)."""

UNKNOWN_NS = 10_000.0
"""What a probe is taken to cost that cannot be measured so: a stepped user probe in a nested virtual machine."""


def event_costs(countables: Iterable[Countable]) -> tuple[dict[Means, float], float]:
    """(ns of an event by each means of attaching, s of CPU time that measuring took from other programs).

    The run time of our program is no part of it. Where probes of one kind fire in several ways, the highest is taken.
    """
    cost_by_means: dict[Means, float] = {}
    others_s = 0.0
    for kind, mechanism in sorted({(countable.kind, countable.mechanism or "stepped") for countable in countables}):
        if kind != "profile":
            event_ns, taken_s = _measured(kind, mechanism)
            cost_by_means[kind] = max(event_ns, cost_by_means.get(kind, 0.0))
            others_s += taken_s
    if "tracepoint" in cost_by_means:  # each goes by whichever of both the kernel takes
        cost_by_means["raw-tracepoint"] = cost_by_means["tracepoint"]
    return cost_by_means, others_s


def _measured(kind: CountableProbe, mechanism: str) -> tuple[float, float]:
    try:
        with (
            _event(kind, mechanism) as (probe, fire),
            contextlib.closing(Attachments([probe], [os.getpid()], follow=False, pid=os.getpid())) as attachments,
            contextlib.ExitStack() as undo,
        ):
            if attachments.refused:
                return UNKNOWN_NS, 0.0
            be_prompt(is_prompt=True)
            undo.callback(be_prompt, is_prompt=False)
            attachments.switch(on=True)
            traced_ns, own = _event_ns(fire)
            attachments.detach()
            added_ns = traced_ns - _event_ns(fire)[0]
            runs, run_ns = attachments.runs()[attachments.means[0]]
    except (OSError, KeyError, HostNotReady):
        return UNKNOWN_NS, 0.0
    return max(0.0, added_ns - run_ns / runs), max(0, runs - own) * added_ns / 1e9


@contextlib.contextmanager
def _event(kind: CountableProbe, mechanism: str) -> Iterator[tuple[Countable, Callable[[], object]]]:
    """A probe of our own, and what makes it fire once.

    Raises: KeyError for an architecture that is not known; OSError where no memory may be executed.
    """
    architecture = platform.machine()
    if kind not in IN_FILES:
        name = "syscalls:sys_enter_getppid" if kind == "tracepoint" else ENTRIES[architecture]
        yield Countable(probe="own", kind=kind, name=name), os.getppid
        return
    code = bytes.fromhex(FUNCTIONS[architecture][mechanism])
    with open(os.memfd_create("probe-effect"), "r+b", buffering=0) as file:  # noqa: PTH123 (it has no path)
        file.write(code)
        with mmap.mmap(
            file.fileno(), len(code), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC
        ) as memory:
            call = ctypes.CFUNCTYPE(None)(np.frombuffer(memory, np.uint8).ctypes.data)
            path = Path(f"/proc/self/fd/{file.fileno()}")
            yield Countable(probe="own", kind=kind, path=path, offsets=(0,)), call


def _event_ns(fire: Callable[[], object]) -> tuple[float, int]:
    """(CPU time of one event, the median of some loops, how many events they had)."""
    began_s, loops_ns = time.monotonic(), list[float]()
    while not loops_ns or time.monotonic() - began_s < TRIALS_S:
        began_ns = time.thread_time_ns()
        for _ in range(CALLS):
            fire()
        loops_ns.append((time.thread_time_ns() - began_ns) / CALLS)
    return median(loops_ns), CALLS * len(loops_ns)


BUSY_RATIO = 0.9
"""A thread that wants a CPU for this share of its time does less because it is counted; others wait less instead."""

MOST_TAKEN_RATIO = 0.7
"""The most that counting may take: with more, a thread's other time says too little about its own rate."""

FEWEST_WINDOWS, UNSEEN_RATIO = 5, 0.1
"""So much of the time is not left to fewer windows than that to stand for: what they missed is not known."""

MOST_OF_COMPLETE_RATIO = 0.98
"""The same of one window that lacks nothing: its events are exact, and its own time matters little to the whole."""

SATURATED_RATIO = 0.1
"""Share of a probe's events in windows that were saturated, from which its rate is a lower bound."""

UNSURE_RATIO = 0.3
"""How far an event's cost may be wrong: in programs at work one takes up to so much longer than in a loop."""


class CountedRate(NamedTuple):
    """The rate of a probe and of each thread, and whether counting took so much that they are lower bounds."""

    sampled: SampledRate
    thread_hz: dict[int, float]
    at_least: bool


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
        self._observations = observations
        self._is_clocked = busy_ratio is not None and all(observation.cpu_s is not None for observation in observations)
        wanted_s = sum(thread_use.cpu_s + thread_use.waited_s for thread_use in threads)
        waited_s = sum(thread_use.waited_s for thread_use in threads)
        self._waiting_ratio = waited_s / wanted_s if wanted_s and not self._is_clocked else 0.0
        waiting = {
            thread_use.tid for thread_use in threads if thread_use.cpu_s + thread_use.waited_s < BUSY_RATIO * watched_s
        }
        self._is_busy = (busy_ratio or 0.0) + waited_s / watched_s >= BUSY_RATIO
        self._by_slot: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
        """Key of the counts to (which window, thread, events, share of its time that counting took)."""
        self._taken: list[float] = []
        """Of each window the share of the target's CPU time that counting took; 0 where no clock tells."""
        self.taken_s: dict[int, float] = defaultdict(float)
        """CPU time, s, that counting took from each thread in all windows."""
        for at, observation in enumerate(observations):
            taken_s: dict[int, float] = defaultdict(float)
            for (slot, thread), events in observation.counts.items():
                if thread != ELSEWHERE:
                    taken_s[thread] += events * event_ns.get(means[slot], 0.0) / 1e9
            for thread, seconds in taken_s.items():
                self.taken_s[thread] += seconds
            ratio = sum(taken_s.values()) / observation.cpu_s if self._is_clocked and observation.cpu_s else 0.0
            self._taken.append(ratio)
            for (slot, thread), events in observation.counts.items():
                if thread != ELSEWHERE:
                    own = 0.0 if thread in waiting else taken_s[thread] / observation.counted_s
                    self._by_slot[slot].append((at, thread, events, ratio if self._is_clocked else own))
        cpu_s = sum(
            (observation.cpu_s or 0.0) * observation.length_s / observation.counted_s for observation in observations
        )
        self._taken_of_all = sum(self.taken_s.values()) / cpu_s if self._is_clocked and cpu_s else None
        is_unsure = self._taken_of_all is not None and self._taken_of_all > MOST_TAKEN_RATIO
        most = MOST_TAKEN_RATIO if is_unsure else MOST_OF_COMPLETE_RATIO
        self._most = [
            most if observation.counted_s >= observation.length_s else MOST_TAKEN_RATIO for observation in observations
        ]
        """Of each window the most that counting is taken to have taken."""
        self._unsure_ratio = 0.0 if is_unsure else UNSURE_RATIO
        partial = [observation for observation in observations if observation.counted_s < observation.length_s]
        self.is_hardly_seen = len(partial) < FEWEST_WINDOWS and sum(
            observation.length_s - observation.counted_s for observation in partial
        ) > UNSEEN_RATIO * sum(observation.length_s for observation in observations)
        """Whether so few windows stand for so much of the time that rates are lower bounds."""
        took = [min(ratio, own) for ratio, own in zip(self._taken, self._most, strict=True)]
        watched = sum(observation.length_s for observation in observations)
        longer_s = sum(observation.counted_s * ratio for observation, ratio in zip(observations, took, strict=True))
        self.alone_s = watched - (longer_s if self._is_busy else 0.0)
        """How long all windows, and what they stand for, would be without counting, s."""
        self.busy_ratio = busy_ratio
        """The target's CPU time over the whole time, without that of counting; None where no clock tells."""
        if busy_ratio is not None:
            taken = sum(
                (observation.cpu_s or 0.0) * ratio for observation, ratio in zip(observations, took, strict=True)
            )
            self.busy_ratio = max(0.0, busy_ratio * watched - taken) / self.alone_s

    def rate(self, slots: Iterable[int]) -> CountedRate:
        entries = [entry for slot in slots for entry in self._by_slot.get(slot, [])]
        windows, most, strata = self._observations, self._most, self._strata(entries)
        of_cpu = self.busy_ratio if self._is_clocked else None
        sampled = sampled_rate(strata, self._unsure_ratio, self._waiting_ratio, of_cpu)
        share, thread_hz, saturated_hz, all_hz = shares(strata), defaultdict[int, float](float), 0.0, 0.0
        for at, thread, number, taken in entries:
            slowed = strata[at].slowed if self._is_clocked else 1 / (1 - min(taken, most[at]))
            hz = float(share[at]) * number * slowed / windows[at].counted_s * sampled.cpu_scale
            all_hz += hz
            saturated_hz += hz if taken > MOST_TAKEN_RATIO and windows[at].counted_s < windows[at].length_s else 0.0
            if thread != REST:
                thread_hz[thread] += hz
        taken_of_all = self._taken_of_all
        if taken_of_all is None:
            longer_s = sum(stratum.counted_s * (1 - 1 / stratum.slowed) for stratum in strata)
            taken_of_all = longer_s / sum(stratum.length_s for stratum in strata)
        at_least = saturated_hz > SATURATED_RATIO * all_hz or taken_of_all > MOST_TAKEN_RATIO
        return CountedRate(sampled, thread_hz, bool(entries) and (at_least or self.is_hardly_seen))

    def _strata(self, entries: Sequence[tuple[int, int, int, float]]) -> list[Stratum]:
        most = self._most
        events = [0] * len(most)
        without = [0.0] * len(most)
        for at, _, number, taken in entries:
            events[at] += number
            without[at] += number / (1 - min(taken, most[at]))
        strata = []
        for at, (window, ratio) in enumerate(zip(self._observations, self._taken, strict=True)):
            left = 1 - min(ratio, most[at])
            slowed = without[at] / events[at] if events[at] else 1.0
            slowed = (1 / left if self._is_busy else 1.0) if self._is_clocked else slowed
            cpu_ratio = (window.cpu_s or 0.0) * left / window.counted_s * slowed
            own = 1 / left - 1 if self._is_clocked else None
            strata.append(Stratum(window.length_s, window.counted_s, events[at], slowed, cpu_ratio, own))
        return strata
