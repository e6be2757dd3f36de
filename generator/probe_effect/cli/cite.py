"""`probe-effect cite`: text and BibTeX for a number, a submission, a machine, a case, a source, or all the data."""

import difflib
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probe_effect.cli import output
from probe_effect.cli.data_options import data_folder, data_option
from probe_effect.errors import UsageError
from probe_effect.store.places import DataFolder

if TYPE_CHECKING:
    from probe_effect.numbers.catalogue import Catalogue
    from probe_effect.numbers.citation import Citation

NEAREST = 3
MAX_SHOWN = 200


@click.command()
@click.argument("what", metavar="[ID]", default="data")
@data_option
@click.option("--base-url", default="/", help="Address of the site; without it, citations have the path alone.")
@output.format_option
def cite(what: str, data_path: Path | None, base_url: str, output_format: str) -> None:
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
    wanted = what.strip("/")
    found = _citation(wanted, data_folder(data_path, only_asks=True), base_url)
    if output_format == "json":
        output.product_json({"id": wanted} | asdict(found))
    else:
        output.product(f"{found.text}\n\n{found.bibtex}")


def _citation(wanted: str, data: DataFolder, base_url: str) -> "Citation":
    """How that id is cited. Raises: UsageError, with the nearest ids, where nothing has it."""
    from probe_effect.pages import citing

    known: list[str] = []
    for catalogue in _catalogues(wanted, data, base_url):
        things = citing.citable(catalogue)
        if wanted in things:
            return things[wanted]()
        known = list(things)
    near = difflib.get_close_matches(wanted, known, NEAREST, 0.5)
    hint = f"Nearest: {', '.join(near)}." if near else "`probe-effect cite --help` says what an id looks like."
    msg = f"{wanted[:MAX_SHOWN]!r}: nothing here has this id. Expected an id as the site's addresses have it. {hint}"
    raise UsageError(msg)


def _catalogues(wanted: str, data: DataFolder, base_url: str) -> "Iterator[Catalogue]":
    """Suites and the machine that the id begins with, of which most that is cited is; and then all."""
    from probe_effect.numbers.catalogue import read_catalogue, read_numbers
    from probe_effect.numbers.citation import Edition
    from probe_effect.store.release_file import data_version

    machine = wanted.partition("/")[0]
    own = read_numbers(data, [files for files in data.submissions() if files.machine == machine])
    yield replace(own, edition=Edition(data_version(data).text, base_url))
    yield read_catalogue(data, base_url)
