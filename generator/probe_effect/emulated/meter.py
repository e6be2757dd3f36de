"""Instructions of a start or a stop inside an emulated machine: those that its CPUs execute, without waiting.

The clock counts instructions while a CPU executes and goes on while all of them are idle, so it cannot say. The kernel
can: it adds up how long tasks ran on each CPU, which there is in instructions (`rq_cpu_time` of /proc/schedstat, by
`sched_info_depart` in kernel/sched/stats.h). Interrupts that find a CPU idle belong to no task, and are excluded.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from probe_effect.host import read_text

RUN_TIME = 7
"""The place of `rq_cpu_time` among the words of a CPU's line; version 15 of the format and later."""

SWITCHED_AFTER_S = 0.002
"""A task's run is added when it leaves its CPU, so we leave ours before we read."""


class Reading(NamedTuple):
    """Instructions since the machine started: those of all tasks, and those of this program."""

    everybody: int
    ourselves: int


class Taken(NamedTuple):
    """Instructions between two moments: those of all others, and ours until we began to wait for them."""

    others: int
    ourselves: int


class Meter:
    """Begun before something that is asked for, and ended when it is done; `settle` returns when nobody works on it."""

    def __init__(self, root: Path, settle: Callable[[], None]) -> None:
        self._root, self._settle = root, settle
        self._first: Reading | None = None

    def begin(self) -> None:
        """Start counting, after work in the background has ended."""
        self._settle()
        self._first = self._switched()

    def end(self) -> Taken | None:
        """The instructions until now, with work left in the background; None if not begun, or the kernel does not say.

        Ours while that work ends are excluded.
        """
        if self._first is None:
            return None
        first, done = self._first, time.process_time_ns()
        self._settle()
        last, self._first = self._switched(), None
        if last is None:
            return None
        return Taken(
            others=last.everybody - first.everybody - (last.ourselves - first.ourselves),
            ourselves=done - first.ourselves,
        )

    def _switched(self) -> Reading | None:
        """The reading now; None if the kernel does not say (it is built without CONFIG_SCHEDSTATS)."""
        time.sleep(SWITCHED_AFTER_S)
        lines = [line.split() for line in (read_text(self._root, "proc/schedstat") or "").splitlines()]
        cpus = [int(words[RUN_TIME]) for words in lines if words and words[0].startswith("cpu")]
        return Reading(sum(cpus), time.process_time_ns()) if cpus else None
