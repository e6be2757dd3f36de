"""The tracer of a trial: bpftrace with the user's script, or a command line as it is, live before the command begins.

bpftrace says when all of its probes are attached. Of another tool the kernel is asked whether it holds programs or perf
events, or traces by ptrace: it is live when two looks one after the other found as many.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe_effect.errors import HostNotReady, UsageError
from probe_effect.live.loaded import RunStatistics
from probe_effect.live.owners import holders
from probe_effect.scripts.commands import command_line
from probe_effect.scripts.script import read_script
from probe_effect.tracers.bpftrace import Bpftrace, BpftraceSession
from probe_effect.tracers.tool import ToolSession, absent

PID = "{pid}"
"""Stands for the command's process id in a script."""


@dataclass(frozen=True, slots=True)
class TrialScript:
    """A script to try: its label in results, A or B; the file that it is from, or its text again; its text."""

    label: str
    name: str
    text: str

    def check(self, bpftrace: str) -> None:
        """Raise UsageError for a script that cannot be tried, HostNotReady where its tracer cannot run."""
        if (tool := self._tool) is not None:
            reason = absent(tool, "install it, or give the path to it")
        elif read_script(self.text).language == "bpftrace":
            reason = Bpftrace(program=bpftrace).available()
        else:
            msg = f"{self.name}: it is in D; expected one for bpftrace, or a command line such as 'strace -f -p {PID}'"
            raise UsageError(msg)
        if reason is not None:
            raise HostNotReady(reason)

    def session(self, bpftrace: str, folder: Path, pid: int) -> ToolSession:
        """The tracer, not started yet, for the command that waits as `pid`; its script is written into `folder`."""
        path, here = folder / self.label, Path.cwd() / "command"  # tools are started in the folder of this
        path.write_text(self.text.replace(PID, str(pid)), encoding="utf-8")
        if (tool := self._tool) is not None:
            return CommandLineSession(tool, path, "nothing", here)
        return BpftraceSession(bpftrace, path, "lines", here)

    @property
    def _tool(self) -> str | None:
        """The tool of a command line; None for a script."""
        return None if command_line(self.text) is None else shlex.split(self.text)[0]


class CommandLineSession(ToolSession):
    """A tool at work as its user calls it."""

    name = "the tracer"
    good_exits = frozenset({0, 130, 143, -2, -15})
    """It may say that it was asked to stop, or have ended with what it traced."""
    look_every_s = 0.05
    _held = 0

    def command(self, pid: int) -> Sequence[str]:  # noqa: ARG002 (it is in the line)
        """The words of the line."""
        return shlex.split(self.script.read_text(encoding="utf-8"))

    def is_live(self) -> bool:
        """Whether it holds as much as at the look before."""
        pid, found, before = self.child.pid if self.child else 0, holders(), self._held
        owners = [*found.of_program.values(), *([one] * number for one, number in found.perf_events.items())]
        traced = (one for tracer, some in found.traced.items() if tracer.pid == pid for one in some)
        self._held = sum(one.pid == pid for some in owners for one in some) + len([*traced])
        return 0 < before == self._held

    def count(self) -> tuple[int | None, int | None]:
        """Nothing is known of its events."""
        return None, None


def fired(statistics: RunStatistics, tracer_pid: int) -> int | None:
    """How often a tracer's BPF programs fired since statistics are on; None without them. Raises: HostNotReady."""
    its = [one for one in statistics.look().found if any(owner.pid == tracer_pid for owner in one.owners)]
    return sum(one.events or 0 for one in its) if any(one.sort == "bpf" for one in its) else None
