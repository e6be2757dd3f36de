"""perf (Linux): three tracers of one program, that count in the kernel, record to a file, or print system calls.

A script has the words of the command line after `perf stat`, `perf record` or `perf trace`, with `#` comments. It may
define probes first (`dynamic_events`). A command watches the workload alone (`-p`), or all CPUs where its words have
`-a`. An event cannot be called `read`, `load` or `store`: perf's grammar has these words for caches
(tools/perf/util/parse-events.l).

A BPF program on the same tracepoint that returns 0 keeps the event from perf, which then sees nothing although it is
live (trace_call_bpf in kernel/trace/bpf_trace.c). So nobody else may watch the tracepoint while perf is measured.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.host.kernel import ON_FTRACE, missing, tracefs_missing
from probe_effect.model import Need
from probe_effect.tracers.perf_output import complaint
from probe_effect.tracers.perf_session import PerfSession, RecordSession, StatSession, TraceSession
from probe_effect.tracers.protocol import Counting
from probe_effect.tracers.tool import Tool

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
    """One of the tracers; `tool` says which."""

    program: str = "perf"

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""
        return self.absent(self.program) or self._runs() or self._events_refused() or tracefs_missing(self.root)

    def version(self) -> str | None:
        """What `perf --version` prints."""
        status, said = _ask_version(self.program)
        return said if status == 0 else None

    def missing(self, need: Need) -> str | None:
        """None when kernel and perf offer `need`, else why not."""
        return f"perf attaches no event by {need}" if need in ON_FTRACE else missing(need, self.root)

    def session(self, script: Path, counting: Counting, program: Path) -> PerfSession:
        """One run of perf with `script`. perf counts whatever it watches. Raises: TracerFailed."""
        return SESSIONS[self.tool](self.program, script, counting, program, self.root)

    def _runs(self) -> str | None:
        """None when perf runs. On Debian and Ubuntu it may be a script that looks for one that fits the kernel."""
        status, said = _ask_version(self.program)
        if status == 0:
            return None
        release = read_text(self.root, "proc/sys/kernel/osrelease") or os.uname().release
        return (
            f"{self.program} does not run with kernel {release}, it says: {said}; install the perf of this kernel "
            "(Debian: apt install linux-perf; Ubuntu: apt install linux-tools-$(uname -r))"
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
    """(exit status, None when it could not be started; what it said)."""
    try:
        run = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    return run.returncode, run.stdout.strip() or complaint(run.stderr)
