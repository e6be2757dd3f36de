"""`probe-effect cite`: text and BibTeX for a number, a submission, a machine, a case, a source, or all the data."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.places import data_folder, data_option
from probe_effect.errors import UsageError
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.pages import citing

if TYPE_CHECKING:
    from pathlib import Path

NEAREST = 3
MAX_SHOWN = 200


@click.command()
@click.argument("what", metavar="[ID]", default=citing.DATA)
@data_option
@click.option("--base-url", default="/", help="Address of the site; without it, citations have the path alone.")
@output.format_option
def cite(what: str, data_path: Path | None, base_url: str, form: str) -> None:
    """Say how to cite ID, as text and as BibTeX; without ID, the whole data set.

    \b
    ID is what the site's addresses have:
      <machine>/<folder>/<case>/<tracer>[/<level>]   one number, with its interval
      <machine>/<folder>                             a submission
      <machine>, <case>, <suite> or <source>
      <source>#<figure>                              a published figure
      data                                           the data set

    \b
    Examples:
      probe-effect cite
      probe-effect cite 06-uprobe
      probe-effect cite 'gregg-2011-pid-provider#cost_count' --format json
    """  # noqa: D301 (click reads the \b)
    things = citing.citable(read_catalogue(data_folder(data_path), base_url))
    wanted = what.strip("/")
    if wanted not in things:
        raise UsageError(_unknown(wanted, list(things)))
    found = things[wanted]()
    if form == "json":
        output.product_json({"id": wanted} | asdict(found))
    else:
        output.product(f"{found.text}\n\n{found.bibtex}")


def _unknown(wanted: str, known: list[str]) -> str:
    near = difflib.get_close_matches(wanted, known, NEAREST, 0.5)
    hint = f"Nearest: {', '.join(near)}." if near else "`probe-effect cite --help` says what an id looks like."
    return f"{wanted[:MAX_SHOWN]!r}: nothing here has this id. Expected an id as the site's addresses have it. {hint}"
