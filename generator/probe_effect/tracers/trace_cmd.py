"""trace-cmd: the front end of ftrace that records to a file.

It records in an instance of our own (`-B`) and leaves all else alone: without `-d` it switches the function tracer on,
and without `-k` it resets files of the function tracer at the end. Kernels that keep that tracer to themselves refuse
both ("Can't enable ftrace", "opening to set_ftrace_filter"). A script holds arguments of `trace-cmd record`, and lines
`probe ...` (dynamic_events.py) for events of the group `probes`.

Source: trace-cmd-record(1); the order of its steps: tracecmd/trace-record.c, record_trace.
"""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.tracers.arguments import ProbingSession
from probe_effect.tracers.ftrace import Instance, instances_missing
from probe_effect.tracers.proc import wait_for_workload
from probe_effect.tracers.protocol import Counting
from probe_effect.tracers.tool import Tool


@dataclass(frozen=True, slots=True)
class TraceCmd(Tool):
    """The tracer."""

    program: str = "trace-cmd"
    id: str = "trace-cmd"
    tool: str = "trace-cmd"

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""
        return self.absent(self.program) or instances_missing(self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> "TraceCmdSession":
        """One recording. Raises: TracerFailed when the script is not understood."""
        return TraceCmdSession(self.program, script, counting, program, self.root)


class TraceCmdSession(ProbingSession):
    """One trace-cmd at work. What it recorded is known from its instance, which outlives it."""

    name = "trace-cmd"

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path) -> None:
        super().__init__(tool, script, counting, program, root)
        self._instance = Instance(root)
        self._cpus: Collection[int] = ()

    def attach(self, pid: int) -> None:
        """Define the probes and start trace-cmd. Raises: TracerFailed."""
        wait_for_workload(pid)  # it is on its CPU by then
        self._cpus = os.sched_getaffinity(pid)
        self._instance.remove()  # of a run with the same process id, long ago
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        """Record until the signal."""
        del pid
        record = (self.tool, "record", "-d", "-k", "-o", str(self.written), "-B", self._instance.name)
        return (*record, *self.words)

    def is_live(self) -> bool:
        """Whether events are enabled and the buffer is open: trace-cmd opens it last."""
        return bool(self._instance.read("set_event")) and self._instance.read("tracing_on") == "1"

    def count(self) -> tuple[int, int]:
        """(events that the ring buffer handed out, events that it lost), of the workload's CPUs."""
        kept, lost, _ = self._instance.counts(self._cpus)
        return kept, lost

    def clear(self) -> None:
        """Remove the instance, and after it the probes that it uses. Raises: TracerFailed when one is in use."""
        try:
            self._instance.remove()
        finally:
            super().clear()
