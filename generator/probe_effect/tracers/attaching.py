"""strace, and debuggers and profilers that are told all on their command line.

strace (Linux, ptrace) stops the traced process at system calls, decodes them and prints a line for each. It is two
tracers. `strace` attaches to the workload (`-p`), which then stops at every system call, whatever is printed.
`strace-seccomp` starts the workload (`-f --seccomp-bpf`), which then stops only at the calls that are asked for: a
filter in the kernel lets the others pass. A script holds strace's arguments.

What differs between debuggers and profilers is data, in `tools.toml`: the words of the command, the proof, and where
their output has the count. A script is what the tool reads (`{script}`) or holds more words for it (`{words}`). What a
debugger does at a breakpoint, and what a profiler that stops its target does, is done in that tool's process: the
workload waits.

Source: ptrace(2); proc(5) for TracerPid, Seccomp and Seccomp_filters; strace(1), gdb(1), ltrace(1), valgrind(1),
frida(1), `py-spy record --help`.
"""

import os
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar

from probe_effect.host import ROOT, processes, read_text
from probe_effect.tracers.protocol import Counting, Report, TracerFailed, wait_for_workload
from probe_effect.tracers.tool import Tool, ToolSession, absent, read_arguments, text_of

SCOPE = "proc/sys/kernel/yama/ptrace_scope"
CALL = re.compile(rb"(?:\d+ +)?(?!syscall_0x)[a-z_]\w*\((?!0,)")
"""The begin of a line that tells a call; with -f the process id comes before it.

Not those on standard input: the read in which the workload waits is the harness's doing. And not `syscall_0x14f`, a
call that strace does not know, and prints whatever was asked for. That one is how the kernel, since Linux 6.11, comes
back from a function whose return is probed, by somebody else.
"""

TABLE_ROW = re.compile(rb"^ *[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +(?!total$|syscall_0x)\w+$", re.MULTILINE)
"""A call in the table of `strace -c`: share of the time, time, time of one, how many, how many failed, name.

Source: strace(1), "-c"; call_summary_pers in src/count.c. With -f the calls of all processes are in one table.
"""


def scope_refuses(root: Path, *, attaching: bool) -> str | None:
    """None when a process of ours may be traced, else why not and what to do.

    Source: Documentation/admin-guide/LSM/Yama.rst: 1 allows to trace one's own children and what asks for it; 2 takes
    the capability CAP_SYS_PTRACE, which allows the rest too; 3 is for nobody. Root in a container may lack it.
    """
    scope = read_text(root, SCOPE) or "0"
    if scope == "3":
        return f"/{SCOPE} is 3: tracing by ptrace is off until the next start of the machine"
    if (scope == "2" or (scope == "1" and attaching)) and not processes.has_capability(processes.CAP_SYS_PTRACE, root):
        return (
            f"/{SCOPE} is {scope}, and this process lacks CAP_SYS_PTRACE: run this command with sudo, "
            "or as root: sysctl kernel.yama.ptrace_scope=0"
        )
    return None


class EndingSession(ToolSession):
    """A session with a tool that ends with the workload, and has all on disk by then."""

    always_counts = True

    def ask_to_stop(self) -> None:
        """Nothing: the tool ends by itself."""

    def stop(self, timeout_s: float) -> Report:
        """Wait for its end, and count. There is no detaching, so it takes no time. Raises: TracerFailed."""
        return replace(super().stop(timeout_s), detach_ns=None)


class StraceSession(EndingSession):
    """One strace that attaches to the workload."""

    name = "strace"
    _before = 0
    """Calls printed before the workload waited for its go."""

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path) -> None:
        self.arguments = read_arguments(script)
        super().__init__(tool, script, counting, program)

    def attach(self, pid: int) -> None:
        """Start strace on the workload once it waits: what its loader reads is no event. Raises: TracerFailed."""
        if not self.prefix:
            wait_for_workload(pid)
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        return (self.tool, "-o", str(self.written), *self.arguments, "-p", processes.family(pid))

    def is_live(self) -> bool:
        """Whether strace says that it is attached, and the kernel that the workload is traced by it."""
        is_ours = self.child is not None and processes.status(self.pid).get("TracerPid") == str(self.child.pid)
        return is_ours and f"Process {self.pid} attached" in text_of(self.work.err)

    def count(self) -> tuple[int | None, int | None]:
        """(calls printed or in the table, 0): the traced process stands still meanwhile, so that none can be lost."""
        if "trace=none" in self.arguments:  # it asks for no call
            return None, None
        if "-c" in self.arguments:  # a table of calls in place of a line for each
            return count_table(self.written.read_bytes()), 0
        return count_calls(self.written) - self._before, 0


class SeccompSession(StraceSession):
    """One strace that starts the workload. What the loader does before the workload waits is not counted.

    A table has it in it, because strace writes that once, at the end.
    """

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path) -> None:
        super().__init__(tool, script, counting, program)
        self.prefix = (tool, "-f", "--seccomp-bpf", "-o", str(self.written), *self.arguments)

    def ready(self, timeout_s: float) -> None:
        super().ready(timeout_s)
        self._before = count_calls(self.written)

    def is_live(self) -> bool:
        """Whether strace traces a child that has a filter which strace lacks, and that waits for its go."""
        own = processes.status(self.pid)
        return any(_is_filtered(processes.status(child), self.pid, own) for child in processes.children(self.pid))


