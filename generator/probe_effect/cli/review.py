"""`probe-effect review`: what a pull request would change in the data."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from probe_effect.checks.against_base import new_problems
from probe_effect.cli import output
from probe_effect.cli.places import data_option
from probe_effect.cli.revisions import states
from probe_effect.errors import BadData
from probe_effect.guidance.catalogue import read_catalogue
from probe_effect.guidance.review import review as review_of
from probe_effect.pages.review import MAX_COMMENT_BYTES, MAX_SUMMARY_BYTES, markdown, sections
from probe_effect.pages.review_report import MAX_REPORT_BYTES, ReviewReport, fitted
from probe_effect.pages.review_rows import report
from probe_effect.store.difference import difference
from probe_effect.store.documents import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probe_effect.cli.revisions import State
    from probe_effect.model import Problem
    from probe_effect.pages.review import Section


@click.command()
@click.argument("base")
@click.argument("head", required=False)
@data_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="For people, for a page of GitHub's, or for programs.",
)
@click.pass_context
def review(context: click.Context, base: str, head: str | None, data_path: Path | None, form: str) -> None:
    """Say what HEAD would change in the data that BASE has published.

    Each is a data folder, a checkout, or a revision in git, of which only files below data/ are read. Without HEAD:
    the data as they lie here. New problems, new submissions with their numbers, the published machine nearest to each,
    what to look at, and every number that is added, changed or gone.

    \b
    Example: probe-effect review origin/main
    Example: probe-effect review HEAD^1 HEAD --format markdown
    """  # noqa: D301 (click reads the \b)
    with tempfile.TemporaryDirectory(prefix="probe-effect-review-") as work:
        found = _report(*states(base, head, data_path, Path(work)))
    if form == "json":
        output.product(fitted(found, _json, MAX_REPORT_BYTES))
    elif form == "markdown":
        output.product(fitted(found, markdown, MAX_SUMMARY_BYTES))
    else:
        _show(found)
    context.exit(1 if any(problem.severity == "error" for problem in found.problems.rows) else 0)


@click.command("review-comment")
@click.argument("file", type=click.Path(path_type=Path))
def review_comment(file: Path) -> None:
    """Make a comment of FILE, which `probe-effect review --format json` wrote, or anybody else.

    Whatever FILE holds is taken for data: it is read up to 256 KiB, has to have the form of a review, and is printed
    as Markdown that shows its text and does nothing else, short enough for a comment on GitHub.

    \b
    Example: probe-effect review-comment review.json
    """  # noqa: D301 (click reads the \b)
    found, problems = read_document(file, file.name, "review", ReviewReport, MAX_REPORT_BYTES)
    if found is None:
        raise BadData(problems)
    output.product(fitted(found, markdown, MAX_COMMENT_BYTES))


def _report(base: State, head: State) -> ReviewReport:
    files = difference(base.data, head.data)
    problems = new_problems(base.data, head.data, files)
    found = review_of(read_catalogue(base.data), head.data, files, _unsound(problems.of_state))
    return report(found, (*head.refused, *problems.all), base.name, head.name)


def _unsound(problems: Iterable[Problem]) -> set[str]:
    """The submissions and sources with an error, by id; both are the first names below their folder."""
    depths = {"results": 2, "published": 1}
    found = set()
    for problem in problems:
        _, part, *names = f"{problem.file}//".split("/")
        if problem.severity == "error" and part in depths:
            found.add("/".join(names[: depths[part]]))
    return found


def _json(found: ReviewReport) -> str:
    return found.model_dump_json()


def _show(found: ReviewReport) -> None:
    for section in sections(found):
        output.tables.print(Text(section.title, style="bold"))
        for line in section.lines:
            output.tables.print(Text(line))
        if section.rows:
            output.tables.print(_table(section))
        if section.head and section.more:
            output.tables.print(f"{section.more} more")
        output.tables.print()


def _table(section: Section) -> Table:
    table = Table(*section.head, box=None, pad_edge=False)
    for row in section.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
