"""`probe-effect watch`: what tracing costs this machine now."""

from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option


@click.command()
@click.option("--once", is_flag=True, help="Look once and end; JSON is always of one look.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=3600),
    default=2.0,
    show_default=True,
    help="How long each look takes.",
)
@click.option("--machine", help="The measured machine whose costs are taken. [default: measured here, or the nearest]")
@click.option("--no-calibrate", is_flag=True, help="Do not measure on this machine what probes cost.")
@data_option
@output.format_option
def watch(
    *, once: bool, seconds: float, machine: str | None, no_calibrate: bool, data_path: Path | None, output_format: str
) -> None:
    """Say what tracing costs this machine now, with what a probe costs before its program runs.

    Shows all loaded BPF programs, what is on in ftrace, and who holds perf events or traces by ptrace. The kernel's
    statistics of BPF programs are on while it looks, and go off with it. Needs root.

    \b
    Examples: probe-effect watch
              probe-effect watch --once --seconds 10 --format json
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path, only_asks=True)

    from probe_effect.calibration.asked import calibrated
    from probe_effect.cli.watch_run import run

    calibrate = None if no_calibrate else calibrated
    run(data, machine, calibrate, seconds=seconds, is_once=once or output_format == "json", output_format=output_format)
