"""ftrace through tracefs alone, and trace-cmd, its front end: events go to a ring buffer of our own.

There is no process beside the workload. What a script may say is in `dynamic_events.py`.

Everything happens in an instance (`instances/probe-effect-<pid>`), so that nobody else's tracing is touched. A full
buffer overwrites its oldest events, as a flight recorder does; those are counted as lost.

Source: Documentation/trace/ftrace.rst and events.rst of the Linux kernel.

trace-cmd: the front end of ftrace that records to a file.

It records in an instance of our own (`-B`) and leaves all else alone: without `-d` it switches the function tracer on,
and without `-k` it resets files of the function tracer at the end. Kernels that keep that tracer to themselves refuse
both ("Can't enable ftrace", "opening to set_ftrace_filter"). A script holds arguments of `trace-cmd record`, and lines
`probe ...` (dynamic_events.py) for events of the group `probes`.

Source: trace-cmd-record(1); the order of its steps: tracecmd/trace-record.c, record_trace.
"""

import os
import re
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import FTRACE_TRACERS, ftrace_tracers, missing, tracefs_folder, tracefs_missing
from probe_effect.model import Need
from probe_effect.tracers import dynamic_events
from probe_effect.tracers.dynamic_events import Event, FtraceScript, ProbingSession, parse_script, tracefs
from probe_effect.tracers.protocol import Counting, Report, Session, Tracer, TracerFailed, wait_for_workload
from probe_effect.tracers.tool import Tool, not_root, read_script

INSTANCE_PREFIX = "probe-effect-"

STATISTIC = re.compile(r"^([a-z ]+): (\d+)$", re.MULTILINE)
"""A whole number in a file of statistics. Source: kernel/trace/trace.c, tracing_stats_read."""


@dataclass(frozen=True, slots=True)
class Ftrace(Tracer):
    """The tracer."""

    id: str = "ftrace"
    tool: str = "ftrace"

    def available(self) -> str | None:
        return instances_missing(self.root)

    def version(self) -> str | None:
        release = read_text(self.root, "proc/sys/kernel/osrelease")
        return f"Linux {release}" if release else None

    def missing(self, need: Need) -> str | None:
        """Tracers of functions the kernel must offer to an instance."""
        if (reason := missing(need, self.root)) or need not in FTRACE_TRACERS:
            return reason
        # Source: `allow_instances` of kernel/trace/trace.c; function_graph has it since Linux 6.11.
        instance, name = Instance(self.root), FTRACE_TRACERS[need]
        try:
            instance.make()
            offered = ftrace_tracers(instance.folder)
            instance.remove()
        except TracerFailed as failure:
            return str(failure)
        if name in offered:
            return None
        return f"this kernel has {name} only for the whole system, not for an instance that leaves others alone"

    def session(self, script: Path, counting: Counting, program: Path) -> "FtraceSession":
        return FtraceSession(parse_script(read_script(script), script.name), program, self.root)


class FtraceSession(Session):
    """One instance at work."""

    def __init__(self, script: FtraceScript, program: Path, root: Path) -> None:
        self._script, self._program = script, program
        self._probes = dynamic_events.DynamicEvents(root)
        self._instance = Instance(root)
        self._events: list[Event] = []
        """The script's events, each by its own name; known once the instance is made."""
        self._cpus: Collection[int] = ()
        self._start_ns = 0
        self._attach_ns: int | None = None

    def attach(self, pid: int) -> None:
        wait_for_workload(pid)
        self._cpus = os.sched_getaffinity(pid)
        self._start_ns = time.monotonic_ns()
        self._probes.define(self._script.probes, pid, self._program)
        self._instance.make()
        self._events = [
            Event(name, event.filter)
            for event in self._script.events
            for name in self._instance.events(self._probes.in_group(event.name))
        ]
        if self._script.buffer_size_kb is not None:
            for cpu in self._cpus:
                self._instance.write(f"per_cpu/cpu{cpu}/buffer_size_kb", str(self._script.buffer_size_kb))
        if self._script.only_workload:
            self._instance.write("set_event_pid", str(pid))
        for event in self._events:
            if event.filter is not None:
                self._instance.write(f"events/{event.name}/filter", event.filter)
            self._instance.write(f"events/{event.name}/enable", "1")
        if self._script.tracer is not None and self._script.function is not None:
            self._instance.write("set_ftrace_filter", self._script.function)
            self._instance.write("current_tracer", self._script.tracer)

    def ready(self, timeout_s: float) -> None:
        """All that was switched on reads so at once, and the buffer as open. Raises: TracerFailed when not."""
        expected = dict.fromkeys(("tracing_on", *(f"events/{event.name}/enable" for event in self._events)), "1")
        if self._script.tracer is not None:
            expected["current_tracer"] = self._script.tracer
        for file, value in expected.items():
            if (setting := self._instance.read(file)) != value:
                msg = f"{self._instance.folder / file} reads {setting!r} after it was switched on, expected {value!r}"
                raise TracerFailed(msg)
        self._attach_ns = time.monotonic_ns() - self._start_ns

    def stop(self, timeout_s: float) -> Report:
        """Close the buffer, count, and remove the instance. Raises: TracerFailed."""
        asked_ns = time.monotonic_ns()
        self._instance.write("tracing_on", "0")
        kept, lost, kept_bytes = self._instance.counts(self._cpus)
        records = self._script.records_per_event
        self._remove()
        return Report(
            seen=kept // records if records else None,
            lost=lost // records if records else None,
            output_bytes=kept_bytes,
            attach_ns=self._attach_ns,
            detach_ns=time.monotonic_ns() - asked_ns,
            probes=None if self._script.tracer else len(self._events),
        )

    def end(self) -> None:
        with suppress(TracerFailed):  # `stop` says so where there is a row to say it in
            self._remove()

    def _remove(self) -> None:
        try:
            self._instance.remove()
        finally:  # after the instance, which uses them
            self._probes.remove()


