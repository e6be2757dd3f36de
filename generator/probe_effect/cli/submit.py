"""`probe-effect submit`: from what was measured to a pull request, or to a folder that can be sent by hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from probe_effect.cli.data_options import data_folder, data_option, given_folders

if TYPE_CHECKING:
    from probe_effect.cli.submit_run import SubmitOptions


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]...")
@click.option("--name", help="Name to credit, shown on the pages of your machine.")
@click.option("--no-name", "nameless", is_flag=True, help="Credit nobody, and ask nothing.")
@click.option("--remote", metavar="REPOSITORY", help="Push the branch there, by name or address, and do no more.")
@click.option(
    "--here", is_flag=True, help="Open the pull request in the repository of the clone, even if it is a fork."
)
@click.option("--dry-run", is_flag=True, help="Show all and look at all, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask whether to go on.")
@click.option(
    "--allow", "allowed", multiple=True, metavar="WORD", help="A word that is a name here too, and may be published."
)
@data_option
def submit(folders: tuple[Path, ...], data_path: Path | None, **options: "Unpack[SubmitOptions]") -> None:
    """Propose the submissions in DIR for publication; without DIR, all that are not published yet.

    Shows what becomes public, looks for names of this machine and its user in it, and checks it. In a clone it then
    makes a branch with one commit for each machine, and the pull request where `gh` is logged in. The working tree
    stays as it is. Without `gh`, and outside a clone, it says what is left to be done by hand.

    \b
    Example: probe-effect submit --name "Your Name"
    Example: probe-effect submit data/results/my-machine/2026-11-20-per-event --no-name
    """  # noqa: D301 (click reads the \b)
    if options["name"] is not None and options["nameless"]:
        raise click.UsageError("--name and --no-name: one of them")
    data, chosen = data_folder(data_path, may_be_new=bool(folders)), given_folders(folders)

    from probe_effect.cli.submit_run import run

    run(chosen, data, options)
