"""`probe-effect build` and `serve`: data to site, and the site on a port with live reload."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option
from probe_effect.errors import BadData, ProbeEffectError
from probe_effect.exports.assemble import FOLDERS
from probe_effect.exports.build import Places, assemble_work, build_site, fitted
from probe_effect.exports.hugo import SiteOptions, environment, hugo_command, write_configuration
from probe_effect.exports.mirror import mirror
from probe_effect.store.places import project_or_error

out_option = click.option(
    "--out", type=click.Path(path_type=Path), help="Where the site goes. [default: build/site of the checkout]"
)
repository_option = click.option(
    "--repository", default="", envvar="PROBE_EFFECT_REPOSITORY", help="Address of the public repository, to link it."
)


def _places(data_path: Path | None, out: Path | None) -> Places:
    project = project_or_error(Path.cwd())
    return Places(project, data_folder(data_path), (out or project / "build" / "site").resolve())


@click.command()
@data_option
@out_option
@repository_option
@click.option("--base-url", default="/", help="Address of the site, where links must be absolute.")
def build(data_path: Path | None, out: Path | None, repository: str, base_url: str) -> None:
    """Build the site from data; the previous one stays whole until the new one is."""
    places = _places(data_path, out)
    for step in build_site(places, SiteOptions(base_url=base_url, repository=repository)):
        output.progress.print(f"  {step}", markup=False)
    pages = sum(1 for _ in places.out.rglob("index.html"))
    output.progress.print(f"{pages} pages. To look at them: make serve", markup=False)
    output.product(str(places.out))


@click.command()
@data_option
@repository_option
@click.option("--port", default=1313, show_default=True, help="Port on this machine.")
def serve(data_path: Path | None, repository: str, port: int) -> None:
    """Show the site on this machine; pages, styles and data reload as they change."""
    from watchfiles import watch  # noqa: PLC0415 (an extra that only this command needs)

    project = project_or_error(Path.cwd())
    places, options = _places(data_path, project / "build" / "serve" / "site"), SiteOptions(repository=repository)
    watched = places.out.with_name("watched")
    _refresh(places, watched, options)
    configuration = write_configuration(project, watched, fitted(options, places))
    command = [
        *hugo_command(project, configuration),
        "server",
        "--port",
        str(port),
        "--renderToMemory",
        "--noBuildLock",
    ]
    with subprocess.Popen(command, env=environment()) as server:
        try:
            for _ in watch(places.data.root, stop_event=None, raise_interrupt=False):
                _rebuild(places, watched, options)
        finally:
            with suppress(ProcessLookupError):
                server.terminate()


def _refresh(places: Places, watched: Path, options: SiteOptions) -> None:
    """Assemble the pages and bring the folder that Hugo watches up to date with them."""
    for step in assemble_work(places, options):
        output.progress.print(f"  {step}", markup=False)
    for part in FOLDERS:
        mirror(places.work / part, watched / part)


def _rebuild(places: Places, watched: Path, options: SiteOptions) -> None:
    """Refresh after a change in the data; a fault is told and the last good pages stay."""
    try:
        _refresh(places, watched, options)
    except BadData as error:
        output.show_problems(error.problems)
    except ProbeEffectError as error:
        output.progress.print(f"error: {error}", markup=False)
