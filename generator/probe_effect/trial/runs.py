"""The runs of a trial: the command stopped, the tracer live, the command on, and what both used.

Every pair has each script and no script once, in random order. Before them each script has a run of its own, in which
the kernel counts its events and which is not timed, and the command a run alone: both warm it up.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from probe_effect.errors import HostNotReady, ProbeEffectError, UsageError
from probe_effect.live.target import stopped
from probe_effect.processes import Child
from probe_effect.tracers.tool import WorkFolder, words
from probe_effect.trial.tracer import FiredEvents, TrialScript
from probe_effect.trial.tree import command_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probe_effect.processes import Ended
    from probe_effect.tracers.tool import ToolSession

START_S = STOP_S = 60.0
"""As long as a measurement gives a tracer to attach its probes, and to end."""


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

    def check(self) -> None:
        """Raise UsageError or HostNotReady, with what to do, for what cannot be tried here."""
        if not self.command or shutil.which(self.command[0]) is None:
            found = f"{self.command[0]}: no such command" if self.command else "no command"
            msg = f"{found}; expected one behind --, such as: probe-effect try SCRIPT -- make -j2"
            raise UsageError(msg)
        for script in self.scripts:
            script.check()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRun:
    """One run of the command: `pair` from 1, 0 before them; `script`, the label of the one that traced it.

    `wall_ns`: until the command ended. `cpu_ns`: of all its processes. `events`: counted in runs of pair 0 alone.
    """

    pair: int
    script: str | None
    wall_ns: int
    cpu_ns: int
    exit_status: int
    tracer_cpu_ns: int | None = None
    events: int | None = None
    lost: int | None = None


class CommandTrial:
    """The runs of a trial, made when they are asked for. Use it as a context."""

    def __init__(self, settings: TrialSettings) -> None:
        self.settings = settings
        self._work = WorkFolder()
        self._tree = command_tree()
        self.way = self._tree.way
        """How the CPU time of all processes is known, in words."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End and remove everything."""
        self._tree.close()
        self._work.remove()

    def warm_ups(self) -> Iterator[TrialRun]:
        """A run with each script, with its events, and one without. Raises: ProbeEffectError, as do the pairs."""
        for script in (*self.settings.scripts, None):
            yield self._run(0, script)

    def pairs(self) -> Iterator[TrialRun]:
        """The runs that are timed. Raises: ProbeEffectError for a command or a tracer that fails."""
        chance = random.Random(self.settings.seed)  # noqa: S311 (an order, no secret)
        kinds = (None, *self.settings.scripts)
        for pair in range(1, self.settings.pairs + 1):
            for script in chance.sample(kinds, len(kinds)):
                yield self._run(pair, script)

    def prepare(self) -> None:
        """Run the user's command that comes before each run. Raises: ProbeEffectError if it fails."""
        if self.settings.prepare is not None:
            child = self._start(("/bin/sh", "-c", self.settings.prepare))
            try:
                self._check(child.wait(self.settings.limit_s), "--prepare")
            finally:
                child.end()

    def _start(self, command: tuple[str, ...], *, is_stopped: bool = False) -> Child:
        with self._work.err.open("wb") as err:
            if is_stopped:
                return stopped(command, stdout=subprocess.DEVNULL, stderr=err.fileno())
            return Child(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err.fileno())

    def _check(self, ended: Ended | None, what: str) -> None:
        """Raise ProbeEffectError, with the end of what it printed, unless it ended well and in time."""
        said = words(self._work.err)[-500:]
        if ended is None:
            msg = f"{what} had not ended after {self.settings.limit_s:g} s; --seconds gives it longer"
        elif ended.exit_status and not (self.settings.ignore_failure and what != "--prepare"):
            msg = f"{what} failed with exit status {ended.exit_status}; --ignore-failure goes on in spite of that"
        else:
            return
        raise ProbeEffectError(f"{msg}: {said}" if said else msg)

    def _run(self, pair: int, script: TrialScript | None) -> TrialRun:
        self.prepare()
        child = self._start(self.settings.command, is_stopped=True)
        session = None
        try:
            session = script.session(self._work.path, child.pid) if script else None
            return self._timed(child, pair, script, session)
        finally:
            if session is not None:
                session.end()
            child.send(signal.SIGCONT)  # a stopped program would not hear that it is to end
            child.end()

    def _timed(self, child: Child, pair: int, script: TrialScript | None, session: ToolSession | None) -> TrialRun:
        which = f"the command, {'with' if script else 'without'} a script in " + (f"pair {pair}" if pair else "warm-up")
        fired = self._attach(session, child.pid, is_counted=not pair) if session else None
        self._tree.begin(child.pid)
        began_ns = time.monotonic_ns()
        child.send(signal.SIGCONT)
        ended = child.wait(self.settings.limit_s)
        wall_ns = time.monotonic_ns() - began_ns
        self._check(ended, which)
        cpu_ns = self._tree.wait(child, began_ns / 1e9 + self.settings.limit_s)
        if ended is None or cpu_ns is None:
            self._check(None, f"a process that {which} started")
            raise AssertionError
        events = fired.close() if fired else None
        report = session.stop(STOP_S) if session else None
        return TrialRun(
            pair=pair,
            script=script.label if script else None,
            wall_ns=wall_ns,
            cpu_ns=cpu_ns,
            exit_status=ended.exit_status,
            tracer_cpu_ns=report.cpu_ns if report else None,
            events=events,
            lost=report.lost if report else None,
        )

    def _attach(self, session: ToolSession, pid: int, *, is_counted: bool) -> FiredEvents | None:
        """Start the tracer, and return when its probes are live; with the kernel's count of them, where it counts."""
        session.attach(pid)
        if session.child is not None:
            self._tree.keep(session.child.pid)
        session.ready(START_S)
        try:
            return FiredEvents(session.child.pid) if is_counted and session.child else None
        except HostNotReady:  # a tool that needs no root may run without
            return None
