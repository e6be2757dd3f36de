"""Tracers whose library is in the traced program: LTTng-UST and uftrace.

LTTng-UST (Linux): tracepoints compiled into user programs, written to memory that the program shares with a daemon.

A session daemon of our own, and the consumer daemon that it starts, live for one run. A script holds commands of
lttng(1), one a line without the word `lttng`; the recording session is made and started by us.

How it is known that the tracepoints are live: the session daemon lists the workload as registered with the tracepoints
that the script enables. Then `lttng start` returns only when the workload's own listening thread has answered that
they are enabled (`ust_app_start_trace_all` in ust-app.c of lttng-tools, `handle_message` in lttng-ust-comm.c of
lttng-ust).

Events are counted after the run, in the files recorded, by Babeltrace's `sink.utils.counter`; it takes 0.2 µs for an
event, and `lttng view`, which prints them, many times that. Lost are those that LTTng discarded because no buffer was
free, by its own account (`lttng list`, machine interface of lttng-mi(3)).

It needs no root, but no other session daemon of the same user. What stays behind is LTTng's own: files of 4 KiB,
/dev/shm/lttng-ust-wait-*, on which every program with LTTng-UST waits for a daemon, and without root an empty ~/.lttng.

uftrace (Linux): records entry and return of user functions, from inside the traced program.

uftrace starts the workload with a library of its own in it. The library is called at each function's entry, by a call
that the compiler put there (`-pg`). With `-P` the compiler left room for one (nops), which the library fills with calls
before the program's `main`. A script holds arguments of `uftrace record`.

How it is known that the functions are traced: the workload waits in `main` with uftrace's library in its memory, and,
where the script asks for patching, the library has said that it patched.

Events are the calls that `uftrace report` counts, of whichever functions the script selects; those of the scheduler,
which it shows as functions `linux:..`, are not. Lost are records for which no buffer was free; a call is two records.

Source: uftrace-record(1), uftrace-report(1); libmcount/dynamic.c and cmds/record.c of uftrace 0.13 for the messages.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

from probe_effect.host import ROOT, run_program
from probe_effect.host.processes import SHARED_MEMORY, children, maps, waits_for_go
from probe_effect.tracers.protocol import Counting, TracerFailed
from probe_effect.tracers.tool import (
    Tool,
    ToolSession,
    read_arguments,
    read_back,
    read_script,
    split_arguments,
    text_of,
)

READER = "babeltrace2"
COMMAND_TIMEOUT_S = 60  # stopping waits until every buffer is on disk; that has been seen to take 0.2 s
APPLICATION = re.compile(r"<pid><id>(\d+)</id>(.*?)</pid>", re.DOTALL)
EVENT = re.compile(r"<event><name>([^<]+)</name>")


@dataclass(frozen=True, slots=True)
class LttngUst(Tool):
    """The tracer; `program` is its command, beside which `-sessiond` is found."""

    program: str = "lttng"
    id: str = "lttng-ust"
    tool: str = "lttng-ust"
    sees: ClassVar[str] = "it traces programs that are built with its tracepoints"

    def available(self) -> str | None:
        if reason := self.absent(self.program, f"{self.program}-sessiond", READER):
            return reason
        try:
            if self.call("list").returncode != 0:
                return None
        except TracerFailed as failure:
            return str(failure)
        advice = "systemctl stop lttng-sessiond, or end the process"
        return f"a session daemon runs already, and would do the work of others beside ours; {advice}"

    def session(self, script: Path, counting: Counting, program: Path) -> "LttngSession":
        return LttngSession(self, script, counting, program)

    def call(self, *words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """`lttng WORDS`, ended; it starts no daemon. Raises: TracerFailed when it does not end."""
        command = [self.program, "--no-sessiond", *words]
        try:
            return run_program(command, COMMAND_TIMEOUT_S, env=os.environ | {"LC_ALL": "C"} | (environment or {}))
        except subprocess.TimeoutExpired as error:
            msg = f"`{' '.join(command)}` had not ended after {COMMAND_TIMEOUT_S} s"
            raise TracerFailed(msg, status="timeout") from error


class LttngSession(ToolSession):
    """One session daemon with one recording session."""

    name = "lttng-sessiond"
    harmless = re.compile(r"failed to set open files limit|^\s*$")
    """A daemon without CAP_SYS_RESOURCE keeps the limit that it has, which one workload does not reach."""

    def __init__(self, lttng: LttngUst, script: Path, counting: Counting, program: Path) -> None:
        self._lttng, self._commands = lttng, read_commands(script)
        super().__init__(f"{lttng.program}-sessiond", script, counting, program)
        self._recording = self.work.path.name  # no other session can have this name
        self._lost: int | None = None

    def command(self, pid: int) -> Sequence[str]:
        return (self.tool, "--no-kernel")

    def environment(self) -> dict[str, str]:
        """For root, a home that keeps the name of the current session out of the user's.

        Others have their daemon's sockets in their home, where the workload looks for them.
        """
        return {"LTTNG_HOME": str(self.work.path)} if os.geteuid() == 0 else {}

    def is_live(self) -> bool:
        """Whether the workload is registered and has enabled what the script asks for. Raises: TracerFailed."""
        listed = self._lttng.call("--mi=xml", "list", "--userspace", environment=self.environment())
        applications = dict(APPLICATION.findall(listed.stdout)) if listed.returncode == 0 else {}
        if str(self.pid) not in applications:  # it, or the daemon, is not there yet
            return False
        offered = EVENT.findall(applications[str(self.pid)])
        self.run("create", self._recording, f"--output={self.written}")
        for command, *words in self._commands:
            self.run(command, f"--session={self._recording}", *words)
        for wanted in EVENT.findall(self.run("--mi=xml", "list", self._recording)):
            if not any(fnmatchcase(name, wanted) for name in offered):
                own = ", ".join(name for name in offered if not name.startswith("lttng_ust_")) or "none"
                raise TracerFailed(f"the workload has no tracepoint {wanted}; it has: {own}")
        self.run("start", self._recording)
        return True

    def ask_to_stop(self) -> None:
        """Stop recording, take what was discarded, and have the daemon end. Raises: TracerFailed."""
        self.run("stop", self._recording)
        listed = self.run("--mi=xml", "list", self._recording)
        self._lost = sum(map(int, re.findall(r"<discarded_events>(\d+)</discarded_events>", listed)))
        self.run("destroy", self._recording)
        super().ask_to_stop()

    def count(self) -> tuple[int | None, int | None]:
        return count_recorded(self.written), self._lost

    def output_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.written.rglob("*") if path.is_file())

    def run(self, *words: str) -> str:
        """What `lttng WORDS` prints. Raises: TracerFailed with its complaint."""
        ended = self._lttng.call(*words, environment=self.environment())
        if ended.returncode != 0:
            complaint = " ".join(f"{ended.stdout} {ended.stderr}".split())
            raise TracerFailed(f"`lttng {' '.join(words)}` ended with status {ended.returncode}: {complaint}")
        return ended.stdout


def read_commands(script: Path) -> list[list[str]]:
    """The commands of lttng(1) in `script`, one a line; `#` begins a comment. Raises: TracerFailed."""
    lines = read_script(script).splitlines()
    return [words for line in lines if (words := split_arguments(line, script.name))]


def count_recorded(trace: Path) -> int:
    """Events in the recorded files. Raises: ValueError with Babeltrace's words when it does not count them."""
    command = [READER, str(trace), "--component=sink.utils.counter", "--params=step=+0"]
    if counted := re.search(r"^\s*(\d+) Event messages?$", read_back(command), re.MULTILINE):
        return int(counted[1])
    raise ValueError(f"`{' '.join(command)}` says no number of events")


