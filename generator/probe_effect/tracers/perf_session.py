"""One perf at one run: `perf stat`, `perf record` or `perf trace` on the waiting workload.

How it is known that the probes are live. `perf stat` and `perf record` start with their events disabled, are told
`enable` through a pipe, and answer `ack` when all are enabled (--control in perf-record(1), since perf 5.10).
`perf trace` has no such pipe: it enables its events and then, for the first time, sleeps in poll(2) until there is
something to print (trace__run in tools/perf/builtin-trace.c), and the kernel says in which call a process sleeps.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from probe_effect.host import read_text
from probe_effect.tracers import perf_output
from probe_effect.tracers.arguments import read_script, split_arguments
from probe_effect.tracers.dynamic_events import DynamicEvents, split_probes
from probe_effect.tracers.proc import wait_for_workload
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.tracers.tool import ToolSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TextIO

    from probe_effect.tracers.protocol import Report

OWN_CONFIG = {"PERF_CONFIG": "/dev/null"}
"""No ~/.perfconfig: two machines would measure two things."""

EVENT_DESCRIPTOR = "anon_inode:[perf_event]"
ENABLED = b"ack"
READ_TIMEOUT_S = 120.0
"""perf reads and prints a million recorded events in a second."""


class PerfSession(ToolSession):
    """What the three have in common: the script's probes and words, and the workload's id."""

    stop_signal = signal.SIGINT
    good_exits = frozenset({0, -signal.SIGINT})
    """perf ends itself by the signal that stopped it, and by itself when the workload has ended."""

    def __init__(self, perf: str, script: Path, program: Path, root: Path) -> None:
        # The script first: a session that is not made leaves no folder behind.
        self._probes, words = split_probes(read_script(script), script.name)
        self._events = DynamicEvents(root)
        self.words = split_arguments(self._events.in_group(words), script.name)
        super().__init__(program)
        self.perf, self.root = perf, root
        self.written = self.work.path / "written"

    def environment(self) -> dict[str, str]:
        """Nobody's own settings."""
        return OWN_CONFIG

    def attach(self, pid: int) -> None:
        """Define the script's probes and start perf. Raises: TracerFailed."""
        wait_for_workload(pid)
        self._start_ns = time.monotonic_ns()
        if self._probes:
            self._events.define(self._probes, pid, self.program)
        self.child = self.spawn(self.command(pid))

    def stop(self, timeout_s: float) -> Report:
        """Have perf write what it has, count, and remove the script's probes. Raises: TracerFailed."""
        report = super().stop(timeout_s)
        if self._probes:
            self._events.remove()
        return report

    def end(self) -> None:
        """Leave no process, no probe and no file behind."""
        super().end()
        if self._probes:
            with contextlib.suppress(TracerFailed):  # `stop` says so where there is a row to say it in
                self._events.remove()

    def output_bytes(self) -> int:
        """Size of the file that perf wrote."""
        return self.written.stat().st_size if self.written.exists() else 0

    def complaint(self) -> str:
        """perf's own words, without its manual."""
        return perf_output.complaint(self.work.err.read_text(encoding="utf-8", errors="replace"))


class ControlledSession(PerfSession):
    """perf that is told through a pipe to enable its events, and says when it has."""

    def __init__(self, perf: str, script: Path, program: Path, root: Path) -> None:
        super().__init__(perf, script, program, root)
        self._control = Control(self.work.path)

    def is_live(self) -> bool:
        """Whether perf has said that all its events are enabled."""
        return self._control.is_answered()

    def end(self) -> None:
        """Leave no process, no probe, no file and no pipe behind."""
        super().end()
        self._control.close()

    def controlled(self, pid: int) -> tuple[str, ...]:
        """Options of the waiting workload, the pipes, and the file to write."""
        return ("-p", str(pid), "-D", "-1", "--control", self._control.option, "-o", str(self.written))


