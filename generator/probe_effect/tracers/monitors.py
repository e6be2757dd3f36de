"""Tools that show processes, each of them a tracer that is measured itself, refresh by refresh.

There is no probe that would have to be live. What the tool draws is read and thrown away, since a terminal that nobody
reads makes the program wait. Its memory is looked at while it runs (VmHWM): `ru_maxrss` of wait4(2) keeps the peak of
the process from before it became the tool. Its system calls are counted in a run of its own, by `perf stat` on
the one tracepoint that all share (raw_syscalls:sys_enter), which counts in the kernel, the tool and its children alone.

They read /proc again for every refresh and watch nothing in between, so a suite that asks what a probe costs has no
scripts for them. A script has the words after the tool's name, with `#` comments; btop's is its file of settings, and
that of our own reader of /proc, the lower bound, is the program.
"""

import fcntl
import os
import re
import shutil
import struct
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from probe_effect.host.compilers import c_compiler, compiled
from probe_effect.host.processes import Child, Ended, family, is_readable, peak_rss_bytes
from probe_effect.model import Need, ProbeEffectError
from probe_effect.tracers.protocol import Counting, Report, Tracer, TracerFailed, wait_for_workload
from probe_effect.tracers.tool import Tool, ToolSession, count_counters, read_arguments, text_of, version_line

REFRESHES = 10
"""Refreshes of a run: as many as the suite has operations, and as scripts tell tools that take a number."""

LINES, COLUMNS = 40, 120  # size of the terminal in which a tool draws
LOOK_EVERY_S = 0.01  # how often the tool's memory is looked at

PAUSE_S = 0.05
"""A refresh comes at once, and the next after 0.1 s at the earliest: what is drawn after such a pause is another."""

KEPT_BYTES = 2000  # how much of the end of what a tool drew is kept, for its own words where it fails

CONTROL = re.compile(rb"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b[()][0-9A-B]|\x1b.|[\x00-\x08\x0b-\x1f\x7f]")
"""Bytes that move the cursor or colour the terminal, which are no words of the tool."""


