"""`probe-effect compare`: two submissions, two machines, or two tracers, and what differs besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from probe_effect.cli import compare_instructions, compare_instructions_output, compare_output, compare_times, output
from probe_effect.cli.compare_gate import PERCENT, exit_status, show_verdict
from probe_effect.cli.compare_sides import common_metric, read_side, told_apart
from probe_effect.cli.places import data_folder, data_option
from probe_effect.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probe_effect.cli.compare_instructions_output import CountsCompared
    from probe_effect.cli.compare_output import Compared
    from probe_effect.cli.compare_sides import Given


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--tracers", nargs=2, metavar="T U", help="Compare two tracers of A with each other.")
@click.option("--case", "cases", multiple=True, help="Only this case; may be repeated.")
@click.option("--tracer", "only", multiple=True, help="Only this tracer; may be repeated.")
@click.option(
    "--fail-above",
    "fail_above_ratio",
    type=PERCENT,
    help="Of counted instructions: exit with 1 when a case takes more than PERCENT more in B than in A, or when a case "
    "of A has no sound count in B; --case and --tracer narrow what is looked at.",
)
@data_option
@output.format_option
@click.pass_context
def compare(
    context: click.Context,
    *,
    first: str,
    second: str | None,
    tracers: tuple[str, str] | None,
    cases: tuple[str, ...],
    only: tuple[str, ...],
    fail_above_ratio: float | None,
    data_path: Path | None,
    form: str,
) -> None:
    """Say where B costs more or less than A, and where no difference can be seen.

    A and B are folders of submissions, or machines by id or folder: of a machine the newest measurements count. Both
    hold times, or both hold instructions counted in an emulated machine.

    \b
    Example: probe-effect compare data/results/*/2026-11-20-per-event-{2,3}
    Example: probe-effect compare amd-epyc-2t-kvm-d4f3 --tracers bpftrace libbpf
    Example: probe-effect compare base/per-event head/per-event --fail-above 2%
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, may_be_new=True)
    if tracers and second is None and not only:
        found = _tracers(read_side(first, data), tracers, cases, fail_above_ratio)
    elif second is not None and not tracers:
        found = _sides(*told_apart(read_side(first, data), read_side(second, data)), cases, only, fail_above_ratio)
    else:
        msg = "expected A and B, or A and `--tracers T U` without `--tracer`"
        raise UsageError(msg)
    context.exit(_show_times(found, form) if isinstance(found, compare_output.Compared) else _show_counts(found, form))


def _sides(
    first: Given, second: Given, cases: Sequence[str], tracers: Sequence[str], fail_above_ratio: float | None
) -> Compared | CountsCompared:
    if common_metric(first, second) == "instructions":
        return compare_instructions.of_sides(first, second, cases, tracers, fail_above_ratio)
    _refuse_gate(fail_above_ratio)
    return compare_times.of_sides(first, second, cases, tracers)


def _tracers(
    side: Given, tracers: tuple[str, str], cases: Sequence[str], fail_above_ratio: float | None
) -> Compared | CountsCompared:
    if side.metrics == ["instructions"]:
        return compare_instructions.of_tracers(side, *tracers, cases, fail_above_ratio)
    _refuse_gate(fail_above_ratio)
    return compare_times.of_tracers(side, *tracers, cases)


def _refuse_gate(fail_above_ratio: float | None) -> None:
    """Raises: UsageError when a gate was asked for."""
    if fail_above_ratio is not None:
        msg = (
            "--fail-above: these are times, which do not repeat closely enough on a shared machine to decide so. "
            "Expected instructions, as `probe-effect measure SUITE --vm KERNEL` counts them."
        )
        raise UsageError(msg)


def _show_times(found: Compared, form: str) -> int:
    """The comparison on stdout, and the exit status."""
    if form == "json":
        output.product_json(compare_output.as_json(found))
    else:
        compare_output.show(found)
    return 0


def _show_counts(found: CountsCompared, form: str) -> int:
    """The comparison on stdout, the gate's verdict on stderr, and the exit status."""
    if form == "json":
        output.product_json(compare_instructions_output.as_json(found))
    else:
        compare_instructions_output.show(found)
    show_verdict(found)
    return exit_status(found)
