"""`probe-effect dictionary`, `tools` and `transcripts`: files made of the schema, of scripts and of commands."""

from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option


@click.command()
@click.option("--write", is_flag=True, help="Write data/README.md, data/LICENSE and data/schema/.")
@data_option
def dictionary(data_path: Path | None, write: bool) -> None:  # noqa: FBT001 (click passes options by name)
    """Print what every column, key and rule of the data format means."""
    from probe_effect.exports.dictionary import readme, written_files

    if not write:
        output.product(readme())
        return
    root = data_folder(data_path).root
    for name, text in written_files().items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        output.product(str(path))


@click.command()
@click.option("--write", is_flag=True, help="Write data/tools/; without it, only print what it would write.")
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
    from probe_effect.cli.upkeep_run import renewed

    for path, text in renewed(data_folder(data_path), scripts, version):
        if write:
            path.write_text(text, encoding="utf-8")
        output.product(str(path) if write else text)


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
    from probe_effect.cli.upkeep_run import run_all

    return run_all(data_folder(data_path), ids, write=write)
