"""`probe-effect measure` and `lab`: run suites on this machine, in an emulated one, or an experiment again."""

import re
from pathlib import Path
from typing import Unpack, get_args

import click
from click.core import ParameterSource

from probe_effect.cli.data_options import AUTHORS, PATH, data_folder, data_option, results_folder
from probe_effect.cli.measure_settings import (
    BLOCKS,
    LABORATORIES,
    QUICK_BLOCKS,
    VM_BLOCKS,
    VM_QUICK_BLOCKS,
    MeasureOptions,
    counts,
)
from probe_effect.guests.debian import ARCHITECTURES, DEFAULT
from probe_effect.guests.qemu import Accelerator

NEW = "new"
"""In place of a kernel: all that is new."""


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
    help="Count instructions in an emulated machine with this kernel: a release of Debian, a kernel's own version "
    "(6.12.94), or an image's path; or `new`: whatever kernel and bpftrace Debian has that were not counted yet.",
)
@click.option(
    "--arch",
    "architecture",
    type=click.Choice(list(ARCHITECTURES)),
    default=DEFAULT.debian,
    show_default=True,
    help="The processor of the machine that --vm emulates, whatever this one's is.",
)
@click.option(
    "--vm-accel",
    "accelerator",
    type=click.Choice(get_args(Accelerator)),
    default="tcg",
    help="kvm: take times instead, in a guest that this machine's own CPU runs.",
)
@click.option("--paths", is_flag=True, help="With --vm: record too what one event executes, by function (paths.csv).")
@click.option(
    "--source",
    type=PATH,
    metavar="DIR",
    help="The source tree that suites which build one are to build. In copies of it are run: `make clean` once, and "
    "for each run `make -j` with a job for each CPU. [default: the suite's project, fetched from Debian]",
)
@click.option(
    "--calibrate/--no-calibrate",
    default=True,
    help="Whether scripts are timed in a loop before they run over programs. [default: they are]",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Measure although something makes the times wrong: a CPU quota, or another tracer. It is recorded, and the "
    "times lead nothing.",
)
@click.option("--out", type=PATH, help="Folder for results. [default: results/ of the data]")
@click.option("--name", help="Name to credit in the submission.")
@click.option("--url", help="Web address to credit, starting with https://.")
@click.option("--provenance", "author", type=click.Choice(AUTHORS), default="third-party", help="Who runs it.")
@click.option(
    "--fleet-name", metavar="NAME", help="With --provenance project: the machine's name in .github/fleet.json."
)
@data_option
def measure(*, out: Path | None, data_path: Path | None, **options: Unpack[MeasureOptions]) -> None:
    """Measure suites on this machine, all of them by default, and print the folder of each submission.

    A suite that builds a project takes long, and is measured where it is named.
    """
    _check_fleet_name(options["fleet_name"], options["author"])
    if options["author"] == "hosted" and options["vm"] is not None:
        raise click.UsageError("--provenance hosted is of times of the runner itself; a machine of --vm is no runner")
    if options["paths"] and not counts(options):
        raise click.UsageError("--paths records what an emulator executes: it goes with --vm, without --vm-accel")
    context = click.get_current_context()
    given = {name for name in options if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if options["vm"] == NEW and given & {"resume", "tracers", "cases", "source", "accelerator"}:
        msg = "--vm new decides on tracers and cases by what was counted before; what was cut short is counted again"
        raise click.UsageError(msg)
    again = {"suites", "resume", "anyway", "vm", "architecture", "accelerator", "paths"}
    if not options["vm"]:
        again |= {"source"} | ({"tracers"} if all("=" in word for word in options["tracers"]) else set())
    if options["resume"] and given - again:
        raise click.UsageError(
            "--resume takes suites, --vm, --arch and --out, and --tracer NAME=PATH and --source where they are to be "
            "named again: what is measured, how and for whom, is in what it continues"
        )
    data = data_folder(data_path, may_be_new=True)
    results = results_folder(out, data_path, data)

    from probe_effect.cli.measure_run import run, run_new

    if options["vm"] == NEW:
        named = [options["architecture"]] if "architecture" in given else list(ARCHITECTURES)
        run_new(data, results, options, named)
    else:
        run(data, results, options)


def _check_fleet_name(name: str | None, author: str) -> None:
    if name is None:
        return
    if author != "project":
        msg = "--fleet-name: machines of the fleet are the project's; it goes with --provenance project"
        raise click.UsageError(msg)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        msg = f"--fleet-name: expected small letters, digits and single hyphens, as in .github/fleet.json; got {name!r}"
        raise click.UsageError(msg)


@click.command()
@click.argument("name", type=click.Choice(list(LABORATORIES)), metavar="|".join(LABORATORIES))
@click.option("--blocks", type=click.IntRange(1, 1000), default=20, show_default=True, help="Rounds.")
@click.option("--seed", type=click.IntRange(0, 2**53), help="Seed of the random order. [default: a fresh one]")
@click.option("--out", type=PATH, help="Keep the rows in this folder, as a submission. [default: none kept]")
@data_option
def lab(name: str, blocks: int, seed: int | None, out: Path | None, data_path: Path | None) -> None:
    """Repeat an experiment that others published: looper, dd or usdt. It takes less than two minutes.

    Prints what it cost here with its interval, beside what was printed then, and what to try next.
    """
    data = data_folder(data_path, only_asks=True)

    from probe_effect.cli.measure_run import run_lab

    run_lab(data, LABORATORIES[name], blocks, seed, out)
