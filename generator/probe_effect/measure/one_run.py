"""One run: the workload waits, the tracer comes alive, the workload goes, the tracer is asked to stop.

Runs are stopped in order by a signal. Here are too the instructions under the probes, in a workload that waits.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType

from probe_effect.host.symbols import find_function, library_of
from probe_effect.host.workloads import WorkloadFailed, WorkloadProcess, WorkloadRun, WorkloadTask
from probe_effect.model import INTERRUPTED, Arm, HostNotReady, Key, ProbeEffectError, Sample
from probe_effect.store.result_tables import as_note
from probe_effect.tracers.protocol import OF_ITSELF, Counting, Tracer, TracerFailed, wait_for_workload

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
"""The signals with which a terminal, a system that shuts down, and a timer of ours ask a program to end."""


class Interrupted(ProbeEffectError):
    """The program was asked to stop."""

    exit_status = INTERRUPTED


class TimeIsOver(Interrupted):
    """The time that it was given is over."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interrupted` at the first signal to stop. Further signals wait until everything is tidied up.

    A terminal that is gone stops nothing where SIGHUP is ignored already, as nohup(1) has it.
    """

    def stop(number: int, _: FrameType | None) -> None:
        for stop_signal in SIGNALS:
            signal.signal(stop_signal, signal.SIG_IGN)
        if number == signal.SIGALRM:
            raise TimeIsOver("the time is over")
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    is_deaf = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    before = {number: signal.signal(number, stop) for number in SIGNALS if number != signal.SIGHUP or not is_deaf}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Have `interruptible` raise `TimeIsOver` when the block takes longer."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold these signals back until the block is left, so that it is run as a whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to make, with its place, as a plan and an emulated machine name it."""

    block: int
    position: int
    subject: Key
    arm: Arm


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each part of a run may take, in seconds."""

    start_s: float = 60.0
    """bpftrace has been seen to take 26 s to attach every system call; one probe takes 0.4 s."""
    run_s: float = 120.0
    build_s: float = 1800.0
    """The limit of a workload that builds a project: under strace a build takes minutes."""
    stop_s: float = 60.0


@dataclass(frozen=True, slots=True)
class TracerTask:
    """What the tracer is to do in a run."""

    tracer: Tracer
    script: Path
    counting: Counting
    events_per_operation: int = 1
    is_start: bool = False
    """Whether the tracer's start and stop are measured."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What else is done in a run: before a tool starts beside the workload, when all is ready and the workload waits,
    when it has ended, still traced, and when the tracer has stopped.
    """

    before_attach: Callable[[], None] = lambda: None
    before_go: Callable[[], None] = lambda: None
    after_run: Callable[[], None] = lambda: None
    after_stop: Callable[[], None] = lambda: None


NO_HOOKS = Hooks()


def run_once(
    planned: PlannedRun, load: WorkloadTask, watch: TracerTask | None, limits: Limits, hooks: Hooks = NO_HOOKS
) -> Sample:
    """The row of one run, whatever becomes of it. Nothing that it started is left, also when it is interrupted.

    Raises: HostNotReady when the host refuses what every run needs: a process, or room in memory for a tool's output.
    """
    row = empty_row(planned)
    with _tidied() as leftovers:
        try:
            if watch is None:
                workload = WorkloadProcess(load)
                leftovers.callback(workload.end)
                hooks.before_go()
                return _with_run(row, workload.go(limits.run_s), load.threads)
            return _traced(row, load, watch, limits, leftovers, hooks=hooks)
        except (TracerFailed, WorkloadFailed) as error:
            return replace(row, events=None, operations=None, status=error.status, note=as_note(str(error)))
        except OSError as error:
            raise HostNotReady(f"{error.filename or planned.subject.case}: {error.strerror}") from error


@contextmanager
def _tidied() -> Iterator[ExitStack]:
    """A block that undoes what a run did, as a whole, also if a signal to stop comes meanwhile."""
    leftovers = ExitStack()
    try:
        yield leftovers
    finally:
        with undisturbed():
            leftovers.close()


def empty_row(planned: PlannedRun) -> Sample:
    """A row that says only which run it is."""
    return Sample(block=planned.block, position=planned.position, arm=planned.arm, **planned.subject._asdict())


def _traced(
    row: Sample, load: WorkloadTask, watch: TracerTask, limits: Limits, leftovers: ExitStack, *, hooks: Hooks
) -> Sample:
    with undisturbed():  # a signal that comes when its folder is made would leave that behind
        session = watch.tracer.session(watch.script, watch.counting, load.program)
        leftovers.callback(session.end)
    workload = WorkloadProcess(load, session.prefix)
    leftovers.callback(workload.end)
    if not session.prefix:
        if sys.platform == "linux":  # what its loader reads is no event of the loop
            with suppress(TracerFailed):  # a workload that has ended says why when it is told to go
                wait_for_workload(workload.pid)
        hooks.before_attach()
    session.attach(workload.pid)
    session.ready(limits.start_s)
    hooks.before_go()
    run = workload.go(limits.run_s)
    hooks.after_run()
    row = _with_run(row, run, watch.events_per_operation * load.threads)
    if watch.counting in OF_ITSELF:  # the tracer had ended before the workload was told to go
        row = replace(row, wall_ns=None, user_ns=None, sys_ns=None)
    row = replace(row, **asdict(session.stop(limits.stop_s)))
    hooks.after_stop()
    return row if run.wrapper_cpu_ns is None else replace(row, tracer_cpu_ns=run.wrapper_cpu_ns)


def _with_run(row: Sample, run: WorkloadRun, events_per_operation: int) -> Sample:
    operations = run.operations if events_per_operation > 1 else None
    row = replace(row, events=run.operations * events_per_operation, operations=operations)
    if row.arm == "check":  # its twin does other work: such times must not be mistaken for the case's
        return row
    return replace(row, wall_ns=run.wall_ns, user_ns=run.user_ns, sys_ns=run.sys_ns, histogram=run.histogram)


def probed_functions(names: Sequence[str], load: WorkloadTask) -> dict[str, str]:
    """User functions, `file:symbol`, to their first bytes in hexadecimal digits; what cannot be found is left out.

    The same probe costs 0.2 or 17 µs, depending on the instruction under it, so no comparison works without them.
    A file is the workload's, or the stem of a library (`libc`) that the workload has mapped once it waits.
    """
    if not names:
        return {}
    workload = WorkloadProcess(load)
    try:
        wait_for_workload(workload.pid)
        first_bytes = {}
        for name in names:
            file, _, symbol = name.partition(":")
            path = load.program if file == load.program.name else library_of(workload.pid, file)
            if path and (function := find_function(Path(path), symbol)):
                first_bytes[name] = function.first_bytes.hex(" ")
        return first_bytes
    finally:
        workload.end()
