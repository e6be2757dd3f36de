"""`probe-effect measure`: run suites on this machine and write submissions."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
from click.core import ParameterSource

from probe_effect.cli import output
from probe_effect.cli.measure_display import display, show_cut_short, show_leftovers, show_skipped
from probe_effect.cli.measure_plan import show_plan
from probe_effect.cli.places import data_folder, data_option
from probe_effect.measure.bench import Settings
from probe_effect.measure.calibrate import QUICK, THOROUGH
from probe_effect.measure.interrupt import interruptible
from probe_effect.measure.request import check_cases, choose_suites, choose_tracers, first_look, resolve
from probe_effect.measure.resume import cut_short, reopen, unfinished, work_of
from probe_effect.measure.run import measure as measure_suite
from probe_effect.measure.run import resume as resume_suite
from probe_effect.measure.submission import Author
from probe_effect.store.machine_file import Submitter
from probe_effect.tracers.registry import known_tracers, with_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probe_effect.measure.resume import Unfinished
    from probe_effect.store.places import Submission

BLOCKS = 20
QUICK_BLOCKS = 6
"""Fewest blocks that carry a 95 % interval."""


@click.command()
@click.argument("suites", metavar="[SUITE]...", nargs=-1)
@click.option(
    "--tracer",
    "tracers",
    multiple=True,
    metavar="NAME[=PATH]",
    help="Only this tracer, or another version of it by its path; repeat for several.",
)
@click.option("--case", "cases", multiple=True, help="Only this case; repeat for several.")
@click.option("--blocks", type=click.IntRange(1, 1000), help=f"Rounds. [default: {BLOCKS}, quick: {QUICK_BLOCKS}]")
@click.option("--quick", is_flag=True, help="A first look: short runs, few blocks, one tracer unless more are named.")
@click.option("--seed", type=click.IntRange(0, 2**53), help="Seed of the random order. [default: a fresh one]")
@click.option("--resume", is_flag=True, help="Continue what was cut short, by the same plan.")
@click.option("--dry-run", is_flag=True, help="Print the plan, and measure nothing.")
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
    out: Path | None,
    name: str | None,
    url: str | None,
    provenance: Author,
    data_path: Path | None,
) -> None:
    """Measure suites on this machine, all of them by default, and print the folder of each submission."""
    if resume:
        _check_resumable(click.get_current_context())
    data = data_folder(data_path)
    chosen = choose_suites(data, suites)
    known, names = with_paths(known_tracers(), tracers)
    if not dry_run:
        show_leftovers(output.progress)
    if resume:
        for one in unfinished(out or data.results, suites):
            work = work_of(one, chosen, known)
            opened = reopen(one, work)
            with display(output.progress) as tell, interruptible():
                _show_product(resume_suite(opened, work, _settings_of(one, out or data.results), tell))
        return
    show_cut_short(output.progress, cut_short(out or data.results))
    check_cases([suite for _, suite in chosen], cases)
    ready = choose_tracers(known, names)
    submitter = _submitter(name, url)
    works = [resolve(folder, suite, ready, cases) for folder, suite in chosen]
    if quick and not names:
        works = [first_look(work) for work in works]
    for work in (work for work in works if work.measured or work.skipped):
        number = secrets.randbits(32) if seed is None else seed
        settings = Settings(
            results=out or data.results,
            blocks=blocks or (QUICK_BLOCKS if quick else BLOCKS),
            seed=number,
            command=_command(work.suite.id, tracers, cases, blocks, quick=quick, seed=number),
            lengths=QUICK if quick else THOROUGH,
            submitter=submitter,
            author=provenance,
        )
        if dry_run:
            show_plan(work, settings)
            continue
        show_skipped(output.progress, work)
        with display(output.progress) as tell, interruptible():
            _show_product(measure_suite(work, settings, tell))


def _check_resumable(context: click.Context) -> None:
    """Nothing, when no option is given that the plan has already. Raises: click.UsageError."""
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given - {"suites", "resume", "out", "data_path"}:
        msg = "--resume takes suites and --out only: what is measured, how and for whom, is in what it continues"
        raise click.UsageError(msg)


def _show_product(submission: Submission) -> None:
    output.product(str(submission.folder))
    output.progress.print(f"to read it: probe-effect summarise {submission.folder}", markup=False)


def _settings_of(one: Unfinished, results: Path) -> Settings:
    """The settings with which an unfinished run was begun."""
    run = one.document.run
    lengths = QUICK if one.plan.is_quick else THOROUGH
    return Settings(results=results, blocks=run.blocks, seed=run.seed, command=run.command, lengths=lengths)


def _submitter(name: str | None, url: str | None) -> Submitter:
    try:
        return Submitter(name=name, url=url)
    except ValueError as error:
        msg = "--name or --url: expected a name on one line, and an address such as https://example.org/me"
        raise click.UsageError(msg) from error


def _command(
    suite: str, tracers: Sequence[str], cases: Sequence[str], blocks: int | None, *, quick: bool, seed: int
) -> tuple[str, ...]:
    """The command that repeats this run. Folders and credits stay out: they can hold user names."""
    words = ["probe-effect", "measure", suite]
    words += [word for tracer in tracers for word in ("--tracer", _without_folder(tracer))]
    words += [word for case in cases for word in ("--case", case)]
    words += ["--quick"] if quick else []
    words += ["--blocks", str(blocks)] if blocks else []
    return (*words, "--seed", str(seed))


def _without_folder(tracer: str) -> str:
    """`bpftrace=bpftrace` for `bpftrace=/home/me/bin/bpftrace`."""
    name, has_path, path = tracer.partition("=")
    return f"{name}={Path(path).name}" if has_path else name