@dataclass(frozen=True, slots=True)
class Strace(Tool):
    """The tracer."""

    program: str = "strace"
    id: str = "strace"
    tool: str = "strace"
    attaches: bool = True
    """Whether it attaches to the workload, or starts it with a filter in the kernel, which it sets up there."""
    sees: ClassVar[str] = "it sees system calls and signals"

    def available(self) -> str | None:
        return self.absent(self.program) or scope_refuses(self.root, attaching=self.attaches)

    def session(self, script: Path, counting: Counting, program: Path) -> StraceSession:
        return (StraceSession if self.attaches else SeccompSession)(self.program, script, counting, program)


def count_calls(path: Path) -> int:
    """Lines of strace's output that tell a system call, but for those on standard input."""
    with path.open("rb") as lines:
        return sum(CALL.match(line) is not None for line in lines)


def count_table(text: bytes) -> int:
    """Calls in the table of `strace -c`, of which strace writes one for each size of words that the processes have.

    The read in which the workload waits for its go is one of them. Raises: ValueError when there is no table.
    """
    if b"% time " not in text:
        raise ValueError(f"`{text[:100].decode(errors='replace')}`, expected a table of calls")
    return sum(map(int, TABLE_ROW.findall(text)))


def _is_filtered(child: dict[str, str], tracer: int, own: dict[str, str]) -> bool:
    """A container may have filters of its own, so that it is their number which tells; Linux before 5.9 has none."""
    filters = int(child.get("Seccomp_filters", "1")) > int(own.get("Seccomp_filters", "0"))
    is_waiting = child.get("State", "").startswith("S")
    return child.get("TracerPid") == str(tracer) and child.get("Seccomp") == "2" and filters and is_waiting


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
    """Regular expression of the count of missed events, where the tool prints any: austin does not without a sample."""
    advice: str = ""
    """The command that installs the tool, where no package of Debian does."""
    sees: ClassVar[str] = "it watches from user space"

    def available(self) -> str | None:
        is_absent = absent(self.program, self.advice) if self.advice else self.absent(self.program)
        return is_absent or (None if self.starts else scope_refuses(self.root, attaching=True))

    def session(self, script: Path, counting: Counting, program: Path) -> "AttachingSession":
        return AttachingSession(self, script, counting, program)


class AttachingSession(EndingSession):
    """One debugger or profiler at one run."""

    _sleeps_before = 0

    def __init__(self, tool: Attaching, script: Path, counting: Counting, program: Path) -> None:
        more = read_arguments(script) if "{words}" in tool.words else []
        super().__init__(tool.program, script, counting, program)
        self.name, self._of, self._more = tool.id, tool, more
        if tool.starts:
            self.prefix = (tool.program, *self._words(0))

    def attach(self, pid: int) -> None:
        if not self.prefix:
            wait_for_workload(pid)
            self._sleeps_before = _sleeps(pid)
        super().attach(pid)

    def command(self, pid: int) -> Sequence[str]:
        return (self.tool, *self._words(pid))

    def environment(self) -> dict[str, str]:
        """No server is asked for symbols, and files of the tool's own go to the work folder."""
        return {"DEBUGINFOD_URLS": "", "TMPDIR": str(self.work.path)}

    def is_live(self) -> bool:
        """Whether all that proves it is there, and the workload waits for its go."""
        of = self._of
        is_tracer = self.child is not None and processes.status(self.pid).get("TracerPid") == str(self.child.pid)
        return (
            re.search(of.said, self._output(), re.MULTILINE) is not None
            and (not of.stops or (is_tracer and _sleeps(self.pid) >= self._sleeps_before + STOP_AND_SLEEP))
            and of.library in processes.maps(self.pid)
            and processes.waits_for_go(self.pid)
        )

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
        counts = [int(match[1]) if lines.groups else 1 for match in lines.finditer(text)]
        if lines.groups and not counts:
            raise ValueError(f"expected a line with the count, `{lines.pattern}`")
        lost = re.search(self._of.lost, text, re.MULTILINE) if self._of.lost else None
        return sum(counts), int(lost[1]) if lost else 0

    def _output(self) -> str:
        return "".join(map(text_of, (self.work.err, self.work.out, self.written)))

    def _words(self, pid: int) -> list[str]:
        values = {"pid": pid, "script": self.script.absolute(), "written": self.written}
        if "{child}" in self._of.words:
            programs = processes.children(pid)
            if len(programs) != 1:
                msg = f"the workload has started {len(programs)} programs, expected one that can be watched"
                raise TracerFailed(msg)
            values["child"] = programs[0]
        words = ([word.format(**values)] if word != "{words}" else self._more for word in self._of.words)
        return list(chain.from_iterable(words))


def _sleeps(pid: int) -> int:
    """How often a process has given its CPU away by itself, to wait or because it was stopped."""
    return int(processes.status(pid).get("voluntary_ctxt_switches", 0))