class StatSession(ControlledSession):
    """`perf stat`: the kernel counts."""

    name = "perf stat"

    def command(self, pid: int) -> Sequence[str]:
        """The command; its counters in a form for programs."""
        return (self.perf, "stat", "-x,", *self.controlled(pid), *self.words)

    def count(self) -> tuple[int | None, int | None]:
        """(events counted, none lost: a counter drops nothing)."""
        text = self.written.read_text(encoding="utf-8") if self.written.exists() else ""
        return perf_output.count_counters(text), 0


class RecordSession(ControlledSession):
    """`perf record`: every event becomes a record in a buffer, which perf empties into a file in memory."""

    name = "perf record"

    def command(self, pid: int) -> Sequence[str]:
        """The command. -N: without it perf keeps a copy of each program that it meets in ~/.debug."""
        return (self.perf, "record", "-N", *self.controlled(pid), *self.words)

    def count(self) -> tuple[int | None, int | None]:
        """(events recorded, events lost), as perf itself reads the file."""
        with self._read_back("report", "--stats") as text:
            known_loss = perf_output.kernels_loss(text.read())
        with self._read_back("script", "--ns", "-F", perf_output.RECORD_FIELDS, "--show-lost-events") as lines:
            seen, lost = perf_output.count_records(lines)
        return seen, lost if known_loss is None else known_loss

    def _read_back(self, *words: str) -> TextIO:
        """What perf prints about the file. Raises: ValueError."""
        self.work.out.write_bytes(b"")
        reader = self.spawn((self.perf, *words, "-i", str(self.written)))
        try:
            ended = reader.wait(READ_TIMEOUT_S)
        finally:
            reader.end()
        if ended is None or ended.exit_status != 0:
            found = f"status {ended.exit_status}" if ended else f"no end after {READ_TIMEOUT_S:.0f} s"
            msg = f"perf {words[0]} on what was recorded, {found}: {self.complaint()}"
            raise ValueError(msg)
        return self.work.out.open(encoding="utf-8", errors="replace")


class TraceSession(PerfSession):
    """`perf trace`: every system call becomes a line, as with strace, and the workload is not stopped for it."""

    name = "perf trace"
    good_exits = frozenset({0})

    def command(self, pid: int) -> Sequence[str]:
        """The command."""
        return (self.perf, "trace", "-p", str(pid), "-o", str(self.written), *self.words)

    def is_live(self) -> bool:
        """Whether perf has its events and sleeps until one comes."""
        return self.child is not None and sleeps_over_events(self.child.pid, self.root)

    def ask_to_stop(self) -> None:
        """Nothing: it ends once the workload has and all is written; at a signal it drops what it has not yet read."""

    def count(self) -> tuple[int | None, int | None]:
        """(system calls printed, system calls lost)."""
        with self.written.open(encoding="utf-8", errors="replace") as lines:
            return perf_output.count_calls(lines)


class Control:
    """The pipes of perf's `--control`, with the word `enable` waiting in one of them."""

    def __init__(self, folder: Path) -> None:
        commands, answers = folder / "commands", folder / "answers"
        self.option = f"fifo:{commands},{answers}"
        self._descriptors = [_open_pipe(commands), _open_pipe(answers)]
        os.write(self._descriptors[0], b"enable\n")

    def is_answered(self) -> bool:
        """Whether perf has answered."""
        try:
            return ENABLED in os.read(self._descriptors[1], 64)
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Close the pipes; once more does no harm."""
        while self._descriptors:
            os.close(self._descriptors.pop())


def sleeps_over_events(pid: int, root: Path) -> bool:
    """Whether the process has a perf event open and sleeps in poll(2) (fd and wchan in proc(5))."""
    folder = root / "proc" / str(pid)
    try:
        has_event = any(str(entry.readlink()) == EVENT_DESCRIPTOR for entry in (folder / "fd").iterdir())
    except OSError:  # it has just closed one, or ended
        return False
    return has_event and "poll" in (read_text(folder, "wchan") or "")


def _open_pipe(path: Path) -> int:
    os.mkfifo(path)
    # Opened to read and to write, neither end waits for the other.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
