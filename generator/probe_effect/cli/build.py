"""`probe-effect build`, `serve`, `release`, `dictionary`, `tools` and `transcripts`: what is made of the data."""

import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import PATH, data_folder, data_option, own_project
from probe_effect.model import BadData, HostNotReady, ProbeEffectError, UsageError

repository_option = click.option(
    "--repository", default="", envvar="PROBE_EFFECT_REPOSITORY", help="Address of the public repository, to link it."
)


def _shard(text: str) -> tuple[int, int]:
    """Which shard of how many. Raises: click.BadParameter for anything but two numbers, the first no larger."""
    shard = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text, re.ASCII)
    if shard is None or not 1 <= int(shard[1]) <= int(shard[2]):
        raise click.BadParameter(f"{text!r} is not a shard. Expected one such as 3/8: the third of eight.")
    return int(shard[1]), int(shard[2])


@click.command()
@data_option
@click.option("--out", type=PATH, help="Where the site goes. [default: build/site of the checkout]")
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
    project, data = own_project(), data_folder(data_path)

    from probe_effect.site.assemble import Shard, make_shard
    from probe_effect.site.build import BuildPlaces, SiteOptions, build_site

    if shard is not None:
        if data.kept.folder is None:
            reason = "nothing is kept under sudo or without a home, so a shard of a build would be lost"
            raise HostNotReady(f"{reason}. Run this as yourself.")
        output.say(f"{make_shard(data, Shard(*shard))} submissions of shard {shard[0]}/{shard[1]}")
        output.product(str(data.kept.folder))
        return
    places = BuildPlaces(project, data, (out or project / "build" / "site").resolve())
    _tell(build_site(places, SiteOptions(base_url, repository)))
    output.say(f"{sum(1 for _ in places.out.rglob('index.html'))} pages. To look at them: make serve")
    output.product(str(places.out))


def _tell(steps: Iterable[str]) -> None:
    for step in steps:
        output.say(f"  {step}")


@click.command()
@data_option
@repository_option
@click.option("--port", default=1313, show_default=True, help="Port on this machine.")
def serve(data_path: Path | None, repository: str, port: int) -> None:
    """Show the site on this machine; pages, styles and data reload as they change."""
    project, data = own_project(), data_folder(data_path)

    from watchfiles import watch

    from probe_effect.site import build as site
    from probe_effect.site.assemble import FOLDERS
    from probe_effect.site.files import mirror

    places = site.BuildPlaces(project, data, (project / "build" / "serve" / "site").resolve())
    options = site.SiteOptions(repository=repository)
    watched = places.out.with_name("watched")

    def refresh() -> None:
        _tell(site.assemble_work(places, options))
        for part in FOLDERS:
            mirror(places.work / part, watched / part)

    refresh()
    configuration = site.write_configuration(project, watched, site.fitted(options, places))
    hugo = [*site.hugo_command(project, configuration), "server", "--renderToMemory", "--noBuildLock"]
    with subprocess.Popen([*hugo, "--port", str(port)], env=site.environment()) as server:
        try:
            for _ in watch(data.root, stop_event=None, raise_interrupt=False):
                try:  # a fault is told, and the last good pages stay
                    refresh()
                except BadData as error:
                    output.show_problems(error.problems)
                except ProbeEffectError as error:
                    output.say(f"error: {error}")
        finally:
            with suppress(ProcessLookupError):
                server.terminate()


@click.command()
@click.argument("version")
@data_option
def release(version: str, data_path: Path | None) -> None:
    """Freeze the data as VERSION, year and month: 2026.11, then 2026.11.2.

    It goes to data/releases/VERSION: one archive of all data, every number as a table, and the hash of each file. A
    release is never changed; the data must be sound before it.

    \b
    Example: probe-effect release 2026.11
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path)

    from probe_effect.checks.run import check_all
    from probe_effect.numbers.catalogue import read_catalogue
    from probe_effect.site.releases import make_release

    problems = [problem for problem in check_all(data) if problem.severity == "error"]
    if problems:
        raise BadData(problems)
    made = make_release(data, read_catalogue(data), version, datetime.now(UTC).date().isoformat())
    output.say(f"{len(made.document.files)} files of data version {made.document.data_version}")
    output.say("Set version and date in CITATION.cff and .zenodo.json too.")
    output.product(str(made.folder))


def program_notes(changelog: str) -> dict[str, str]:
    _, *parts = re.split(r"^## (\d\S*), .*\n", changelog, flags=re.MULTILINE)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


@click.command("release-notes")
@click.argument("version")
@data_option
def release_notes(version: str, data_path: Path | None) -> None:
    """Print what the release VERSION changed, as Markdown: of the data, or of the program (in a clone).

    \b
    Example: probe-effect release-notes 2026.11
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path)
    changelog = data.root.parent / "CHANGELOG.md"
    programs = program_notes(changelog.read_text(encoding="utf-8")) if changelog.is_file() else {}
    if version in programs:
        output.product(programs[version])
        return

    from probe_effect.numbers.catalogue import read_catalogue
    from probe_effect.site.pages.changes_page import notes

    catalogue = read_catalogue(data)
    releases = {data_release.version: data_release for data_release in catalogue.releases}
    if version not in releases:
        raise UsageError(f"{version}: is no release. There are: {', '.join([*releases, *programs]) or 'none'}.")
    output.product(notes(releases[version], catalogue).rstrip("\n"))


@click.command()
@click.option("--write", is_flag=True, help="Write data/README.md, data/LICENSE and data/schema/.")
@data_option
def dictionary(data_path: Path | None, write: bool) -> None:  # noqa: FBT001 (click passes options by name)
    """Print what every column, key and rule of the data format means."""
    from probe_effect.site.data_folder import written_files

    if not write:
        output.product(written_files()["README.md"])
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
