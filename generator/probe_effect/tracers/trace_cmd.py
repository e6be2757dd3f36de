"""trace-cmd: the front end of ftrace that records to a file.

It records in an instance of our own (`-B`) and leaves all else alone: without `-d` it switches the function tracer on,
and without `-k` it resets files of the function tracer at the end. Kernels that keep that tracer to themselves refuse
both ("Can't enable ftrace", "opening to set_ftrace_filter"). A script holds arguments of `trace-cmd record`, and lines
`probe ...` (dynamic_events.py) for events of the group `probes`.

Source: trace-cmd-record(1); the order of its steps: tracecmd/trace-record.c, record_trace.
"""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from probe_effect.host import ROOT
from probe_effect.tracers.arguments import read_script, split_arguments
from probe_effect.tracers.dynamic_events import DynamicEvents, split_probes
from probe_effect.tracers.ftrace import Instance, instances_missing
from probe_effect.tracers.kernel import missing
from probe_effect.tracers.proc import wait_for_workload
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import ToolSession, absent, version_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from probe_effect.store.suite_file import Need
    from probe_effect.tracers.protocol import Counting, Report


@dataclass(frozen=True, slots=True)
class TraceCmd:
    """The tracer; `program` is its command, `root` is where it looks for the kernel's files."""

    program: str = "trace-cmd"
    id: str = "trace-cmd"
    root: Path = ROOT
    tool: str = "trace-cmd"

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""
        return absent(self.program, "on Debian and Ubuntu: apt install trace-cmd") or instances_missing(self.root)

    def version(self) -> str | None:
        """What `trace-cmd --version` prints."""
        return version_line(self.program)

    def missing(self, need: Need) -> str | None:
        """None when the kernel offers `need`, else why not."""
        return missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> TraceCmdSession:
        """One recording. Raises: TracerFailed when the script is not understood."""
        del counting  # the ring buffer always counts
        return TraceCmdSession(self, script, program)


class TraceCmdSession(ToolSession):
    """One trace-cmd at work. What it recorded is known from its instance, which outlives it."""

    name = "trace-cmd"
    stop_signal = signal.SIGINT

    def __init__(self, tracer: TraceCmd, script: Path, program: Path) -> None:
        self._tracer = tracer
        self._probes = DynamicEvents(tracer.root)
        self._instance = Instance(tracer.root)
        self._asked, rest = split_probes(read_script(script), script.name)
        self._arguments = split_arguments(self._probes.in_group(rest), script.name)
        self._cpus: Collection[int] = ()
        super().__init__(program)  # last: what fails before leaves no folder behind

    @property
    def recording(self) -> Path:
        """The file that trace-cmd writes."""
        return self.work.path / "trace.dat"

    def attach(self, pid: int) -> None:
        """Define the probes and start trace-cmd. Raises: TracerFailed."""
        wait_for_workload(pid)
        self._cpus = os.sched_getaffinity(pid)
        self._instance.remove()  # of a run with the same process id, long ago
        self._probes.define(self._asked, pid, self.program)
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        """Record until the signal."""
        del pid
        record = (self._tracer.program, "record", "-d", "-k", "-o", str(self.recording), "-B", self._instance.name)
        return (*record, *self._arguments)

    def is_live(self) -> bool:
        """Whether events are enabled and the buffer is open: trace-cmd opens it last."""
        return bool(self._instance.read("set_event")) and self._instance.read("tracing_on") == "1"

    def count(self) -> tuple[int, int]:
        """(events that the ring buffer handed out, events that it lost), of the workload's CPUs."""
        counts = self._instance.counts(self._cpus)
        return counts.kept, counts.lost

    def output_bytes(self) -> int:
        """Bytes of the recording."""
        return self.recording.stat().st_size

    def stop(self, timeout_s: float) -> Report:
        """Have trace-cmd flush and exit, count, and remove what it recorded in. Raises: TracerFailed."""
        report = super().stop(timeout_s)
        self._remove()
        return report

    def end(self) -> None:
        """Leave no process, no instance, no probe and no file behind."""
        super().end()
        with suppress(TracerFailed):  # `stop` says so where there is a row to say it in
            self._remove()

    def _remove(self) -> None:
        with ExitStack() as leaving:
            leaving.callback(self._probes.remove)  # after the instance, which uses them
            self._instance.remove()
