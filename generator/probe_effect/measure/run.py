"""Measuring one suite: from the first trial, or from where it was cut short, to the closed submission."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from probe_effect import __version__
from probe_effect.errors import HostNotReady
from probe_effect.host import ROOT
from probe_effect.machine.busy import load_average, steal_ratio
from probe_effect.machine.collect import warnings
from probe_effect.machine.system import throttles
from probe_effect.measure.bench import Bench, Progress, Settings
from probe_effect.measure.interrupt import Interrupted
from probe_effect.measure.one_run import PlannedRun
from probe_effect.measure.request import Work
from probe_effect.measure.submission import (
    OpenSubmission,
    changed,
    check_writable,
    command_to_go_on,
    moment,
    open_submission,
)
from probe_effect.measure.testbed import Testbed
from probe_effect.measure.tree import made_ready
from probe_effect.model import Key
from probe_effect.stats.run_order import baseline
from probe_effect.store.further_tables import CALIBRATION_COLUMNS, add_paths, read_calibration
from probe_effect.store.machine_file import MachineFile, PlanFile, Provenance, Run, as_author
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.samples import TableWriter

LANGUAGE = "bpftrace"
"""The tool whose scripts can be moved into the loop."""


def measure(work: Work, settings: Settings, testbed: Testbed, tell: Callable[[Progress], None]) -> SubmissionFolder:
    """Measure a suite and write its submission, each row before the next run begins.

    `tell` is called before each run and after the last, never while a run is timed.
    Raises: HostNotReady when nothing of the suite can be measured here, or while another measurement runs;
        Interrupted when asked to stop, with the rows so far kept; ProbeEffectError when the workload does not run.
    """
    if not work.measured:
        reasons = "\n".join(f"{subject.case} with {subject.tracer}: {why}" for subject, why in work.skipped.items())
        msg = f"nothing of suite {work.suite.id} can be measured here:\n{reasons or 'no case has a script'}"
        raise HostNotReady(msg)
    check_writable(settings.results)
    load_before = load_average()
    cpu, tracer_cpu = testbed.cpus(work)
    with testbed.held((cpu, tracer_cpu)), ready(work) as able:
        bench = Bench(able, settings, testbed, testbed.program(able), cpu, tell)
        plan = bench.calibrate()
        return _run(bench, open_submission(settings.results, _document(bench, tracer_cpu, load_before), plan))


def resume(
    opened: OpenSubmission, work: Work, settings: Settings, testbed: Testbed, tell: Callable[[Progress], None]
) -> SubmissionFolder:
    """Continue a run that was cut short, by the same plan; otherwise as `measure`."""
    run = opened.document.run
    with testbed.held((run.workload_cpu, run.tracer_cpu)), ready(work) as able:
        bench = Bench(able, settings, testbed, testbed.program(able), run.workload_cpu, tell)
        if (compiler := bench.program.compiler) != run.compiler:
            raise changed(opened.place, [f"the compiler was {run.compiler} and is {compiler}"])
        opened.write()  # not before: until here another measurement could be at it
        return _run(bench, opened)


@contextmanager
def ready(work: Work) -> Iterator[Work]:
    """The work with its source tree made ready to be built, where it builds one. Raises: HostNotReady."""
    if work.tree is None:
        yield work
        return
    with made_ready(work.tree) as tree:
        yield replace(work, tree=tree)


def _run(bench: Bench, opened: OpenSubmission) -> SubmissionFolder:
    before = bench.testbed.cpu_times(bench.cpu) if bench.testbed.metric == "time" else None
    throttled = throttles(ROOT)
    try:
        _calibrate_scripts(bench, opened)
        try:
            done = bench.run(opened.plan, opened.place.samples)
        finally:
            add_paths(opened.place.paths, bench.testbed.paths())
        steal = steal_ratio(before, bench.testbed.cpu_times(bench.cpu)) if before else None
        submission = opened.close(steal_ratio=steal, warnings=_warnings(bench, opened.document, steal, throttled))
    except (Interrupted, HostNotReady) as stop:
        again = command_to_go_on(opened.place)
        raise type(stop)(f"{stop}; the rows so far are kept in {opened.place.folder}\nto go on: {again}") from stop
    bench.tell(replace(done, clock_jumped_s=opened.clock.jumped_s()))
    return submission


def _calibrate_scripts(bench: Bench, opened: OpenSubmission) -> None:
    """Time each script of the plan that has no row yet in a loop of ours, where a suite runs scripts over programs.

    Raises: HostNotReady when a row cannot be written.
    """
    calibrate, path = bench.settings.calibrate, opened.place.calibration
    scripts = _scripts(bench.work, opened.plan)
    if calibrate is None or not scripts:
        return
    with TableWriter(path, CALIBRATION_COLUMNS) as table:  # opened before it is read: it cuts off a torn row
        done = {row.key for row in read_calibration(path, str(path))[0]}
        for place, key in enumerate(scripts):
            if key not in done:
                planned = PlannedRun(0, 0, key, "traced")
                blocks = bench.settings.blocks
                bench.tell(Progress(phase="scripts", planned=planned, blocks=blocks, done=place, total=len(scripts)))
                rows = calibrate(key, bench.work.script(key), bench.work.tracers[key.tracer], bench.cpu)
                table.put(row.cells for row in rows)


def _scripts(work: Work, plan: PlanFile) -> list[Key]:
    """Each script of the plan once, by its case and tracer, and by its level where the level has one of its own."""
    planned = [Key(one.case, one.tracer, one.level) for one in plan.subjects if one.operations is not None]
    own = [key for key in planned if work.suite.has_programs and work.tracers[key.tracer].tool == LANGUAGE]
    return list(dict.fromkeys(key._replace(level=None) if work.script(key).stem == key.case else key for key in own))


def _warnings(bench: Bench, document: MachineFile, steal: float | None, throttled: int) -> tuple[str, ...]:
    """Ids of what made the machine noisy, at the beginning, and by steal and throttles, so many before, of the run."""
    if bench.testbed.metric == "instructions":  # which a busy machine leaves as they are
        return ()
    load, clock_read_ns = document.run.load_before, document.system.clock_read_ns
    hot = throttles(ROOT) - throttled
    found = warnings(cpu=bench.cpu, load=load, clock_read_ns=clock_read_ns, steal=steal, throttles=hot)
    return tuple(warning.id for warning in found)


def _document(bench: Bench, tracer_cpu: int | None, load_before: float | None) -> MachineFile:
    """What is known when the trials are done and the runs begin."""
    work, settings, testbed = bench.work, bench.settings, bench.testbed
    origins = testbed.origins()
    system = testbed.system(bench.program.path, bench.cpu)
    waiting = work.load(baseline(work.levels[0]), bench.program.path, 1, bench.cpu)
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
        metric=testbed.metric,
        load_before=None if "emulator" in origins.packages else load_before,  # a guest's host is another machine
        load_after=None,
        compiler=bench.program.compiler,
        functions=testbed.functions(work.functions, waiting),
        mechanisms=origins.mechanisms,
        program_runs=origins.program_runs,
        packages=origins.packages | ({"tree": work.tree.origin} if work.tree else {}),
    )
    return MachineFile(
        schema_version=1,
        machine=as_author(testbed.machine(), system, settings.author),
        system=system,
        tools=work.versions(),
        run=run,
        submitter=settings.submitter,
        provenance=Provenance(tool=f"probe-effect {__version__}", kind=settings.author, fleet_name=settings.fleet_name),
    )
