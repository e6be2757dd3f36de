"""`probe-effect lend`: one command for the owner of a machine, from what it can measure to a submission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.cli.measure import AUTHORS

if TYPE_CHECKING:
    from probe_effect.cli.lend_run import LendOptions


@click.command()
@click.option("--minutes", type=click.IntRange(1, 10_000), default=60, show_default=True, help="How long, about.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--quiet-machine", is_flag=True, help="As root: set governor and turbo meanwhile, and put them back.")
@click.option("--restore", is_flag=True, help="Only put back what a killed `lend --quiet-machine` has set.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results. [default: results/ of the data]")
@click.option("--name", help="Name to credit in the submission.")
@click.option("--url", help="Web address to credit, starting with https://.")
@click.option("--provenance", "author", type=click.Choice(AUTHORS), default="third-party", help="Who runs it.")
@data_option
def lend(*, out: Path | None, data_path: Path | None, **options: Unpack[LendOptions]) -> None:
    """Lend this machine for MINUTES: measure what the site lacks most, check it, and say how to send it.

    Continues what an earlier `lend` began. Sets nothing on the machine unless --quiet-machine is given.
    """
    data = data_folder(data_path, may_be_new=True)

    from probe_effect.cli.lend_run import run

    run(data, out or data.results, options)
