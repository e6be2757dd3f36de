"""`probe-effect compare`: two submissions, two machines, or two tracers, and what differs besides."""

import re
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.errors import UsageError


def _percent(text: str) -> float:
    """A share in per cent, with or without its sign, as a ratio: 0.02 for `2%`, `2` and `2.0 %`.

    Raises: click.BadParameter for anything but a plain number that is not negative.
    """
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?%?", text.strip(), re.ASCII)
    if found is None:
        raise click.BadParameter(f"{text!r} is not a percentage. Expected one such as 2%, 2 or 0.5%.")
    return float(found[1]) / 100


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--tracers", "two_tracers", nargs=2, metavar="T U", help="Compare two tracers of A with each other.")
@click.option("--case", "cases", multiple=True, help="Only this case; may be repeated.")
@click.option("--tracer", "tracers", multiple=True, help="Only this tracer; may be repeated.")
@click.option(
    "--fail-above",
    "fail_above_ratio",
    type=_percent,
    metavar="PERCENT",
    help="Of counted instructions: exit with 1 when a case takes more than PERCENT more in B than in A, or when a case "
    "of A has no sound count in B. --case and --tracer narrow what is looked at.",
)
@click.option("--paths", is_flag=True, help="Also the functions of which an event does not execute the same.")
@data_option
@output.format_option
@click.pass_context
def compare(
    context: click.Context,
    *,
    first: str,
    second: str | None,
    two_tracers: tuple[str, str] | None,
    cases: tuple[str, ...],
    tracers: tuple[str, ...],
    fail_above_ratio: float | None,
    paths: bool,
    data_path: Path | None,
    output_format: str,
) -> None:
    """Say where B costs more or less than A, and where no difference can be seen.

    A and B are folders of submissions, or machines by id or folder: of a machine its current numbers count. Both
    hold times, or both hold instructions counted in an emulated machine.

    \b
    Example: probe-effect compare data/results/*/2026-11-20-per-event-{2,3}
    Example: probe-effect compare amd-epyc-2t-kvm-d4f3 --tracers bpftrace libbpf
    Example: probe-effect compare base/per-event head/per-event --fail-above 2%
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, only_asks=True)
    if bool(two_tracers) is (second is not None) or (two_tracers and tracers):
        raise UsageError("expected A and B, or A and `--tracers T U` without `--tracer`")

    from probe_effect.cli import compare_output
    from probe_effect.compare import compared
    from probe_effect.compare.sides import find_side, named_apart, read_sides

    sides = [find_side(text, data) for text in (first, second) if text is not None]
    read = read_sides(named_apart(*sides) if second is not None else sides, data)
    selection = compared.Selection(cases, tracers, fail_above_ratio)
    if two_tracers:
        found = compared.of_tracers(read[0], two_tracers, selection)
    else:
        found = compared.of_sides(read[0], read[1], selection)
    if output_format == "json":
        output.product_json(compare_output.as_json(found))
    else:
        compare_output.show(found, paths=paths)
    context.exit(0 if compare_output.show_verdict(found) else 1)
