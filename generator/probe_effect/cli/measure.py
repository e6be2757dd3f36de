"""`probe-effect measure`: run suites on this machine, or in an emulated one, and write submissions."""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
from click.core import ParameterSource

from probe_effect.cli import output
from probe_effect.cli.measure_display import display, show_cut_short, show_leftovers, show_skipped
from probe_effect.cli.measure_ground import Request, ground
from probe_effect.cli.measure_plan import show_plan
from probe_effect.cli.measure_settings import (
    BLOCKS,
    QUICK_BLOCKS,
    VM_BLOCKS,
    VM_QUICK_BLOCKS,
    command_words,
    credited,
    default_blocks,
    lengths,
    settings_of,
)
from probe_effect.cli.places import data_folder, data_option
from probe_effect.emulated.qemu import Accelerator
from probe_effect.measure.bench import Settings
from probe_effect.measure.interrupt import interruptible
from probe_effect.measure.owner import hand_over
from probe_effect.measure.request import check_cases, choose_suites, choose_tracers, first_look, resolve
from probe_effect.measure.resume import cut_short, reopen, unfinished, work_of
from probe_effect.measure.run import measure as measure_suite
from probe_effect.measure.run import resume as resume_suite
from probe_effect.measure.submission import Author

if TYPE_CHECKING:
    from probe_effect.cli.measure_ground import Ground
    from probe_effect.store.places import Submission


@click.command()
@click.argument("suites", metavar="[SUITE]...", nargs=-1)
@click.option(
    "--tracer",
    "tracers",
    multiple=True,
    metavar="NAME[=PATH]",
    help="Only this tracer, or another version of it by its path (with --vm: by PACKAGE/RELEASE); repeat for several.",
)
@click.option("--case", "cases", multiple=True, help="Only this case; repeat for several.")
@click.option(
    "--blocks",
    type=click.IntRange(1, 1000),
    help=f"Rounds. [default: {BLOCKS}, quick: {QUICK_BLOCKS}; with --vm: {VM_BLOCKS}, quick: {VM_QUICK_BLOCKS}]",
)
@click.option("--quick", is_flag=True, help="A first look: short runs, few blocks, one tracer unless more are named.")
@click.option("--seed", type=click.IntRange(0, 2**53), help="Seed of the random order. [default: a fresh one]")
@click.option("--resume", is_flag=True, help="Continue what was cut short, by the same plan.")
@click.option("--dry-run", is_flag=True, help="Print the plan, and measure nothing.")
@click.option(
    "--vm",
    metavar="KERNEL",
    help="Count instructions in an emulated machine with this kernel: a release of Debian, or an image's path.",
)
@click.option(
    "--vm-accel",
    type=click.Choice(get_args(Accelerator)),
    default="tcg",
    help="kvm: take the time in a virtual machine instead, where this one's hardware can run it.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results. [default: results/ of the data]")
@click.option("--name", help="Name to credit in the submission.")
@click.option("--url", help="Web address to credit, starting with https://.")
@click.option("--provenance", type=click.Choice(get_args(Author)), default="third-party", help="Who runs it.")
@data_option
def measure(
    *,
    suites: tuple[str, ...],
    tracers: tuple[str, ...],
    cases: tuple[str, ...],
    blocks: int | None,
    quick: bool,
    seed: int | None,
    resume: bool,
    dry_run: bool,
    vm: str | None,
    vm_accel: Accelerator,
    out: Path | None,
    name: str | None,
    url: str | None,
    provenance: Author,
    data_path: Path | None,
) -> None:
    """Measure suites on this machine, all of them by default, and print the folder of each submission."""
    if resume:
        _check_resumable(click.get_current_context())
    data = data_folder(data_path, may_be_new=True)
    chosen = choose_suites(data, suites)
    results = out or data.results
    request = Request(
        suites=chosen, named=suites, tracers=tracers, vm=vm, accelerator=vm_accel, quick=quick, results=results
    )
    if not dry_run:
        show_leftovers(output.progress)
    with interruptible() if vm else nullcontext(), ground(request, resume=resume) as on:
        if resume:
            _resume(request, on)
            return
        show_cut_short(output.progress, cut_short(results))
        check_cases([suite for _, suite in on.suites], cases)
        ready = choose_tracers(on.known, on.names, as_root=True if vm else None)
        submitter = credited(name, url)
        works = [resolve(folder, suite, ready, cases, on.cpus) for folder, suite in on.suites]
        if quick and not on.names:
            works = [first_look(work) for work in works]
        for work in (work for work in works if work.measured or work.skipped):
            number = secrets.randbits(32) if seed is None else seed
            settings = Settings(
                results=results,
                blocks=blocks or default_blocks(quick=quick, vm=vm),
                seed=number,
                command=command_words(work.suite.id, request, cases, blocks, quick=quick, seed=number),
                lengths=lengths(quick=quick, vm=vm is not None),
                submitter=submitter,
                author=provenance,
            )
            if dry_run:
                show_plan(work, settings)
                continue
            show_skipped(output.progress, work)
            with display(output.progress) as tell, interruptible():
                _show_product(measure_suite(work, settings, on.testbed, tell))


def _resume(request: Request, on: Ground) -> None:
    """Continue what was cut short."""
    for one in unfinished(request.results, request.named, on.testbed.machine().id):
        work = work_of(one, on.suites, on.known)
        opened = reopen(one, work, on.testbed)
        with display(output.progress) as tell, interruptible():
            settings = settings_of(one, request.results)
            _show_product(resume_suite(opened, work, settings, on.testbed, tell))


def _check_resumable(context: click.Context) -> None:
    """Nothing, when no option is given that the plan has already. Raises: click.UsageError."""
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given - {"suites", "resume", "out", "data_path", "vm"}:
        msg = "--resume takes suites, --vm and --out only: what is measured, how and for whom, is in what it continues"
        raise click.UsageError(msg)


def _show_product(submission: Submission) -> None:
    hand_over(submission.folder)
    output.product(str(submission.folder))
    output.progress.print(f"to read it: probe-effect summarise {submission.folder}", markup=False)
    output.progress.print("to publish it: probe-effect submit", markup=False)
