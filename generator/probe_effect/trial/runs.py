"""The runs of a trial: the command stopped, the tracer live, the command on, and what both used.

Every pair has each script and no script once, in random order. Before them each script has a run of its own, in which
the kernel counts its events, and the command a run alone; none of these is a result, and both warm the command up.
"""

import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from probe_effect.errors import HostNotReady, ProbeEffectError, UsageError
from probe_effect.live.loaded import RunStatistics
from probe_effect.live.target import stopped
from probe_effect.processes import Child, Ended
from probe_effect.tracers.tool import ToolSession, WorkFolder, words
from probe_effect.trial.tracer import CommandTree, TrialScript, fired

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
        """End and remove everything."""
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
                statistics = self._attach(session, child.pid, ends, is_counted=not pair)
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

    def _attach(self, session: ToolSession, pid: int, ends: ExitStack, *, is_counted: bool) -> RunStatistics | None:
        """Start the tracer, and return when its probes are live; with the kernel's statistics on, where it counts."""
        session.attach(pid)
        session.ready(PATIENCE_S)
        with suppress(HostNotReady):  # a tool that needs no root may run without
            return ends.enter_context(RunStatistics()) if is_counted else None
        return None

    def _check(self, ended: Ended | None, what: str) -> Ended:
        """How it ended. Raises: ProbeEffectError, with the end of what it printed, unless that was well and in time."""
        if ended is None:
            msg = f"{what}, had not ended after {self._settings.limit_s:g} s; --seconds gives it longer"
        elif ended.exit_status and not self._settings.ignore_failure:
            msg = f"{what}, failed with exit status {ended.exit_status}; --ignore-failure goes on in spite of it"
        else:
            return ended
        said = words(self._work.err)[-COMPLAINT:]
        raise ProbeEffectError(f"{msg}: {said}" if said else msg)
