"""`probe-effect doctor`: what this machine can measure, what is missing, and what makes it noisy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@data_option
@output.format_option
@click.pass_context
def doctor(context: click.Context, data_path: Path | None, output_format: str) -> None:
    """Say what this machine can measure, what is missing, and what makes it noisy.

    Exit status 3 when it can measure nothing.
    """
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.cli.doctor_run import run

    context.exit(0 if run(data, output_format) else 3)
