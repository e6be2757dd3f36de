"""`probe-effect wanted`: what the site lacks, and in which order this machine would measure it.

The JSON has `machines`: `machine`, `cases`, `first` and `suite` of each kind that lacks cases; `kernels`; `uncounted`;
and `here`: each suite that this machine can measure as `wanted/lacking.py` has it, the most wanted first.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.cli.tables import show_section, show_table

if TYPE_CHECKING:
    from probe_effect.wanted.lacking import SuiteTurn

MINUTE_S = 60


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), help="Of this machine show only what fits into as many.")
@data_option
@output.format_option
def wanted(*, minutes: int | None, data_path: Path | None, output_format: str) -> None:
    """Say which machines, kernels and cases nobody has measured, and what to measure first here."""
    data = data_folder(data_path, only_asks=True)

    from probe_effect.cli.lend_look import known_numbers, turns_here, works_here
    from probe_effect.host.mounts import mount_for_our_time
    from probe_effect.wanted.lacking import fitted, lacking, uncounted, untimed_kernels

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
