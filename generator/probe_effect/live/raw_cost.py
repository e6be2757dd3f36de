"""What it costs here when a raw tracepoint runs our counting program: measured on a system call of our own."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from statistics import mean, median
from typing import TYPE_CHECKING

from probe_effect.live.attachment import Attachments
from probe_effect.live.countable import Countable
from probe_effect.live.prompt import be_prompt

if TYPE_CHECKING:
    from collections.abc import Mapping

CALLS, TRIALS, MOST_CPUS = 1_000, 3, 2
"""Short, because the program runs at the system calls of all others meanwhile."""


@dataclass(frozen=True, slots=True)
class RawCost:
    """The cost of a raw tracepoint beside the run time of its program, ns, by CPU: guests differ twofold between two.

    `others_s`: CPU time that the measurement took from other programs.
    """

    by_cpu_ns: Mapping[int, float]
    others_s: float

    def of(self, by_cpu: Mapping[int, int]) -> float:
        """The mean, ns, for so many events on each CPU; for a CPU that was not measured, that of all measured ones."""
        usual_ns = mean(self.by_cpu_ns.values())
        events = sum(by_cpu.values())
        if not events:
            return usual_ns
        return sum(number * self.by_cpu_ns.get(cpu, usual_ns) for cpu, number in by_cpu.items()) / events


def raw_cost() -> RawCost | None:
    """What a raw tracepoint costs here; None where the kernel refuses one. Raises: OSError, HostNotReady."""
    own = Countable(probe="own", kind="tracepoint", name="syscalls:sys_enter_getppid")
    allowed = os.sched_getaffinity(0)
    cpus = sorted(allowed)[:MOST_CPUS]
    with contextlib.closing(Attachments([own], [os.getpid()], follow=False)) as attachments:
        if attachments.means[0] != "raw-tracepoint" or attachments.refused:
            return None
        be_prompt(is_prompt=True)
        try:
            attachments.switch(on=True)
            traced_ns = [_call_ns(cpu) for cpu in cpus]
            attachments.detach()
            added_ns = [traced - _call_ns(cpu) for cpu, traced in zip(cpus, traced_ns, strict=True)]
        finally:
            be_prompt(is_prompt=False)
            os.sched_setaffinity(0, allowed)
        ran = attachments.runs()["raw-tracepoint"]
    run_ns = ran.run_ns / ran.runs
    others = max(0, ran.runs - CALLS * TRIALS * len(cpus))
    return RawCost(
        {cpu: max(0.0, ns - run_ns) for cpu, ns in zip(cpus, added_ns, strict=True)}, others * mean(added_ns) / 1e9
    )


def _call_ns(cpu: int) -> float:
    """The CPU time of one system call in a loop on a CPU, the median of some loops."""
    os.sched_setaffinity(0, {cpu})
    return median(_loop_ns() for _ in range(TRIALS))


def _loop_ns() -> float:
    began_ns = time.thread_time_ns()
    for _ in range(CALLS):
        os.getppid()
    return (time.thread_time_ns() - began_ns) / CALLS