PATCHED = re.compile(r"^dynamic: +patched\b", re.MULTILINE)
"""`patched all (1) functions in 'user-loop'`, or statistics where it could not patch all that was selected."""


class UftraceSession(ToolSession):
    """One uftrace that starts the workload."""

    name = "uftrace"

    def __init__(self, tool: str, script: Path, counting: Counting, program: Path, root: Path = ROOT) -> None:
        arguments = read_arguments(script)
        super().__init__(tool, script, counting, program, root)
        self._is_patching = any(word.startswith(("-P", "--patch")) for word in arguments)
        log = ("--debug-domain=dynamic:1", f"--logfile={self.work.err}")  # it tells what it patched at this level
        self.prefix = (tool, "record", f"--data={self.written}", *log, *arguments)

    def is_live(self) -> bool:
        """Whether the workload waits, with the library in it and its functions patched. Raises: TracerFailed."""
        is_waiting = any("libmcount" in maps(child) and waits_for_go(child) for child in children(self.pid))
        if is_waiting and self._is_patching and not PATCHED.search(text_of(self.work.err)):
            self.fail("failed", "patched no function; it takes those that begin with a nop of 5 bytes or a call")
        return is_waiting

    def count(self) -> tuple[int | None, int | None]:
        lost = sum(map(int, re.findall(r"LOST (\d+) records", text_of(self.work.err))))
        command = [self.tool, "report", f"--data={self.written}", "--no-pager", "--color=no", "--output-fields=call"]
        calls = re.findall(r"^ *(\d+)  (?!linux:)\S", read_back(command), re.MULTILINE)
        return sum(map(int, calls)), -(-lost // 2)  # a call is two records

    def output_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.written.glob("*.dat"))

    def end(self) -> None:
        """Leave no file behind, nor the buffers that a killed uftrace leaves in shared memory."""
        for session in self.written.glob("sid-*.map"):
            for buffer in SHARED_MEMORY.glob(f"uftrace-{session.stem.removeprefix('sid-')}-*"):
                buffer.unlink(missing_ok=True)
        super().end()


@dataclass(frozen=True, slots=True)
class Uftrace(Tool):
    """The tracer."""

    program: str = "uftrace"
    id: str = "uftrace"
    tool: str = "uftrace"
    sessions = UftraceSession
    sees: ClassVar[str] = "it traces functions from inside the program"
