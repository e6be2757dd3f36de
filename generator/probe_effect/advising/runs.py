"""The runs of a trial: the command stopped, the tracer live with its script, the command on, and what both used.

bpftrace says when all of its probes are attached. Of another tool the kernel is asked whether it holds programs or perf
events, or traces by ptrace: it is live when two looks one after the other found as many.

Source: Documentation/admin-guide/cgroup-v2.rst, Linux 6.18: without any controller `cpu.stat` has the CPU time of all
processes that are or were in a cgroup; `cgroup.events` says whether there is one; `cgroup.kill` (Linux 5.14) ends all.
Where no cgroup can be made, orphans become our children (PR_SET_CHILD_SUBREAPER of prctl(2)).

Every pair has each script and no script once, in random order. Before them each script has a run of its own, in which
the kernel counts its events, and the command a run alone; none of these is a result, and both warm the command up.
"""

import ctypes
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from probe_effect.host import ROOT, read_text
from probe_effect.host.processes import WORK_PREFIX, Child, Ended, children
from probe_effect.live.loaded import RunStatistics, holders
from probe_effect.live.target import stopped
from probe_effect.model import HostNotReady, ProbeEffectError, UsageError
from probe_effect.scripts.commands import command_line
from probe_effect.scripts.script import read_script
from probe_effect.tracers.bpftrace import Bpftrace, BpftraceSession
from probe_effect.tracers.tool import ToolSession, WorkFolder, absent, words

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
        return None if command_line(self.text) is None else shlex.split(self.text)[0]


class CommandLineSession(ToolSession):
    """A tool at work as its user calls it."""

    name = "the tracer"
    good_exits = frozenset({0, 130, 143, -2, -15})
    """It may say that it was asked to stop, or have ended with what it traced."""
    look_every_s = 0.05
    _held = 0

    def command(self, pid: int) -> Sequence[str]:  # noqa: ARG002 (it is in the line)
        return shlex.split(self.script.read_text(encoding="utf-8"))

    def is_live(self) -> bool:
        pid, all_holders, before = self.child.pid if self.child else 0, holders(), self._held
        owners = [
            *all_holders.of_program.values(),
            *([process] * number for process, number in all_holders.perf_events.items()),
        ]
        traced = (process for tracer, some in all_holders.traced.items() if tracer.pid == pid for process in some)
        self._held = sum(process.pid == pid for some in owners for process in some) + len([*traced])
        return 0 < before == self._held

    def count(self) -> tuple[int | None, int | None]:
        return None, None


def fired(statistics: RunStatistics, tracer_pid: int) -> int | None:
    """How often a tracer's BPF programs fired since statistics are on; None without them. Raises: HostNotReady."""
    its = [loaded for loaded in statistics.look().found if any(owner.pid == tracer_pid for owner in loaded.owners)]
    return sum(loaded.events or 0 for loaded in its) if any(loaded.sort == "bpf" for loaded in its) else None


PR_SET_CHILD_SUBREAPER = 36
LOOK_EVERY_S = 0.005

CLEANER = """read -r _; echo 1 >"$0/cgroup.kill"
while [ -d "$0" ] && [ $((i += 1)) -lt 500 ]; do rmdir "$0/command" "$0/ours" "$0" || sleep 0.02; done; rm -rf "$1"*
"""
"""Have a shell wait until our end of its pipe is closed, by `kill -9` too, and end and remove what is there."""


