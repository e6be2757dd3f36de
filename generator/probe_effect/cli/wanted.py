"""`probe-effect doctor`, `suites`, `wanted` and `lend`: what this machine can measure, and what the site lacks.

The JSON of `wanted` has `machines`: `machine`, `cases`, `first` and `suite` of each kind that lacks cases. It also has
`kernels`, `uncounted`, and `here`: each suite that this machine can measure, the most wanted first.
"""

from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import AUTHORS, PATH, credited, data_folder, data_option, results_folder
from probe_effect.cli.output import show_section, show_table
from probe_effect.guests.debian import ARCHITECTURES, DEFAULT


@click.command()
@click.option("--mount", "for_good", is_flag=True, help="As root: mount tracefs and debugfs, and leave them mounted.")
@click.option("--vm", metavar="KERNEL", help="Try each mechanism of tracing on this kernel, in an emulated machine.")
@click.option("--arch", type=click.Choice(list(ARCHITECTURES)), default=DEFAULT.debian, help="Its processor.")
@data_option
@output.format_option
def doctor(*, for_good: bool, vm: str | None, arch: str, data_path: Path | None, output_format: str) -> None:
    """Say what this machine can measure, what is missing, and what makes it noisy.

    Where tracefs is not mounted, root's commands mount it for themselves and for as long as they run.

    Exit status 3 when it can measure nothing.
    """
    if vm is not None:
        from probe_effect.cli.doctor_run import try_mechanisms

        try_mechanisms(vm, arch, output_format)
        return
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.cli.doctor_run import mount, run_doctor
    from probe_effect.host.kernel import mount_for_our_time

    if for_good:
        mount()
    mount_for_our_time()
    output.end(0 if run_doctor(data, output_format) else 3)


@click.command()
@data_option
@output.format_option
def suites(data_path: Path | None, output_format: str) -> None:
    """List suites and cases, and for each tracer whether it can run here and why not."""
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.host.kernel import mount_for_our_time
    from probe_effect.host.system import architecture
    from probe_effect.measure.request import choose_suites
    from probe_effect.numbers import names
    from probe_effect.store.suite_file import script_paths
    from probe_effect.tracers.tool import known_tracers

    mount_for_our_time()
    # Many start their tool to find out, and are asked once, not once for each suite.
    absent = {tracer.id: tracer.available() for tracer in known_tracers().values()}
    rows: list[dict[str, Any]] = []  # one for each case and each tracer for which the suite has a script
    for folder, suite, case in ((*pair, case) for pair in choose_suites(data, []) for case in pair[1].cases):
        its = " and ".join(map(names.architecture, case.architectures))
        elsewhere = None if case.is_of(architecture()) else f"only {its} has it"
        for tracer in known_tracers().values():
            if scripts := script_paths(folder, suite, case.id, tracer.tool):
                why_not = (elsewhere, absent[tracer.id], *(tracer.missing(need) for need in case.needs))
                missing = next(filter(None, why_not), None)
                named = {"suite": suite.id, "case": case.id, "tracer": tracer.id}
                rows.append({**named, "levels": tuple(chain.from_iterable(scripts.values())), "missing": missing})
    if output_format == "json":
        output.product_json({"cases": rows})
        return

    reasons = list(dict.fromkeys(row["missing"] for row in rows if row["missing"]))
    marks = {None: "yes"} | {reason: f"no [{number}]" for number, reason in enumerate(reasons, 1)}
    cells = ([row["suite"], row["case"], row["tracer"], marks[row["missing"]]] for row in rows)
    show_table(["suite", "case", "tracer", "can run here"], [], cells)
    show_section("\nWhy not", ([f"[{number}]", reason] for number, reason in enumerate(reasons, 1)))


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), help="Of this machine show only what fits into as many.")
@data_option
@output.format_option
def wanted(*, minutes: int | None, data_path: Path | None, output_format: str) -> None:
    """Say which machines, kernels and cases nobody has measured, and what to measure first here."""
    data = data_folder(data_path, only_asks=True)

    from probe_effect.cli.doctor_run import MINUTE_S, known_numbers, show_turns, turns_here, works_here
    from probe_effect.host.kernel import mount_for_our_time
    from probe_effect.numbers.wanted import fitted, lacking, uncounted, untimed_kernels

    mount_for_our_time()
    catalogue = known_numbers(data, data.results)
    turns = turns_here(catalogue, works_here(data))
    turns = turns if minutes is None else fitted(turns, minutes * MINUTE_S)
    kinds = [
        (lacking_cases.words, lacking_cases.number, lacking_cases.number_first, lacking_cases.suite)
        for lacking_cases in lacking(catalogue)
    ]
    without = {suite: [case.id for case in cases] for suite, cases in uncounted(catalogue).items()}
    kernels = untimed_kernels(catalogue)
    if output_format == "json":
        machines = [dict(zip(("machine", "cases", "first", "suite"), kind, strict=True)) for kind in kinds]
        here = [asdict(turn) | {"takes_s": turn.takes_s} for turn in turns]
        output.product_json({"machines": machines, "kernels": kernels, "uncounted": without, "here": here})
        return
    rows = [[str(cell) for cell in kind] for kind in kinds]
    show_table(["machine"], ["cases without a time", "of which no machine has one"], rows, ["begin with"])
    output.product("")
    show_section("Counted, and not timed", [("kernels", ", ".join(kernels))] if kernels else [])
    show_section("Without a count", ((suite, ", ".join(cases)) for suite, cases in without.items()))
    show_turns("This machine, the most wanted first", turns)


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), default=60, show_default=True, help="How long, about.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--quiet-machine", "is_quiet", is_flag=True, help="Set governor and turbo, and put them back at the end.")
@click.option("--restore", is_flag=True, help="Only put back what a killed `lend --quiet-machine` has set.")
@click.option("--out", type=PATH, help="Folder for results. [default: results/ of the data]")
@click.option("--name", help="Name to credit in the submission.")
@click.option("--url", help="Web address to credit, starting with https://.")
@click.option("--provenance", type=click.Choice(AUTHORS), default="third-party", help="Who runs it.")
@data_option
def lend(
    *,
    minutes: int,
    yes: bool,
    dry_run: bool,
    is_quiet: bool,
    restore: bool,
    out: Path | None,
    data_path: Path | None,
    **credit: str | None,
) -> None:
    """Lend this machine for MINUTES: measure what the site lacks most, check it, and say how to send it.

    Continues what an earlier `lend` began. Sets nothing on the machine unless --quiet-machine is given.
    """
    data = data_folder(data_path, may_be_new=True)
    results = results_folder(out, data_path, data)
    credited(credit["name"], credit["url"])

    from probe_effect.cli.doctor_run import run_lend
    from probe_effect.measure.testbed import put_back

    put_back(output.say)
    if not restore:
        words = [word for name, value in credit.items() if value for word in (f"--{name}", value)]
        run_lend(data, results, minutes, words, yes=yes, dry_run=dry_run, is_quiet=is_quiet)
