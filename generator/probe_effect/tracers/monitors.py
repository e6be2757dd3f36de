"""Tools that show processes, each of them a tracer that is measured itself (`monitor_session`).

They read /proc again for every refresh and watch nothing in between, so a suite that asks what a probe costs has no
scripts for them. A script has the words after the tool's name, with `#` comments; btop's is its file of settings, and
that of our own reader of /proc, the lower bound, is the program.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from probe_effect.compilers import Compiler, compiled
from probe_effect.errors import ProbeEffectError
from probe_effect.model import Need
from probe_effect.tracers.arguments import read_arguments
from probe_effect.tracers.monitor_session import REFRESHES, MonitorSession, Words
from probe_effect.tracers.protocol import Counting, TracerFailed
from probe_effect.tracers.tool import Tool, absent, version_line

AGAIN = f'for refresh in {" ".join(map(str, range(REFRESHES)))}; do "$@" || exit; done'
"""Has a shell start a tool again for each refresh."""

READER = "proc-reader"
COMPILER = Compiler(
    command=("cc", "-O2", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra"),
    absent="cc is not installed; on Debian and Ubuntu: apt install gcc libc6-dev",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor(Tool):
    """A tool that shows processes."""

    asks_version: str = "--version"
    words: tuple[str, ...] = ()
    """What it is always told."""
    key: str = ""
    """Ends it; empty for a tool that takes the number of its refreshes."""
    settings: str = ""
    """Where its script goes below its home, for a tool that takes its interval from there."""
    is_started_again: bool = False
    """Whether it shows the processes once, and is started again for each refresh."""
    sees: ClassVar[str] = "it reads /proc"

    def version(self) -> str | None:
        """What it prints first when it is asked."""
        return version_line(self.program, self.asks_version)

    def session(self, script: Path, counting: Counting, program: Path) -> MonitorSession:
        """One run of its refreshes. Raises: TracerFailed when the script is not understood."""
        again = ("/bin/sh", "-c", AGAIN, self.id) if self.is_started_again else ()
        own = () if self.settings else tuple(read_arguments(script))
        command = (*again, self.program, *self.words, *own)
        words = Words(name=self.id, command=command, key=self.key.encode(), settings=self.settings)
        return MonitorSession(words, script, counting, program)


@dataclass(frozen=True, slots=True)
class ProcReader:
    """The lower bound: a program that reads what these tools read, and does nothing with it."""

    cache: Path | None = None
    id: str = READER
    tool: str = READER

    def available(self) -> str | None:
        """None when it can be compiled here, and /proc is Linux's, else why not and what to do."""
        if not Path("/proc/self/stat").exists():
            return "there is no /proc as Linux has it"
        return absent(COMPILER.command[0], COMPILER.absent.partition("; ")[2])

    def version(self) -> str:
        """Its name: it has no version, for the script is all of it."""
        return self.id

    def missing(self, need: Need) -> str | None:
        """Why a case that needs this of the kernel cannot be measured with it."""
        return f"{self.id} has no {need}: it reads /proc"

    def session(self, script: Path, counting: Counting, program: Path) -> MonitorSession:
        """One run of the program that `script` is, compiled now or before. Raises: TracerFailed."""
        try:
            made = compiled(script, COMPILER, f"monitors/{READER}", self.cache)
        except ProbeEffectError as error:
            raise TracerFailed(str(error)) from error
        return MonitorSession(Words(name=self.id, command=(str(made.path),)), script, counting, program)
