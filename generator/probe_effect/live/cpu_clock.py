"""CPU time of a target to the ns, also in a window of less than a ms, which the times of /proc do not know.

Source: perf_event_open(2), PERF_COUNT_SW_TASK_CLOCK; `inherit` follows children, `inherit_thread` threads alone (5.13).
"""

import contextlib
import os
import sys

from probe_effect.host import ROOT
from probe_effect.live.perf_event import open_event
from probe_effect.live.target import TargetProcesses

SOFTWARE, TASK_CLOCK = 1, 1
INHERIT, INHERIT_THREAD = 1 << 1, 1 << 35

MOST_THREADS = 64
"""A look reads one event for each thread that was there at the start."""


class CpuClock:
    """The CPU time of a process, or of a command and its children, from now on. Always `close` it."""

    def __init__(self, followed: TargetProcesses) -> None:
        self._events: list[int] = []
        if followed.pid is None:
            return
        flags = INHERIT | (0 if followed.target.command else INHERIT_THREAD)
        try:
            threads = [int(folder.name) for folder in (ROOT / f"proc/{followed.pid}/task").iterdir()]
            for thread in threads if len(threads) <= MOST_THREADS else ():
                self._events.append(open_event(SOFTWARE, TASK_CLOCK, pid=thread, flags=flags, period=0))
        except OSError:  # it has ended, or the kernel allows no such events
            self.close()

    def read_s(self) -> float | None:
        """The CPU time, s; None where no clock tells."""
        if not self._events:
            return None
        with contextlib.suppress(OSError):
            return sum(int.from_bytes(os.read(event, 8), sys.byteorder) for event in self._events) / 1e9
        return None

    def close(self) -> None:
        """Close its events."""
        for event in self._events:
            os.close(event)
        self._events = []
