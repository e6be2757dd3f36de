"""What `probe-effect measure` does: choose, measure or continue, and print the folder of each submission."""

import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from probe_effect.calibration.asked import recorded
from probe_effect.cli import output
from probe_effect.cli.data_options import credited, data_words
from probe_effect.cli.measure_display import display, progress, show_cut_short, show_leftovers, show_plan, show_skipped
from probe_effect.cli.measure_settings import (
    MeasureOptions,
    command_words,
    counts,
    default_blocks,
    lengths,
    machine_words,
)
from probe_effect.cli.measure_target import MeasurementTarget, emulable, target, tree_named, with_tree, without_builds
from probe_effect.emulated.architecture import ARCHITECTURES
from probe_effect.emulated.kvm import KvmUnusable
from probe_effect.errors import UsageError, unknown
from probe_effect.host import typed
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.machine import kernel
from probe_effect.measure.bench import Settings
from probe_effect.measure.interrupt import interruptible
from probe_effect.measure.request import Work, choose_suites, choose_tracers, first_look, resolve
from probe_effect.measure.resume import cut_short, reopen, unfinished, work_of
from probe_effect.measure.run import measure as measure_suite
from probe_effect.measure.run import resume as resume_suite
from probe_effect.measure.submission import hand_to_sudo_user
from probe_effect.measure.tree import named_tree
from probe_effect.numbers import names
from probe_effect.store.machine_file import Submitter
from probe_effect.store.places import DataFolder, SubmissionFolder


def run(data: DataFolder, results: Path, options: MeasureOptions) -> None:
    """Measure, or continue what was cut short; where no time can be taken in a guest, count its instructions instead.

    Raises: UsageError, HostNotReady.
    """
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
        suites = without_builds(suites)
    if options["vm"]:
        suites = emulable(suites, are_named=bool(options["suites"]), are_counted=counts(options))
    # Check that each named case belongs to a suite and to the architecture, which is known before a machine is.
    cases = {case.id: case for _, suite in suites for case in suite.cases}
    unknown(options["cases"], cases, "case")
    architecture = ARCHITECTURES[options["architecture"]].machine if options["vm"] else kernel.architecture()
    for name in options["cases"]:
        if not cases[name].is_of(architecture):
            msg = f"{name}: a case of another architecture; the machine is {names.architecture(architecture)}"
            raise UsageError(msg)
    if not options["dry_run"]:
        show_leftovers(progress)
    with interruptible() if options["vm"] else nullcontext(), target(suites, results, options) as on:
        if options["resume"]:
            _resume(on, data, results, options["suites"])
        else:
            _measure(on, data, results, options)


def _measure(on: MeasurementTarget, data: DataFolder, results: Path, options: MeasureOptions) -> None:
    show_cut_short(progress, cut_short(results))
    named = tree_named(options["source"], on.suites)
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
        built = with_tree(work, named)
        show_skipped(progress, work)
        with display(progress) as tell, interruptible():
            submission = measure_suite(built, settings, on.testbed, tell)
        _show_product(submission, data_words(data), settings.command)


def _settings(work: Work, data: DataFolder, results: Path, options: MeasureOptions, submitter: Submitter) -> Settings:
    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    # The words that continue a run from whatever folder, after the program's name.
    vm = options["vm"]
    words = ["measure", work.suite.id, "--resume"]
    if vm:
        whole = str(Path(vm).resolve()) if Path(vm).is_file() else vm
        words += machine_words(whole, options)
    return Settings(
        results=results,
        blocks=options["blocks"] or default_blocks(options),
        seed=seed,
        command=command_words(work.suite.id, options, seed),
        lengths=lengths(quick=options["quick"], counted=counts(options)),
        submitter=submitter,
        author=options["author"],
        fleet_name=options["fleet_name"],
        continued_by=(*words, "--out", str(results.resolve()), *data_words(data)),
        calibrate=recorded if options["calibrate"] and not options["vm"] else None,
    )


def _resume(on: MeasurementTarget, data: DataFolder, results: Path, suites: Sequence[str]) -> None:
    """Continue what was cut short, with the settings that it was begun with."""
    for one in unfinished(results, suites, on.testbed):
        work = work_of(one, on.suites, on.known)
        work = with_tree(work, named_tree(Path(one.plan.tree)) if one.plan.tree else None)
        opened = reopen(one, work, on.testbed)
        run = one.document.run
        made = lengths(quick=one.plan.is_quick, counted=run.metric == "instructions")
        calibrate = None if {"--vm", "--no-calibrate"} & {*run.command} else recorded
        settings = Settings(
            results=results, blocks=run.blocks, seed=run.seed, command=run.command, lengths=made, calibrate=calibrate
        )
        with display(progress) as tell, interruptible():
            submission = resume_suite(opened, work, settings, on.testbed, tell)
        _show_product(submission, data_words(data), run.command)


def _show_product(submission: SubmissionFolder, where: Sequence[str], command: Sequence[str]) -> None:
    hand_to_sudo_user(submission.folder)
    output.product(str(submission.folder))
    output.say(f"to read it: {typed('summarise', submission.folder, *where)}")
    publish = f"to publish it: {typed('submit', submission.folder, *where)}"
    output.say("not to be published: the times of a rehearsal say nothing" if "rehearsal" in command else publish)
