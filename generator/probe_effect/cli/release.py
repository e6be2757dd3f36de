"""`probe-effect release` and `release-notes`: the data of a day, frozen under a version, and what is new in it."""

from datetime import UTC, datetime
from pathlib import Path

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.errors import BadData, UsageError


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
    from probe_effect.exports.releases import make_release
    from probe_effect.numbers.catalogue import read_catalogue

    problems = [problem for problem in check_all(data) if problem.severity == "error"]
    if problems:
        raise BadData(problems)
    made = make_release(data, read_catalogue(data), version, datetime.now(UTC).date().isoformat())
    count = len(made.document.files)
    output.say(f"{count} files of data version {made.document.data_version}")
    output.say("Set version and date in CITATION.cff and .zenodo.json too.")
    output.product(str(made.folder))


@click.command("release-notes")
@click.argument("version")
@data_option
def release_notes(version: str, data_path: Path | None) -> None:
    """Print what the data release VERSION added, corrected and withdrawn, as Markdown.

    \b
    Example: probe-effect release-notes 2026.11
    """  # noqa: D301 (click reads the \b)
    data = data_folder(data_path)

    from probe_effect.numbers.catalogue import read_catalogue
    from probe_effect.pages.changes_page import notes

    catalogue = read_catalogue(data)
    found = {one.version: one for one in catalogue.releases}
    if version not in found:
        raise UsageError(f"{version}: is no release. There are: {', '.join(found) or 'none'}.")
    output.product(notes(found[version], catalogue).rstrip("\n"))