class Instance:
    """A ring buffer with switches of its own for every event. Always `remove` it."""

    def __init__(self, root: Path = ROOT) -> None:
        self.name = f"{INSTANCE_PREFIX}{os.getpid()}"
        self._root = root

    @property
    def folder(self) -> Path:
        """Raises: TracerFailed where tracefs is not mounted."""
        return tracefs(self._root) / "instances" / self.name

    def make(self) -> None:
        """Make it afresh. Raises: TracerFailed."""
        self.remove()  # of a run with the same process id, long ago
        try:
            self.folder.mkdir()
        except OSError as error:
            raise TracerFailed(f"{self.folder} cannot be made: {error.strerror}") from error

    def write(self, file: str, value: str) -> None:
        """Write to one of its files. Raises: TracerFailed with the kernel's words."""
        path = self.folder / file
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
            try:
                os.write(descriptor, value.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            words = dynamic_events.kernels_words(value, self.folder) or error.strerror
            raise TracerFailed(f"`{value}` in {path}: {words}") from error

    def read(self, file: str) -> str | None:
        return read_text(self.folder, file)

    def events(self, pattern: str) -> list[str]:
        """The names of its events, `GROUP/NAME`, that match, by name; one without `*` is not looked for.

        Raises: TracerFailed when none matches.
        """
        if "*" not in pattern:
            return [pattern]
        folder = self.folder / "events"
        names = sorted(path.parent.relative_to(folder).as_posix() for path in folder.glob(f"{pattern}/enable"))
        if not names:
            raise TracerFailed(f"{folder} has no event that matches {pattern}")
        return names

    def counts(self, cpus: Collection[int]) -> tuple[int, int, int]:
        """(records in the buffers or read from them, those lost, bytes in them) of CPUs on which the workload ran.

        Raises: TracerFailed.
        """
        texts = [self.read(f"per_cpu/cpu{cpu}/stats") or "" for cpu in cpus]
        stats = [{match[1]: int(match[2]) for match in STATISTIC.finditer(text)} for text in texts]
        try:
            kept = sum(stat["entries"] + stat["read events"] for stat in stats)
            lost = sum(stat["overrun"] + stat["commit overrun"] + stat["dropped events"] for stat in stats)
            return kept, lost, sum(stat["bytes"] for stat in stats)
        except KeyError as error:
            raise TracerFailed(f"{self.folder}/per_cpu/*/stats: expected a line {error}") from error

    def remove(self) -> None:
        """Remove it with all that is enabled in it; once more does no harm. Raises: TracerFailed while it is in use."""
        remove_instance(self.name, self._root)


def instances_missing(root: Path) -> str | None:
    """None when we may make instances in tracefs, else why not and what to do."""
    if reason := not_root("tracefs") or tracefs_missing(root):
        return reason
    folder = tracefs(root) / "instances"
    return None if folder.is_dir() else f"this kernel has no {folder}: it is older than Linux 3.10"


def leftovers(root: Path = ROOT) -> list[str]:
    """Instances that killed runs left behind: their processes are no more. `remove_instance` removes one."""
    folder = tracefs_folder(root)
    instances = folder.glob(f"instances/{INSTANCE_PREFIX}*") if folder else ()
    return sorted(path.name for path in instances if dynamic_events.is_orphan(path.name, root))


def remove_instance(name: str, root: Path = ROOT) -> None:
    """Remove an instance, with all that is enabled in it. Raises: TracerFailed while somebody uses it."""
    folder = tracefs(root) / "instances" / name
    dynamic_events.remove(folder.rmdir, f"{folder} cannot be removed", f"end what uses it, then: rmdir {folder}")


class TraceCmdSession(ProbingSession):
    """One trace-cmd at work. What it recorded is known from its instance, which outlives it."""

    name = "trace-cmd"

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path = ROOT) -> None:
        super().__init__(tool, script, counting, program, root)
        self._instance = Instance(root)
        self._cpus: Collection[int] = ()

    def attach(self, pid: int) -> None:
        wait_for_workload(pid)  # it is on its CPU by then
        self._cpus = os.sched_getaffinity(pid)
        self._instance.remove()  # of a run with the same process id, long ago
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        record = (self.tool, "record", "-d", "-k", "-o", str(self.written), "-B", self._instance.name)
        return (*record, *self.words)

    def is_live(self) -> bool:
        """Whether events are enabled and the buffer is open: trace-cmd opens it last."""
        return bool(self._instance.read("set_event")) and self._instance.read("tracing_on") == "1"

    def count(self) -> tuple[int, int]:
        kept, lost, _ = self._instance.counts(self._cpus)
        return kept, lost

    def clear(self) -> None:
        """Remove the instance, and after it the probes that it uses. Raises: TracerFailed when one is in use."""
        try:
            self._instance.remove()
        finally:
            super().clear()


@dataclass(frozen=True, slots=True)
class TraceCmd(Tool):
    """The tracer."""

    program: str = "trace-cmd"
    id: str = "trace-cmd"
    tool: str = "trace-cmd"
    sessions = TraceCmdSession

    def available(self) -> str | None:
        return self.absent(self.program) or instances_missing(self.root)
