"""`probe-effect build` and `serve`: data to site, and the site on a port with live reload."""

import re
from pathlib import Path

import click

from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.store.places import project_or_error

repository_option = click.option(
    "--repository", default="", envvar="PROBE_EFFECT_REPOSITORY", help="Address of the public repository, to link it."
)


def _shard(text: str) -> tuple[int, int]:
    """Which shard of how many. Raises: click.BadParameter for anything but two numbers, the first no larger."""
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text, re.ASCII)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{text!r} is not a shard. Expected one such as 3/8: the third of eight.")
    return int(found[1]), int(found[2])


@click.command()
@data_option
@click.option(
    "--out", type=click.Path(path_type=Path), help="Where the site goes. [default: build/site of the checkout]"
)
@repository_option
@click.option("--base-url", default="/", help="Address of the site, where links must be absolute.")
@click.option(
    "--shard",
    metavar="K/N",
    type=_shard,
    help="Build no site: make and keep what the Kth of N builders makes ahead of one, each on a machine of its own.",
)
def build(
    data_path: Path | None, out: Path | None, repository: str, base_url: str, shard: tuple[int, int] | None
) -> None:
    """Build the site from data; the previous one stays whole until the new one is.

    What is made of one submission alone is kept in build/kept, and not made again. Of many submissions, several
    machines can make it: `--shard 1/8` on the first of eight, and so on; the build that finds all their entries in its
    build/kept goes on from there.
    """
    project, data = project_or_error(Path.cwd()), data_folder(data_path)

    from probe_effect.cli import build_run

    if shard is not None:
        build_run.make_shard(data, *shard)
    else:
        build_run.build(project, data, out or project / "build" / "site", base_url, repository)


@click.command()
@data_option
@repository_option
@click.option("--port", default=1313, show_default=True, help="Port on this machine.")
def serve(data_path: Path | None, repository: str, port: int) -> None:
    """Show the site on this machine; pages, styles and data reload as they change."""
    project, data = project_or_error(Path.cwd()), data_folder(data_path)

    from probe_effect.cli import build_run

    build_run.serve(project, data, repository, port)
