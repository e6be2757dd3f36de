"""`probe-effect tools`: the probes and actions of standard tools, read again from the scripts of their package."""

from __future__ import annotations

from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option


@click.command()
@click.option("--write", is_flag=True, help="Write data/tools/; without it, only print what would stand there.")
@click.option(
    "--scripts",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of the scripts, of another version than the installed one. [default: where the package has them]",
)
@click.option("--version", "version", help="Version of the package in that folder. [default: the installed one]")
@data_option
def tools(data_path: Path | None, write: bool, scripts: Path | None, version: str | None) -> None:  # noqa: FBT001
    """Read the standard tools of packages again, from the scripts that are installed here.

    What each answers is written by hand in data/tools/<package>.toml; its probes, its actions and the version are
    read from the tools' own scripts. A package whose probes people read stays as it is.
    """
    from probe_effect.cli.tools_run import renewed

    for path, text in renewed(data_folder(data_path), scripts, version):
        if write:
            path.write_text(text, encoding="utf-8")
        output.product(str(path) if write else text)
