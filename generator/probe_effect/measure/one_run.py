"""One run: the workload waits, the tracer comes alive, the workload goes, the tracer is asked to stop."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from probe_effect.model import Sample
from probe_effect.store.samples import as_note
from probe_effect.tracers.protocol import TracerFailed
from probe_effect.workloads.loop import Workload, WorkloadFailed

if TYPE_CHECKING:
    from pathlib import Path

    from probe_effect.measure.plan import PlannedRun
    from probe_effect.tracers.protocol import Counting, Report, Tracer

START_TIMEOUT_S = 60.0
"""bpftrace has been seen to take 26 s to attach every system call; one probe takes 0.4 s."""

STOP_TIMEOUT_S = 60.0
RUN_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each part of a run may take, in seconds."""

    start_s: float = START_TIMEOUT_S
    run_s: float = RUN_TIMEOUT_S
    stop_s: float = STOP_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Load:
    """What the workload is to do."""

    program: Path
    operations: int
    cpu: int


@dataclass(frozen=True, slots=True)
class Watch:
    """What the tracer is to do."""

    tracer: Tracer
    script: Path
    counting: Counting


def run_once(planned: PlannedRun, load: Load, watch: Watch | None, limits: Limits) -> Sample:
    """The row of one run, whatever becomes of it. Nothing that it started is left, also when it is interrupted."""
    row = empty_row(planned)
    with ExitStack() as leftovers:
        try:
            return _timed(row, load, watch, limits, leftovers)
        except TracerFailed as error:
            return replace(row, events=None, status=error.status, note=as_note(str(error)))
        except WorkloadFailed as error:
            return replace(row, events=None, status="failed", note=as_note(str(error)))


def empty_row(planned: PlannedRun) -> Sample:
    """A row that says only which run it is."""
    return Sample(
        block=planned.block,
        position=planned.position,
        case=planned.subject.case,
        tracer=planned.subject.tracer,
        arm=planned.arm,
    )


def _timed(row: Sample, load: Load, watch: Watch | None, limits: Limits, leftovers: ExitStack) -> Sample:
    workload = Workload(load.program, load.operations, load.cpu)
    leftovers.callback(workload.end)
    session = None
    if watch is not None:
        session = watch.tracer.start(watch.script, watch.counting)
        leftovers.callback(session.end)
        session.ready(limits.start_s)
    run = workload.go(limits.run_s)
    report = session.stop(limits.stop_s) if session is not None else None
    row = replace(row, events=run.operations)
    if row.arm != "check":  # its twin does other work: such times must not be mistaken for the case's
        row = replace(row, wall_ns=run.wall_ns, user_ns=run.user_ns, sys_ns=run.sys_ns)
    return row if report is None else _with_report(row, report)


def _with_report(row: Sample, report: Report) -> Sample:
    return replace(
        row,
        seen=report.seen,
        lost=report.lost,
        tracer_cpu_ns=report.cpu_ns,
        tracer_rss_bytes=report.rss_bytes,
        output_bytes=report.output_bytes,
        attach_ns=report.attach_ns,
        detach_ns=report.detach_ns,
    )
