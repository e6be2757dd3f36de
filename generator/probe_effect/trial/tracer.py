"""The tracer of a trial: bpftrace with the user's script, or a command line as it is, live before the command begins.

bpftrace says when all of its probes are attached. Of another tool the kernel is asked whether it holds programs, links
or perf events, or traces by ptrace; it is live when two looks one after the other found as many.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady, UsageError
from probe_effect.host import read_text
from probe_effect.live.loaded import RunStatistics
from probe_effect.live.owners import holders
from probe_effect.scripts.commands import command_line
from probe_effect.scripts.script import read_script
from probe_effect.tracers.bpftrace import LIMITS, LIVE, Bpftrace, BpftraceSession, count_lines
from probe_effect.tracers.proc import processes
from probe_effect.tracers.tool import ToolSession, absent

if TYPE_CHECKING:
    from collections.abc import Sequence

PID = "{pid}"
"""Stands for the command's process id in a script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialScript:
    """A script to try: `label` in results, A or B; `name`, the file that it is from, or the text itself."""

    label: str
    name: str
    text: str
    bpftrace: str = "bpftrace"

    @property
    def is_command(self) -> bool:
        """Whether it is a command line."""
        return command_line(self.text) is not None

    def check(self) -> None:
        """Raise UsageError for what cannot be tried, HostNotReady where its tracer cannot run."""
        if self.is_command:
            reason = absent(shlex.split(self.text)[0], "install it, or give the path to it")
        elif read_script(self.text).language != "bpftrace":
            msg = (
                f"{self.name}: a script in D; expected one of bpftrace, or a command line such as 'strace -f -p {PID}'"
            )
            raise UsageError(msg)
        else:
            reason = Bpftrace(program=self.bpftrace).available()
        if reason is not None:
            raise HostNotReady(reason)

    def session(self, folder: Path, pid: int) -> ToolSession:
        """The tracer, not started yet, for a command that waits as `pid`; its script is written into `folder`."""
        path = folder / f"{self.label}.bt"
        path.write_text(self.text.replace(PID, str(pid)), encoding="utf-8")
        here = Path.cwd() / "command"  # the folder of this is where tools are started
        if self.is_command:
            return CommandLineSession(shlex.split(self.text)[0], path, "lines", here)
        return BpftraceSession(self.bpftrace, path, "lines", here)


class CommandLineSession(ToolSession):
    """A tool at work as its user calls it."""

    good_exits = frozenset({0, 130, 143, -2, -15})
    """A tool that is asked to stop may say so, or has ended with what it traced."""
    look_every_s = 0.05
    _held = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The tool's name."""
        return self.tool

    def command(self, pid: int) -> Sequence[str]:  # noqa: ARG002 (it is in the line)
        """The words of the line."""
        return shlex.split(self.script.read_text(encoding="utf-8"))

    def environment(self) -> dict[str, str]:
        """Have bpftrace say when its probes are live."""
        return {LIVE: "1", **LIMITS}

    def is_live(self) -> bool:
        """Whether bpftrace has said so, or another tool holds as much as at the look before."""
        if Path(self.tool).name == "bpftrace":
            return any(LIVE in (read_text(self.work.path, name) or "") for name in ("err", "out"))
        before, self._held = self._held, _held_by(self.child.pid if self.child else 0)
        return 0 < before == self._held

    def count(self) -> tuple[int | None, int | None]:
        """Events lost, where it is bpftrace."""
        with self.work.out.open(encoding="utf-8", errors="replace") as out:
            return None, count_lines(out)[1] if Path(self.tool).name == "bpftrace" else None


def _held_by(pid: int) -> int:
    """How many programs, perf events and traced processes a process and those below it hold."""
    found, pids = holders(), set(processes(pid).split(","))
    of_program = sum(any(str(one.pid) in pids for one in owners) for owners in found.of_program.values())
    events = sum(number for owner, number in found.perf_events.items() if str(owner.pid) in pids)
    return of_program + events + sum(len(traced) for tracer, traced in found.traced.items() if str(tracer.pid) in pids)


class FiredEvents:
    """How often the BPF programs of a tracer fire, from the kernel's statistics, between its making and `close`.

    Raises, when it is made: HostNotReady.
    """

    def __init__(self, tracer_pid: int) -> None:
        self._pid = tracer_pid
        self._statistics = RunStatistics()
        self._before = self._now()

    def close(self) -> int | None:
        """The events; None where the tracer has no BPF programs. The statistics go off."""
        now = self._now()
        self._statistics.close()
        return sum(runs - self._before.get(key, 0) for key, runs in now.items()) if now else None

    def _now(self) -> dict[object, int]:
        return {
            one.key: one.events or 0
            for one in self._statistics.look().found
            if one.sort == "bpf" and any(owner.pid == self._pid for owner in one.owners)
        }
