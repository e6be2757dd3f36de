"""Measuring one suite: from the first trial, or from where it was cut short, to the closed submission.

What the machine does to the times of a run is looked for before it begins, and recorded when it ends.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from probe_effect import __version__
from probe_effect.host import ROOT, load
from probe_effect.host.system import throttles
from probe_effect.host.this_machine import warnings
from probe_effect.host.workloads import made_ready
from probe_effect.measure import submission
from probe_effect.measure.bench import Bench, Progress, Settings, tell_or_refuse
from probe_effect.measure.one_run import Interrupted, PlannedRun
from probe_effect.measure.request import Work, baseline
from probe_effect.measure.testbed import Testbed
from probe_effect.model import HostNotReady
from probe_effect.store.machine_file import Machine, MachineFile, Provenance, Run, as_author
from probe_effect.store.places import SubmissionFolder
from probe_effect.store.result_tables import CALIBRATION_COLUMNS, add_paths, read_calibration
from probe_effect.store.tables import TableWriter


def look_before(work: Work, settings: Settings, testbed: Testbed, tell: Callable[[Progress], None]) -> None:
    """Say what will disturb the times of a run. Raises: HostNotReady for what would make them worthless."""
    if testbed.metric == "time":  # instructions are what they are on a busy machine too
        cpu, tracer_cpu = testbed.cpus(work)
        holding = warnings(cpu=cpu, tracer_cpu=tracer_cpu, busy_cpus=work.busy_cpus)
        tell_or_refuse(holding, tell, anyway=settings.anyway)


class Disturbances:
    """What disturbs a run, since this was made; `document` is its record when it was begun or continued."""

    def __init__(self, bench: Bench, document: MachineFile) -> None:
        self._bench, self._document = bench, document
        self._cpu = bench.testbed.cpu_times(bench.cpu) if bench.testbed.metric == "time" else None
        self._heat, self._stops = throttles(ROOT), load.throttlings()

    def facts(self) -> dict[str, object]:
        """Keys of `run` about the disturbances, of which the user is told; none for counts, which nothing disturbs."""
        bench, run = self._bench, self._document.run
        if bench.testbed.metric == "instructions":
            return {}
        periods, throttled, stopped_ns = run.quota_periods, run.throttled_periods or 0, run.throttled_ns or 0
        earlier = (
            None if periods is None else load.Throttling(periods, throttled, stopped_ns)
        )  # of a run that is continued
        steal = load.steal_ratio(self._cpu, bench.testbed.cpu_times(bench.cpu)) if self._cpu else None
        stopped, quota = load.throttled_since(self._stops, earlier), load.tightest_quota()
        lasting = warnings(cpu=bench.cpu, tracer_cpu=run.tracer_cpu, busy_cpus=bench.work.busy_cpus)
        now = warnings(
            cpu=bench.cpu,
            tracer_cpu=run.tracer_cpu,
            load=run.load_before,
            clock_read_ns=self._document.system.clock_read_ns,
            steal=steal,
            throttles=throttles(ROOT) - self._heat,
            busy_cpus=bench.work.busy_cpus,
            stopped=stopped,
        )
        told = {warning.id for warning in lasting}  # at the beginning
        tell_or_refuse([warning for warning in now if warning.id not in told], bench.tell, anyway=True)
        ids = (warning.id for warning in (*now, *bench.beside.warnings.values()))
        return {
            "steal_ratio": steal,
            "warnings": tuple(dict.fromkeys((*run.warnings, *ids))),
            "quota_cpus": quota.cpus if quota else run.quota_cpus,
            "traced_beside": tuple(dict.fromkeys((*run.traced_beside, *bench.beside.recorded))),
            **dict(zip(("quota_periods", "throttled_periods", "throttled_ns"), stopped or (), strict=False)),
        }


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
    look_before(work, settings, testbed, tell)
    submission.check_writable(settings.results)
    load_before = load.load_before_ours()
    cpu, tracer_cpu = testbed.cpus(work)
    machine = testbed.machine()  # while we may still use the workload's CPU, whose kind of core it names
    with testbed.held((cpu, tracer_cpu)), ready(work) as able:
        bench = Bench(able, settings, testbed, testbed.program(able), cpu, tell)
        bench.look_beside()
        plan = bench.calibrate()
        return _run(
            bench,
            submission.open_submission(settings.results, _document(bench, machine, tracer_cpu, load_before), plan),
        )


def resume(
    opened: submission.OpenSubmission,
    work: Work,
    settings: Settings,
    testbed: Testbed,
    tell: Callable[[Progress], None],
) -> SubmissionFolder:
    """Continue a run that was cut short, by the same plan; otherwise as `measure`."""
    run = opened.document.run
    look_before(work, settings, testbed, tell)
    with testbed.held((run.workload_cpu, run.tracer_cpu)), ready(work) as able:
        bench = Bench(able, settings, testbed, testbed.program(able), run.workload_cpu, tell)
        if (compiler := bench.program.compiler) != run.compiler:
            raise submission.changed(opened.place, [f"the compiler was {run.compiler} and is {compiler}"])
        bench.look_beside()
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


def _run(bench: Bench, opened: submission.OpenSubmission) -> SubmissionFolder:
    disturbances = Disturbances(bench, opened.document)
    try:
        _calibrate_scripts(bench, opened)
        try:
            done = bench.run(opened.plan, opened.place.samples)
        finally:
            add_paths(opened.place.paths, bench.testbed.paths())
        folder = opened.close(**disturbances.facts())
    except (Interrupted, HostNotReady) as stop:
        with suppress(HostNotReady):  # what cannot be written has been told
            opened.keep(**disturbances.facts())
        again = submission.command_to_go_on(opened.place)
        raise type(stop)(f"{stop}; the rows so far are kept in {opened.place.folder}\nto go on: {again}") from stop
    bench.tell(replace(done, clock_jumped_s=opened.clock.jumped_s()))
    return folder


def _calibrate_scripts(bench: Bench, opened: submission.OpenSubmission) -> None:
    """Time each script of the plan that has no row yet in a loop of ours, where a suite runs scripts over programs.

    Its key has its case and tracer, and its level where the level has a script of its own. Raises: HostNotReady when a
    row cannot be written.
    """
    work, calibrate, path = bench.work, bench.settings.calibrate, opened.place.calibration
    planned = [subject.key for subject in opened.plan.subjects if subject.operations is not None]
    own = [key for key in planned if work.suite.has_programs and work.tracers[key.tracer].tool == "bpftrace"]
    scripts = list(dict.fromkeys(key._replace(level=None) if work.script(key).stem == key.case else key for key in own))
    if calibrate is None or not scripts:
        return
    with TableWriter(path, CALIBRATION_COLUMNS) as table:  # opened before it is read: it cuts off a torn row
        done = {row.key for row in read_calibration(path, str(path))[0]}
        for index, key in enumerate(scripts):
            if key not in done:
                run, blocks = PlannedRun(0, 0, key, "traced"), bench.settings.blocks
                bench.tell(Progress(phase="scripts", planned=run, blocks=blocks, done=index, total=len(scripts)))
                rows = calibrate(key, work.script(key), work.tracers[key.tracer], bench.cpu)
                table.put(row.cells for row in rows)


def _document(bench: Bench, machine: Machine, tracer_cpu: int | None, load_before: float | None) -> MachineFile:
    """What is known when the trials are done and the runs begin."""
    work, settings, testbed = bench.work, bench.settings, bench.testbed
    origins, cores = testbed.origins(), testbed.cores()
    system = testbed.system(bench.program.path, bench.cpu)
    waiting = work.load(baseline(work.levels[0]), bench.program.path, 1, bench.cpu)
    run = Run(
        suite=work.suite.id,
        suite_version=work.suite.version,
        started=submission.moment(),
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
        workload_core=cores.get(bench.cpu),
        tracer_core=None if tracer_cpu is None else cores.get(tracer_cpu),
        packages=origins.packages | ({"tree": work.tree.origin} if work.tree else {}),
    )
    return MachineFile(
        schema_version=1,
        machine=as_author(machine, system, settings.author),
        system=system,
        tools=work.versions(),
        run=run,
        submitter=settings.submitter,
        provenance=Provenance(tool=f"probe-effect {__version__}", kind=settings.author, fleet_name=settings.fleet_name),
    )