class CommandTree:
    """The processes of a command; `work` is a folder of ours, whose like go too. Always `close` it.

    We are in a cgroup, with all that we start: if we are killed, the cleaner, which is not, ends and removes the rest.
    """

    def __init__(self, work: Path) -> None:
        self._folder, self._cleaner = _cgroup(), None
        self._others, self._used_ns = set[int](), 0
        if self._folder:
            self._cleaner = subprocess.Popen(
                ["/bin/sh", "-c", CLEANER, str(self._folder), str(work.parent / f"{WORK_PREFIX}{os.getpid()}-")],
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            _move(os.getpid(), self._folder / "ours")
        _adopt(is_on=self._folder is None)

    @property
    def way(self) -> str:
        return "a cgroup" if self._folder else "waiting for each process"

    def begin(self, pid: int) -> None:
        """Count the command, which is stopped, from now on; who becomes our child from now on belongs to it."""
        if self._folder:
            _move(pid, self._folder / "command")
        self._others, self._used_ns = set(children(os.getpid())), -self._cgroup_ns()

    def wait(self, command: Child, deadline_s: float) -> int | None:
        """CPU time, in ns, of the command and all that it started, once all have ended; None if some have not.

        Without a cgroup it has what starting took too, and lacks processes whose parent does not wait for them.
        """
        ended = command.wait(max(0.0, deadline_s - time.monotonic()))
        while self._is_left():
            if time.monotonic() > deadline_s:
                return None
            time.sleep(LOOK_EVERY_S)
        if ended is None:
            return None
        return self._used_ns + (self._cgroup_ns() if self._folder else ended.user_ns + ended.sys_ns)

    def close(self) -> None:
        if self._folder and self._cleaner and self._cleaner.stdin:
            _move(os.getpid(), self._folder.parent)
            self._cleaner.stdin.close()
            self._cleaner.wait()
        _adopt(is_on=False)

    def _cgroup_ns(self) -> int:
        stat = read_text(self._folder, "command/cpu.stat") if self._folder else None
        return 1000 * int(stat.split("usage_usec ", 1)[1].split()[0]) if stat else 0

    def _is_left(self) -> bool:
        """Whether a process of the command is left; without a cgroup, those that have ended are waited for."""
        if self._folder:
            return "populated 0" not in (read_text(self._folder, "command/cgroup.events") or "")
        orphans = set(children(os.getpid())) - self._others
        for pid in orphans:
            _, _, used = os.wait4(pid, os.WNOHANG)
            self._used_ns += round((used.ru_utime + used.ru_stime) * 1e9)
        return bool(orphans)


def _cgroup() -> Path | None:
    """A cgroup below our own, with one for the command and one for us; None where we may not make it."""
    mount = re.search(r"^\S+ (\S+) cgroup2 ", read_text(ROOT, "proc/self/mounts") or "", re.MULTILINE)
    own = re.search(r"^0::/(.*)$", read_text(ROOT, "proc/self/cgroup") or "", re.MULTILINE)
    if os.geteuid() == 0 and mount and own:
        folder = ROOT / mount[1] / own[1] / f"{WORK_PREFIX}{os.getpid()}"
        with suppress(OSError):  # read-only, as in a container
            for part in ("command", "ours"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            return folder
    return None


def _move(pid: int, cgroup: Path) -> None:
    (cgroup / "cgroup.procs").write_text(str(pid))


def _adopt(*, is_on: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(is_on), 0, 0, 0)


PATIENCE_S = 60.0
"""As long as a measurement gives a tracer to attach its probes, and to end."""
COMPLAINT = 500
"""Letters of what a failed command printed last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSettings:
    """What is tried, and how. `limit_s`: how long a run may take. `prepare`: a shell command before each run."""

    scripts: tuple[TrialScript, ...]
    command: tuple[str, ...]
    pairs: int
    seed: int
    limit_s: float
    prepare: str | None = None
    ignore_failure: bool = False
    tracer: str = "bpftrace"

    def check(self) -> None:
        """Raise UsageError or HostNotReady, with what to do, for what cannot be tried here."""
        if not self.command or shutil.which(self.command[0]) is None:
            raise UsageError(
                f"{' '.join(self.command[:1]) or 'COMMAND'}: no such command; expected one behind --, such as make -j2"
            )
        for script in self.scripts:
            script.check(self.tracer)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRun:
    """One run: `pair` from 1, 0 of those before; `script`, its label; `wall_ns`, until the command ended; `cpu_ns`, of
    all its processes; `events`, of runs before the pairs.
    """

    pair: int
    script: str | None
    wall_ns: int
    cpu_ns: int
    exit_status: int
    tracer_cpu_ns: int | None = None
    lost: int | None = None
    events: int | None = None


class CommandTrial:
    """The runs of a trial, made when they are asked for. Always `close` it."""

    def __init__(self, settings: TrialSettings) -> None:
        self._settings, self._work = settings, WorkFolder()
        self.tree = CommandTree(self._work.path)

    def close(self) -> None:
        self.tree.close()
        self._work.remove()

    def warm_ups(self) -> Iterator[TrialRun]:
        """A run with each script, in which events count, and one without. Raises: ProbeEffectError, as do the pairs."""
        return (self._run(0, script) for script in (*self._settings.scripts, None))

    def pairs(self) -> Iterator[TrialRun]:
        """The runs that are results. Raises: ProbeEffectError for a command or a tracer that fails."""
        chance, kinds = random.Random(self._settings.seed), (None, *self._settings.scripts)  # noqa: S311 (no secret)
        for pair in range(1, self._settings.pairs + 1):
            for script in chance.sample(kinds, len(kinds)):
                yield self._run(pair, script)

    def prepare(self) -> None:
        """Run the user's command that comes before each run. Raises: ProbeEffectError if it fails."""
        if self._settings.prepare is not None:
            with self._work.err.open("wb") as err:
                words = ("/bin/sh", "-c", self._settings.prepare)
                quiet = subprocess.DEVNULL
                child = Child(words, stdin=quiet, stdout=quiet, stderr=err.fileno(), is_ours=False)
            try:
                self._check(child.wait(self._settings.limit_s), "--prepare")
            finally:
                child.end()

    def _run(self, pair: int, script: TrialScript | None) -> TrialRun:
        self.prepare()
        with self._work.err.open("wb") as err, ExitStack() as ends:
            child = stopped(self._settings.command, stdout=subprocess.DEVNULL, stderr=err.fileno())
            ends.callback(child.end)
            ends.callback(child.send, signal.SIGCONT)  # a stopped program would not hear that it is to end
            session = script.session(self._settings.tracer, self._work.path, child.pid) if script else None
            statistics = None
            if session is not None:
                ends.callback(session.end)
                session.attach(child.pid)
                session.ready(PATIENCE_S)
                with suppress(HostNotReady):  # a tool that needs no root may run without
                    statistics = None if pair else ends.enter_context(RunStatistics())
            label = script.label if script else None
            which = f"the command, pair {pair}, {label or 'no'} script"
            self.tree.begin(child.pid)
            began_ns = time.monotonic_ns()
            child.send(signal.SIGCONT)
            ended = self._check(child.wait(self._settings.limit_s), which)
            wall_ns = time.monotonic_ns() - began_ns
            cpu_ns = self.tree.wait(child, began_ns / 1e9 + self._settings.limit_s)
            events = fired(statistics, session.child.pid) if statistics and session and session.child else None
            report = session.stop(PATIENCE_S) if session else None
            if cpu_ns is None:
                self._check(None, f"a process of {which}")
            return TrialRun(
                pair=pair,
                script=label,
                wall_ns=wall_ns,
                cpu_ns=cpu_ns or 0,
                exit_status=ended.exit_status,
                tracer_cpu_ns=report.tracer_cpu_ns if report else None,
                lost=report.lost if report else None,
                events=events,
            )

    def _check(self, ended: Ended | None, what: str) -> Ended:
        """How it ended. Raises: ProbeEffectError, with the end of what it printed, unless that was well and in time."""
        if ended is None:
            msg = f"{what}, had not ended after {self._settings.limit_s:g} s; --seconds gives it longer"
        elif ended.exit_status and not self._settings.ignore_failure:
            msg = f"{what}, failed with exit status {ended.exit_status}; --ignore-failure goes on in spite of it"
        else:
            return ended
        complaint = words(self._work.err)[-COMPLAINT:]
        raise ProbeEffectError(f"{msg}: {complaint}" if complaint else msg)
