"""Debuggers and profilers that are told all on their command line, and that end with the program that they watch.

What differs between them is data, in `tools/tools.toml`: the words of the command, the proof, and where their output
has the count. A script is what the tool reads (`{script}`) or holds more words for it (`{words}`). What a debugger does
at a breakpoint, and what a profiler that stops its target does, is done in that tool's process: the workload waits.

Source: ptrace(2), proc(5); gdb(1), ltrace(1), valgrind(1), frida(1), `py-spy record --help`.
"""

import os
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from probe_effect.host import ROOT
from probe_effect.tracers.arguments import read_arguments
from probe_effect.tracers.proc import children, has_loaded, status, wait_for_workload, waits_for_go
from probe_effect.tracers.protocol import Counting, Report, TracerFailed
from probe_effect.tracers.strace import scope_refuses
from probe_effect.tracers.tool import Tool, ToolSession, absent

STOP_AND_SLEEP = 2
"""Sleeps of a program that ptrace stops and lets go again: the stop, and then the wait for its go once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attaching(Tool):
    """The tool; what of it is proof is all of `said`, `stops` and `library` that it has."""

    words: tuple[str, ...]
    """After its name; `{pid}`, `{child}`, `{script}`, `{words}` and `{written}` stand for what they say."""
    said: str = ""
    """Regular expression of the line by which it says that it watches."""
    stops: bool = False
    """Whether it watches by ptrace: the program has been stopped, and waits again."""
    library: str = ""
    """In the path of a file that it has in the program's memory."""
    starts: bool = False
    """Whether it starts the workload, whose command follows the words."""
    seen: str = ""
    """Regular expression of a line with a count, of which the sum is taken, or of one event; empty: it counts none."""
    lost: str = ""
    """The same of what it says that it missed, where it says anything: austin does not of no sample at all."""
    advice: str = ""
    """What installs it, where no package of Debian does."""
    sees: ClassVar[str] = "it watches from user space"

    def available(self) -> str | None:
        """None when it can run here, else why not and what to do."""
        is_absent = absent(self.program, self.advice) if self.advice else self.absent(self.program)
        return is_absent or (None if self.starts else scope_refuses(self.root, attaching=True))

    def session(self, script: Path, counting: Counting, program: Path) -> "AttachingSession":
        """One run. Raises: TracerFailed when the script is not understood."""
        return AttachingSession(self, script, counting, program)


class AttachingSession(ToolSession):
    """One such tool at one run."""

    always_counts = True
    _sleeps_before = 0

    def __init__(self, tool: Attaching, script: Path, counting: Counting, program: Path) -> None:
        more = read_arguments(script) if "{words}" in tool.words else []
        super().__init__(tool.program, script, counting, program)
        self.name, self._of, self._more = tool.id, tool, more
        if tool.starts:
            self.prefix = (tool.program, *self._words(0))

    def attach(self, pid: int) -> None:
        """Start the tool once the workload waits. Raises: TracerFailed."""
        if not self.prefix:
            wait_for_workload(pid)
            self._sleeps_before = _sleeps(pid)
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        """The command that attaches to the workload, or to the one program that it has started."""
        return (self.tool, *self._words(pid))

    def environment(self) -> dict[str, str]:
        """No server is asked for symbols, and files of the tool's own go to the work folder."""
        return {"DEBUGINFOD_URLS": "", "TMPDIR": str(self.work.path)}

    def is_live(self) -> bool:
        """Whether all that proves it is there, and the workload waits for its go."""
        of, says = self._of, re.compile(self._of.said, re.MULTILINE)
        is_tracer = self.child is not None and status(self.pid).get("TracerPid") == str(self.child.pid)
        return (
            says.search(self._output()) is not None
            and (not of.stops or (is_tracer and _sleeps(self.pid) >= self._sleeps_before + STOP_AND_SLEEP))
            and has_loaded(self.pid, of.library)
            and waits_for_go(self.pid)
        )

    def ask_to_stop(self) -> None:
        """Nothing: the tool ends with the workload."""

    def stop(self, timeout_s: float) -> Report:
        """Wait for its end, and count. There is no detaching, so it takes no time. Raises: TracerFailed."""
        return replace(super().stop(timeout_s), detach_ns=None)

    def end(self) -> None:
        """Leave no process and no file behind, nor the helper that frida unpacks and that stays for some seconds."""
        for program in ROOT.glob("proc/[0-9]*/exe"):
            with suppress(OSError):  # it has ended, or is not ours
                if program.readlink().is_relative_to(self.work.path):
                    os.kill(int(program.parent.name), signal.SIGKILL)
        super().end()

    def count(self) -> tuple[int | None, int | None]:
        """(events or samples that it counted, those that it missed). Raises: ValueError when it does not say."""
        if not self._of.seen:
            return None, None
        text, lines = self._output(), re.compile(self._of.seen, re.MULTILINE)
        found = [int(match[1]) if lines.groups else 1 for match in lines.finditer(text)]
        if lines.groups and not found:
            raise ValueError(f"expected a line with the count, `{lines.pattern}`")
        lost = re.search(self._of.lost, text, re.MULTILINE) if self._of.lost else None
        return sum(found), int(lost[1]) if lost else 0

    def _output(self) -> str:
        """All that it has printed and written so far."""
        paths = (path for path in (self.work.err, self.work.out, self.written) if path.exists())
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)

    def _words(self, pid: int) -> list[str]:
        known = {"pid": pid, "script": self.script.absolute(), "written": self.written}
        if "{child}" in self._of.words:
            # The one program that the workload has started.
            found = children(pid)
            if len(found) != 1:
                raise TracerFailed(f"the workload has started {len(found)} programs, expected one that can be watched")
            known["child"] = found[0]
        words = ([word.format(**known)] if word != "{words}" else self._more for word in self._of.words)
        return [word for some in words for word in some]


def _sleeps(pid: int) -> int:
    """How often a process has given its CPU away by itself, to wait or because it was stopped."""
    return int(status(pid).get("voluntary_ctxt_switches", 0))
