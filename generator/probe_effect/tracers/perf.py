"""perf (Linux): three tracers of one program, that count in the kernel, record samples or trace system calls.

How it is known that the probes are live. `perf stat` and `perf record` start with their events disabled, are told
`enable` through a pipe, and answer `ack` when all are enabled (--control in perf-record(1), since perf 5.10).
`perf trace` has no such pipe: it enables its events and then, for the first time, sleeps in poll(2) until there is
something to print (trace__run in tools/perf/builtin-trace.c). The kernel says in which call a process sleeps.

A script has the words of the command line after `perf stat`, `perf record` or `perf trace`, with `#` comments. It may
define probes first (`dynamic_events`). A command watches the workload alone (`-p`), or all CPUs where its words have
`-a`. An event cannot be called `read`, `load` or `store`: perf's grammar has these words for caches
(tools/perf/util/parse-events.l).

A BPF program on the same tracepoint that returns 0 keeps the event from perf, which then sees nothing although it is
live (trace_call_bpf in kernel/trace/bpf_trace.c). So nobody else may watch the tracepoint while perf is measured.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TextIO

from probe_effect.host import ROOT, read_text, run_program
from probe_effect.host.kernel import ON_FTRACE, missing, tracefs_missing
from probe_effect.host.processes import family, status
from probe_effect.model import Need
from probe_effect.tracers.dynamic_events import ProbingSession
from probe_effect.tracers.protocol import Counting, wait_for_workload
from probe_effect.tracers.tool import Tool, count_counters, counters, text_of

LOST_SAMPLES = re.compile(r"\s*LOST_SAMPLES events:\s+(\d+)")
SECTION = re.compile(r"(?P<event>\S.*) stats:$")
NOT_OURS = ("Aggregated", "dummy")
"""Begin sections of `perf report --stats` that are no event's: the sum, where LOST_SAMPLES are records and not events,
and the event that perf adds for news of processes."""

IDLE = re.compile(r"\s*0 ")
"""Begins the line of a sample that a CPU's timer took while nothing ran there: the thread is 0."""
LOST_RECORD = re.compile(r"PERF_RECORD_LOST lost (\d+)$")
LOST_LINE = re.compile(r"LOST (\d+) events!")

NO_COMPLAINT = re.compile(r"\s*$|Events (en|dis)abled$|\[ perf record: ")
USAGE = re.compile(r"\s*Usage: |Run 'perf list' ")
"""Begins what perf prints after its complaint: how it is used, on many lines."""


def count_records(lines: Iterable[str]) -> tuple[int, int]:
    """(events recorded while a CPU was not idle, events lost by the records of loss), each record once.

    The lines are those of `perf script --ns -F tid,time,event --show-lost-events`, which prints in the order of time.
    perf record writes some records twice: perf_mmap__push (tools/perf/util/mmap.c) reads the head of the buffer, reads
    it again to know how much to write, and goes on from the first. What the workload recorded between the two reads is
    written again in the next round; where perf is preempted between them that is thousands of records. Both have the
    same nanosecond, so that equal lines are one record.
    """
    seen = lost = 0
    for _, at_once in groupby(lines, key=lambda line: line.partition(": ")[0].rpartition(" ")[2]):
        for line in set(at_once):
            if match := LOST_RECORD.search(line):
                lost += int(match[1])
            elif line.strip() and not IDLE.match(line):
                seen += 1
    return seen, lost


def kernels_loss(text: str) -> int | None:
    """Events that the kernel dropped, in what `perf report --stats` prints; None when it does not say.

    It is the kernel's own count for each event, read when perf closes it, since Linux 6.0 and perf 6.1
    (PERF_FORMAT_LOST). Records of loss count the same events once more, all but those at the very end: the kernel
    writes such a record with the next event that finds room (kernel/events/ring_buffer.c).
    Raises: ValueError when the text is of another form.
    """
    losses: list[int] = []
    event = None
    for line in text.splitlines():
        if match := SECTION.match(line):
            event = match["event"]
        elif (match := LOST_SAMPLES.match(line)) and event is not None:
            losses.append(0 if event.startswith(NOT_OURS) else int(match[1]))
    if event is None:
        raise ValueError("perf report printed no statistics")
    return sum(losses) if losses else None


