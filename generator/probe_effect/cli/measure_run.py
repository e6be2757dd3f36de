"""What `probe-effect measure` and `lab` do: choose, measure or continue, all that is new with `--vm new`, and print."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import groupby, product
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

from probe_effect import units
from probe_effect.advising.calibrate import recorded
from probe_effect.cli import measure_settings as asked
from probe_effect.cli import output
from probe_effect.cli.data_options import credited, data_words
from probe_effect.cli.measure_display import display, show_leftovers, show_plan, show_skipped
from probe_effect.cli.measure_settings import CACHE, Laboratory, MeasurementTarget, MeasureOptions
from probe_effect.cli.output import progress, show_section, tell
from probe_effect.compare.kernels import SERIES
from probe_effect.guests.debian import ARCHITECTURES, locked
from probe_effect.guests.news import RELEASES, Job, Offer, counted, duration_s, missing, offer
from probe_effect.guests.qemu import KvmUnusable
from probe_effect.host import system, typed
from probe_effect.host.compilers import own_cache
from probe_effect.host.kernel import mount_for_our_time
from probe_effect.host.ownership import demand
from probe_effect.host.processes import WORK_PREFIX
from probe_effect.host.workloads import named_tree
from probe_effect.measure.bench import Settings
from probe_effect.measure.one_run import Interrupted, interruptible
from probe_effect.measure.request import QUICK, Work, choose_suites, choose_tracers, first_look, resolve
from probe_effect.measure.run import measure as measure_suite
from probe_effect.measure.run import resume as resume_suite
from probe_effect.measure.submission import command_to_go_on, cut_short, hand_to_sudo_user, reopen, unfinished, work_of
from probe_effect.measure.testbed import Testbed
from probe_effect.model import BadData, HostNotReady, ProbeEffectError, Problem, UsageError, unknown
from probe_effect.numbers import names
from probe_effect.numbers.catalogue import read_published, read_submissions
from probe_effect.numbers.published import with_unit
from probe_effect.numbers.submission import Number, Submission
from probe_effect.site.pages import parts
from probe_effect.store.machine_file import MachineFile, Submitter, read_machine_file
from probe_effect.store.places import DataFolder, SubmissionFolder, submissions_in
from probe_effect.store.result_tables import read_samples
from probe_effect.store.suite_file import Suite, tools_of
from probe_effect.tracers.tool import known_tracers


def run(data: DataFolder, results: Path, options: MeasureOptions) -> None:
    """Measure or continue; where a guest takes no times, count its instructions. Raises: UsageError, HostNotReady."""
    mount_for_our_time()
    try:
        _run(data, results, options)
    except KvmUnusable as why:
        if options["resume"]:  # times are not continued by counts
            raise
        output.say(f"no times from a guest here: {why}\ncounting its instructions instead, which takes longer")
        _run(data, results, {**options, "accelerator": "tcg"})


def _run(data: DataFolder, results: Path, options: MeasureOptions) -> None:
    suites = choose_suites(data, options["suites"])
    if not options["suites"] and not options["resume"]:
        suites = asked.without_builds(suites)
    if options["vm"]:
        suites = asked.emulable(suites, are_named=bool(options["suites"]), are_counted=asked.counts(options))
    # Check that each named case belongs to a suite and to the architecture, which is known before a machine is.
    cases = {case.id: case for _, suite in suites for case in suite.cases}
    unknown(options["cases"], cases, "case")
    architecture = ARCHITECTURES[options["architecture"]].machine if options["vm"] else system.architecture()
    for name in options["cases"]:
        if not cases[name].is_of(architecture):
            msg = f"{name}: a case of another architecture; the machine is {names.architecture(architecture)}"
            raise UsageError(msg)
    if not options["dry_run"]:
        show_leftovers()
    with interruptible() if options["vm"] else nullcontext(), asked.target(suites, results, options) as on:
        submissions = _resumed(on, results, options) if options["resume"] else _measured(on, data, results, options)
        failed = []
        for submission in submissions:
            hand_to_sudo_user(submission.folder)
            output.product(str(submission.folder))
            output.say(f"to read it: {typed('summarise', submission.folder, *data_words(data))}")
            output.say(f"to publish it: {typed('submit', submission.folder, *data_words(data))}")
            failed += _failed(submission)
    if failed:
        raise HostNotReady("\n".join(["no run of any case ended well, so that nothing was measured:", *failed]))


def _measured(
    on: MeasurementTarget, data: DataFolder, results: Path, options: MeasureOptions
) -> Iterator[SubmissionFolder]:
    for earlier in cut_short(results):
        tell(f"cut short earlier: {earlier.folder}\n  to go on with it: {command_to_go_on(earlier)}")
    named = asked.tree_named(options["source"], on.suites)
    ready = choose_tracers(on.known, on.names, as_root=True if options["vm"] else None)
    submitter = credited(options["name"], options["url"])
    architecture = on.testbed.machine().architecture
    works = [
        resolve(folder, suite, ready, options["cases"], on.cpus, architecture=architecture)
        for folder, suite in on.suites
    ]
    if options["quick"] and not on.names:
        works = [first_look(work) for work in works]
    for work in (work for work in works if work.measured or work.skipped):
        settings = _settings(work, data, results, options, submitter)
        if options["dry_run"]:
            show_plan(work, settings)
            continue
        built = asked.with_tree(work, named)
        show_skipped(work)
        with display(progress) as show, interruptible():
            submission = measure_suite(built, settings, on.testbed, show)
        yield submission
    if not works:
        raise HostNotReady("nothing is measured: each suite was left out, and says above how it is had")
    if not any(work.measured or work.skipped for work in works):
        raise HostNotReady(f"{', '.join(work.suite.id for work in works)}: no case that was named has a script here")


def _failed(submission: SubmissionFolder) -> list[str]:
    rows = [row for row in read_samples(submission.samples, str(submission.samples))[0] if row.arm != "baseline"]
    if any(row.status == "ok" for row in rows):
        return []
    return [f"{submission.folder}: {next((row.note for row in rows if row.note), 'no traced run was made')}"]


def _settings(work: Work, data: DataFolder, results: Path, options: MeasureOptions, submitter: Submitter) -> Settings:
    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    # The words that continue a run from whatever folder, after the program's name.
    words, vm = ["measure", work.suite.id, "--resume"], options["vm"]
    if vm:
        words += asked.machine_words(str(Path(vm).resolve()) if Path(vm).is_file() else vm, options)
    return Settings(
        results=results,
        blocks=asked.blocks_of(options),
        seed=seed,
        command=asked.command_words(work.suite.id, options, seed),
        lengths=asked.lengths(quick=options["quick"], counted=asked.counts(options)),
        submitter=submitter,
        author=options["author"],
        fleet_name=options["fleet_name"],
        anyway=options["anyway"],
        continued_by=(*words, *data_words(data)),
        calibrate=recorded if options["calibrate"] and not options["vm"] else None,
    )


def _resumed(on: MeasurementTarget, results: Path, options: MeasureOptions) -> Iterator[SubmissionFolder]:
    named = asked.tree_named(options["source"], on.suites)
    for open_submission in unfinished(results, options["suites"], on.testbed):
        work, run = work_of(open_submission, on.suites, on.known, on.testbed), open_submission.document.run
        tree = named
        if tree is None and open_submission.plan.tree is not None:
            demand([Path(open_submission.plan.tree)], f"--source {open_submission.plan.tree} says that you mean it")
            tree = named_tree(Path(open_submission.plan.tree))
        opened = reopen(open_submission, work := asked.with_tree(work, tree))
        settings = Settings(
            results=results,
            blocks=run.blocks,
            seed=run.seed,
            command=run.command,
            lengths=asked.lengths(quick=open_submission.plan.is_quick, counted=run.metric == "instructions"),
            calibrate=None if {"--vm", "--no-calibrate"} & {*run.command} else recorded,
            anyway=options["anyway"] or "--anyway" in run.command,
        )
        with display(progress) as show, interruptible():
            submission = resume_suite(opened, work, settings, on.testbed, show)
        yield submission


SUITES = (*SERIES, "combinations")
"""The suites whose history is kept up."""


def run_new(data: DataFolder, results: Path, options: MeasureOptions, architectures: Sequence[str]) -> None:
    """Say what is new, and count it, one suite on one kernel after the other.

    Raises: HostNotReady at the end, where archives could not be had or something could not be counted; Interrupted.
    """
    offers, faults = _offers(architectures)
    # The counts of the data, and those that lie with the results already.
    folders = {
        submission.folder.resolve(): submission for submission in (*data.submissions(), *submissions_in(results))
    }
    read = (
        read_machine_file(submission.machine_file, str(submission.machine_file))[0] for submission in folders.values()
    )
    runs = [
        machine_file for machine_file in read if machine_file is not None and machine_file.run.metric == "instructions"
    ]
    suites = choose_suites(data, options["suites"] or SUITES)
    jobs = missing(offers, runs, {suite.id: set(tools_of(folder)) for folder, suite in suites})
    _show(jobs, runs, options)
    if not jobs and not faults:
        output.product(f"nothing is new: {len(offers)} kernels of Debian, with each bpftrace that is followed")
    for job in () if options["dry_run"] else jobs:
        wanted: MeasureOptions = {
            **options,
            "suites": [job.suite],
            "tracers": [tracer.word for tracer in job.tracers],
            "vm": job.offer.release,
            "architecture": job.offer.architecture,
        }
        try:
            run(data, results, wanted)
        except Interrupted:
            raise
        except ProbeEffectError as error:
            faults.append(f"{job.suite} on {job.offer.kernel}: {error}")
            output.say(f"not counted: {faults[-1]}")
    if faults:
        raise HostNotReady("\n".join(["what could not be done; the rest is as it should be:", *faults]))


def _offers(architectures: Sequence[str]) -> tuple[list[Offer], list[str]]:
    cache = own_cache(CACHE)
    offers, faults = [], []
    with locked(cache):
        for name, release in product(architectures, RELEASES):
            try:
                offers.append(offer(release, ARCHITECTURES[name], cache))
            except HostNotReady as error:
                faults.append(f"Debian {release} for {name}: {error}")
                output.say(faults[-1])
    return offers, faults


def _show(jobs: Sequence[Job], runs: Sequence[MachineFile], options: MeasureOptions) -> None:
    machine = {name: architecture.machine for name, architecture in ARCHITECTURES.items()}
    times = {job: duration_s(job, runs, machine[job.offer.architecture], asked.blocks_of(options)) for job in jobs}
    aside = not options["dry_run"]
    for kernel_offer, its in groupby(jobs, lambda job: job.offer):
        state = "counted before" if counted(kernel_offer.kernel, runs) else "new"
        title = f"{kernel_offer.kernel}, {kernel_offer.release}: {state}"
        rows = [(job.suite, _about(times[job]), ", ".join(map(str, job.tracers))) for job in its]
        show_section(title, rows, aside=aside)
    if jobs:
        durations = [seconds for seconds in times.values() if seconds is not None]
        rest = len(jobs) - len(durations)
        takes = _about(sum(durations)) if durations else "unknown"
        takes += f", and {rest} of which it is not known" if durations and rest else ""
        title = f"{len(jobs)} counts of a suite on a kernel, one after the other"
        show_section(title, [("time", takes)], aside=aside)


def _about(seconds: float | None) -> str:
    if seconds is None:
        return "time unknown"
    minutes = max(1, round(seconds / 60))
    return f"about {minutes // 60} h {minutes % 60:02} min" if minutes > 60 else f"about {minutes} min"


COLUMNS = 88


def run_lab(data: DataFolder, laboratory: Laboratory, blocks: int, seed: int | None, out: Path | None) -> None:
    mount_for_our_time()
    ((folder, suite),) = choose_suites(data, [laboratory.suite])
    ready = choose_tracers(known_tracers(), laboratory.tracers)
    work = resolve(folder, suite, ready, laboratory.cases)
    show_leftovers()
    show_skipped(work)
    seed = secrets.randbits(32) if seed is None else seed
    # A submission records the `measure` command that does the same.
    words = ["probe-effect", "measure", laboratory.suite]
    words += [word for name in laboratory.tracers for word in ("--tracer", name)]
    words += [word for case in laboratory.cases for word in ("--case", case)]
    words += ["--quick", "--blocks", str(blocks), "--seed", str(seed)]
    with TemporaryDirectory(prefix=f"{WORK_PREFIX}{os.getpid()}-lab-") as passing:
        results = out or Path(passing)
        settings = Settings(results=results, blocks=blocks, seed=seed, command=tuple(words), lengths=QUICK)
        try:
            with display(progress) as show, interruptible():
                measured = measure_suite(work, settings, Testbed(), show)
        except Interrupted as stop:
            if out is not None:
                raise
            raise Interrupted("stopped; no rows are kept without --out") from stop
        problems: list[Problem] = []
        submissions = read_submissions([measured], data, problems)
        if problems:
            raise BadData(problems)
        for line in _report(data, laboratory, suite, submissions[0]):
            output.product(line)
        if out is not None:
            hand_to_sudo_user(measured.folder)
            output.product(f"\nThe rows are in {measured.folder}")


def _report(data: DataFolder, laboratory: Laboratory, suite: Suite, submission: Submission) -> Iterator[str]:
    untraced = units.duration(submission.baseline.value if submission.baseline else None)
    where = names.machine_name(submission)
    yield from (*wrap(laboratory.question, COLUMNS), "")
    yield from wrap(f"Measured on {where}. Untraced, {untraced}: {suite.workload.operation}.", COLUMNS)
    titles = {case.id: case.title for case in suite.cases}
    for number in submission.numbers:
        yield f"\n{titles.get(number.case, number.case)}"
        printed = _printed(data, laboratory.printed.get(number.case, ()))
        for line in (f"  here: {_measured_words(number)}", *(f"  then: {line}" for line in printed)):
            # A value and its unit are on one line.
            yield from wrap(line, COLUMNS, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False)
    yield "\nTo try next"
    for sentence, command in laboratory.next:
        yield from (f"  {sentence}:", f"    {command}")


def _measured_words(number: Number) -> str:
    if number.cost is None:
        return f"{number.status}: {number.note}"
    if not number.is_clear:
        return f"{names.tool_with_version(number)}: {parts.cost(number)}"
    thresholds = [(percent, rate) for percent in (1, 5, 30) if (rate := number.threshold(percent))]
    rates = ", ".join(f"{percent} % at {units.rate(rate.value)}" for percent, rate in thresholds)
    costs = f"{names.tool_with_version(number)}: each event costs {parts.cost(number)}"
    return f"{costs}; a busy thread is slowed by {rates}" if rates else costs


def _printed(data: DataFolder, keys: Sequence[str]) -> Iterator[str]:
    """What others printed, with who, when and on what; nothing of a source that these data have not."""
    for key in keys:
        name, _, figure_id = key.partition(".")
        folders = [folder for folder in data.sources() if folder.name == name]
        for source in filter(None, (read_published(folder, data, []) for folder in folders)):
            for figure in (printed_figure for printed_figure in source.figures if printed_figure.figure == figure_id):
                by = parts.source_label(source.document)
                ours = "" if figure.printed else "; worked out here from what they printed"
                yield f"{with_unit(float(figure.value), figure.unit)}: {figure.what} ({by}{ours})"
