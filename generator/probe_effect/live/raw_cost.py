"""What it costs here when a raw tracepoint runs our counting program: measured on a system call of our own."""

from __future__ import annotations

import contextlib
import os
import time
from statistics import median
from typing import NamedTuple

from probe_effect.live.attachment import Attachments
from probe_effect.live.countable import Countable
from probe_effect.live.prompt import be_prompt

CALLS, TRIALS = 1_000, 6
"""Short, because the program runs at the system calls of all others meanwhile."""


class RawCost(NamedTuple):
    """The cost of a raw tracepoint beside the run time of its program, ns, on any CPU.

    `others_s`: CPU time that the measurement took from other programs.
    """

    event_ns: float
    others_s: float


def raw_cost() -> RawCost | None:
    """What a raw tracepoint costs here; None where the kernel refuses one. Raises: OSError, HostNotReady."""
    own = Countable(probe="own", kind="tracepoint", name="syscalls:sys_enter_getppid")
    with contextlib.closing(Attachments([own], [os.getpid()], follow=False)) as attachments:
        if attachments.means[0] != "raw-tracepoint" or attachments.refused:
            return None
        be_prompt(is_prompt=True)
        try:
            attachments.switch(on=True)
            traced_ns = _call_ns()
            attachments.detach()
            added_ns = traced_ns - _call_ns()
        finally:
            be_prompt(is_prompt=False)
        ran = attachments.runs()["raw-tracepoint"]
    others = max(0, ran.runs - CALLS * TRIALS)
    return RawCost(max(0.0, added_ns - ran.run_ns / ran.runs), others * added_ns / 1e9)


def _call_ns() -> float:
    """The CPU time of one system call, the median of some loops."""
    return median(_loop_ns() for _ in range(TRIALS))


def _loop_ns() -> float:
    began_ns = time.thread_time_ns()
    for _ in range(CALLS):
        os.getppid()
    return (time.thread_time_ns() - began_ns) / CALLS
