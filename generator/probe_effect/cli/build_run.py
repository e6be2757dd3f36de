"""What `probe-effect build` and `serve` do: data to site, once or again with each change."""

import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from probe_effect.cli import output
from probe_effect.model import BadData, HostNotReady, ProbeEffectError
from probe_effect.site import assemble
from probe_effect.site.assemble import FOLDERS
from probe_effect.site.build import (
    BuildPlaces,
    SiteOptions,
    assemble_work,
    build_site,
    environment,
    fitted,
    hugo_command,
    write_configuration,
)
from probe_effect.site.files import mirror
from probe_effect.store.places import DataFolder


def build(project: Path, data: DataFolder, out: Path, base_url: str, repository: str) -> None:
    """Build the site and print its folder. Raises: BadData, ProbeEffectError."""
    places = BuildPlaces(project, data, out.resolve())
    _tell(build_site(places, SiteOptions(base_url, repository)))
    pages = sum(1 for _ in places.out.rglob("index.html"))
    output.say(f"{pages} pages. To look at them: make serve")
    output.product(str(places.out))


def make_shard(data: DataFolder, number: int, of: int) -> None:
    """Keep what a shard has and print where. Raises: HostNotReady where nothing can be kept."""
    folder = data.kept.folder
    if folder is None:
        msg = "nothing is kept under sudo or without a home, so a shard of a build would be lost. Run this as yourself."
        raise HostNotReady(msg)
    output.say(f"{assemble.make_shard(data, assemble.Shard(number, of))} submissions of shard {number}/{of}")
    output.product(str(folder))


def serve(project: Path, data: DataFolder, repository: str, port: int) -> None:
    """Show the site on `port` of this machine until somebody stops it."""
    from watchfiles import watch

    places = BuildPlaces(project, data, (project / "build" / "serve" / "site").resolve())
    options = SiteOptions(repository=repository)
    watched = places.out.with_name("watched")
    _refresh(places, watched, options)
    configuration = write_configuration(places.project, watched, fitted(options, places))
    hugo = [*hugo_command(places.project, configuration), "server", "--renderToMemory", "--noBuildLock"]
    with subprocess.Popen([*hugo, "--port", str(port)], env=environment()) as server:
        try:
            for _ in watch(places.data.root, stop_event=None, raise_interrupt=False):
                # Refresh after a change in the data; a fault is told and the last good pages stay.
                try:
                    _refresh(places, watched, options)
                except BadData as error:
                    output.show_problems(error.problems)
                except ProbeEffectError as error:
                    output.say(f"error: {error}")
        finally:
            with suppress(ProcessLookupError):
                server.terminate()


def _refresh(places: BuildPlaces, watched: Path, options: SiteOptions) -> None:
    """Assemble the pages and bring the folder that Hugo watches up to date with them."""
    _tell(assemble_work(places, options))
    for part in FOLDERS:
        mirror(places.work / part, watched / part)


def _tell(steps: Iterable[str]) -> None:
    for step in steps:
        output.say(f"  {step}")
