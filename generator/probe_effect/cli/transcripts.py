"""`probe-effect transcripts`: the commands of the guide, run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from probe_effect.cli.data_options import data_folder, data_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--write", is_flag=True, help="Record what they print in data/transcripts/recorded/.")
@data_option
def transcripts(data_path: Path | None, ids: tuple[str, ...], write: bool) -> int:  # noqa: FBT001
    """Run the commands of the guide here, and record what they print.

    Each is run in an empty folder, and printed with its output; without ID, all of them. A command that lacks
    something here, or that does not print what it is there for, is told with the reason, and its record stays as it
    was.
    """
    from probe_effect.cli.transcripts_run import run_all

    return run_all(data_folder(data_path), ids, write=write)
