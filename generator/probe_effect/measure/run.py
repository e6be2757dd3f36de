"""Measuring one suite on this machine, from the first trial to the closed submission."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from probe_effect.errors import HostNotReady
from probe_effect.machine.collect import choose_cpus, collect_machine, collect_system
from probe_effect.machine.load import load_average
from probe_effect.measure.alone import alone
from probe_effect.measure.bench import Bench
from probe_effect.measure.interrupt import Interrupted
from probe_effect.measure.submission import moment, open_submission
from probe_effect.store.machine_file import Run
from probe_effect.workloads.build import build, cache_folder
from probe_effect.workloads.loop import clock_read_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from probe_effect.measure.bench import Settings
    from probe_effect.measure.progress import Progress
    from probe_effect.measure.request import Work
    from probe_effect.measure.submission import OpenSubmission
    from probe_effect.store.places import Submission


def measure(work: Work, settings: Settings, tell: Callable[[Progress], None]) -> Submission:
    """Measure a suite and write its submission, each row before the next run begins.

    Args:
        tell: called before each run and after the last, never while a run is timed.
    Raises: HostNotReady when nothing of the suite can be measured here, or while another measurement runs;
        Interrupted when asked to stop, with the rows so far kept; ProbeEffectError when the workload does not run.
    """
    if not work.measured:
        reasons = "\n".join(f"{subject.case} with {subject.tracer}: {why}" for subject, why in work.skipped.items())
        msg = f"nothing of suite {work.suite.id} can be measured here:\n{reasons or 'no case has a script'}"
        raise HostNotReady(msg)
    workload_cpu, tracer_cpu = choose_cpus()
    load_before = load_average()
    with alone(settings.cache or cache_folder()), _staying_on(tracer_cpu):
        program = build(work.source(), settings.cache, work.suite.workload.libraries)
        bench = Bench(work, settings, program, workload_cpu, tell)
        bench.calibrate()
        opened = _open(bench, tracer_cpu, load_before)
        try:
            bench.run(opened.place.samples)
        except Interrupted as stop:
            msg = f"{stop}; the rows so far are kept in {opened.place.folder}"
            raise Interrupted(msg) from stop
        return opened.close()


@contextmanager
def _staying_on(cpu: int | None) -> Iterator[None]:
    """Keep this program, and the tracers that it starts, on one CPU; the workload moves itself to its own."""
    before = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _open(bench: Bench, tracer_cpu: int | None, load_before: float | None) -> OpenSubmission:
    work, settings = bench.work, bench.settings
    run = Run(
        suite=work.suite.id,
        suite_version=work.suite.version,
        started=moment(),
        ended=None,
        blocks=settings.blocks,
        workload_cpu=bench.cpu,
        tracer_cpu=tracer_cpu,
        seed=settings.seed,
        command=settings.command,
        metric="time",
        load_before=load_before,
        load_after=None,
        compiler=bench.program.compiler,
    )
    tools = {name: tracer.version() or "unknown" for name, tracer in work.tracers.items()}
    system = collect_system(clock_read_ns(bench.program.path, bench.cpu))
    return open_submission(
        settings.results,
        machine=collect_machine(),
        system=system,
        tools=tools,
        run=run,
        submitter=settings.submitter,
        author=settings.author,
    )