class MonitorSession(ToolSession):
    """One tool at its refreshes."""

    def __init__(self, of: "Monitor", command: Sequence[str], script: Path, counting: Counting, program: Path) -> None:
        super().__init__(command[0], script, counting, program)
        self.name, self._of, self._command = of.id, of, command
        self.always_counts = counting == "calls"
        self._terminal, self._inside = os.openpty()  # the tool's end stays open here too: its end never ends ours
        self._terminals = [self._terminal, self._inside]
        fcntl.ioctl(self._inside, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._drawn_bytes = self._refreshes = 0
        self._last_s = self._looked_s = 0.0
        self._end = b""
        self._rss_bytes: int | None = None
        self._ended: Ended | None = None
        self._home = self.work.path / "home"
        self._home.mkdir()
        if of.settings:
            settings = self._home / of.settings
            settings.parent.mkdir(parents=True)
            settings.write_bytes(script.read_bytes())

    def attach(self, pid: int) -> None:
        wait_for_workload(pid)
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        """The command is counted by perf where its system calls are asked for; it watches no process in particular."""
        if self.counting != "calls":
            return self._command
        return ("perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o", str(self.written), "--", *self._command)

    def environment(self) -> dict[str, str]:
        """A home of its own, so that nobody's settings are read and none written, and the size of its terminal."""
        home = str(self._home)
        folders = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        return dict.fromkeys(folders, home) | {
            "XDG_CONFIG_HOME": f"{home}/.config",
            "HTOPRC": f"{home}/htoprc",
            "PERF_CONFIG": "/dev/null",
            "ATOPACCT": "",  # else atop, as root, has the kernel write an account of every process
            "TERM": "xterm-256color",
            "LINES": str(LINES),
            "COLUMNS": str(COLUMNS),
            "LC_ALL": "C.UTF-8",
        }

    def spawn(self, command: Sequence[str], terminal: int | None = None) -> Child:
        return super().spawn(command, self._inside if terminal is None else terminal)

    def ready(self, timeout_s: float) -> None:
        """Return when the tool has made its refreshes and ended. Raises: TracerFailed when it fails, or hangs."""
        assert self.child is not None
        deadline_s = time.monotonic() + timeout_s
        while (ended := self.child.wait(0)) is None:
            now_s = time.monotonic()
            if now_s - self._looked_s >= LOOK_EVERY_S:
                self._looked_s = now_s
                peaks = [peak_rss_bytes(int(pid)) for pid in family(self.child.pid).split(",")]
                self._rss_bytes = max((peak for peak in (self._rss_bytes, *peaks) if peak is not None), default=None)
            if not self._read(LOOK_EVERY_S):
                now_s = time.monotonic()
                if self._of.key and self._refreshes >= REFRESHES and now_s - self._last_s > PAUSE_S:
                    self._last_s = now_s  # the key is pressed again after a while, where it was not heard
                    os.write(self._terminal, self._of.key.encode())
            if time.monotonic() > deadline_s:
                self.work.out.write_bytes(self._end)
                self.fail("timeout", f"had not made its refreshes after {timeout_s:.0f} s")
        while self._read(0):
            continue
        self.work.out.write_bytes(self._end)
        if ended.exit_status != 0:
            self.fail("failed", f"exit status {ended.exit_status}")
        self._ended = ended

    def is_live(self) -> bool:
        return self._ended is not None

    def stop(self, timeout_s: float) -> Report:
        """What the tool took. It has ended already, so there is nothing to wait for. Raises: TracerFailed."""
        assert self._ended is not None
        if self.counting == "calls":  # perf's own time and memory are in it
            return self._report()
        cpu_ns = self._ended.user_ns + self._ended.sys_ns
        return Report(tracer_cpu_ns=cpu_ns, tracer_rss_bytes=self._rss_bytes, output_bytes=self._drawn_bytes)

    def end(self) -> None:
        super().end()
        while self._terminals:
            os.close(self._terminals.pop())

    def count(self) -> tuple[int | None, int | None]:
        return count_counters(text_of(self.written)), 0

    def output_bytes(self) -> int:
        return self._drawn_bytes

    def _read(self, timeout_s: float) -> bool:
        """Take what it has drawn, waiting a moment for it; whether there was any."""
        if not is_readable(self._terminal, timeout_s):
            return False
        drawn = os.read(self._terminal, 1 << 16)
        now_s = time.monotonic()
        self._refreshes += now_s - self._last_s > PAUSE_S
        self._last_s = now_s
        self._drawn_bytes += len(drawn)
        self._end = (self._end + CONTROL.sub(b" ", drawn))[-KEPT_BYTES:]
        return True


AGAIN = f'for refresh in {" ".join(map(str, range(REFRESHES)))}; do "$@" || exit; done'
"""Has a shell start a tool again for each refresh."""

READER = "proc-reader"
COMPILER = c_compiler(("-O2", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor(Tool):
    """A tool that shows processes."""

    asks_version: str = "--version"
    words: tuple[str, ...] = ()
    """Words that the tool is always given."""
    key: str = ""
    """Ends it; empty for a tool that takes the number of its refreshes."""
    settings: str = ""
    """Place of the script below the tool's home, for a tool that takes its interval from a file of settings."""
    is_started_again: bool = False
    """Whether it shows the processes once, and is started again for each refresh."""
    sees: ClassVar[str] = "it reads /proc"

    def version(self) -> str | None:
        return version_line(self.program, self.asks_version)

    def session(self, script: Path, counting: Counting, program: Path) -> MonitorSession:
        again = ("/bin/sh", "-c", AGAIN, self.id) if self.is_started_again else ()
        own = () if self.settings else tuple(read_arguments(script))
        command = (*again, self.program, *self.words, *own)
        return MonitorSession(self, command, script, counting, program)


@dataclass(frozen=True, slots=True)
class ProcReader(Tracer):
    """The lower bound: a program that reads what these tools read, and does nothing with it."""

    cache: Path | None = None
    id: str = READER
    tool: str = READER

    def available(self) -> str | None:
        if not Path("/proc/self/stat").exists():
            return "there is no /proc as Linux has it"
        return None if shutil.which(COMPILER.command[0]) else COMPILER.absent

    def version(self) -> str:
        return self.id

    def missing(self, need: Need) -> str | None:
        return f"{self.id} has no {need}: it reads /proc"

    def session(self, script: Path, counting: Counting, program: Path) -> MonitorSession:
        try:
            made = compiled(script, COMPILER, f"monitors/{READER}", self.cache)
        except ProbeEffectError as error:
            raise TracerFailed(str(error)) from error
        own = Monitor(program=str(made.path), id=self.id, tool=self.tool)
        return MonitorSession(own, (own.program,), script, counting, program)
