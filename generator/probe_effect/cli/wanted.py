"""`probe-effect doctor`, `suites` and `wanted`: what this machine can measure, and what the site lacks.

The JSON has `machines`: `machine`, `cases`, `first` and `suite` of each kind that lacks cases; `kernels`; `uncounted`;
and `here`: each suite that this machine can measure as `numbers/wanted.py` has it, the most wanted first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.cli.tables import show_section, show_table
from probe_effect.guests.debian import ARCHITECTURES, DEFAULT

if TYPE_CHECKING:
    from probe_effect.numbers.wanted import SuiteTurn
    from probe_effect.store.suite_file import Suite


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
        from probe_effect.cli import doctor_vm

        doctor_vm.run(vm, arch, output_format)
        return
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.cli.doctor_run import mount, run
    from probe_effect.host.kernel import mount_for_our_time

    if for_good:
        mount()
    mount_for_our_time()
    output.end(0 if run(data, output_format) else 3)


@click.command()
@data_option
@output.format_option
def suites(data_path: Path | None, output_format: str) -> None:
    """List suites and cases, and for each tracer whether it can run here and why not."""
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.host.kernel import mount_for_our_time
    from probe_effect.measure.request import choose_suites
    from probe_effect.tracers.tool import known_tracers

    mount_for_our_time()
    # Many start their tool to find out, and are asked once, not once for each suite.
    absent = {tracer.id: tracer.available() for tracer in known_tracers().values()}
    rows = [row for folder, suite in choose_suites(data, []) for row in _rows(folder, suite, absent)]
    if output_format == "json":
        output.product_json({"cases": rows})
        return

    reasons = list(dict.fromkeys(row["missing"] for row in rows if row["missing"]))
    marks = {None: "yes"} | {reason: f"no [{number}]" for number, reason in enumerate(reasons, 1)}
    cells = ([row["suite"], row["case"], row["tracer"], marks[row["missing"]]] for row in rows)
    show_table(["suite", "case", "tracer", "can run here"], [], cells)
    show_section("\nWhy not", ([f"[{number}]", reason] for number, reason in enumerate(reasons, 1)))


def _rows(folder: Path, suite: "Suite", absent: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """One row per case and tracer that the suite has a script for; `absent`: tracer to why it cannot run here."""
    from probe_effect.host.system import architecture
    from probe_effect.numbers import names
    from probe_effect.store.suite_file import script_paths
    from probe_effect.tracers.tool import known_tracers

    here = architecture()
    rows: list[dict[str, Any]] = []
    for case in suite.cases:
        elsewhere = (
            None if case.is_of(here) else f"only {' and '.join(map(names.architecture, case.architectures))} has it"
        )
        for tracer in known_tracers().values():
            if scripts := script_paths(folder, suite, case.id, tracer.tool):
                reasons = (elsewhere, absent[tracer.id], *(tracer.missing(need) for need in case.needs))
                missing = next(filter(None, reasons), None)
                named = {"suite": suite.id, "case": case.id, "tracer": tracer.id}
                rows.append({**named, "levels": tuple(chain.from_iterable(scripts.values())), "missing": missing})
    return rows


MINUTE_S = 60


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), help="Of this machine show only what fits into as many.")
@data_option
@output.format_option
def wanted(*, minutes: int | None, data_path: Path | None, output_format: str) -> None:
    """Say which machines, kernels and cases nobody has measured, and what to measure first here."""
    data = data_folder(data_path, only_asks=True)

    from probe_effect.cli.doctor_run import known_numbers, turns_here, works_here
    from probe_effect.host.kernel import mount_for_our_time
    from probe_effect.numbers.wanted import fitted, lacking, uncounted, untimed_kernels

    mount_for_our_time()
    catalogue = known_numbers(data, data.results)
    turns = turns_here(catalogue, works_here(data))
    turns = turns if minutes is None else fitted(turns, minutes * MINUTE_S)
    kinds = [(one.words, one.number, one.number_first, one.suite) for one in lacking(catalogue)]
    without = {suite: [case.id for case in cases] for suite, cases in uncounted(catalogue).items()}
    kernels = untimed_kernels(catalogue)
    if output_format == "json":
        machines = [dict(zip(("machine", "cases", "first", "suite"), one, strict=True)) for one in kinds]
        here = [asdict(one) | {"takes_s": one.takes_s} for one in turns]
        output.product_json({"machines": machines, "kernels": kernels, "uncounted": without, "here": here})
        return
    rows = [[str(cell) for cell in one] for one in kinds]
    show_table(["machine"], ["cases without a time", "of which no machine has one"], rows, ["begin with"])
    output.product("")
    show_section("Counted, and not timed", [("kernels", ", ".join(kernels))] if kernels else [])
    show_section("Without a count", ((suite, ", ".join(cases)) for suite, cases in without.items()))
    show_turns("This machine, the most wanted first", turns)


def show_turns(title: str, turns: "Iterable[SuiteTurn]", *, aside: bool = False) -> None:
    """Each suite with how long it takes, and what is new in it."""
    show_section(title, map(_row, turns), aside=aside)


def _row(one: "SuiteTurn") -> tuple[str, ...]:
    how = f"{one.blocks} blocks{', quick' if one.is_quick else ''}"
    first = f", {len(one.first)} that no machine has" if one.first else ""
    new = f"{len(one.own)} new on such a machine{first}" if one.own else "such a machine has all of them"
    cases = f"{one.cases} case{'s' if one.cases > 1 else ''}"
    return one.suite, f"{max(1, round(one.takes_s / MINUTE_S))} min, {how}", f"{cases}, {new}"
