"""`probe-effect wanted`: what the site lacks, and in which order this machine would measure it."""

from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), help="Show what fits into so many minutes.")
@data_option
@output.format_option
def wanted(*, minutes: int | None, data_path: Path | None, output_format: str) -> None:
    """Say which machines, kernels and cases nobody has measured, and what to measure first here."""
    data = data_folder(data_path, only_asks=True)

    from probe_effect.cli.wanted_run import run

    run(data, minutes, output_format)
