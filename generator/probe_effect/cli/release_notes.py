"""`probe-effect release-notes`: what is new in a data release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


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
    from probe_effect.pages.releases_page import notes

    catalogue = read_catalogue(data)
    found = {one.version: one for one in catalogue.releases}
    if version not in found:
        msg = f"{version}: is no release. There are: {', '.join(found) or 'none'}."
        raise UsageError(msg)
    output.product(notes(found[version], catalogue).rstrip("\n"))
