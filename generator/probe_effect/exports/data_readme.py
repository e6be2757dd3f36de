"""What the files of all data are, in Markdown for people: the text that lies first in the zip, and every column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probe_effect.exports import licence
from probe_effect.exports.data_package import SUMMARY, TITLE
from probe_effect.pages.citing import cite_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from probe_effect.exports.table import Table
    from probe_effect.numbers.catalogue import Catalogue

LAYOUT = {
    "costs.csv, .json, .parquet": "what each case cost on each machine, a row a number",
    "counts.csv, .json, .parquet": "the same in instructions, counted in emulated machines; never mix the two",
    "figures.csv, .json, .parquet": "figures that others published, and what they come to when computed again",
    "samples.parquet": "every single run of every submission",
    "results/<machine>/<date>-<suite>/": "the same runs as they were submitted: samples.csv, machine.json",
    "published/<source>/": "the same figures as they were transcribed: figures.csv, source.toml",
    "suites/<suite>/": "what was run: suite.toml, scripts, workload",
    "datapackage.json": "every table with its columns, bytes and SHA-256, for programs (Data Package)",
    "DICTIONARY.md": "what every column and key means",
    "changes.xml": "what was added, corrected and withdrawn, as an Atom feed",
    "schema/": "the same for programs: JSON Schema and Table Schema",
    "LICENSE": "the terms",
}
"""Path to what lies there."""


def readme(catalogue: Catalogue) -> str:
    """The text as Markdown."""
    edition, cited = catalogue.edition, cite_data(catalogue)
    lines = [f"# {TITLE}", "", SUMMARY, ""]
    lines += [f"Data version {edition.version}" + (f", of {edition.date}." if edition.date else "."), ""]
    lines += ["## What lies where", "", *(f"- `{path}`: {text}" for path, text in LAYOUT.items()), ""]
    lines += ["A missing value is an empty cell or null, never 0.", "Units end the names of columns.", ""]
    lines += ["## Citing", "", cited.text, "", "```bibtex", cited.bibtex.strip(), "```", ""]
    lines += ["## Terms", "", f"{licence.TITLE} ({licence.URL}); scripts and programs under `suites/`: Apache-2.0.", ""]
    return "\n".join(lines)


def columns(tables: Mapping[str, Table]) -> str:
    """What each column of the whole tables means, a section a table."""
    return "\n".join(_column_lines(tables)) + "\n"


def _column_lines(tables: Mapping[str, Table]) -> Iterator[str]:
    for name, table in tables.items():
        yield from (f"## {name}", "", f"{table.title}.", "", "| Column | Meaning | Kind |", "|:--|:--|:--|")
        for field in table.fields:
            kind = f"{field.kind}, {field.unit}" if field.unit else field.kind
            yield f"| `{field.name}` | {field.text} | {kind} |"
        yield ""