def count_calls(lines: Iterable[str]) -> tuple[int, int]:
    """(system calls printed, system calls lost), of what `perf trace` writes about a workload of one thread.

    perf trace counts the records that it lost. A call of which one record was lost is printed all the same, so that
    the sum may be too large by one for each gap.
    """
    seen = lost = 0
    for line in lines:
        if match := LOST_LINE.search(line):
            lost += int(match[1])
        elif line.strip():
            seen += 1
    return seen, -(-lost // 2)  # a line is made of two records, of a system call's entry and of its return


def complaint(text: str) -> str:
    """perf's own words on its standard error as one line, without its manual and what is no complaint."""
    kept: list[str] = []
    for line in text.splitlines():
        if USAGE.match(line):
            break
        if not NO_COMPLAINT.match(line):
            kept.append(line.strip())
    return " ".join(kept)


READ_TIMEOUT_S = 120.0  # perf reads and prints a million recorded events in a second


class PerfSession(ProbingSession):
    """What sessions of `perf stat`, `perf record` and `perf trace` have in common."""

    good_exits = frozenset({0, -signal.SIGINT})
    """perf ends itself by the signal that stopped it, and by itself when the workload has ended."""

    def environment(self) -> dict[str, str]:
        return {"PERF_CONFIG": "/dev/null"}  # no ~/.perfconfig: two machines would measure two things

    def attach(self, pid: int) -> None:
        wait_for_workload(pid)
        start_ns = time.monotonic_ns()  # to define the script's probes is part of perf's start
        super().attach(pid)
        self._start_ns = start_ns

    def complaint(self) -> str:
        return complaint(text_of(self.work.err))


class ControlledSession(PerfSession):
    """perf that is told through pipes to enable its events, and says when it has; the word waits in one of them."""

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path = ROOT) -> None:
        super().__init__(tool, script, counting, program, root)
        commands, answers = self.work.path / "commands", self.work.path / "answers"
        self._control = f"fifo:{commands},{answers}"
        self._pipes = []
        for path in (commands, answers):
            os.mkfifo(path)
            # Opened to read and to write, neither end waits for the other.
            self._pipes.append(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        os.write(self._pipes[0], b"enable\n")

    def is_live(self) -> bool:
        try:
            return b"ack" in os.read(self._pipes[1], 64)
        except BlockingIOError:
            return False

    def end(self) -> None:
        super().end()
        while self._pipes:
            os.close(self._pipes.pop())

    def controlled(self, pid: int) -> tuple[str, ...]:
        """The script's words, the pipes, the file to write, and the waiting workload.

        All CPUs are watched in its place where `-a` is a word, and its own CPUs where `-C` is the last one.
        """
        last = (status(pid)["Cpus_allowed_list"],) if self.words[-1:] == ["-C"] else ()
        watched = () if last or "-a" in self.words else ("-p", family(pid))
        return (*watched, "-D", "-1", "--control", self._control, "-o", str(self.written), *self.words, *last)


class StatSession(ControlledSession):
    """`perf stat`: the kernel counts."""

    name = "perf stat"

    def command(self, pid: int) -> Sequence[str]:
        return (self.tool, "stat", "-x,", *self.controlled(pid))

    def count(self) -> tuple[int | None, int | None]:
        return count_counters(text_of(self.written)), 0  # a counter drops nothing

    def probes(self) -> int | None:
        return len(counters(text_of(self.written)))


class RecordSession(ControlledSession):
    """`perf record`: every event becomes a record in a buffer, which perf empties into a file in memory."""

    name = "perf record"

    def command(self, pid: int) -> Sequence[str]:
        """The command. -N: without it perf keeps a copy of each program that it meets in ~/.debug."""
        return (self.tool, "record", "-N", *self.controlled(pid))

    def count(self) -> tuple[int | None, int | None]:
        with self._read_back("report", "--stats") as text:
            known_loss = kernels_loss(text.read())
        with self._read_back("script", "--ns", "-F", "tid,time,event", "--show-lost-events") as lines:
            seen, lost = count_records(lines)
        return seen, lost if known_loss is None else known_loss

    def _read_back(self, *words: str) -> TextIO:
        self.work.out.write_bytes(b"")
        reader = self.spawn((self.tool, *words, "-i", str(self.written)))
        try:
            ended = reader.wait(READ_TIMEOUT_S)
        finally:
            reader.end()
        if ended is None or ended.exit_status != 0:
            outcome = f"status {ended.exit_status}" if ended else f"no end after {READ_TIMEOUT_S:.0f} s"
            raise ValueError(f"perf {words[0]} on what was recorded, {outcome}: {self.complaint()}")
        return self.work.out.open(encoding="utf-8", errors="replace")


class TraceSession(PerfSession):
    """`perf trace`: every system call becomes a line, as with strace, and the workload is not stopped for it."""

    name = "perf trace"
    good_exits = frozenset({0})

    def command(self, pid: int) -> Sequence[str]:
        return (self.tool, "trace", "-p", family(pid), "-o", str(self.written), *self.words)

    def is_live(self) -> bool:
        return self.child is not None and sleeps_over_events(self.child.pid, self.root)

    def ask_to_stop(self) -> None:
        """Nothing: it ends once the workload has and all is written; at a signal it drops what it has not yet read."""

    def count(self) -> tuple[int | None, int | None]:
        with self.written.open(encoding="utf-8", errors="replace") as lines:
            return count_calls(lines)


def sleeps_over_events(pid: int, root: Path) -> bool:
    """Whether the process has a perf event open and sleeps in poll(2) (fd and wchan in proc(5))."""
    folder = root / "proc" / str(pid)
    try:
        has_event = any(str(entry.readlink()) == "anon_inode:[perf_event]" for entry in (folder / "fd").iterdir())
    except OSError:  # it has just closed one, or ended
        return False
    return has_event and "poll" in (read_text(folder, "wchan") or "")


SESSIONS: dict[str, type[PerfSession]] = {
    "perf-stat": StatSession,
    "perf-record": RecordSession,
    "perf-trace": TraceSession,
}

PARANOID = "proc/sys/kernel/perf_event_paranoid"
OPEN_TO_ALL = -1
"""The setting at which tracepoints need no privilege (Documentation/admin-guide/sysctl/kernel.rst)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perf(Tool):
    """One of perf's three tracers; `tool` says which."""

    program: str = "perf"

    def available(self) -> str | None:
        return self.absent(self.program) or self._runs() or self._events_refused() or tracefs_missing(self.root)

    def version(self) -> str | None:
        status, words = _ask_version(self.program)
        return words if status == 0 else None

    def missing(self, need: Need) -> str | None:
        return f"perf attaches no event by {need}" if need in ON_FTRACE else missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> PerfSession:
        return SESSIONS[self.tool](self.program, script, counting, program, self.root)

    def _runs(self) -> str | None:
        """None when perf runs. On Debian and Ubuntu it may be a script that looks for one that fits the kernel."""
        status, words = _ask_version(self.program)
        if status == 0:
            return None
        release = read_text(self.root, "proc/sys/kernel/osrelease") or os.uname().release
        of_kernel = "Debian: apt install linux-perf; Ubuntu: apt install linux-tools-$(uname -r)"
        if "microsoft" in release.lower():  # no package is of a kernel of WSL
            of_kernel = "apt install linux-tools-generic, and put its /usr/lib/linux-tools/VERSION first in PATH"
        return (
            f"{self.program} does not run with kernel {release}, it says: {words}; install a perf for it ({of_kernel})"
        )

    def _events_refused(self) -> str | None:
        value = read_text(self.root, PARANOID)
        if value is None:
            return f"this kernel has no perf events (CONFIG_PERF_EVENTS): /{PARANOID} does not exist"
        if os.geteuid() == 0 or int(value) <= OPEN_TO_ALL:
            return None
        return (
            f"perf needs root, or kernel.perf_event_paranoid at {OPEN_TO_ALL} where it is {value}; run this command "
            f"with sudo, or as root: sysctl kernel.perf_event_paranoid={OPEN_TO_ALL}"
        )


def calls_uncounted() -> str | None:
    """None when `perf stat` can count the system calls of a program that it starts here, else why not."""
    return Perf(id="perf-stat", tool="perf-stat").available() or missing("tracepoint", ROOT)


def _ask_version(program: str) -> tuple[int | None, str]:
    try:
        run = run_program([program, "--version"], 30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    return run.returncode, run.stdout.strip() or complaint(run.stderr)
